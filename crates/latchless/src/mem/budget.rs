//! A memory limit that many threads draw on.

use crate::base::error::{Error, Result};
use crate::sync::Tally;

/// How many bytes may be held, and how many are.
///
/// ```
/// use latchless::mem::budget::Budget;
/// let budget = Budget::new(Some(100), 60);
/// budget.claim(40)?;
/// assert!(budget.claim(1).is_err());
/// budget.give_back(10);
/// assert_eq!(budget.held_bytes(), 90);
/// # Ok::<(), latchless::Error>(())
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

    /// Asks for so many bytes more.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`]; nothing is held then that wasn't before.
    pub fn claim(&self, bytes: usize) -> Result<()> {
        let requested_bytes = self.held_bytes.add(bytes);
        match self.limit_bytes {
            Some(limit_bytes) if requested_bytes > limit_bytes => {
                self.give_back(bytes);
                Err(Error::MemoryLimit { requested_bytes, limit_bytes })
            }
            _ => Ok(()),
        }
    }

    /// So many bytes are held no longer.
    pub fn give_back(&self, bytes: usize) {
        self.held_bytes.subtract(bytes);
    }

    /// Sets how much is held.
    pub fn set_held(&mut self, bytes: usize) {
        self.held_bytes.set(bytes);
    }

    /// How much is held.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes.get()
    }

    /// The limit.
    pub fn limit_bytes(&self) -> Option<usize> {
        self.limit_bytes
    }
}
