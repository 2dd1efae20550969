//! All nodes of one tree: their arena, and the fields that every node has.

use super::layout::Layout;
use super::shape::{Children, Jump, Shape};
use crate::common::operation::Search;
use crate::common::words::halving;
use crate::pb_tree::arena::{Arena, ArenaOptions, Block};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// Where a bulk load places a tree's nodes. Later nodes take freed places or follow all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// Each level in key order, so that neighbouring leaves are neighbours in memory.
    #[default]
    InOrder,
    /// In a random order, which the number determines, so that no prefetcher of the processor can follow
    /// them: as in a tree that has been updated for long.
    Scattered(u64),
}

/// Construction options of a tree's node store.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeOptions {
    /// The maximum number of bytes of nodes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages.
    pub huge_pages: bool,
    /// The number of nodes that references can distinguish; `None`: 2^32 − 1. Tests make it tiny.
    pub references: Option<u32>,
    /// Where a bulk load places nodes.
    pub placement: Placement,
}

/// All nodes of one tree.
///
/// Places for keys that aren't in use hold the largest lane, so that a search can look through all
/// of them. Doesn't care how nodes hang together; that is the tree's business. Positions and counts that a
/// caller passes must lie in the node; a wrong one panics or reads a neighbouring field, never
/// memory outside of the node.
#[derive(Debug)]
pub struct Nodes<S: Shape> {
    pub(super) arena: Arena<S::Block>,
    placement: Placement,
    shape: PhantomData<S>,
}

impl<S: Shape> Nodes<S> {
    /// No nodes yet.
    ///
    /// # Errors
    /// When the system refuses to reserve address space.
    pub fn new(options: NodeOptions) -> Result<Self> {
        const {
            let jumps = !matches!(S::JUMP, Jump::None);
            assert!(
                !(jumps && matches!(S::CHILDREN, Children::Group)),
                "jump-pointer arrays name leaves that stay where they are; leaves in a group move"
            );
        }
        let arena = Arena::new(ArenaOptions {
            run_blocks: Layout::<S>::RUN_BLOCKS as u32,
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            references: options.references.unwrap_or(u32::MAX),
        })?;
        Ok(Self { arena, placement: options.placement, shape: PhantomData })
    }

    /// Makes sure that the next `runs` calls of [`Nodes::allocate`] succeed.
    ///
    /// # Errors
    /// Those of [`Arena::reserve`].
    pub fn reserve(&mut self, runs: usize) -> Result<()> {
        self.arena.reserve(runs)
    }

    /// Makes sure that the next `runs` calls of [`Nodes::allocate`] succeed, those of a bulk load.
    ///
    /// # Errors
    /// Those of [`Arena::reserve`].
    pub fn reserve_load(&mut self, runs: usize) -> Result<()> {
        match self.placement {
            Placement::InOrder => self.arena.reserve(runs),
            Placement::Scattered(seed) => self.arena.reserve_scattered(runs, seed),
        }
    }

    /// Allocates a node or, with node groups, room for a whole group. Prefetched whole before it is
    /// filled, in trees that prefetch (§2.1).
    ///
    /// # Errors
    /// Those of [`Arena::allocate`].
    pub fn allocate(&mut self) -> Result<NodeRef> {
        S::Trace::work(Work::Allocate);
        let node = self.arena.allocate()?;
        self.prefetch(node);
        Ok(node)
    }

    /// Takes a node, or a group by its first node, back.
    pub fn free(&mut self, node: NodeRef) {
        self.arena.free(node);
    }

    /// Forgets all nodes and gives their memory back to the system.
    pub fn clear(&mut self) {
        self.arena.clear();
    }

    /// Nodes (or node groups) in use.
    pub fn live_runs(&self) -> usize {
        self.arena.live_runs()
    }

    /// Bytes that the nodes hold, freed ones included.
    pub fn held_bytes(&self) -> usize {
        self.arena.held_bytes()
    }

    /// Prefetches every line of a node, in trees that prefetch.
    #[inline(always)]
    pub fn prefetch(&self, node: NodeRef) {
        if S::PREFETCH {
            self.arena.prefetch(node);
            S::Trace::prefetch(self.arena.address(node), S::Block::BYTES);
        }
    }

    /// Keys in a node.
    #[inline(always)]
    pub fn count(&self, node: NodeRef) -> usize {
        self.told_read(node, Layout::<S>::COUNT_AT, 4);
        self.arena.lanes::<u32>(node, Layout::<S>::COUNT_AT, 1)[0] as usize
    }

    /// Sets the number of keys of a node with room for `room`, and pads the places after them.
    pub(super) fn set_count(&mut self, node: NodeRef, count: usize, room: usize) {
        self.set_word(node, Layout::<S>::COUNT_AT, count as u32);
        let places = self.arena.lanes_mut::<S::Bits>(node, Layout::<S>::KEYS_AT, room);
        // Places that are already padded need no second check: keys ascend, so after the first pad there
        // are only pads.
        for place in places[count..].iter_mut().take_while(|place| **place != S::Bits::MAX) {
            *place = S::Bits::MAX;
        }
    }

    /// Initializes a new node with room for `room` keys, without keys.
    pub(super) fn start(&mut self, node: NodeRef, room: usize) {
        self.set_word(node, Layout::<S>::COUNT_AT, 0);
        self.arena.lanes_mut::<S::Bits>(node, Layout::<S>::KEYS_AT, room).fill(S::Bits::MAX);
    }

    /// Returns the first `count` keys of a node. The search kernel reports to the memory model which of
    /// them are read.
    #[inline(always)]
    pub fn keys(&self, node: NodeRef, count: usize) -> &[S::Bits] {
        self.arena.lanes(node, Layout::<S>::KEYS_AT, count)
    }

    /// Returns how many keys of a node with room for `room` are smaller than `key`.
    #[inline(always)]
    pub(super) fn below<K: Search>(&self, node: NodeRef, room: usize, key: S::Bits) -> usize {
        if S::Trace::BRANCHING {
            return halving::<S::Trace, _>(self.keys(node, self.count(node)), |other| *other < key);
        }
        K::below::<S::Bits, S::Trace>(self.searched(node, room), key)
    }

    /// Returns how many keys of a node with room for `room` are at most `key`.
    #[inline(always)]
    pub(super) fn up_to<K: Search>(&self, node: NodeRef, room: usize, key: S::Bits) -> usize {
        if S::Trace::BRANCHING {
            return halving::<S::Trace, _>(self.keys(node, self.count(node)), |other| *other <= key);
        }
        let rank = K::up_to::<S::Bits, S::Trace>(self.searched(node, room), key);
        // Pads are at most the largest key, and only at most that.
        if key == S::Bits::MAX { rank.min(self.count(node)) } else { rank }
    }

    /// Returns the keys that a search reads: all places, pads included, so that its length is known at
    /// compile time and no branch depends on the number of keys. A memory model gets the paper's search,
    /// through the keys alone.
    #[inline(always)]
    fn searched(&self, node: NodeRef, room: usize) -> &[S::Bits] {
        self.keys(node, if S::Trace::LISTENING { self.count(node) } else { room })
    }

    /// Returns one key of a node.
    pub fn key(&self, node: NodeRef, at: usize) -> S::Bits {
        self.told_read(node, Layout::<S>::KEYS_AT + at * size_of::<S::Bits>(), size_of::<S::Bits>());
        self.arena.lanes(node, Layout::<S>::KEYS_AT, at + 1)[at]
    }

    /// Replaces one key of a node.
    pub fn set_key(&mut self, node: NodeRef, at: usize, key: S::Bits) {
        self.told_write(node, Layout::<S>::KEYS_AT + at * size_of::<S::Bits>(), size_of::<S::Bits>());
        self.arena.lanes_mut(node, Layout::<S>::KEYS_AT, at + 1)[at] = key;
    }

    /// Moves `count` keys from position `from` of one node to position `to` of another (or the same).
    pub fn move_keys(&mut self, from: (NodeRef, usize), to: (NodeRef, usize), count: usize) {
        let at = |place: usize| Layout::<S>::KEYS_AT + place * size_of::<S::Bits>();
        self.move_lanes::<S::Bits>((from.0, at(from.1)), (to.0, at(to.1)), count);
    }

    pub(super) fn move_lanes<L: Bits>(&mut self, from: (NodeRef, usize), to: (NodeRef, usize), count: usize) {
        if count > 0 {
            self.told_read(from.0, from.1, count * L::BYTES);
            self.told_write(to.0, to.1, count * L::BYTES);
            S::Trace::work(Work::Shift(count));
            self.arena.copy::<L>(from, to, count);
        }
    }

    #[inline(always)]
    pub(super) fn word(&self, node: NodeRef, at_bytes: usize) -> u32 {
        self.told_read(node, at_bytes, 4);
        self.arena.word(node, at_bytes)
    }

    pub(super) fn set_word(&mut self, node: NodeRef, at_bytes: usize, word: u32) {
        self.told_write(node, at_bytes, 4);
        self.arena.lanes_mut::<u32>(node, at_bytes, 1)[0] = word;
    }

    #[inline(always)]
    pub(super) fn told_read(&self, node: NodeRef, at_bytes: usize, bytes: usize) {
        S::Trace::read(self.arena.address(node).wrapping_add(at_bytes), bytes);
    }

    #[inline(always)]
    pub(super) fn told_write(&self, node: NodeRef, at_bytes: usize, bytes: usize) {
        S::Trace::write(self.arena.address(node).wrapping_add(at_bytes), bytes);
    }
}
