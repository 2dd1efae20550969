//! The memory of a concurrent tree's nodes: handed out, taken back, never unmapped. What the arenas
//! of nodes of a fixed and of a chosen size have in common.
//!
//! # Thread safety
//! Handing out and taking back is guarded by a mutex, under which nothing foreign is called.
//!
//! # Invariants
//! 1. Nodes `0..committed` can be read and written, and stay so until the space is dropped:
//!    a reference that was good once never leads out of the mapping.
//! 2. A unit that was handed out for one kind comes back for the same kind only, so a reader with a
//!    stale reference finds words of the kind that it expects. Trees take the level as the kind.
//! 3. Units start at multiples of their length.

use super::arena::NodeRef;
use super::growth::Growth;
use super::kinds::Kinds;
use crate::base::error::Result;
use crate::sync::{Word, lock, unseen};
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a space is told when it is made.
#[derive(Debug, Clone, Copy)]
pub struct SpaceOptions {
    /// Bytes of a node: whole cache lines.
    pub node_bytes: usize,
    /// Nodes that are handed out together, side by side. At least one.
    pub unit_nodes: usize,
    /// The most bytes that nodes may take. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether to ask for huge pages.
    pub huge_pages: bool,
    /// How many nodes references can tell apart; tests make it tiny.
    pub references: u32,
}

/// See the file's head.
#[derive(Debug)]
pub(super) struct Space {
    /// Nodes that may be accessed. First field: every access checks against it.
    committed: Word,
    start: NonNull<u8>,
    options: SpaceOptions,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    growth: Growth,
    fresh: usize,
    /// Nodes in use.
    live: usize,
    /// Memory that stands elsewhere and counts towards the limit.
    charged_bytes: usize,
    /// Units that came back, by kind.
    free: Vec<Vec<NodeRef>>,
    kinds: Kinds,
}

// SAFETY: the start is the mapping's, which the space owns; it hands out nothing but the address.
unsafe impl Send for Space {}
// SAFETY: as above; all else is atomics or behind the mutex.
unsafe impl Sync for Space {}

impl Space {
    /// Reserves address space, uses no memory.
    pub(super) fn new(options: SpaceOptions) -> Result<Self> {
        let options = SpaceOptions { unit_nodes: options.unit_nodes.max(1), ..options };
        let SpaceOptions { node_bytes, limit_bytes, huge_pages, references, .. } = options;
        let growth = Growth::new(node_bytes, limit_bytes, huge_pages, references)?;
        Ok(Self {
            committed: Word::new(0),
            start: growth.start(),
            options,
            state: Mutex::new(State {
                growth,
                fresh: 0,
                live: 0,
                charged_bytes: 0,
                free: Vec::new(),
                kinds: Kinds::default(),
            }),
        })
    }

    /// Where the first node begins; the mapping's memory lies behind it.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Which of all nodes this one is: the place of a node that can be accessed.
    ///
    /// # Panics
    /// When the reference isn't one of this space's: a bug of the caller.
    #[inline(always)]
    pub(super) fn checked(&self, node: NodeRef) -> usize {
        let at = u64::from(node.to_word());
        // Only grows: no step at which others matter.
        assert!(at < unseen(|| self.committed.peek()), "a reference to no node of this arena");
        at as usize
    }

    /// Whether [`Space::checked`] takes this reference.
    #[inline(always)]
    pub(super) fn holds(&self, node: NodeRef) -> bool {
        u64::from(node.to_word()) < unseen(|| self.committed.peek())
    }

    pub(super) fn node_bytes(&self) -> usize {
        self.options.node_bytes
    }

    pub(super) fn unit_nodes(&self) -> usize {
        self.options.unit_nodes
    }

    /// A unit of this kind that came back, as its last owner left it.
    pub(super) fn reuse(&self, kind: usize) -> Option<NodeRef> {
        let mut state = self.state();
        let unit = state.free.get_mut(kind).and_then(Vec::pop)?;
        state.live += self.options.unit_nodes;
        state.kinds.hand_out_again(self.number(unit), kind);
        Some(unit)
    }

    /// A unit of this kind, zeroed or as its last owner left it.
    pub(super) fn allocate(&self, kind: usize) -> Result<NodeRef> {
        match self.reuse(kind) {
            Some(unit) => Ok(unit),
            None => {
                let unit = self.allocate_run(1)?;
                self.tell_kind(kind, unit, 1);
                Ok(unit)
            }
        }
    }

    /// The first of `count` fresh units that stand one after the other.
    pub(super) fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        let count = count.saturating_mul(self.options.unit_nodes);
        let state = &mut *self.state();
        let needed = state.fresh.saturating_add(count);
        if state.charged_bytes > 0 {
            let nodes = needed.saturating_mul(self.options.node_bytes);
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
        state.kinds.hand_out(self.number(first), count / self.options.unit_nodes);
        Ok(first)
    }

    /// Says of which kind these units of a run are, which debug builds remember.
    pub(super) fn tell_kind(&self, kind: usize, first: NodeRef, count: usize) {
        if cfg!(debug_assertions) {
            self.state().kinds.tell(self.number(first), count, kind);
        }
    }

    /// Whether a unit is handed out and of this kind, as far as debug builds know.
    pub(super) fn is_of_kind(&self, kind: usize, unit: NodeRef) -> bool {
        !cfg!(debug_assertions) || self.state().kinds.is(self.number(unit), kind)
    }

    /// Which of all units this is.
    fn number(&self, unit: NodeRef) -> usize {
        unit.to_word() as usize / self.options.unit_nodes
    }

    /// Takes a unit back, to be handed out again for the same kind.
    pub(super) fn free(&self, kind: usize, unit: NodeRef) {
        let mut state = self.state();
        state.kinds.take_back(self.number(unit), kind);
        if state.free.len() <= kind {
            state.free.resize_with(kind + 1, Vec::new);
        }
        state.free[kind].push(unit);
        state.live -= self.options.unit_nodes;
    }

    /// Forgets every node and gives the memory back to the system.
    pub(super) fn clear(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.growth.release(state.fresh);
        (state.fresh, state.live, state.charged_bytes) = (0, 0, 0);
        state.free.clear();
        state.kinds.clear();
    }

    /// Bytes of the nodes in use.
    pub(super) fn live_bytes(&self) -> usize {
        self.state().live * self.options.node_bytes
    }

    /// Bytes of every node that was ever in use, and what was charged.
    pub(super) fn held_bytes(&self) -> usize {
        let state = self.state();
        state.fresh * self.options.node_bytes + state.charged_bytes
    }

    /// Counts memory that stands elsewhere towards the limit.
    pub(super) fn charge(&self, bytes: usize) -> Result<()> {
        let mut state = self.state();
        let nodes = state.fresh * self.options.node_bytes;
        state.growth.within_limit(nodes + state.charged_bytes + bytes)?;
        state.charged_bytes += bytes;
        Ok(())
    }

    /// Counts memory no longer that was counted by [`Space::charge`].
    pub(super) fn discharge(&self, bytes: usize) {
        let mut state = self.state();
        state.charged_bytes = state.charged_bytes.saturating_sub(bytes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
