//! The arena of a concurrent tree: nodes of whole cache lines that many threads read and write.
//!
//! As [`Arena`](latchless_papers::pb_tree::arena::Arena), but nodes are words that may be read while they
//! are written, and everything goes through `&self`.
//!
//! # Thread safety
//! Reading and writing nodes needs no latch here: words are atomics. Handing out and taking back is
//! guarded by a mutex; trees do that once a split.
//!
//! # Invariants
//! 1. A reference that was good once never leads out of the arena's memory, until that is cleared or
//!    dropped.
//! 2. A node that was handed out for one kind comes back for the same kind only, so a reader with a
//!    stale reference finds words of the kind that it expects. Trees take the level as the kind.

use latchless_core::base::error::Result;
use latchless_core::mem::budget::Budget;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::space::{Begin, NodePool, NodePoolOptions};
use latchless_core::sync::{Line, Origin};
use std::sync::Arc;

/// Nodes of `LINES` cache lines each. See the module documentation.
#[derive(Debug)]
pub struct SharedArena<const LINES: usize> {
    space: NodePool,
}

impl<const LINES: usize> SharedArena<LINES> {
    /// Bytes in a node.
    pub const NODE_BYTES: usize = {
        assert!(LINES > 0, "a node has at least one line");
        LINES * LINE_BYTES
    };

    /// An empty arena, which takes no memory. `references`: how many nodes references can tell apart;
    /// tests make it tiny.
    ///
    /// # Errors
    /// None yet: memory is refused when nodes are asked for.
    pub fn new(limit_bytes: Option<usize>, huge_pages: bool, references: u32) -> Result<Self> {
        let node_bytes = Self::NODE_BYTES;
        let options = NodePoolOptions { node_bytes, unit_nodes: 1, limit_bytes, huge_pages, references };
        Ok(Self { space: NodePool::new(options, Begin::Small)? })
    }

    /// The same arena, whose memory a thread of the process makes ready before nodes are handed out.
    pub fn prefaulted(self) -> Self {
        Self { space: self.space.prefaulted() }
    }

    /// A node's lines.
    ///
    /// # Panics
    /// When the reference isn't one of this arena's: a bug of the caller.
    #[inline(always)]
    pub fn node(&self, node: NodeRef) -> &[Line; LINES] {
        // SAFETY: the node's memory is accessible and aligned as long as the space is borrowed, which
        // clearing takes mutably; any bits are a word, and words may be written while they are read.
        unsafe { &*self.space.at(node, Self::NODE_BYTES).cast() }
    }

    /// As [`SharedArena::node`], if the node is found at once, as nearly all are.
    #[inline(always)]
    pub fn near(&self, node: NodeRef) -> Option<&[Line; LINES]> {
        // SAFETY: as above.
        self.space.near(node, Self::NODE_BYTES).map(|at| unsafe { &*at.cast() })
    }

    /// As [`SharedArena::node`], if the reference is one of this arena's: for one that may have been kept
    /// since before the arena was cleared.
    #[inline(always)]
    pub fn find(&self, node: NodeRef) -> Option<&[Line; LINES]> {
        // SAFETY: as above.
        self.space.find(node, Self::NODE_BYTES).map(|at| unsafe { &*at.cast() })
    }

    /// The process in which the arena was made.
    #[inline(always)]
    pub fn origin(&self) -> &Origin {
        self.space.origin()
    }

    /// Where a node begins. An address to prefetch, not to follow.
    #[inline(always)]
    pub fn address(&self, node: NodeRef) -> *const u8 {
        self.space.guess(node, Self::NODE_BYTES)
    }

    /// A node of this kind, zeroed or as its last owner left it.
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit),
    /// [`ReferencesExhausted`](crate::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn allocate(&self, kind: usize) -> Result<NodeRef> {
        self.space.allocate(kind)
    }

    /// A node of this kind that came back, as its last owner left it.
    pub fn reuse(&self, kind: usize) -> Option<NodeRef> {
        self.space.reuse(kind)
    }

    /// The first of `count` fresh nodes that stand one after the other. Nodes that will come back are told
    /// what kind they are.
    ///
    /// # Errors
    /// As [`SharedArena::allocate`]; nothing has changed then.
    pub fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        self.space.allocate_run(count)
    }

    /// Says of which kind these nodes of a run are, which debug builds remember.
    pub fn tell_kind(&self, kind: usize, first: NodeRef, count: usize) {
        self.space.tell_kind(kind, first, count);
    }

    /// Whether a node is handed out and of this kind, as far as debug builds know.
    pub fn is_of_kind(&self, kind: usize, node: NodeRef) -> bool {
        self.space.is_of_kind(kind, node)
    }

    /// Takes a node back, to be handed out again for the same kind.
    pub fn free(&self, kind: usize, node: NodeRef) {
        self.space.free(kind, node);
    }

    /// Forgets every node and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.space.clear();
    }

    /// Bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.space.live_bytes()
    }

    /// Bytes of every node that was ever in use, what was charged, and what others took from the budget:
    /// nodes that came back keep their memory until they are used again.
    pub fn held_bytes(&self) -> usize {
        self.space.held_bytes()
    }

    /// What the nodes' memory is counted in. Others may take from it.
    pub fn budget(&self) -> &Arc<Budget> {
        self.space.budget()
    }

    /// Counts memory that its owner keeps elsewhere towards the limit and to what is held, until
    /// [`SharedArena::clear`].
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit); nothing has changed then.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        self.space.charge(bytes)
    }

    /// Counts memory no longer that was counted by [`SharedArena::charge`].
    pub fn discharge(&self, bytes: usize) {
        self.space.discharge(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::base::error::Error;

    fn small(limit_bytes: Option<usize>, references: u32) -> SharedArena<2> {
        SharedArena::new(limit_bytes, false, references).unwrap()
    }

    #[test]
    fn nodes_are_zeroed_apart_and_stay_where_they_are() {
        let arena = small(None, u32::MAX);
        let nodes: Vec<_> =
            (0..if cfg!(miri) { 60 } else { 5000 }).map(|_| arena.allocate(0).unwrap()).collect();
        let first = arena.address(nodes[0]);
        for (i, &node) in nodes.iter().enumerate() {
            assert_eq!(arena.address(node).addr() % LINE_BYTES, 0);
            assert!(arena.node(node).as_flattened().iter().all(|word| word.load_relaxed() == 0));
            arena.node(node).as_flattened().iter().for_each(|word| word.store_relaxed(i as u64));
        }
        for (i, &node) in nodes.iter().enumerate() {
            assert!(arena.node(node).as_flattened().iter().all(|word| word.load_relaxed() == i as u64));
        }
        assert_eq!(arena.address(nodes[0]), first);
        assert_eq!(arena.live_bytes(), nodes.len() * 128);
    }

    #[test]
    fn nodes_come_back_for_their_kind_alone() {
        let mut arena = small(None, u32::MAX);
        let (leaf, inner) = (arena.allocate(0).unwrap(), arena.allocate(1).unwrap());
        arena.free(0, leaf);
        arena.free(1, inner);
        assert_eq!(arena.live_bytes(), 0);
        assert_eq!(arena.allocate(1), Ok(inner));
        assert!(![leaf, inner].contains(&arena.allocate(2).unwrap()));
        assert_eq!(arena.allocate(0), Ok(leaf));
        let run = arena.allocate_run(3).unwrap();
        assert_eq!(arena.held_bytes(), 6 * 128);
        arena.node(run.offset(2))[1][7].store_relaxed(9);
        arena.clear();
        assert_eq!((arena.held_bytes(), arena.live_bytes()), (0, 0));
        let again = arena.allocate_run(6).unwrap();
        assert_eq!(arena.node(again.offset(5))[1][7].load_relaxed(), 0);
    }

    #[test]
    fn limits_are_kept_and_named() {
        let arena = small(Some(1000), u32::MAX);
        let nodes: Vec<_> = (0..7).map(|_| arena.allocate(0).unwrap()).collect();
        let refused = Error::MemoryLimit { requested_bytes: 1024, limit_bytes: 1000 };
        assert_eq!(arena.allocate(0), Err(refused.clone()));
        arena.free(0, nodes[3]);
        assert_eq!(arena.allocate(1), Err(refused));
        assert_eq!(arena.allocate(0), Ok(nodes[3]));
        let mut arena = small(Some(2000), u32::MAX);
        arena.charge(1000).unwrap();
        arena.allocate_run(7).unwrap();
        let refused = Error::MemoryLimit { requested_bytes: 2024, limit_bytes: 2000 };
        assert_eq!(arena.allocate(0), Err(refused));
        assert!(arena.charge(200).is_err());
        assert_eq!(arena.held_bytes(), 1896);
        arena.clear();
        assert_eq!((arena.held_bytes(), arena.allocate_run(15).is_ok()), (0, true));
        let arena = small(None, 4);
        assert_eq!(arena.allocate_run(5), Err(Error::ReferencesExhausted { limit: 4 }));
        arena.allocate_run(4).unwrap();
        assert_eq!(arena.allocate(0), Err(Error::ReferencesExhausted { limit: 4 }));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "of kind 0 comes back as kind 1")]
    fn a_node_that_comes_back_as_another_kind_is_caught() {
        let arena = small(None, u32::MAX);
        arena.free(1, arena.allocate(0).unwrap());
    }

    #[test]
    fn readers_find_nodes_while_pieces_are_added() {
        let arena = small(None, u32::MAX);
        let (nodes, newest) = (if cfg!(miri) { 80 } else { 60_000 }, latchless_core::sync::Word::new(0));
        let last = arena.allocate(0).unwrap();
        arena.node(last)[0][0].store_relaxed(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut seen = 0;
                    while seen < nodes {
                        seen = newest.follow();
                        for number in [seen, seen / 2, seen / 3] {
                            let node = NodeRef::from_word(number as u32);
                            assert_eq!(arena.node(node)[0][0].load_relaxed(), number);
                            assert_eq!(arena.address(node), arena.node(node).as_ptr().cast());
                        }
                    }
                });
            }
            for number in 1..=nodes {
                let node = arena.allocate(0).unwrap();
                arena.node(node)[0][0].store_relaxed(number);
                newest.publish(number);
            }
        });
    }

    #[test]
    #[should_panic(expected = "no node of this arena")]
    fn a_foreign_reference_is_caught() {
        small(None, u32::MAX).node(NodeRef::NIL);
    }
}
