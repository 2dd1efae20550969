//! The arena of trees whose nodes are made of words as wide as their keys, of a size that is chosen at
//! run time, and that are handed out in *units*: one node, or a whole node group side by side.
//!
//! Units pass through *shelves*, one for each thread (the paper's memory pools, OLFIT §6), so threads
//! rarely meet at the memory behind them. Where readers hold no latch and units aren't kept for their
//! level, a unit waits on its shelf until nobody can be reading it ([`Epochs`]).
//!
//! # Thread safety
//! Words are atomics. A shelf is guarded by a mutex under which nothing is told to the tracing hook and
//! nothing is waited for, so that workers of a simulation which take turns on one thread never meet one
//! another there.

mod shelf;

use crate::common::epochs::Epochs;
use crate::error;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::space::{Begin, NodePool};
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::{Backoff, BitsWord, Mutex, Origin};
use latchless_core::sync::{SLOTS, slot};
use shelf::Shelf;
use std::sync::MutexGuard;

pub use latchless_core::mem::space::NodePoolOptions;

/// When units come back to be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// At once, for the same kind: readers notice.
    AtOnce,
    /// When every thread that was inside has gone out.
    Later,
}

/// Units of nodes. See the module's head.
#[derive(Debug)]
pub struct UnitArena<W> {
    space: NodePool,
    node_words: usize,
    shelves: Box<[Shelf]>,
    epochs: Option<Epochs>,
    /// Units for those who must not be refused, and how many there should be.
    reserve: Mutex<Vec<NodeRef>>,
    reserved: usize,
    words: PhantomData<fn() -> W>,
}

/// The most units that one call takes from the reserve.
pub const RESERVE_MAX: usize = 4;

impl<W: BitsWord> UnitArena<W> {
    /// An arena with this many units in reserve.
    ///
    /// # Errors
    /// [`NodeWords`](crate::Error::NodeWords) when nodes aren't whole words, or memory for the reserve is
    /// refused.
    pub fn new(options: NodePoolOptions, reuse: Reuse, reserved: usize) -> error::Result<Self> {
        let (given, word_bytes) = (options.node_bytes, size_of::<W>());
        // Or words would be misaligned, and lie across cache lines.
        if given == 0 || !given.is_multiple_of(word_bytes) {
            return Err(error::Error::NodeWords { given, word_bytes });
        }
        let mut arena = Self {
            space: NodePool::new(options, Begin::Paged)?,
            node_words: options.node_bytes / size_of::<W>(),
            shelves: (0..SLOTS).map(|_| Shelf::default()).collect(),
            epochs: (reuse == Reuse::Later).then(|| Epochs::new(SLOTS)),
            reserve: Mutex::default(),
            reserved: reserved.min(RESERVE_MAX),
            words: PhantomData,
        };
        if reuse == Reuse::Later {
            arena.space.mix_kinds();
        }
        arena.stock()?;
        Ok(arena)
    }

    fn stock(&mut self) -> Result<()> {
        let units: Result<Vec<_>> = (0..self.reserved).map(|_| self.space.allocate(0)).collect();
        *self.reserve.get_mut() = units?;
        Ok(())
    }

    /// A node's words.
    ///
    /// # Panics
    /// When the reference isn't one of this arena's: a bug of the caller.
    #[inline(always)]
    pub fn words(&self, node: NodeRef) -> &[W] {
        let first = self.space.at(node, self.space.node_bytes()).cast::<W>();
        // SAFETY: the node's memory is accessible as long as the space is borrowed, and aligned to more
        // than a word; a node is that many words long; any bits are a word (of which
        // there are two types, sealed), and words may be written while they are read. All nodes of an
        // arena are of the same words, so no access races with one of another width.
        unsafe { core::slice::from_raw_parts(first, self.node_words) }
    }

    /// Whether a reference is one of this arena's: for a thread that takes it from a node that is just
    /// changing.
    #[inline(always)]
    pub fn holds(&self, node: NodeRef) -> bool {
        self.space.find(node, self.space.node_bytes()).is_some()
    }

    /// The process in which the arena was made.
    #[inline(always)]
    pub fn origin(&self) -> &Origin {
        self.space.origin()
    }

    /// Where a node begins. An address to prefetch, not to follow.
    #[inline(always)]
    pub fn address(&self, node: NodeRef) -> *const u8 {
        self.space.guess(node, self.space.node_bytes())
    }

    /// Bytes of a node.
    pub fn node_bytes(&self) -> usize {
        self.space.node_bytes()
    }

    /// A unit of this kind, zeroed or as its last owner left it.
    ///
    /// # Errors
    /// [`MemoryLimit`](latchless_core::base::error::Error::MemoryLimit),
    /// [`ReferencesExhausted`](latchless_core::base::error::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](latchless_core::base::error::Error::OutOfMemory).
    pub fn allocate<T: Trace>(&self, kind: usize) -> Result<NodeRef> {
        T::work(Work::Allocate);
        if let Some(unit) = self.take_ready::<T>(kind) {
            return Ok(unit);
        }
        self.space.allocate(kind).or_else(|refused| {
            self.sweep::<T>();
            self.space.reuse(kind).ok_or(refused)
        })
    }

    /// A unit of this kind that came back, if one is there: it takes no more memory.
    pub fn reuse<T: Trace>(&self, kind: usize) -> Option<NodeRef> {
        T::work(Work::Allocate);
        self.take_ready::<T>(kind).or_else(|| self.space.reuse(kind))
    }

    /// A unit of this kind from the calling thread's shelf.
    fn take_ready<T: Trace>(&self, kind: usize) -> Option<NodeRef> {
        let shelf = &self.shelves[own::<T>()];
        if let Some(unit) = shelf.take(kind) {
            return Some(unit);
        }
        if self.epochs.is_none() || !shelf.has_waiting() {
            return None;
        }
        self.ripen::<T>(shelf);
        shelf.take(kind)
    }

    /// A fresh run of `count` units, one after the other, of one kind.
    ///
    /// # Errors
    /// As [`UnitArena::allocate`]; nothing has changed then.
    pub fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        self.space.allocate_run(count)
    }

    /// As many units as `into` has places, for whom can't be refused: from the reserve if need be. Waits
    /// until others give back what they took from there, so the caller must be outside, hold no latch
    /// and, in the end, retire as many.
    pub fn allocate_surely<T: Trace>(&self, into: &mut [NodeRef]) {
        assert!(into.len() <= self.reserved, "no more than the reserve holds");
        let mut backoff = Backoff::default();
        loop {
            let mut taken = 0;
            while taken < into.len()
                && let Ok(unit) = self.allocate::<T>(0)
            {
                into[taken] = unit;
                taken += 1;
            }
            if taken == into.len() {
                return;
            }
            let mut reserve = self.reserve();
            if reserve.len() >= into.len() - taken {
                into[taken..].iter_mut().for_each(|place| *place = reserve.pop().unwrap_or(NodeRef::NIL));
                return;
            }
            // Were they given to everybody, then one could lie there and one here, and nobody had enough.
            into[..taken].iter().for_each(|&unit| self.put_by(&mut reserve, 0, unit));
            drop(reserve);
            if let Some(epochs) = &self.epochs {
                T::wait(epochs.clock_address());
            }
            if !T::LISTENING {
                backoff.wait_at(self.origin());
            }
        }
    }

    /// Takes a unit back at once, to be handed out again for the same kind. Nobody can be reading it, or
    /// a thread that does will notice.
    pub fn free<T: Trace>(&self, kind: usize, unit: NodeRef) {
        if let Some(surplus) = self.shelves[own::<T>()].put(kind, unit) {
            self.space.free(kind, surplus);
        }
    }

    /// Takes a unit back that was unlinked, to be used again once nobody can be reading it; at once where
    /// units are.
    pub fn retire<T: Trace>(&self, kind: usize, unit: NodeRef) {
        if self.epochs.is_none() {
            return self.free::<T>(kind, unit);
        }
        let shelf = &self.shelves[own::<T>()];
        if shelf.put_off(unit) {
            self.ripen::<T>(shelf);
        }
    }

    /// Comes in: nothing that is unlinked from now on is used again before the pin is dropped. Nothing
    /// where units are used again at once.
    #[inline(always)]
    pub fn pin<T: Trace>(&self) -> Option<Pin<'_, T>> {
        let epochs = self.epochs.as_ref()?;
        let own = own::<T>();
        let mut backoff = Backoff::default();
        loop {
            for place in (own..SLOTS).chain(0..own) {
                T::exchange(epochs.address(place));
                if epochs.try_enter(place) {
                    return Some(Pin { epochs, place, touch: PhantomData });
                }
            }
            T::wait(epochs.address(own));
            if !T::LISTENING {
                backoff.wait_at(self.origin());
            }
        }
    }

    /// Which threads are inside, where units wait for that.
    pub fn epochs(&self) -> Option<&Epochs> {
        self.epochs.as_ref()
    }

    /// Counts memory that its owner keeps elsewhere towards the limit and to what is held.
    ///
    /// # Errors
    /// [`MemoryLimit`](latchless_core::base::error::Error::MemoryLimit); nothing has changed then.
    pub fn charge(&self, bytes: usize) -> Result<()> {
        self.space.charge(bytes)
    }

    /// Counts memory no longer that was counted by [`UnitArena::charge`].
    pub fn discharge(&self, bytes: usize) {
        self.space.discharge(bytes);
    }

    /// Puts those of the waiting units on the shelf for use that nobody can be reading any more.
    fn ripen<T: Trace>(&self, shelf: &Shelf) {
        let Some(epochs) = &self.epochs else { return };
        T::exchange(epochs.clock_address());
        shelf.stamp(epochs);
        for place in 0..if T::LISTENING { SLOTS } else { 0 } {
            T::read(epochs.address(place), size_of::<u64>());
        }
        shelf.ripen(epochs.oldest(), |surplus| self.space.free(0, surplus));
    }

    /// Fills the reserve up and gives the memory behind the shelves all units that nobody can be reading.
    pub fn sweep<T: Trace>(&self) {
        for shelf in &self.shelves {
            if shelf.has_waiting() {
                self.ripen::<T>(shelf);
            }
            shelf.clear(|kind, unit| self.put_by(&mut self.reserve(), kind, unit));
        }
    }

    fn reserve(&self) -> MutexGuard<'_, Vec<NodeRef>> {
        self.reserve.lock()
    }

    /// Gives a unit to the reserve, or, if that is full, to the memory behind the shelves.
    fn put_by(&self, reserve: &mut Vec<NodeRef>, kind: usize, unit: NodeRef) {
        if reserve.len() < self.reserved {
            reserve.push(unit);
        } else {
            self.space.free(kind, unit);
        }
    }

    /// Forgets every unit and gives the memory back to the system.
    ///
    /// # Errors
    /// When memory for the reserve is refused.
    pub fn clear(&mut self) -> Result<()> {
        self.shelves.iter().for_each(Shelf::forget);
        self.space.clear();
        self.stock()
    }

    /// Bytes of the units in use, without those on shelves and in reserve.
    pub fn live_bytes(&self) -> usize {
        let reserve = self.reserve().len();
        let idle: usize = self.shelves.iter().map(Shelf::len).sum::<usize>() + reserve;
        self.space.live_bytes().saturating_sub(idle * self.space.unit_nodes() * self.space.node_bytes())
    }

    /// Bytes of every unit that was ever in use.
    pub fn held_bytes(&self) -> usize {
        self.space.held_bytes()
    }
}

/// Which shelf and which place among the epochs the calling worker takes first.
#[inline(always)]
fn own<T: Trace>() -> usize {
    T::worker().unwrap_or_else(slot) % SLOTS
}

/// Being inside. See [`UnitArena::pin`].
#[derive(Debug)]
#[must_use = "a pin that is dropped at once keeps nothing"]
pub struct Pin<'a, T: Trace> {
    epochs: &'a Epochs,
    place: usize,
    touch: PhantomData<T>,
}

impl<T: Trace> Drop for Pin<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        T::write(self.epochs.address(self.place), size_of::<u64>());
        self.epochs.leave(self.place);
    }
}

#[cfg(test)]
mod tests;
