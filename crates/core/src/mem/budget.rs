//! The memory budget of an index: one count of the bytes that its nodes, tables and slots hold, and the
//! limit. Several of these may lie in one that they share.
//!
//! # Invariants
//! 1. Memory is counted before it is allocated, and until after it was freed: the count is never less than
//!    what is held.
//! 2. The count is never more than the limit, not even for a moment.
//! 3. What an index takes from its own budget counts in the shared one, until the index gives it back or
//!    its budget is dropped.

use crate::base::error::{Error, Result};
use crate::sync::{Tally, Word};
use core::fmt;
use core::panic::AssertUnwindSafe;
use std::sync::Arc;

/// See the module documentation.
#[derive(Debug)]
pub struct Budget {
    /// [`UNLIMITED`] if there is no limit.
    limit_bytes: Word,
    taken: Tally,
    high_water: Option<HighWater>,
    /// The budget in which this one lies.
    shared: Option<Arc<Self>>,
}

/// A count at which a function is to be called.
struct HighWater {
    mark_bytes: usize,
    /// 1 if the count has risen to the mark and the function wasn't called since then.
    is_due: Word,
    /// A panic in it leaves the budget as it is.
    call: AssertUnwindSafe<Box<dyn Fn(usize) + Send + Sync>>,
}

const UNLIMITED: u64 = u64::MAX;

impl Budget {
    /// Creates a budget of which nothing is taken. `None`: no limit.
    pub fn new(limit_bytes: Option<usize>) -> Self {
        Self {
            limit_bytes: Word::new(limit_bytes.map_or(UNLIMITED, |limit| limit as u64)),
            taken: Tally::new(0),
            high_water: None,
            shared: None,
        }
    }

    /// Has a function called each time that the count rises to `mark_bytes` or would have risen to it: by
    /// [`Budget::relieved`], with the count at that moment.
    pub fn with_high_water(
        mut self,
        mark_bytes: usize,
        call: impl Fn(usize) + Send + Sync + 'static,
    ) -> Self {
        let (is_due, call) = (Word::new(0), AssertUnwindSafe(Box::new(call) as Box<_>));
        self.high_water = Some(HighWater { mark_bytes, is_due, call });
        self
    }

    /// Creates a budget that lies in another one.
    pub fn within(limit_bytes: Option<usize>, shared: Option<Arc<Self>>) -> Self {
        let mut budget = Self::new(limit_bytes);
        budget.shared = shared;
        budget
    }

    /// Adds to the count, and to that of the shared budget.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`]; the counts are then unchanged.
    pub fn take(&self, bytes: usize) -> Result<()> {
        self.take_here(bytes)?;
        match &self.shared {
            Some(shared) => shared.take(bytes).inspect_err(|_| self.taken.subtract(bytes)),
            None => Ok(()),
        }
    }

    fn take_here(&self, bytes: usize) -> Result<()> {
        let limit_bytes = self.limit_bytes.load_relaxed();
        if limit_bytes == UNLIMITED {
            self.taken.add(bytes);
            return Ok(());
        }
        let limit_bytes = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
        let taken = self.taken.add_up_to(bytes, limit_bytes);
        if let Some(HighWater { mark_bytes, is_due, .. }) = &self.high_water {
            let after = taken.unwrap_or_else(|requested_bytes| requested_bytes);
            if after >= *mark_bytes && after - bytes < *mark_bytes {
                is_due.set_bits(1);
            }
        }
        taken.map(drop).map_err(|requested_bytes| Error::MemoryLimit { requested_bytes, limit_bytes })
    }

    /// Subtracts bytes that were taken.
    pub fn give_back(&self, bytes: usize) {
        self.taken.subtract(bytes);
        if let Some(shared) = &self.shared {
            shared.give_back(bytes);
        }
    }

    /// Runs `work`, which takes from the budget, for a caller that holds no latch and no mutex. If the
    /// shared budget has reached its high-water mark, calls the function that waits for that; and then
    /// runs work again that was refused by a limit.
    ///
    /// # Errors
    /// Those of `work`.
    #[inline]
    pub fn relieved<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        let done = work();
        match &self.shared {
            None => done,
            Some(shared) => match (shared.call_if_due(), done) {
                (true, Err(Error::MemoryLimit { .. })) => work(),
                (_, done) => done,
            },
        }
    }

    /// Calls the function that waits for the high-water mark, if it was reached. Returns whether it was.
    pub fn call_if_due(&self) -> bool {
        let Some(HighWater { is_due, call, .. }) = &self.high_water else { return false };
        let is_due = is_due.load_relaxed() != 0 && is_due.take_bits(1) != 0;
        if is_due {
            call(self.taken_bytes());
        }
        is_due
    }

    /// Returns the bytes that are taken. O(1).
    pub fn taken_bytes(&self) -> usize {
        self.taken.get()
    }

    /// Returns the limit, if there is one.
    pub fn limit_bytes(&self) -> Option<usize> {
        let limit_bytes = self.limit_bytes.load_relaxed();
        (limit_bytes != UNLIMITED).then(|| usize::try_from(limit_bytes).unwrap_or(usize::MAX))
    }

    /// Sets another limit, which may be less than what is taken.
    #[cfg(any(test, feature = "testing"))]
    pub fn set_limit(&self, limit_bytes: usize) {
        self.limit_bytes.store_relaxed(limit_bytes as u64);
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.give_back(self.taken.get());
        }
    }
}

impl fmt::Debug for HighWater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HighWater").field("mark_bytes", &self.mark_bytes).finish_non_exhaustive()
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

    #[test]
    fn what_budgets_take_counts_in_the_one_that_they_share_until_they_are_dropped() {
        let shared = Arc::new(Budget::new(Some(100)));
        let [one, two] = [Some(50), None].map(|limit| Budget::within(limit, Some(Arc::clone(&shared))));
        one.take(40).unwrap();
        let refused = Error::MemoryLimit { requested_bytes: 60, limit_bytes: 50 };
        assert_eq!((one.take(20), shared.taken_bytes()), (Err(refused), 40));
        two.take(60).unwrap();
        let refused = Error::MemoryLimit { requested_bytes: 105, limit_bytes: 100 };
        assert_eq!((one.take(5), one.taken_bytes(), shared.taken_bytes()), (Err(refused), 40, 100));
        two.give_back(10);
        assert_eq!((one.take(5), shared.taken_bytes()), (Ok(()), 95));
        drop(two);
        assert_eq!(
            (shared.taken_bytes(), shared.limit_bytes(), one.limit_bytes()),
            (45, Some(100), Some(50))
        );
    }

    #[test]
    fn each_crossing_of_the_high_water_mark_calls_once_and_work_that_was_refused_runs_again() {
        static CALLS: Tally = Tally::new(0);
        let shared = Budget::new(Some(100)).with_high_water(80, |taken| _ = CALLS.add(1000 + taken));
        let shared = Arc::new(shared);
        let own = Budget::within(None, Some(Arc::clone(&shared)));
        let calls = |expected: usize| {
            let counted = CALLS.get();
            CALLS.subtract(counted);
            assert_eq!(counted, expected);
        };
        own.relieved(|| own.take(79)).unwrap();
        calls(0);
        own.take(1).unwrap();
        calls(0);
        own.relieved(|| own.take(0)).unwrap();
        calls(1080);
        own.relieved(|| own.take(10)).unwrap();
        calls(0);
        own.give_back(60);
        own.relieved(|| own.take(50)).unwrap();
        calls(1080);
        // A refused request calls before it is refused, and may then fit.
        own.give_back(40);
        let (mut runs, wide) = (0, Error::MemoryLimit { requested_bytes: 110, limit_bytes: 100 });
        let mut work = || {
            runs += 1;
            own.take(if runs < 3 { 70 } else { 60 })
        };
        assert_eq!(own.relieved(&mut work), Err(wide));
        assert_eq!(own.relieved(work), Ok(()));
        calls(1040 + 1100);
    }
}
