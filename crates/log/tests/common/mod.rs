//! Folders with a truncated or changed log, and the expected outcome.

use latchless_log::{DamagedTail, Options, Recovery, SnapshotPolicy, SyncMode};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn never() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

/// Options under which incomplete parts of any kind are cut off.
pub fn set_aside() -> Options {
    Options { damaged_tail: DamagedTail::SetAside, ..never() }
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

pub fn log_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("log-{number:016x}.redo"))
}

/// A folder with the first snapshot of another one and these bytes as its log.
pub fn folder_with(source: &Path, log: &[u8]) -> TempDir {
    let folder = folder();
    let snapshot = "snapshot-0000000000000001.arrow";
    fs::copy(source.join(snapshot), folder.path().join(snapshot)).expect("the first snapshot");
    fs::write(log_of(folder.path(), 1), log).expect("a log");
    folder
}

/// The last of the states that is in this many bytes of a log, and how many it takes; of states by the log's
/// bytes at which they were reached.
pub fn state_at<E>(states: &[(u64, Vec<E>)], bytes: usize) -> (u64, &[E]) {
    let reached = states.iter().rev().find(|(reached, _)| *reached <= bytes as u64);
    reached.map_or((0, &[][..]), |(reached, state)| (*reached, &state[..]))
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

/// Where a log of this many bytes ended, by what its opening says. One without all of its first 64 bytes was
/// only being begun.
pub fn end_of(bytes: usize, recovery: &Recovery) -> u64 {
    let whole = if bytes < 64 { 0 } else { bytes as u64 };
    recovery.stopped.as_ref().map_or(whole, |stopped| stopped.at)
}
