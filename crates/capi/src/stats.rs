//! Statistics of an index.

use crate::failure::Failure;
use crate::whole::Whole;
use core::ptr;

/// Statistics of an index. Set `struct_size` to sizeof(latchless_stats) before the call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct latchless_stats {
    /// The size of this structure in the program.
    pub struct_size: usize,
    /// The number of keys.
    pub entries: u64,
    /// Bytes that the index holds for nodes, emptied ones included, for long strings, and for tables that
    /// shorten lookups; never more than `limit_bytes`.
    pub memory_bytes: u64,
    /// Bytes of nodes in use.
    pub live_bytes: u64,
    /// The number of levels, root and leaves included.
    pub levels: u64,
    /// The number of nodes above the leaves.
    pub inner_nodes: u64,
    /// The number of leaves.
    pub leaves: u64,
    /// The share of the leaves' capacity that is in use, from 0.0 to 1.0.
    pub leaf_fill: f64,
    /// The number of node splits so far.
    pub splits: u64,
    /// How many times operations had to retry because of concurrent changes.
    pub restarts: u64,
    /// How many times operations looked in a wrong leaf first.
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
