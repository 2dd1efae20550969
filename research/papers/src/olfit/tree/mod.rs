//! B+-Tree and full CSB+-Tree under six concurrency-control schemes (Cha et al.: *Cache-Conscious
//! Concurrency Control of Main-Memory Indexes on Shared-Memory Multiprocessor Systems*, VLDB 2001). One
//! tree algorithm; the scheme is a table of constants ([`Scheme`]).
//!
//! An update has four parts; the scheme determines each of them:
//!
//! 1. *Reach* the leaf, recording the path. OL descends without latches and latches the leaf; LC couples
//!    latches; the others need none (TL and VT hold the tree's latch by then).
//! 2. *Climb* while nodes are full, to the lowest one with room, the top. OL latches each parent on the
//!    way; LC descends a second time with latches from the top down; VN latches the nodes that it found.
//! 3. *Change* everything from the top down to the leaf. Schemes with versions first copy the nodes (or
//!    groups) of the path, and change the copies.
//! 4. *Publish*: release the latches, with new versions under OL; schemes with versions store the one
//!    reference that leads to the copies.
//!
//! # Thread safety
//! Everything takes `&self`; under NO only one thread at a time may change the tree, with no concurrent
//! readers. Readers hold no latch under OL, VN and VT. Under OL a reader that finds a node changing reads
//! it again, at most [`READ_TRIES`] times, and then takes the node's latch. No code of the caller runs,
//! and nothing is allocated, while a latch is held; so a panic can't leave one held, and latches are
//! guards in case the tree's own code panics.
//!
//! # Invariants
//! 1. Latches are taken bottom-up, and from left to right within a level, so there is no cycle of waits;
//!    LC, whose order is top-down, keeps to that instead. Latches out of that order are tried, and if one
//!    isn't free, everything is released.
//! 2. A node's place in the tree changes under its latch, which is held until its parent agrees.
//! 3. The nodes of a level cover all keys: each those after the one to its left, up to its high key or to
//!    the separator after it. In an index with duplicates an entry of a boundary's key may be on either
//!    side of it; a thread that searches for one starts at the leftmost node that may contain it.
//! 4. Under OL a node's place in the order of its level never changes while it is in the tree, entries
//!    move to the right only, and a node whose content is moved away is dead from then on; so a thread
//!    that arrives late finds its key to the right, or detects that it must restart. In node groups nodes
//!    do move to the left when one before them leaves; there low fences detect it.
//! 5. A unit is reused for its own level only, or when no thread can read it.

mod bulk;
mod check;
mod climb;
mod descend;
mod dump;
mod edit;
mod group;
mod guard;
mod hold;
mod look;
mod neighbours;
mod path;
mod publish;
mod reading;
mod remove;
mod scan;
mod spares;
mod split;
mod step;
#[cfg(test)]
mod tests;
mod unlink;
mod walk;

use crate::common::units::{NodePoolOptions, Reuse, UnitArena};
use crate::error;
use crate::olfit::node::{At, Flag, Kind, Layout, Node, Scheme, WordOf};
use crate::olfit::shared_latch::SharedLatch;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::stats::Stats;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::{Striped, Word};

pub use reading::SeenLeaves;
pub use walk::{OlfitWalk, Place};

/// The number of times that a reader reads a changing node before it takes the node's latch.
pub const READ_TRIES: u32 = 16;

/// More levels than any tree has. A split leaves two children at the least, so a tree of 2^32 nodes that
/// only grew has fewer; and one that shrank meanwhile takes twice as many inserts for each level more.
const LEVELS_MAX: usize = 48;

/// Construction options of a tree.
#[derive(Debug, Clone, Copy)]
pub struct TreeOptions {
    /// Bytes of a node: 64, 128, and so on up to 512.
    pub node_bytes: usize,
    /// Whether a key may be present more than once.
    pub duplicates: bool,
    /// The maximum number of bytes of nodes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages from the system.
    pub huge_pages: bool,
    /// The number of nodes that references can distinguish; tests make it tiny.
    pub references: u32,
}

/// A value in separate cache lines (processors fetch them in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<X>(X);

/// The tree. See the module's head.
#[derive(Debug)]
pub struct OlfitTree<K: Kind> {
    /// The root's unit, and above it the number of levels.
    root: Apart<Word>,
    /// Held by the thread that changes that, under VN.
    root_latch: OptimisticLatch,
    /// The latch of the whole tree, under TL and VT.
    tree_latch: Apart<SharedLatch>,
    arena: UnitArena<WordOf<K>>,
    layout: Layout,
    duplicates: bool,
    len: Striped,
    /// By level.
    splits: Apart<[Word; LEVELS_MAX]>,
    restarts: Word,
}

/// Units that a removal copies at the most: a node that loses a child and, in a CSB+-Tree, the group of
/// its children.
const COPIES_MAX: usize = 2;

impl<K: Kind> OlfitTree<K> {
    /// An empty tree: one empty leaf.
    ///
    /// # Errors
    /// [`Error::NodeSize`](crate::Error::NodeSize), or when memory for that leaf is refused.
    pub fn new(options: TreeOptions) -> error::Result<Self> {
        let layout = Layout::of::<K>(options.node_bytes)?;
        let space = NodePoolOptions {
            node_bytes: options.node_bytes,
            unit_nodes: layout.unit_nodes,
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            references: options.references,
        };
        // Fences distinguish a reused node from its previous use, unless several nodes begin with one key.
        let at_once = K::Scheme::AT_ONCE && !options.duplicates;
        let reuse = if at_once { Reuse::AtOnce } else { Reuse::Later };
        let reserved = if K::Scheme::COPIES { COPIES_MAX } else { 0 };
        let tree = Self {
            root: Apart(Word::new(0)),
            root_latch: OptimisticLatch::default(),
            tree_latch: Apart::default(),
            arena: UnitArena::new(space, reuse, reserved)?,
            layout,
            duplicates: options.duplicates,
            len: Striped::default(),
            splits: Apart([const { Word::new(0) }; LEVELS_MAX]),
            restarts: Word::new(0),
        };
        tree.init_root()?;
        Ok(tree)
    }

    /// Makes an empty leaf the root.
    fn init_root(&self) -> Result<()> {
        let unit = self.arena.allocate::<K::Trace>(Self::kind(0))?;
        self.set_alone(unit, 0);
        self.set_root(unit, 1);
        Ok(())
    }

    /// Makes the first node of a unit an empty one of this level that has the whole level to itself.
    fn set_alone(&self, unit: NodeRef, level: usize) {
        let node = self.node(At::first(unit));
        node.reset(level);
        node.set_high(K::Bits::MAX);
        node.set_low(None);
        if K::GROUPS {
            node.set_flag(Flag::Last, K::Scheme::LINKS);
            self.set_group_link(unit, NodeRef::NIL);
        } else {
            node.set_link(NodeRef::NIL);
        }
    }

    /// Removes everything and gives the memory back to the system.
    ///
    /// # Errors
    /// When the memory of an empty tree is refused, which it had before.
    pub fn clear(&mut self) -> Result<()> {
        self.arena.clear()?;
        self.len.set(0);
        self.init_root()
    }

    /// Returns the number of entries: exact while no other thread changes it.
    pub fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Returns whether there are no entries, as exact as [`OlfitTree::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether a key may be present more than once.
    pub fn has_duplicates(&self) -> bool {
        self.duplicates
    }

    /// Returns the capacities of nodes.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Bytes of a node.
    pub fn node_bytes(&self) -> usize {
        self.arena.node_bytes()
    }

    /// Bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.arena.live_bytes()
    }

    /// Bytes of every node that was ever in use.
    pub fn held_bytes(&self) -> usize {
        self.arena.held_bytes()
    }

    /// Makes all nodes that have left the tree available, as far as no thread can read them, and moves
    /// those in threads' pools to all threads.
    pub fn sweep(&self) {
        self.arena.sweep::<K::Trace>();
    }

    /// Returns the number of splits of nodes of each level, the leaves' first: each split is an update of
    /// the level above (§3.2).
    pub fn splits_by_level(&self) -> Vec<u64> {
        let (_, levels) = self.root();
        self.splits.0[..levels].iter().map(Word::load_relaxed).collect()
    }

    /// Returns the tree's statistics. Reads every node; the tree must be at rest.
    pub fn stats(&self) -> Stats {
        let (root, levels) = self.root();
        let mut nodes = vec![0; levels];
        self.count_nodes(At::first(root), levels - 1, &mut nodes);
        let leaves = nodes[0];
        let mut stats = Stats::default();
        stats.levels = levels;
        stats.inner_nodes = nodes[1..].iter().sum();
        stats.leaves = leaves;
        stats.leaf_fill = self.len() as f64 / (leaves * self.layout.leaf_places) as f64;
        stats.splits = self.splits.0.iter().map(Word::load_relaxed).sum();
        stats.restarts = self.restarts.load_relaxed();
        stats
    }

    fn count_nodes(&self, at: At, level: usize, nodes: &mut [usize]) {
        nodes[level] += 1;
        if level > 0 {
            let node = self.node(at);
            (0..node.children()).for_each(|place| self.count_nodes(node.child(place), level - 1, nodes));
        }
    }

    /// The root's unit and the number of levels.
    #[inline(always)]
    fn root(&self) -> (NodeRef, usize) {
        K::Trace::read(core::ptr::from_ref(&self.root).cast(), size_of::<u64>());
        let word = self.root.0.follow();
        (NodeRef::from_word(word as u32), (word >> 32) as usize)
    }

    fn set_root(&self, unit: NodeRef, levels: usize) {
        K::Trace::write(core::ptr::from_ref(&self.root).cast(), size_of::<u64>());
        self.root.0.publish((levels as u64) << 32 | u64::from(unit.to_word()));
    }

    #[inline(always)]
    fn node(&self, at: At) -> Node<'_, K> {
        self.node_of(at.node::<K>())
    }

    #[inline(always)]
    fn node_of(&self, node: NodeRef) -> Node<'_, K> {
        Node::new(self.arena.words(node), &self.layout)
    }

    /// Returns the kind for which units of a level are reused.
    fn kind(level: usize) -> usize {
        if K::Scheme::AT_ONCE { level } else { 0 }
    }

    /// Prefetches a node's lines.
    #[inline(always)]
    fn prefetch(&self, at: At) {
        let (address, bytes) = (self.arena.address(at.node::<K>()), self.arena.node_bytes());
        K::Trace::prefetch(address, bytes);
        prefetch_read_all(address, bytes);
    }
}
