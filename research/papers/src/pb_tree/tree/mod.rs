//! The tree algorithms, one per file, each written once for every [`Shape`].
//!
//! A tree works on lanes; the maps above convert keys and values of other types. It takes no latch: reads
//! take `&self`, updates `&mut self`.
//!
//! # Invariants
//! 1. All leaves are on level 0, `levels - 1` steps below the root.
//! 2. Keys ascend strictly within a leaf and from a leaf to the next; those below a child are in
//!    [separator before it, separator after it).
//! 3. Every node but the root contains at least one key (deletion is lazy, §2.1), and none has more than
//!    its layout has room for.
//! 4. Leaves are linked in key order; the last link is [`NodeRef::NIL`]. With an internal jump-pointer
//!    array the bottom inner nodes are linked as well, with an external one the array lists the leaves.

mod ahead;
mod bulk_load;
mod check;
mod descend;
mod dump;
mod insert;
mod remove;
mod scan;
mod sink;
mod split;
mod walk;

pub use scan::{LaneRange, Scan};
pub use sink::{Lanes, Pairs, Sink, Tally, Total, ValuesOnly};
pub use walk::{Place, TreeWalk};

use crate::pb_tree::jump_array::JumpArray;
use crate::pb_tree::node::{Jump, Layout, NodeOptions, Nodes, Shape};
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::stats::Stats;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Kernel};

/// Construction options of a tree.
#[derive(Debug, Clone, Copy)]
pub struct TreeOptions {
    /// See [`NodeOptions`].
    pub nodes: NodeOptions,
    /// The in-node search kernel, known to be on this processor.
    pub dispatch: Dispatch,
    /// Leaves that a scan prefetches ahead (the paper's k).
    pub scan_ahead_leaves: usize,
    /// A scan that expects fewer entries leaves jump pointers alone.
    pub short_scan_entries: usize,
    /// Which of the leaves ahead are prefetched, and how much of them.
    pub scan_prefetch: ScanPrefetch,
}

/// Which of the leaves ahead of a scan its jump pointers prefetch, and how much of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScanPrefetch {
    /// What the scan needs and the processor wouldn't fetch by itself: leaves whose entries the caller's
    /// buffer has room for, the lines that a mean leaf fills, and no leaf that is the last one's neighbour in
    /// memory, since the processor's own prefetcher follows neighbours.
    #[default]
    Needed,
    /// The next k leaves and all their lines, as in the paper (§3.3), whose machine has no prefetcher of its
    /// own.
    Whole,
}

/// An ordered map from lanes to lanes.
#[derive(Debug)]
pub struct Tree<S: Shape> {
    nodes: Nodes<S>,
    jumps: Option<JumpArray<S>>,
    root: NodeRef,
    levels: usize,
    len: usize,
    leaves: usize,
    inner_nodes: usize,
    splits: u64,
    options: TreeOptions,
}

/// The share of the memory limit that an external jump-pointer array may occupy: one word per leaf, in
/// chunks that may be half empty, is less than that for every node of at least two lines.
const CHUNKS_SHARE: usize = 32;
/// The minimum size of an external jump-pointer array, a few chunks.
const SMALLEST_CHUNKS_BYTES: usize = 2048;

impl<S: Shape> Tree<S> {
    /// An empty tree.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new(options: TreeOptions) -> Result<Self> {
        let (for_nodes, for_chunks) = shared_limit(options.nodes, S::JUMP);
        let mut nodes = Nodes::new(for_nodes)?;
        let root = empty_leaf(&mut nodes)?;
        let jumps = match S::JUMP {
            Jump::External => Some(JumpArray::new(for_chunks, &mut nodes, root)?),
            _ => None,
        };
        Ok(Self { nodes, jumps, root, levels: 1, len: 0, leaves: 1, inner_nodes: 0, splits: 0, options })
    }

    /// Keys in the tree. O(1).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the tree is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets everything and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.nodes.clear();
        let restarted = empty_leaf(&mut self.nodes).and_then(|root| {
            self.root = root;
            match &mut self.jumps {
                Some(jumps) => jumps.rebuild(&mut self.nodes, &[root], FillFactor::FULL),
                None => Ok(()),
            }
        });
        debug_assert!(restarted.is_ok(), "one leaf fits into what was held before");
        (self.levels, self.len, self.leaves, self.inner_nodes) = (1, 0, 1, 0);
    }

    /// Bytes that nodes and jump pointers hold. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.nodes.held_bytes() + self.jumps.as_ref().map_or(0, JumpArray::held_bytes)
    }

    /// The tree's form. O(1).
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        stats.levels = self.levels;
        stats.inner_nodes = self.inner_nodes;
        stats.leaves = self.leaves;
        stats.leaf_fill = self.len as f64 / (self.leaves * Layout::<S>::LEAF_PAIRS) as f64;
        stats.splits = self.splits;
        stats
    }

    /// The kernel that in-node searches run on.
    pub fn kernel(&self) -> Kernel {
        self.options.dispatch.kernel()
    }
}

fn shared_limit(options: NodeOptions, jump: Jump) -> (NodeOptions, NodeOptions) {
    let Some(limit) = options.limit_bytes.filter(|_| jump == Jump::External) else {
        return (options, options);
    };
    let for_chunks = (limit / CHUNKS_SHARE).max(SMALLEST_CHUNKS_BYTES);
    let with = |bytes| NodeOptions { limit_bytes: Some(bytes), ..options };
    (with(limit.saturating_sub(for_chunks)), with(for_chunks))
}

fn empty_leaf<S: Shape>(nodes: &mut Nodes<S>) -> Result<NodeRef> {
    let leaf = nodes.allocate()?;
    nodes.write_leaf(leaf, core::iter::empty());
    nodes.set_next(leaf, NodeRef::NIL);
    Ok(leaf)
}
