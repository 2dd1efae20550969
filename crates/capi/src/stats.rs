//! Statistics of an index.

use crate::failure::Failure;
use crate::whole::Whole;
use core::ptr;

/// What an index says about itself. Set struct_size to sizeof(latchless_stats) before the call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct latchless_stats {
    /// The size of this structure, as the program was compiled with it.
    pub struct_size: usize,
    /// How many keys there are.
    pub entries: u64,
    /// Bytes that the index holds for nodes, those that were emptied included, for long strings, and for
    /// tables that shorten lookups; never more than limit_bytes.
    pub memory_bytes: u64,
    /// Bytes of the nodes in use.
    pub live_bytes: u64,
    /// Levels from the root to the leaves, both counted.
    pub levels: u64,
    /// Nodes above the leaves.
    pub inner_nodes: u64,
    /// Leaves.
    pub leaves: u64,
    /// Share of the leaves' places that hold a key, 0.0 to 1.0.
    pub leaf_fill: f64,
    /// Splits of any node since the index was made.
    pub splits: u64,
    /// How often an operation found others in its way and looked again.
    pub restarts: u64,
    /// How often an operation came to a wrong leaf first.
    pub misled: u64,
}

/// Fills in the part that the caller has room for.
///
/// # Safety
/// `to` is NULL, or as many bytes as its first field says can be read and written there.
pub unsafe fn fill(index: &impl Whole, to: *mut latchless_stats) -> Result<(), Failure> {
    if to.is_null() {
        return Err(Failure::Null { argument: "stats" });
    }
    let known = size_of::<latchless_stats>();
    // SAFETY: as the caller promises.
    let given = unsafe { to.cast::<usize>().read_unaligned() };
    if given < known {
        return Err(Failure::StructSize { given, smallest: known });
    }
    let stats = index.stats();
    let filled = latchless_stats {
        struct_size: given,
        entries: index.len() as u64,
        memory_bytes: index.memory_bytes() as u64,
        live_bytes: index.live_bytes() as u64,
        levels: stats.levels as u64,
        inner_nodes: stats.inner_nodes as u64,
        leaves: stats.leaves as u64,
        leaf_fill: stats.leaf_fill,
        splits: stats.splits,
        restarts: stats.restarts,
        misled: stats.misled,
    };
    // SAFETY: this many bytes can be written, and the structure has no more.
    unsafe { ptr::write_unaligned(to, filled) }
    Ok(())
}
