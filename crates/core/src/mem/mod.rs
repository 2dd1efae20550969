//! Memory: cache lines and prefetch, growing regions, pools of nodes in them, arrays of words, and the
//! tracing hook that reports a structure's memory accesses to the memory-hierarchy model.

pub mod budget;
pub mod filled;
mod free;
mod growth;
mod kinds;
pub mod left;
mod lent;
pub mod line;
pub mod mapping;
mod memory;
pub mod node_ref;
pub mod once_array;
mod prefault;
mod reach;
pub mod refusal;
pub mod segment;
pub mod space;
mod system;
pub mod touch;
mod unready;
pub mod words;

use crate::sync::{Word, unseen};

/// Returns the machine's memory in bytes, the upper bound of every index.
pub fn machine_bytes() -> usize {
    /// 0: the system wasn't asked yet.
    static KNOWN: Word = Word::new(0);
    let known = unseen(|| KNOWN.load_relaxed()) as usize;
    if known != 0 {
        return known;
    }
    // Where the system doesn't say: a terabyte, or half of the addresses.
    let unknown = usize::try_from(1u64 << 40).unwrap_or(usize::MAX / 2);
    let bytes = system::machine_bytes().map_or(unknown, |bytes| bytes.max(1 << 28));
    unseen(|| KNOWN.store_relaxed(bytes as u64));
    bytes
}
