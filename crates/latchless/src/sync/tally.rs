//! A count that many threads change and whose value matters to each.

use core::sync::atomic::{AtomicUsize, Ordering};

/// A count. It orders nothing else.
#[derive(Debug, Default)]
pub struct Tally(AtomicUsize);

impl Tally {
    /// A count of this value.
    pub const fn new(value: usize) -> Self {
        Self(AtomicUsize::new(value))
    }

    /// Adds to the count and says what it is then; it wraps.
    pub fn add(&self, amount: usize) -> usize {
        self.0.fetch_add(amount, Ordering::Relaxed).wrapping_add(amount)
    }

    /// Takes away from the count.
    pub fn subtract(&self, amount: usize) {
        self.0.fetch_sub(amount, Ordering::Relaxed);
    }

    /// The count.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the count; nobody else is there.
    pub fn set(&mut self, value: usize) {
        *self.0.get_mut() = value;
    }
}
