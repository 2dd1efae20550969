//! The memory budget of an index: one count of the bytes that its nodes, tables and slots hold, and the
//! limit.
//!
//! # Invariants
//! 1. Memory is counted before it is allocated, and until after it was freed: the count is never less than
//!    what is held.
//! 2. The count is never more than the limit, not even for a moment.

use crate::base::error::{Error, Result};
use crate::sync::{Tally, Word};

/// See the module documentation.
#[derive(Debug)]
pub struct Budget {
    /// [`UNLIMITED`] if there is no limit.
    limit_bytes: Word,
    taken: Tally,
}

const UNLIMITED: u64 = u64::MAX;

impl Budget {
    /// Creates a budget of which nothing is taken. `None`: no limit.
    pub fn new(limit_bytes: Option<usize>) -> Self {
        Self {
            limit_bytes: Word::new(limit_bytes.map_or(UNLIMITED, |limit| limit as u64)),
            taken: Tally::new(0),
        }
    }

    /// Adds to the count.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`]; the count is then unchanged.
    pub fn take(&self, bytes: usize) -> Result<()> {
        let limit_bytes = self.limit_bytes.load_relaxed();
        if limit_bytes == UNLIMITED {
            self.taken.add(bytes);
            return Ok(());
        }
        let limit_bytes = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
        let taken = self.taken.add_up_to(bytes, limit_bytes);
        taken.map_err(|requested_bytes| Error::MemoryLimit { requested_bytes, limit_bytes })
    }

    /// Subtracts bytes that were taken.
    pub fn give_back(&self, bytes: usize) {
        self.taken.subtract(bytes);
    }

    /// Returns the bytes that are taken. O(1).
    pub fn taken_bytes(&self) -> usize {
        self.taken.get()
    }

    /// Sets another limit, which may be less than what is taken.
    #[cfg(any(test, feature = "testing"))]
    pub fn set_limit(&self, limit_bytes: usize) {
        self.limit_bytes.store_relaxed(limit_bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_pass_the_limit_is_refused_and_changes_nothing() {
        let budget = Budget::new(Some(100));
        budget.take(60).unwrap();
        let refused = Error::MemoryLimit { requested_bytes: 101, limit_bytes: 100 };
        assert_eq!((budget.take(41), budget.taken_bytes()), (Err(refused), 60));
        assert!(budget.take(usize::MAX).is_err());
        budget.take(40).unwrap();
        budget.give_back(90);
        assert_eq!((budget.taken_bytes(), budget.take(90)), (10, Ok(())));
        let unlimited = Budget::new(None);
        assert_eq!((unlimited.take(usize::MAX >> 4), unlimited.taken_bytes()), (Ok(()), usize::MAX >> 4));
    }

    #[test]
    fn threads_never_see_more_than_the_limit() {
        let budget = Budget::new(Some(1000));
        std::thread::scope(|scope| {
            for own in 1..4 {
                let budget = &budget;
                scope.spawn(move || {
                    for _ in 0..if cfg!(miri) { 5 } else { 20_000 } {
                        let taken =
                            (1..400 * own).step_by(own).take_while(|_| budget.take(own).is_ok()).count();
                        assert!(budget.taken_bytes() <= 1000);
                        budget.give_back(taken * own);
                    }
                });
            }
        });
        assert_eq!(budget.taken_bytes(), 0);
    }
}
