//! A concurrent B-link tree of hinted nodes, read without latches.
//!
//! # Thread safety
//! Everything takes `&self`. Readers don't validate inner nodes. In large trees they start below the root
//! (`directory`) or at a predicted leaf (`guesses`). The leaf's fences and version decide whether it is the
//! right one. A reader that arrives too far left follows links. One that arrives too far right, at a dead
//! leaf, or at one that changes meanwhile, restarts at most [`READ_TRIES`] times, and then takes the leaf's
//! latch. Writers latch leaves; only splits and merges latch inner nodes.
//!
//! # Invariants
//! 1. Latches are taken bottom-up, and from left to right within a level, so waits can't form a cycle.
//! 2. A node's place in the tree (a split, a merge, a new root) is changed under its latch, which is held
//!    until its parent has been updated. So a latched tree is complete: every node but the root is the child
//!    of exactly one parent, with its low fence as the separator.
//! 3. Between their fences the nodes of a level cover all keys, and each node links to the next one.
//! 4. The root changes only under its latch.
//! 5. A node is reused on its own level only, and is dead (covers no key) from its removal until its reuse;
//!    both change its version.
//! 6. Nothing is allocated, and no code of the caller runs, while a latch is held.

mod arena;
mod beside;
mod check;
mod chunks;
mod count;
mod directory;
mod dump;
mod edit;
mod ends;
mod finder;
mod get;
mod group;
mod guesses;
mod latched;
mod latecomers;
mod lend;
mod load;
mod merge;
mod mode;
mod nearest;
mod nearest_each;
mod nth;
mod ranks;
mod remove_range;
mod scan;
mod spares;
mod split;
#[cfg(feature = "steps")]
pub mod steps;
mod sum;
mod sweep;
#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests_fork;
mod tries;

use crate::node::{self, Inner, Leaf, NodeLines};
use core::marker::PhantomData;
use core::ops::RangeInclusive;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::stats::Stats;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::budget::Budget;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Kernel};
use latchless_core::sync::{Striped, Word, look_for_the_flag};
use latchless_core::tuner::Tuner;
use std::sync::Arc;

pub use crate::node::{CHUNK, Chunk, Entries as LeafCopy};
pub use arena::SharedArena;
pub use beside::{Beside, Own};
pub use chunks::Chunks;
pub(crate) use edit::{Change, Step};
pub use edit::{Edit, Edited};
pub use group::Group;
pub(crate) use guesses::{SEGMENTS, Segments, Share, Slots, are_even};
pub use mode::{Exclusive, Mode, Shared};
pub use sweep::Sweep;
pub(crate) use tries::Listing;
pub use tries::Tries;

/// How often a reader tries to read a leaf at rest before it takes the leaf's latch.
pub const READ_TRIES: u32 = 16;

/// More levels than a tree of 2^32 nodes has; for the smallest nodes, more than the trees of tests have.
const LEVELS_MAX: usize = if cfg!(latchless_small_nodes) { 48 } else { 16 };

/// Construction options of a tree.
#[derive(Debug, Clone, Copy)]
pub struct BlinkOptions {
    /// The maximum number of bytes of nodes. `None`: the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages.
    pub huge_pages: bool,
    /// Whether a thread of the process prefaults memory.
    pub prefault: bool,
    /// The search kernel. `None`: the fastest that this processor supports.
    pub kernel: Option<Kernel>,
    /// The number of nodes that references can distinguish; tests make it tiny.
    pub references: u32,
}

impl Default for BlinkOptions {
    fn default() -> Self {
        Self { limit_bytes: None, huge_pages: true, prefault: false, kernel: None, references: u32::MAX }
    }
}

/// A node with its address, which is looked up once per visit.
#[derive(Debug, Clone, Copy)]
struct At<'a> {
    node: NodeRef,
    lines: &'a NodeLines,
}

impl<'a> At<'a> {
    #[inline(always)]
    fn latch(self) -> &'a OptimisticLatch {
        node::latch(self.lines)
    }

    #[inline(always)]
    fn leaf<B: Bits>(self) -> Leaf<'a, B> {
        Leaf::new(self.lines)
    }

    #[inline(always)]
    fn inner<B: Bits>(self) -> Inner<'a, B> {
        Inner::new(self.lines)
    }

    /// Returns the address of a line of the node, for a prefetch.
    #[inline(always)]
    fn line_address(self, line: usize) -> *const u8 {
        node::line_address(self.lines.as_ptr().cast(), line)
    }
}

/// A concurrent ordered map from encoded keys to encoded values. See the module documentation.
#[derive(Debug)]
pub struct BlinkTree<B> {
    /// The root's reference, and above it the number of levels.
    root: Word,
    arena: SharedArena<{ node::LINES }>,
    dispatch: Dispatch,
    len: Striped,
    splits: Word,
    latecomers: latecomers::Latecomers,
    restarts: Word,
    /// Operations that reached a leaf at rest that doesn't cover their key.
    misled: Word,
    /// By [`Requests`](group::Requests).
    tuners: [Tuner; 2],
    directory: directory::Directory,
    guesses: guesses::Guesses,
    ranks: ranks::Ranks,
    /// Operations with closures that are listed.
    listing: Listing,
    lanes: PhantomData<fn() -> B>,
}

impl<B: Bits> BlinkTree<B> {
    /// Creates an empty tree: one empty leaf.
    ///
    /// # Errors
    /// Memory for that leaf was refused, or the kernel isn't available here.
    pub fn new(options: BlinkOptions) -> Result<Self> {
        look_for_the_flag();
        let dispatch = options.kernel.map_or_else(|| Ok(Dispatch::best()), Dispatch::of)?;
        let arena = SharedArena::new(options.limit_bytes, options.huge_pages, options.references)?;
        let arena = if options.prefault { arena.prefaulted() } else { arena };
        let tree = Self {
            root: Word::new(0),
            arena,
            dispatch,
            len: Striped::default(),
            splits: Word::new(0),
            latecomers: latecomers::Latecomers::default(),
            restarts: Word::new(0),
            misled: Word::new(0),
            tuners: [const { Tuner::new(Group::CANDIDATES) }; 2],
            directory: directory::Directory::default(),
            guesses: guesses::Guesses::none(options.huge_pages, options.prefault),
            ranks: ranks::Ranks::default(),
            listing: Listing::empty(),
            lanes: PhantomData,
        };
        tree.init_root()?;
        Ok(tree)
    }

    /// Makes an empty leaf the root.
    fn init_root(&self) -> Result<()> {
        let leaf = self.arena.allocate(0)?;
        self.leaf(leaf).set((B::MIN, B::MAX), NodeRef::NIL, &node::Entries::default(), 0..0);
        self.set_root(leaf, 1);
        Ok(())
    }

    /// Removes everything and returns the memory to the system.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.directory.clear();
        self.guesses.clear();
        self.ranks.clear();
        self.len.set(0);
        self.init_root().expect("one node found room before");
    }

    /// Returns the number of keys: exact if no thread is changing it, otherwise close to a recent one.
    pub fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Returns whether there are no keys, as exactly as [`BlinkTree::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.arena.live_bytes()
    }

    /// Returns the bytes of every node that was ever in use, of the tables, and what others took from the
    /// budget: nodes that were merged away keep their memory until they are reused.
    pub fn held_bytes(&self) -> usize {
        self.arena.held_bytes()
    }

    /// Returns the budget that counts the tree's memory. Others may take from it.
    pub fn budget(&self) -> &Arc<Budget> {
        self.arena.budget()
    }

    /// Returns the search kernel of the tree.
    pub fn kernel(&self) -> Kernel {
        self.dispatch.kernel()
    }

    /// Returns the tree's shape. Visits every node; approximate while others change the tree.
    pub fn stats(&self) -> Stats {
        let (_, levels) = self.root();
        let leaves = self.count_level(0);
        let inner_nodes = (1..levels).map(|level| self.count_level(level)).sum();
        let places = leaves * Leaf::<B>::CAPACITY;
        let mut stats = Stats::default();
        stats.levels = levels;
        stats.inner_nodes = inner_nodes;
        stats.leaves = leaves;
        stats.leaf_fill = self.len() as f64 / places.max(1) as f64;
        stats.splits = self.splits.load_relaxed();
        stats.restarts = self.restarts.load_relaxed();
        stats.misled = self.misled.load_relaxed();
        stats
    }

    /// Counts the nodes of a level, along its links.
    fn count_level(&self, level: usize) -> usize {
        let (mut node, levels) = self.root();
        for _ in level + 1..levels {
            node = self.leftmost_child(node);
        }
        let mut count = 0;
        while !node.is_nil() {
            count += 1;
            node = self.link(level, node);
        }
        count
    }

    fn leftmost_child(&self, node: NodeRef) -> NodeRef {
        self.inner(node).child::<latchless_core::search::Scalar>(B::MIN)
    }

    fn link(&self, level: usize, node: NodeRef) -> NodeRef {
        if level == 0 { self.leaf(node).link() } else { self.inner(node).link() }
    }

    /// Returns the tries of an operation with a closure on `key`.
    #[inline(always)]
    pub fn tries(&self, key: B) -> Tries<'_> {
        self.listing.tries(key.to_u64())
    }

    /// Records that the calling thread has replaced or removed the values of these keys.
    #[inline(always)]
    fn note_change<M: Mode>(&self, keys: RangeInclusive<B>) {
        if M::SHARED {
            self.listing.note_change(keys.start().to_u64()..=keys.end().to_u64());
        }
    }

    /// Returns the root and the number of levels.
    #[inline(always)]
    fn root(&self) -> (NodeRef, usize) {
        let word = self.root.follow();
        (NodeRef::from_word(word as u32), (word >> 32) as usize)
    }

    fn set_root(&self, node: NodeRef, levels: usize) {
        self.root.publish((levels as u64) << 32 | u64::from(node.to_word()));
    }

    #[inline(always)]
    fn at(&self, node: NodeRef) -> At<'_> {
        At { node, lines: self.arena.node(node) }
    }

    #[inline(always)]
    fn leaf(&self, node: NodeRef) -> Leaf<'_, B> {
        Leaf::new(self.arena.node(node))
    }

    #[inline(always)]
    fn inner(&self, node: NodeRef) -> Inner<'_, B> {
        Inner::new(self.arena.node(node))
    }
}
