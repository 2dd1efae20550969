//! The memory of a concurrent tree's nodes: handed out, freed, never unmapped. The common part of the arenas
//! for nodes of fixed and of configurable size.
//!
//! # Thread safety
//! Handing out and freeing is guarded by a mutex, under which no foreign code is called.
//!
//! # Invariants
//! 1. Nodes below the reach's bound can be read and written in place until the space is cleared or dropped:
//!    a reference that was valid once always leads into the space's memory.
//! 2. A unit that was handed out as one kind is freed as the same kind only, so a reader with a stale
//!    reference finds words of the kind that it expects. The kind of a tree's nodes is their level.
//! 3. Units start at multiples of their length.

use super::budget::Budget;
use super::free::{FreeUnits, KINDS};
use super::growth::{Plan, ReservedRegion};
use super::kinds::Kinds;
use super::left::largest_reservation;
use super::line::LINE_BYTES;
use super::mapping::HUGE_PAGE_BYTES;
use super::reach::Reach;
use super::refusal::allowed;
use crate::base::error::Result;
use crate::mem::node_ref::NodeRef;
use crate::sync::{Mutex, Origin};
use std::sync::{Arc, MutexGuard};

/// The options of a node pool.
#[derive(Debug, Clone, Copy)]
pub struct NodePoolOptions {
    /// The length of a node in bytes: whole words, at least one.
    pub node_bytes: usize,
    /// The number of adjacent nodes that are handed out together. At least one.
    pub unit_nodes: usize,
    /// The maximum number of bytes of nodes and of charged memory. `None`: the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages.
    pub huge_pages: bool,
    /// The number of nodes that references can distinguish; tests make it tiny.
    pub references: u32,
}

/// The kind of units to which no reader can hold a reference that implies a kind: they may be converted to
/// another kind.
pub const ANY_KIND: usize = KINDS - 1;

/// The minimum number of bytes after the last node in use that are kept populated. Threads that split leaves
/// all the time take some ten milliseconds for as much.
const AHEAD_BYTES_MIN: usize = 2 * HUGE_PAGE_BYTES;
/// The corresponding maximum.
const AHEAD_BYTES_MAX: usize = 8 * HUGE_PAGE_BYTES;
/// Between the two limits, this share of the bytes in use.
const AHEAD_SHARE: usize = 32;

/// See the module documentation.
#[derive(Debug)]
pub struct NodePool {
    /// First field: every access goes through it.
    reach: Reach,
    options: NodePoolOptions,
    origin: Origin,
    /// Whether a thread of the process prefaults memory before nodes are handed out.
    prefaults: bool,
    state: Mutex<State>,
    /// After the memory that it counts, so that it is dropped later.
    budget: Arc<Budget>,
}

/// How a space begins.
#[derive(Debug, Clone, Copy)]
pub enum Begin {
    /// With one unit, from the allocator: a small tree takes little memory.
    Small,
    /// With some pages, so that a memory-hierarchy model sees the same addresses wherever the allocator's
    /// memory is.
    Paged,
}

#[derive(Debug)]
struct State {
    growth: ReservedRegion,
    fresh: usize,
    /// The number of fresh nodes at which more memory is to be prefaulted.
    ready: usize,
    /// The number of nodes in use.
    live: usize,
    /// The bytes elsewhere that were charged.
    charged_bytes: usize,
    /// The bytes that were taken from the budget for the next nodes.
    paid_bytes: usize,
    /// Freed units, by kind.
    free: FreeUnits,
    kinds: Kinds,
}

impl NodePool {
    /// Creates an empty pool; takes no memory.
    #[inline]
    pub fn new(options: NodePoolOptions, begin: Begin) -> Result<Self> {
        let options = NodePoolOptions { unit_nodes: options.unit_nodes.max(1), ..options };
        let NodePoolOptions { node_bytes, limit_bytes, huge_pages, references, .. } = options;
        let (first_bytes, align) = match begin {
            Begin::Small => (node_bytes * options.unit_nodes, LINE_BYTES),
            Begin::Paged => (64 << 10, 4 << 10),
        };
        let largest = largest_reservation;
        let plan = Plan { node_bytes, limit_bytes, huge_pages, references, first_bytes, align, largest };
        let budget = Arc::new(Budget::new(limit_bytes));
        Ok(Self::empty(options, ReservedRegion::new(plan), budget))
    }

    /// Creates an empty pool with the options of this one, the prefaulting included. Both count in this one's
    /// budget, until they are dropped.
    pub fn alike(&self) -> Self {
        let mut pool = Self::empty(self.options, self.state().growth.alike(), Arc::clone(&self.budget));
        pool.prefaults = self.prefaults;
        pool
    }

    #[inline]
    fn empty(options: NodePoolOptions, growth: ReservedRegion, budget: Arc<Budget>) -> Self {
        let state = State {
            growth,
            fresh: 0,
            ready: 0,
            live: 0,
            charged_bytes: 0,
            paid_bytes: 0,
            free: FreeUnits::none(),
            kinds: Kinds::default(),
        };
        let (reach, origin, state) = (Reach::none(), Origin::here(), Mutex::new(state));
        Self { reach, options, origin, prefaults: false, state, budget }
    }

    /// Counts all memory in a shared budget, too. Nothing may have been taken yet.
    pub fn share(&mut self, shared: Arc<Budget>) {
        debug_assert_eq!(self.held_bytes(), 0, "the shared budget counts everything");
        self.budget = Arc::new(Budget::within(self.options.limit_bytes, Some(shared)));
    }

    /// Enables prefaulting: a thread of the process populates memory before nodes are handed out.
    pub fn prefault(&mut self) {
        self.prefaults = true;
    }

    /// Returns a node's address. The memory of the whole node is accessible until the space is cleared or
    /// dropped. The address is a multiple of `node_bytes` after the beginning of a cache line.
    ///
    /// `node_bytes` is the value of the options, which the caller passes as a constant where it has one.
    ///
    /// # Panics
    /// If the reference isn't one of this space's: a bug of the caller.
    #[inline(always)]
    pub fn at(&self, node: NodeRef, node_bytes: usize) -> *mut u8 {
        debug_assert_eq!(node_bytes, self.options.node_bytes);
        self.reach.at(node, node_bytes)
    }

    /// Returns a node's address if the table covers it, as it does nearly all nodes. See [`NodePool::at`].
    #[inline(always)]
    pub fn near(&self, node: NodeRef, node_bytes: usize) -> Option<*mut u8> {
        debug_assert_eq!(node_bytes, self.options.node_bytes);
        self.reach.near(node, node_bytes)
    }

    /// Returns a node's address, if the reference is one of this space's. See [`NodePool::at`].
    #[inline(always)]
    pub fn find(&self, node: NodeRef, node_bytes: usize) -> Option<*mut u8> {
        debug_assert_eq!(node_bytes, self.options.node_bytes);
        self.reach.find(node, node_bytes)
    }

    /// Returns the likely address of a node, for a prefetch.
    #[inline(always)]
    pub fn guess(&self, node: NodeRef, node_bytes: usize) -> *const u8 {
        self.reach.guess(node, node_bytes)
    }

    /// Returns the length of a node in bytes.
    pub fn node_bytes(&self) -> usize {
        self.options.node_bytes
    }

    /// Returns the process in which the space was made.
    #[inline(always)]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the number of nodes per unit.
    pub fn unit_nodes(&self) -> usize {
        self.options.unit_nodes
    }

    /// Returns a freed unit of this kind, with the content that its last owner left.
    pub fn reuse(&self, kind: usize) -> Option<NodeRef> {
        self.pop(&mut self.state(), kind)
    }

    fn pop(&self, state: &mut State, kind: usize) -> Option<NodeRef> {
        let unit = state.free.pop(kind, |unit| self.number(unit))?;
        state.live += self.options.unit_nodes;
        state.kinds.hand_out_again(self.number(unit), kind);
        Some(unit)
    }

    /// Returns a freed unit of this kind, or converts one of [`ANY_KIND`].
    fn reuse_or_convert(&self, kind: usize) -> Option<NodeRef> {
        let state = &mut *self.state();
        self.pop(state, kind).or_else(|| {
            let unit = self.pop(state, ANY_KIND)?;
            state.kinds.convert(self.number(unit), (ANY_KIND, kind));
            Some(unit)
        })
    }

    /// Returns a unit of this kind, zeroed or with the content that its last owner left.
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit),
    /// [`ReferencesExhausted`](crate::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](crate::Error::OutOfMemory); nothing has changed then.
    ///
    /// # Panics
    /// If there is no such kind: there are 64.
    pub fn allocate(&self, kind: usize) -> Result<NodeRef> {
        assert!(kind < KINDS, "kind {kind} of {KINDS}");
        match self.reuse_or_convert(kind) {
            Some(unit) => Ok(unit),
            None => {
                let unit = self.allocate_run(1)?;
                self.tell_kind(kind, unit, 1);
                Ok(unit)
            }
        }
    }

    /// Returns the first of `count` adjacent fresh units.
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit),
    /// [`ReferencesExhausted`](crate::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](crate::Error::OutOfMemory); nothing has changed then.
    pub fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        let count = count.saturating_mul(self.options.unit_nodes);
        allowed(count.saturating_mul(self.options.node_bytes))?;
        let state = &mut *self.state();
        let (needed, bytes) =
            (state.fresh.saturating_add(count), count.saturating_mul(self.options.node_bytes));
        let paid = state.paid_bytes.min(bytes);
        self.budget.take(bytes - paid)?;
        self.make_usable(state, needed).inspect_err(|_| self.budget.give_back(bytes - paid))?;
        state.paid_bytes -= paid;
        if self.prefaults && needed > state.ready {
            self.prefault_behind(state, needed);
        }
        let first = NodeRef::from_word(state.fresh as u32);
        state.fresh = needed;
        state.live += count;
        state.kinds.hand_out(self.number(first), count / self.options.unit_nodes);
        Ok(first)
    }

    /// Makes the first `needed` nodes usable.
    fn make_usable(&self, state: &mut State, needed: usize) -> Result<()> {
        let units = needed / self.options.unit_nodes;
        state.free.reserve(units)?;
        state.kinds.reserve(units)?;
        if needed > state.growth.usable() { state.growth.grow(needed, &self.reach) } else { Ok(()) }
    }

    /// Has memory after the first `used` nodes prefaulted, enough that no insert waits for it.
    #[cold]
    #[inline(never)]
    fn prefault_behind(&self, state: &mut State, used: usize) {
        let node_bytes = self.options.node_bytes;
        let used_bytes = used.saturating_mul(node_bytes);
        let ahead_bytes = (used_bytes / AHEAD_SHARE).clamp(AHEAD_BYTES_MIN, AHEAD_BYTES_MAX);
        let end = used.saturating_add(ahead_bytes / node_bytes);
        // Small spaces have no mappings, which begin at the size of a huge page.
        if used_bytes >= HUGE_PAGE_BYTES / 2 && end > state.growth.usable() {
            // A refusal isn't an error yet.
            let _ = state.growth.grow_ahead(end, &self.reach);
        }
        state.growth.prefault(end);
        state.ready = used.next_multiple_of((HUGE_PAGE_BYTES / 2 / node_bytes).max(1));
    }

    /// Records the kind of these units of a run, in debug builds.
    pub fn tell_kind(&self, kind: usize, first: NodeRef, count: usize) {
        if cfg!(debug_assertions) {
            self.state().kinds.tell(self.number(first), count, kind);
        }
    }

    /// Allows units to be freed as any kind.
    pub fn mix_kinds(&mut self) {
        self.state.get_mut().kinds.mix();
    }

    /// Returns whether a unit is in use and of this kind, as far as debug builds know.
    pub fn is_of_kind(&self, kind: usize, unit: NodeRef) -> bool {
        !cfg!(debug_assertions) || self.state().kinds.is(self.number(unit), kind)
    }

    /// Returns the unit's number.
    fn number(&self, unit: NodeRef) -> usize {
        unit.to_word() as usize / self.options.unit_nodes
    }

    /// Frees a unit, for reuse as the same kind. Needs no memory.
    ///
    /// # Panics
    /// If it was never handed out, or there is no such kind: bugs of the caller.
    pub fn free(&self, kind: usize, unit: NodeRef) {
        let mut state = self.state();
        state.kinds.take_back(self.number(unit), kind);
        state.free.push(kind, self.number(unit), unit);
        state.live -= self.options.unit_nodes;
    }

    /// Frees every node and returns the memory to the system.
    pub fn clear(&mut self) {
        let bytes = self.forget_nodes();
        self.budget.give_back(bytes);
    }

    /// The same, but the budget keeps the bytes of one unit, if there was one: no limit refuses the next
    /// unit, whatever else takes from the budget meanwhile.
    pub fn clear_for_next(&mut self) {
        let bytes = self.forget_nodes();
        let paid = bytes.min(self.options.unit_nodes * self.options.node_bytes);
        self.budget.give_back(bytes - paid);
        self.state.get_mut().paid_bytes = paid;
    }

    /// Frees every node. Returns the bytes that were taken from the budget for them, and those charged.
    fn forget_nodes(&mut self) -> usize {
        let bytes = self.own_bytes();
        let state = self.state.get_mut();
        state.growth.clear(&mut self.reach);
        (state.fresh, state.ready, state.live, state.charged_bytes, state.paid_bytes) = (0, 0, 0, 0, 0);
        state.free.clear();
        state.kinds.clear();
        bytes
    }

    /// Returns the bytes that were taken from the budget for nodes, the next one included, and those charged.
    fn own_bytes(&mut self) -> usize {
        let state = self.state.get_mut();
        state.fresh * self.options.node_bytes + state.charged_bytes + state.paid_bytes
    }

    /// Returns the bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.state().live * self.options.node_bytes
    }

    /// Returns the bytes of every node that was ever in use, the charged bytes, and what others took from
    /// the [budget](NodePool::budget).
    pub fn held_bytes(&self) -> usize {
        self.budget.taken_bytes()
    }

    /// Returns the [held](NodePool::held_bytes) bytes, those that are committed for further nodes, and those
    /// of the free lists.
    pub fn mapped_bytes(&self) -> usize {
        let state = self.state();
        let ahead = state.growth.committed_bytes().saturating_sub(state.fresh * self.options.node_bytes);
        self.held_bytes() + ahead + state.free.bytes()
    }

    /// Returns the budget that counts the nodes' memory. Others may take from it.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Counts memory elsewhere towards the limit, until [`NodePool::clear`].
    ///
    /// # Errors
    /// [`MemoryLimit`](crate::Error::MemoryLimit); nothing has changed then.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        self.budget.take(bytes)?;
        self.state().charged_bytes += bytes;
        Ok(())
    }

    /// Undoes [`NodePool::charge`].
    pub fn discharge(&self, bytes: usize) {
        let mut state = self.state();
        debug_assert!(bytes <= state.charged_bytes, "{bytes} of {} charged bytes", state.charged_bytes);
        state.charged_bytes -= bytes;
        self.budget.give_back(bytes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here calls foreign code, so after a panic the state is consistent.
        self.state.lock()
    }
}

impl Drop for NodePool {
    /// Gives back what the pool has taken: its budget may be that of others, too.
    fn drop(&mut self) {
        // Counted until it is freed.
        self.state.get_mut().growth.free();
        let bytes = self.own_bytes();
        self.budget.give_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_is_alike_has_the_options_and_the_budget_and_none_of_the_nodes() {
        for (huge_pages, prefaults) in [(true, false), (false, true)] {
            let options = NodePoolOptions {
                node_bytes: 128,
                unit_nodes: 2,
                limit_bytes: Some(1000),
                huge_pages,
                references: 77,
            };
            let mut pool = NodePool::new(options, Begin::Small).unwrap();
            if prefaults {
                pool.prefault();
            }
            pool.allocate_run(3).unwrap();
            let alike = pool.alike();
            assert_eq!(format!("{:?}", alike.options), format!("{:?}", pool.options));
            let plan = |pool: &NodePool| format!("{:?}", pool.state().growth.plan());
            assert_eq!((plan(&alike), alike.prefaults), (plan(&pool), prefaults));
            assert_eq!((alike.live_bytes(), alike.held_bytes(), pool.live_bytes()), (0, 768, 768));
            assert!(Arc::ptr_eq(alike.budget(), pool.budget()) && alike.reuse(0).is_none());
        }
    }
}
