//! A memory limit that many threads share.

use latchless_core::base::error::{Error, Result};
use latchless_core::sync::Tally;

/// The limit in bytes, and the bytes in use.
///
/// ```
/// use latchless_papers::pi::mem::budget::Budget;
/// let budget = Budget::new(Some(100), 60);
/// budget.claim(40)?;
/// assert!(budget.claim(1).is_err());
/// budget.give_back(10);
/// assert_eq!(budget.held_bytes(), 90);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
#[derive(Debug)]
pub struct Budget {
    limit_bytes: Option<usize>,
    held_bytes: Tally,
}

impl Budget {
    /// A budget of which so much is held already.
    pub const fn new(limit_bytes: Option<usize>, held_bytes: usize) -> Self {
        Self { limit_bytes, held_bytes: Tally::new(held_bytes) }
    }

    /// Claims that many more bytes, if they fit: a refused claim is never counted.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`]; nothing is held then that wasn't before.
    pub fn claim(&self, bytes: usize) -> Result<()> {
        let limit_bytes = self.limit_bytes.unwrap_or(usize::MAX);
        self.held_bytes
            .add_up_to(bytes, limit_bytes)
            .map(drop)
            .map_err(|requested_bytes| Error::MemoryLimit { requested_bytes, limit_bytes })
    }

    /// Releases that many bytes.
    pub fn give_back(&self, bytes: usize) {
        self.held_bytes.subtract(bytes);
    }

    /// Sets how much is held.
    pub fn set_held(&mut self, bytes: usize) {
        self.held_bytes.set(bytes);
    }

    /// Returns the number of bytes in use.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes.get()
    }

    /// The limit.
    pub fn limit_bytes(&self) -> Option<usize> {
        self.limit_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_that_would_overflow_are_refused() {
        for limit in [None, Some(usize::MAX), Some(100)] {
            let budget = Budget::new(limit, 60);
            assert!(matches!(
                budget.claim(usize::MAX),
                Err(Error::MemoryLimit { requested_bytes: usize::MAX, .. })
            ));
            assert_eq!((budget.claim(40), budget.held_bytes()), (Ok(()), 100));
        }
    }

    #[test]
    fn a_claim_that_fits_is_granted_beside_one_that_does_not() {
        let budget = Budget::new(Some(100), 0);
        let rounds = if cfg!(miri) { 200 } else { 1_000_000 };
        std::thread::scope(|scope| {
            let claims = scope.spawn(|| {
                for _ in 0..rounds {
                    assert_eq!(budget.claim(60), Ok(()), "nobody else holds anything");
                    budget.give_back(60);
                }
            });
            while !claims.is_finished() {
                assert!(budget.claim(101).is_err());
            }
        });
        assert_eq!(budget.held_bytes(), 0);
    }
}
