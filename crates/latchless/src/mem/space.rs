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
use super::machine_bytes;
use super::mapping::{HUGE_PAGE_BYTES, Mapping};
use crate::base::error::{Error, Result};
use crate::sync::Word;
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that are committed at the least at a time.
const SMALLEST_STEP_BYTES: usize = 64 << 10;
/// Bytes that are committed at the most at a time.
const LARGEST_STEP_BYTES: usize = 64 << 20;

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
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    mapping: Mapping,
    fresh: usize,
    /// Nodes in use.
    live: usize,
    /// Units that came back, by kind.
    free: Vec<Vec<NodeRef>>,
}

// SAFETY: the start is the mapping's, which the space owns; it hands out nothing but the address.
unsafe impl Send for Space {}
// SAFETY: as above; all else is atomics or behind the mutex.
unsafe impl Sync for Space {}

impl Space {
    /// Reserves address space, uses no memory.
    pub(super) fn new(options: SpaceOptions) -> Result<Self> {
        let options = SpaceOptions { unit_nodes: options.unit_nodes.max(1), ..options };
        let addressable = (options.references as usize).saturating_mul(options.node_bytes);
        let wanted = options.limit_bytes.unwrap_or(usize::MAX).min(machine_bytes()).min(addressable);
        let mut mapping = Mapping::reserve(wanted.max(SMALLEST_STEP_BYTES))?;
        if options.huge_pages {
            mapping.advise_huge(HUGE_PAGE_BYTES);
        }
        Ok(Self {
            committed: Word::new(0),
            start: mapping.start(),
            options,
            capacity: (mapping.bytes() / options.node_bytes).min(options.references as usize),
            state: Mutex::new(State { mapping, fresh: 0, live: 0, free: Vec::new() }),
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
        assert!(at < self.committed.peek(), "a reference to no node of this arena");
        at as usize
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
        Some(unit)
    }

    /// A unit of this kind, zeroed or as its last owner left it.
    pub(super) fn allocate(&self, kind: usize) -> Result<NodeRef> {
        match self.reuse(kind) {
            Some(unit) => Ok(unit),
            None => self.allocate_run(1),
        }
    }

    /// The first of `count` fresh units that stand one after the other, of one kind.
    pub(super) fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        let count = count.saturating_mul(self.options.unit_nodes);
        let state = &mut *self.state();
        let needed = state.fresh.saturating_add(count);
        self.commit(state, needed)?;
        let first = NodeRef::from_word(state.fresh as u32);
        state.fresh = needed;
        state.live += count;
        Ok(first)
    }

    /// Takes a unit back, to be handed out again for the same kind.
    pub(super) fn free(&self, kind: usize, unit: NodeRef) {
        let mut state = self.state();
        if state.free.len() <= kind {
            state.free.resize_with(kind + 1, Vec::new);
        }
        state.free[kind].push(unit);
        state.live -= self.options.unit_nodes;
    }

    /// Forgets every node and gives the memory back to the system.
    pub(super) fn clear(&mut self) {
        let node_bytes = self.options.node_bytes;
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let used = (state.fresh * node_bytes).next_multiple_of(SMALLEST_STEP_BYTES);
        let used = used.min(state.mapping.bytes());
        state.mapping.release(0, used);
        (state.fresh, state.live) = (0, 0);
        state.free.clear();
    }

    /// Bytes of the nodes in use.
    pub(super) fn live_bytes(&self) -> usize {
        self.state().live * self.options.node_bytes
    }

    /// Bytes of every node that was ever in use.
    pub(super) fn held_bytes(&self) -> usize {
        self.state().fresh * self.options.node_bytes
    }

    fn commit(&self, state: &mut State, needed: usize) -> Result<()> {
        let requested_bytes = needed.saturating_mul(self.options.node_bytes);
        if let Some(limit_bytes) = self.options.limit_bytes
            && requested_bytes > limit_bytes
        {
            return Err(Error::MemoryLimit { requested_bytes, limit_bytes });
        }
        let committed = self.committed.peek() as usize;
        if needed <= committed {
            return Ok(());
        }
        if needed > self.options.references as usize {
            return Err(Error::ReferencesExhausted { limit: u64::from(self.options.references) });
        }
        if needed > self.capacity {
            return Err(Error::OutOfMemory { requested_bytes });
        }
        let from = (committed * self.options.node_bytes).next_multiple_of(SMALLEST_STEP_BYTES);
        let step = from.clamp(SMALLEST_STEP_BYTES, LARGEST_STEP_BYTES);
        let to = requested_bytes.max(from + step).next_multiple_of(SMALLEST_STEP_BYTES);
        let to = to.min(state.mapping.bytes());
        if to > from {
            state.mapping.commit(from, to)?;
        }
        // References to the new nodes are published after this; who follows one sees it.
        self.committed.publish((to / self.options.node_bytes).min(self.capacity) as u64);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here calls foreign code, so a poisoned state is a consistent one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
