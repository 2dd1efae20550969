//! The options of an index.

use super::Budget;
use crate::tree::{BlinkOptions, Group};
use latchless_core::search::Kernel;

/// Construction options.
///
/// ```
/// use latchless::Index;
/// use latchless::index::Options;
///
/// let options = Options { limit_bytes: Some(1 << 30), ..Options::default() };
/// let index = Index::<u64, u64>::with_options(options)?;
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// The memory limit in bytes: [`memory_bytes`](crate::Index::memory_bytes) never exceeds it, at no moment
    /// and with any number of threads. `None`: the machine's memory. An operation that would exceed it fails
    /// with [`MemoryLimit`](crate::Error::MemoryLimit), and the index is then unchanged. There is one limit
    /// for everything that is counted, and memory that one part frees is available to the others: emptied
    /// nodes can be reused for long strings, and pages of slots without values are returned.
    ///
    /// Resident memory may be larger by what isn't counted ([`memory_bytes`](crate::Index::memory_bytes)
    /// lists it), and by the rest of the last huge page in use, which `huge_pages: false` avoids.
    ///
    /// Memory and address space are taken as the index grows: an empty index takes a node of one kilobyte
    /// (two for byte strings) and as much besides, a large one at most about twice as much address space as
    /// memory. Under a limit on the process's address space (`ulimit -v`, on Linux) an index that has grown
    /// to 64 KiB never takes more than a quarter of what is left at a time, so that others can still be
    /// created; where a quarter is less than 64 KiB, growth fails with
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub limit_bytes: Option<usize>,
    /// A limit that this index shares with others. What it holds counts there as well, and an operation
    /// that would exceed either limit fails. `None`: none.
    pub budget: Option<Budget>,
    /// Whether to request huge pages. True by default. It needs Linux, and is ignored elsewhere.
    pub huge_pages: bool,
    /// Whether a thread of the process prefaults memory. False by default: an operation that needs more
    /// memory then waits while the system finds and zeroes a page, on huge pages usually for 0.1 ms, in a
    /// virtual machine for up to several. With it no operation waits for that: memory of nodes and long
    /// strings is populated ahead of need, and tables that shorten lookups are used only when theirs is. All
    /// indexes of the process share the thread, which sleeps while there is nothing to do. Four to sixteen
    /// megabytes more are in use, but none beyond `limit_bytes`, which
    /// [`memory_bytes`](crate::Index::memory_bytes) doesn't count. It needs Linux 5.14 or newer, and is ignored elsewhere.
    pub prefault: bool,
    /// The search kernel. `None`: the fastest that this processor supports.
    pub kernel: Option<Kernel>,
    /// The number of requests of a batch that descend together.
    pub group: Group,
    /// The number of nodes that references can distinguish, at most 2^32 − 1: the default. Tests make it
    /// tiny.
    #[doc(hidden)]
    pub node_references: u32,
}

impl Options {
    /// Returns those of a tree.
    pub(crate) fn of_tree(self) -> BlinkOptions {
        let Self { limit_bytes, budget, huge_pages, prefault, kernel, node_references: references, .. } =
            self;
        let budget = budget.map(Budget::shared);
        BlinkOptions { limit_bytes, budget, huge_pages, prefault, kernel, references }
    }
}

impl Default for Options {
    fn default() -> Self {
        let BlinkOptions { limit_bytes, huge_pages, prefault, kernel, references, .. } =
            BlinkOptions::default();
        let (budget, group) = (None, Group::Auto);
        Self { limit_bytes, budget, huge_pages, prefault, kernel, group, node_references: references }
    }
}
