//! The concurrent tree: a B-link tree of hinted nodes, read without latches.
//!
//! # Thread safety
//! Everything takes `&self`. Readers go down *blindly*, in larger trees from a node below the root that
//! `directory.rs` finds, or straight to the leaf that `guesses.rs` names: they look at no inner node's
//! version, and settle at the leaf whether they came
//! to the right one, by its fences and its version. A reader that came too far left follows links; one
//! that came too far right, to a dead leaf, or to one that changed meanwhile, starts again, at most
//! [`READ_TRIES`] times, and then takes the leaf's latch. Writers latch leaves; inner nodes are latched
//! only by splits and merges.
//!
//! # Invariants
//! 1. Latches are taken bottom-up, and from left to right within a level, so waiting never goes round.
//! 2. A change of a node's place in the tree (a split, a merge, a new root) is made under its latch, which
//!    is held until its parent says the same. So under all latches the tree is complete: every node but the
//!    root is named by exactly one parent, at its low fence.
//! 3. Between their fences the nodes of a level cover all keys, and links lead from each to the next.
//! 4. The root changes only under its latch.
//! 5. A node is used again for its own level only, and is dead (holds no key between its fences) from
//!    when it leaves the tree until it is used again; both change its version.
//! 6. Nothing is allocated, and no code of the caller runs, while a latch is held.

mod arena;
mod beside;
mod check;
mod chunks;
mod count;
mod descend;
mod directory;
mod dump;
mod edit;
mod ends;
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

/// How often a reader tries to see a leaf at rest before it takes the leaf's latch.
pub const READ_TRIES: u32 = 16;

/// More levels than a tree of 2^32 nodes has; of the smallest nodes, than those of tests.
const LEVELS_MAX: usize = if cfg!(latchless_small_nodes) { 48 } else { 16 };

/// What a tree is told when it is made.
#[derive(Debug, Clone, Copy)]
pub struct BlinkOptions {
    /// The most bytes that nodes may take. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether to ask the system for huge pages.
    pub huge_pages: bool,
    /// Whether a thread of the process makes memory ready before it is needed.
    pub prefault: bool,
    /// The search kernel. `None`: the fastest that this processor has.
    pub kernel: Option<Kernel>,
    /// How many nodes references can tell apart; tests make it tiny.
    pub references: u32,
}

impl Default for BlinkOptions {
    fn default() -> Self {
        Self { limit_bytes: None, huge_pages: true, prefault: false, kernel: None, references: u32::MAX }
    }
}

/// A node that was looked up, which is done once per visit.
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

    /// Where line `line` of the node is: to prefetch it.
    #[inline(always)]
    fn line_address(self, line: usize) -> *const u8 {
        node::line_address(self.lines.as_ptr().cast(), line)
    }
}

/// A concurrent ordered map from lanes to lanes. See the module's head.
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
    /// Operations that came to a leaf at rest that their key doesn't belong to.
    misled: Word,
    /// By [`Requests`].
    tuners: [Tuner; 2],
    directory: directory::Directory,
    guesses: guesses::Guesses,
    ranks: ranks::Ranks,
    /// Operations with closures that are listed.
    listing: Listing,
    lanes: PhantomData<fn() -> B>,
}

impl<B: Bits> BlinkTree<B> {
    /// An empty tree: one empty leaf.
    ///
    /// # Errors
    /// When memory for that leaf is refused, or the kernel isn't available here.
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

    /// Takes everything out and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.directory.clear();
        self.guesses.clear();
        self.ranks.clear();
        self.len.set(0);
        self.init_root().expect("one node found room before");
    }

    /// How many keys there are: exact when nobody is changing that, otherwise a number that it had
    /// or will have had about now.
    pub fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Whether there are no keys, as exact as [`BlinkTree::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.arena.live_bytes()
    }

    /// Bytes of every node that was ever in use, of the tables, and what others took from the budget: nodes
    /// that were merged away keep their memory until they are used again.
    pub fn held_bytes(&self) -> usize {
        self.arena.held_bytes()
    }

    /// What the tree's memory is counted in. Others may take from it.
    pub fn budget(&self) -> &Arc<Budget> {
        self.arena.budget()
    }

    /// The search kernel that the tree runs with.
    pub fn kernel(&self) -> Kernel {
        self.dispatch.kernel()
    }

    /// The tree's form. Looks at every node; while others change the tree, about right.
    pub fn stats(&self) -> Stats {
        let (_, levels) = self.root();
        let leaves = self.count_level(0);
        let inner_nodes = (1..levels).map(|level| self.count_level(level)).sum();
        let places = leaves * Leaf::<B>::CAPACITY;
        Stats {
            levels,
            inner_nodes,
            leaves,
            leaf_fill: self.len() as f64 / places.max(1) as f64,
            splits: self.splits.load_relaxed(),
            restarts: self.restarts.load_relaxed(),
            misled: self.misled.load_relaxed(),
        }
    }

    /// How many nodes a level has, by its links.
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

    /// The tries of an operation with a closure about `key`.
    #[inline(always)]
    pub fn tries(&self, key: B) -> Tries<'_> {
        self.listing.tries(key.to_u64())
    }

    /// The calling thread has replaced or removed the values of these keys.
    #[inline(always)]
    fn note_change<M: Mode>(&self, keys: RangeInclusive<B>) {
        if M::SHARED {
            self.listing.note_change(keys.start().to_u64()..=keys.end().to_u64());
        }
    }

    /// The root and the number of levels.
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
