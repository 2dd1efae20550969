//! Words of node memory that one thread may write while others read.
//!
//! Always the standard library's atomics: they lie in mapped memory, where loom's can't. The few
//! orderings that node words need have names here, so no floor above spells one out.

use core::sync::atomic::{AtomicU64, Ordering};

/// Eight bytes that may be read while they are written: the reader gets the old or the new value.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word(AtomicU64);

impl Word {
    /// A word of this value.
    pub const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// The value, in no order with anything else. What it is worth is settled by validating the
    /// version that it was read under.
    #[inline(always)]
    pub fn peek(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the value, in no order with anything else. For the holder of a latch, or for memory that
    /// nobody else knows of yet.
    #[inline(always)]
    pub fn poke(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Sets a value that leads to something: who [`Word::follow`]s it sees what was written before.
    #[inline(always)]
    pub fn publish(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    /// A value that leads to something, and everything that was written before it was published.
    #[inline(always)]
    pub fn follow(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Adds to the value, in no order with anything else; for counters.
    #[inline(always)]
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }
}

/// A cache line of words.
pub type Line = [Word; 8];
