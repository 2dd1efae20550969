//! Records that no index has written, and an opening that takes what precedes them.

use crate::common::never;
use latchless_log::{DamagedTail, Options};

/// Options under which incomplete parts of any kind are cut off.
pub fn set_aside() -> Options {
    Options { damaged_tail: DamagedTail::SetAside, ..never() }
}

/// A record with good sums, as a program could make it on purpose.
pub fn record(number: u64, kind: u8, count: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 32];
    bytes[4..8].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    bytes[24..28].copy_from_slice(&count.to_le_bytes());
    bytes[28] = kind;
    let sum = crc32fast::hash(&bytes[4..32]);
    bytes[..4].copy_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}
