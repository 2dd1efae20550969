//! The arena of a concurrent tree: nodes of whole cache lines that many threads read and write.
//!
//! The nodes are words that may be read while they are written, and every operation takes `&self`. The arena
//! of the papers' single-threaded trees, in their crate, is its counterpart.
//!
//! # Thread safety
//! Reading and writing nodes needs no latch here: words are atomics. Handing out and freeing is guarded by a
//! mutex, which trees take once per split.
//!
//! # Invariants
//! 1. A reference that was valid once always leads into the arena's memory, until the arena is cleared or
//!    dropped.
//! 2. A node that was handed out as one kind is freed as the same kind only, so a reader with a stale
//!    reference finds words of the kind that it expects. The kind of a tree's nodes is their level.

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
    /// The length of a node in bytes.
    pub const NODE_BYTES: usize = {
        assert!(LINES > 0, "a node has at least one line");
        LINES * LINE_BYTES
    };

    /// Creates an empty arena, which takes no memory. `references` is the number of nodes that references
    /// can distinguish; tests make it tiny.
    ///
    /// # Errors
    /// None yet: memory can be refused only when nodes are allocated.
    #[inline]
    pub fn new(limit_bytes: Option<usize>, huge_pages: bool, references: u32) -> Result<Self> {
        let node_bytes = Self::NODE_BYTES;
        let options = NodePoolOptions { node_bytes, unit_nodes: 1, limit_bytes, huge_pages, references };
        Ok(Self { space: NodePool::new(options, Begin::Small)? })
    }

    /// Creates an empty arena with the options of this one. Both take their memory from this one's budget, of
    /// which they and others may have taken already, and an arena that is dropped gives its part back.
    pub fn alike(&self) -> Self {
        Self { space: self.space.alike() }
    }

    /// Counts all memory in a shared budget, too. Nothing may have been taken yet.
    pub fn share(&mut self, shared: Arc<Budget>) {
        self.space.share(shared);
    }

    /// Enables prefaulting: a thread of the process populates memory before nodes are handed out.
    pub fn prefault(&mut self) {
        self.space.prefault();
    }

    /// Returns a node's lines.
    ///
    /// # Panics
    /// If the reference isn't one of this arena's: a bug of the caller.
    #[inline(always)]
    pub fn node(&self, node: NodeRef) -> &[Line; LINES] {
        // SAFETY: the node's memory is accessible and aligned as long as the space is borrowed, which
        // clearing takes mutably; any bits are a word, and words may be written while they are read.
        unsafe { &*self.space.at(node, Self::NODE_BYTES).cast() }
    }

    /// Returns a node's lines without a call, if the address table covers the node, as it does nearly all.
    #[inline(always)]
    pub fn near(&self, node: NodeRef) -> Option<&[Line; LINES]> {
        // SAFETY: as above.
        self.space.near(node, Self::NODE_BYTES).map(|at| unsafe { &*at.cast() })
    }

    /// Returns a node's lines, if the reference is one of this arena's: for a reference that may be older
    /// than the arena's last `clear`.
    #[inline(always)]
    pub fn find(&self, node: NodeRef) -> Option<&[Line; LINES]> {
        // SAFETY: as above.
        self.space.find(node, Self::NODE_BYTES).map(|at| unsafe { &*at.cast() })
    }

    /// Returns the process in which the arena was made.
    #[inline(always)]
    pub fn origin(&self) -> &Origin {
        self.space.origin()
    }

    /// Returns a node's address, for a prefetch only.
    #[inline(always)]
    pub fn address(&self, node: NodeRef) -> *const u8 {
        self.space.guess(node, Self::NODE_BYTES)
    }

    /// Returns a node of this kind, zeroed or with the content that its last owner left.
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit),
    /// [`ReferencesExhausted`](crate::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn allocate(&self, kind: usize) -> Result<NodeRef> {
        self.space.allocate(kind)
    }

    /// Returns a freed node of this kind, with the content that its last owner left.
    pub fn reuse(&self, kind: usize) -> Option<NodeRef> {
        self.space.reuse(kind)
    }

    /// Returns the first of `count` adjacent fresh nodes. Nodes that may be freed later get their kind from
    /// [`SharedArena::tell_kind`].
    ///
    /// # Errors
    /// Those of [`SharedArena::allocate`]; nothing has changed then.
    pub fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        self.space.allocate_run(count)
    }

    /// Records the kind of these nodes of a run, in debug builds.
    pub fn tell_kind(&self, kind: usize, first: NodeRef, count: usize) {
        self.space.tell_kind(kind, first, count);
    }

    /// Returns whether a node is in use and of this kind, as far as debug builds know.
    pub fn is_of_kind(&self, kind: usize, node: NodeRef) -> bool {
        self.space.is_of_kind(kind, node)
    }

    /// Frees a node, for reuse as the same kind.
    pub fn free(&self, kind: usize, node: NodeRef) {
        self.space.free(kind, node);
    }

    /// Frees every node and returns the memory to the system. No limit refuses the next node: its bytes stay
    /// taken.
    pub fn clear(&mut self) {
        self.space.clear_for_next();
    }

    /// Returns the bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.space.live_bytes()
    }

    /// Returns the bytes of every node that was ever in use, what was charged, and what others took from the
    /// budget: freed nodes keep their memory until they are reused.
    pub fn held_bytes(&self) -> usize {
        self.space.held_bytes()
    }

    /// Returns the held bytes, those that are committed for further nodes, and those of the free lists.
    pub fn mapped_bytes(&self) -> usize {
        self.space.mapped_bytes()
    }

    /// Returns the budget that counts the nodes' memory. Others may take from it.
    pub fn budget(&self) -> &Arc<Budget> {
        self.space.budget()
    }

    /// Counts memory elsewhere towards the limit and to what is held, until [`SharedArena::clear`].
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit); nothing has changed then.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        self.space.charge(bytes)
    }

    /// Undoes [`SharedArena::charge`].
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
        assert_eq!((arena.held_bytes(), arena.live_bytes()), (128, 0));
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
        assert_eq!((arena.held_bytes(), arena.allocate_run(15).is_ok()), (128, true));
        let arena = small(None, 4);
        assert_eq!(arena.allocate_run(5), Err(Error::ReferencesExhausted { limit: 4 }));
        arena.allocate_run(4).unwrap();
        assert_eq!(arena.allocate(0), Err(Error::ReferencesExhausted { limit: 4 }));
    }

    #[test]
    fn arenas_of_one_budget_share_the_limit_and_give_back_what_they_took() {
        let shared = Arc::new(Budget::new(Some(2500)));
        let mut arena = small(Some(2000), u32::MAX);
        arena.share(Arc::clone(&shared));
        arena.allocate_run(7).unwrap();
        arena.charge(100).unwrap();
        let alike = arena.alike();
        alike.allocate_run(6).unwrap();
        assert_eq!((arena.held_bytes(), alike.held_bytes(), shared.taken_bytes()), (1764, 1764, 1764));
        assert_eq!((arena.live_bytes(), alike.live_bytes()), (7 * 128, 6 * 128));
        let refused = Error::MemoryLimit { requested_bytes: 2020, limit_bytes: 2000 };
        assert_eq!((alike.allocate_run(2), alike.charge(20)), (Err(refused), Ok(())));
        drop(arena);
        assert_eq!((alike.held_bytes(), shared.taken_bytes()), (6 * 128 + 20, 6 * 128 + 20));
        drop(alike);
        assert_eq!(shared.taken_bytes(), 0);
        let mut arena = small(None, u32::MAX);
        arena.share(Arc::clone(&shared));
        arena.allocate_run(5).unwrap();
        arena.clear();
        shared.take(2500 - 128).unwrap();
        assert!(arena.allocate_run(2).is_err(), "the others have taken the rest");
        arena.allocate(0).expect("the first node is paid for");
        assert!((arena.allocate(0).is_err(), arena.held_bytes()) == (true, 128));
        drop(arena);
        assert_eq!(shared.taken_bytes(), 2500 - 128);
        let mut prefaulted = small(None, 4);
        prefaulted.prefault();
        let prefaulted = prefaulted.alike();
        assert_eq!(prefaulted.allocate_run(5), Err(Error::ReferencesExhausted { limit: 4 }));
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
