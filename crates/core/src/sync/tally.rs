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

    /// Adds to the count unless it would be over a limit then.
    ///
    /// # Errors
    /// What the count would have been; it is as before.
    pub fn add_up_to(&self, amount: usize, limit: usize) -> Result<(), usize> {
        let fits = |count: usize| count.checked_add(amount).filter(|&sum| sum <= limit);
        // Nobody sees more in the count than is claimed: what was added and taken back could refuse others.
        let added = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        added.map(drop).map_err(|count| count.saturating_add(amount))
    }

    /// Takes away from the count.
    pub fn subtract(&self, amount: usize) {
        self.0.fetch_sub(amount, Ordering::Relaxed);
    }

    /// The count.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the count; no other thread may be counting.
    pub fn set(&mut self, value: usize) {
        *self.0.get_mut() = value;
    }
}
