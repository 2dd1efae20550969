//! The arena of a concurrent tree: nodes of whole cache lines that many threads read and write.
//!
//! As [`Arena`](super::arena::Arena), but nodes are words that may be read while they are written,
//! and everything goes through `&self`.
//!
//! # Thread safety
//! Reading and writing nodes needs no latch here: words are atomics. Handing out and taking back is
//! guarded by a mutex; trees do that once a split.
//!
//! # Invariants
//! 1. Nodes `0..committed` can be read and written, and stay so until the arena is dropped:
//!    a reference that was good once never leads out of the mapping.
//! 2. A node that was handed out for one kind comes back for the same kind only, so a reader with a
//!    stale reference finds words of the kind that it expects. Trees take the level as the kind.

use super::arena::NodeRef;
use super::growth::Growth;
use super::line::LINE_BYTES;
use crate::base::error::Result;
use crate::sync::{Line, Word};
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Nodes of `LINES` cache lines each. See the file's head.
#[derive(Debug)]
pub struct SharedArena<const LINES: usize> {
    /// Nodes that may be accessed. First field: every access checks against it.
    committed: Word,
    start: NonNull<u8>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    growth: Growth,
    fresh: usize,
    live: usize,
    /// Memory that stands elsewhere and counts towards the limit.
    charged_bytes: usize,
    /// Nodes that came back, by kind.
    free: Vec<Vec<NodeRef>>,
}

// SAFETY: the start is the mapping's, which the arena owns; what lies there is atomics.
unsafe impl<const LINES: usize> Send for SharedArena<LINES> {}
// SAFETY: as above; all else is atomics or behind the mutex.
unsafe impl<const LINES: usize> Sync for SharedArena<LINES> {}

impl<const LINES: usize> SharedArena<LINES> {
    /// Bytes in a node.
    pub const NODE_BYTES: usize = LINES * LINE_BYTES;

    /// An empty arena. Reserves address space, uses no memory. `references`: how many nodes
    /// references can tell apart; tests make it tiny.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory) when even a small stretch of address space is refused.
    pub fn new(limit_bytes: Option<usize>, huge_pages: bool, references: u32) -> Result<Self> {
        let growth = Growth::new(Self::NODE_BYTES, limit_bytes, huge_pages, references)?;
        Ok(Self {
            committed: Word::new(0),
            start: growth.start(),
            state: Mutex::new(State { growth, fresh: 0, live: 0, charged_bytes: 0, free: Vec::new() }),
        })
    }

    /// A node's lines.
    ///
    /// # Panics
    /// When the reference isn't one of this arena's: a bug of the caller.
    #[inline(always)]
    pub fn node(&self, node: NodeRef) -> &[Line; LINES] {
        let at = u64::from(node.to_word());
        assert!(at < self.committed.peek(), "a reference to no node of this arena");
        // SAFETY: the node lies in committed memory of the mapping (invariant 1), which this arena
        // owns and which is aligned to more than a line; any bits are a word, and words may be
        // written while they are read.
        unsafe { self.start.add(at as usize * Self::NODE_BYTES).cast().as_ref() }
    }

    /// Where a node begins. An address to prefetch, not to follow.
    #[inline(always)]
    pub fn address(&self, node: NodeRef) -> *const u8 {
        self.start.as_ptr().wrapping_add(node.to_word() as usize * Self::NODE_BYTES)
    }

    /// A node of this kind, zeroed or as its last owner left it.
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit),
    /// [`ReferencesExhausted`](crate::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn allocate(&self, kind: usize) -> Result<NodeRef> {
        let mut state = self.state();
        if let Some(node) = state.free.get_mut(kind).and_then(Vec::pop) {
            state.live += 1;
            return Ok(node);
        }
        self.take_fresh(&mut state, 1)
    }

    /// The first of `count` fresh nodes that stand one after the other, of one kind.
    ///
    /// # Errors
    /// As [`SharedArena::allocate`]; nothing has changed then.
    pub fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        self.take_fresh(&mut self.state(), count)
    }

    /// Takes a node back, to be handed out again for the same kind.
    pub fn free(&self, kind: usize, node: NodeRef) {
        let mut state = self.state();
        if state.free.len() <= kind {
            state.free.resize_with(kind + 1, Vec::new);
        }
        state.free[kind].push(node);
        state.live -= 1;
    }

    /// Forgets every node and gives the memory back to the system.
    pub fn clear(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.growth.release(state.fresh);
        (state.fresh, state.live, state.charged_bytes) = (0, 0, 0);
        state.free.clear();
    }

    /// Bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.state().live * Self::NODE_BYTES
    }

    /// Bytes of every node that was ever in use, and what was charged: nodes that came back keep their
    /// memory until they are used again.
    pub fn held_bytes(&self) -> usize {
        let state = self.state();
        state.fresh * Self::NODE_BYTES + state.charged_bytes
    }

    /// Counts memory that its owner keeps elsewhere towards the limit and to what is held, until
    /// [`SharedArena::clear`].
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit); nothing has changed then.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        let mut state = self.state();
        state.growth.within_limit(state.fresh * Self::NODE_BYTES + state.charged_bytes + bytes)?;
        state.charged_bytes += bytes;
        Ok(())
    }

    fn take_fresh(&self, state: &mut State, count: usize) -> Result<NodeRef> {
        let needed = state.fresh.saturating_add(count);
        if state.charged_bytes > 0 {
            let nodes = needed.saturating_mul(Self::NODE_BYTES);
            state.growth.within_limit(nodes.saturating_add(state.charged_bytes))?;
        }
        let committed = self.committed.peek() as usize;
        if needed > committed {
            // References to the new nodes are published after this; who follows one sees it.
            self.committed.publish(state.growth.grow(committed, needed)? as u64);
        }
        let first = NodeRef::from_word(state.fresh as u32);
        state.fresh = needed;
        state.live += count;
        Ok(first)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here calls foreign code, so a poisoned state is a consistent one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;

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
            assert!(arena.node(node).as_flattened().iter().all(|word| word.peek() == 0));
            arena.node(node).as_flattened().iter().for_each(|word| word.poke(i as u64));
        }
        for (i, &node) in nodes.iter().enumerate() {
            assert!(arena.node(node).as_flattened().iter().all(|word| word.peek() == i as u64));
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
        arena.node(run.offset(2))[1][7].poke(9);
        arena.clear();
        assert_eq!((arena.held_bytes(), arena.live_bytes()), (0, 0));
        let again = arena.allocate_run(6).unwrap();
        assert_eq!(arena.node(again.offset(5))[1][7].peek(), 0);
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
    #[should_panic(expected = "no node of this arena")]
    fn a_foreign_reference_is_caught() {
        small(None, u32::MAX).node(NodeRef::NIL);
    }
}
