//! The arena of trees whose nodes consist of words as wide as their keys and have a size that is chosen at
//! run time. It allocates *units*: one node, or a whole group of adjacent nodes.
//!
//! Units pass through *shelves*, one for each thread (the paper's memory pools, OLFIT §6), so threads
//! rarely contend for the memory below them. If readers hold no latch and units aren't kept for their
//! level, a unit waits on its shelf until no thread can read it ([`Epochs`]).
//!
//! # Thread safety
//! Words are atomics. A shelf is guarded by a mutex under which nothing is reported to the tracing hook
//! and nothing waits, so that workers of a simulation, which take turns on one thread, never meet there.

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

/// When units are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// At once, for the same kind: readers detect it.
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
    /// Units for operations that must not be refused, and their intended number.
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
        // than a word; a node is that many words long; any bits are a word (of which there are two types,
        // sealed), and words may be written while they are read. All nodes of an arena have the same
        // words, so no access races with one of another width.
        unsafe { core::slice::from_raw_parts(first, self.node_words) }
    }

    /// Returns whether a reference belongs to this arena: for a thread that reads it from a node that is
    /// being changed.
    #[inline(always)]
    pub fn holds(&self, node: NodeRef) -> bool {
        self.space.find(node, self.space.node_bytes()).is_some()
    }

    /// The process in which the arena was made.
    #[inline(always)]
    pub fn origin(&self) -> &Origin {
        self.space.origin()
    }

    /// Returns the address of a node, for prefetching; not to be dereferenced.
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

    /// Returns a freed unit of this kind, if there is one: it takes no more memory.
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
    /// Those of [`UnitArena::allocate`]; nothing is changed then.
    pub fn allocate_run(&self, count: usize) -> Result<NodeRef> {
        self.space.allocate_run(count)
    }

    /// Allocates as many units as `into` has places for an operation that can't be refused: from the
    /// reserve if necessary. Waits until others return what they took from the reserve, so the caller must
    /// be unpinned, hold no latch and, in the end, retire as many units.
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
            // If all operations drew from the reserve at once, each might get a part of it and none
            // enough.
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

    /// Frees a unit at once, for reuse by the same kind. No thread can read it, or a thread that does will
    /// detect it.
    pub fn free<T: Trace>(&self, kind: usize, unit: NodeRef) {
        if let Some(surplus) = self.shelves[own::<T>()].put(kind, unit) {
            self.space.free(kind, surplus);
        }
    }

    /// Frees a unit that was unlinked, for reuse once no thread can read it; at once if units are reused
    /// at once.
    pub fn retire<T: Trace>(&self, kind: usize, unit: NodeRef) {
        if self.epochs.is_none() {
            return self.free::<T>(kind, unit);
        }
        let shelf = &self.shelves[own::<T>()];
        if shelf.put_off(unit) {
            self.ripen::<T>(shelf);
        }
    }

    /// Pins the calling thread: no unit that is unlinked from now on is reused before the pin is dropped.
    /// Returns `None` if units are reused at once.
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

    /// Returns the epochs, if units wait for readers.
    pub fn epochs(&self) -> Option<&Epochs> {
        self.epochs.as_ref()
    }

    /// Charges memory that its owner allocates elsewhere to the limit and to the size.
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

    /// Makes those waiting units on the shelf available that no thread can still read.
    fn ripen<T: Trace>(&self, shelf: &Shelf) {
        let Some(epochs) = &self.epochs else { return };
        T::exchange(epochs.clock_address());
        shelf.stamp(epochs);
        for place in 0..if T::LISTENING { SLOTS } else { 0 } {
            T::read(epochs.address(place), size_of::<u64>());
        }
        shelf.ripen(epochs.oldest(), |surplus| self.space.free(0, surplus));
    }

    /// Refills the reserve, and returns all units that no thread can read to the memory below the shelves.
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

    /// Returns a unit to the reserve, or, if that is full, to the memory below the shelves.
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

/// Returns the index of the shelf, and of the place among the epochs, that the calling worker tries first.
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
