//! A count that many threads change and whose exact value matters to each of them.

use core::sync::atomic::{AtomicUsize, Ordering};

/// A count. It orders nothing else.
#[derive(Debug, Default)]
pub struct Tally(AtomicUsize);

impl Tally {
    /// Creates a count of this value.
    pub const fn new(value: usize) -> Self {
        Self(AtomicUsize::new(value))
    }

    /// Adds to the count and returns the new value; it wraps.
    pub fn add(&self, amount: usize) -> usize {
        self.0.fetch_add(amount, Ordering::Relaxed).wrapping_add(amount)
    }

    /// Adds to the count unless the result would exceed a limit. Returns the new value.
    ///
    /// # Errors
    /// The result that the count would have had; it is unchanged.
    pub fn add_up_to(&self, amount: usize, limit: usize) -> Result<usize, usize> {
        let fits = |count: usize| count.checked_add(amount).filter(|&sum| sum <= limit);
        // The count never includes a rejected amount: adding and subtracting one could reject other
        // threads'.
        let added = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        added.map(|count| count + amount).map_err(|count| count.saturating_add(amount))
    }

    /// Subtracts from the count.
    pub fn subtract(&self, amount: usize) {
        self.0.fetch_sub(amount, Ordering::Relaxed);
    }

    /// Returns the count.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the count; no other thread may be counting.
    pub fn set(&mut self, value: usize) {
        *self.0.get_mut() = value;
    }
}
