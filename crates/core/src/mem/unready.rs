//! The count of a mapping's prefault requests that haven't been served yet.
//!
//! Who serves them doesn't matter here: see `prefault.rs`.

use crate::sync::{Origin, Word};

/// The number of outstanding requests for a mapping's pages.
#[derive(Debug, Default)]
pub(super) struct Unready {
    asked: Word,
    served: Word,
    /// The process that made the last request.
    process: Word,
}

impl Unready {
    /// Returns whether there are outstanding requests. In a child of a fork the parent's are never served.
    pub(super) fn are_any(&self) -> bool {
        self.asked.load_relaxed() != self.served.load_relaxed()
            && self.process.load_relaxed() == Origin::here().number()
    }

    /// Counts a request before it is made. One thread at a time requests pages of a mapping, under its
    /// owner's lock.
    pub(super) fn count_asked(&self) {
        let here = Origin::here().number();
        if self.process.load_relaxed() != here {
            self.served.store_relaxed(self.asked.load_relaxed());
            self.process.store_relaxed(here);
        }
        self.asked.add(1);
    }

    /// Counts a request that was served, or that no thread will serve.
    pub(super) fn count_served(&self) {
        self.served.add(1);
    }

    /// Pretends that one request is outstanding, or none.
    #[cfg(test)]
    pub(super) fn pretend(&self, are_any: bool) {
        if are_any { self.count_asked() } else { self.count_served() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_does_not_wait_for_what_its_parent_asked_for() {
        let unready = Unready::default();
        unready.pretend(true);
        assert!(unready.are_any());
        // As after a fork.
        unready.process.store_relaxed(Origin::here().number() + 1);
        assert!(!unready.are_any());
        unready.pretend(true);
        assert!(unready.are_any());
        unready.pretend(false);
        assert!(!unready.are_any());
    }
}
