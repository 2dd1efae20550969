//! Counts how far the entries below a layer have drifted since it was built.

use latchless_core::sync::Word;

/// Changes since a layer was built.
///
/// # Thread safety
/// A thread that changes the entries counts the change first. So a thread that finds the count at zero
/// knows that no change was complete by then.
#[derive(Debug, Default)]
pub struct Drift {
    inserted: Word,
    removed: Word,
}

impl Drift {
    /// Counts an entry that is about to be inserted.
    #[inline(always)]
    pub fn insert(&self) {
        self.inserted.add(1);
    }

    /// An entry is about to go out.
    #[inline(always)]
    pub fn remove(&self) {
        self.removed.add(1);
    }

    /// Returns the number of inserts, including those about to happen.
    pub fn inserted(&self) -> usize {
        self.inserted.load_relaxed() as usize
    }

    /// Returns the number of removals, including those about to happen.
    pub fn removed(&self) -> usize {
        self.removed.load_relaxed() as usize
    }

    /// Returns whether nothing had changed at the time of the call. Called *after* reading the layer: then
    /// the layer was read as it was built.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.inserted.load_after_fence() == 0 && self.removed.load_relaxed() == 0
    }
}
