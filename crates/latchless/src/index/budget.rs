//! A memory limit that several indexes share.

use core::fmt;
use latchless_core::base::error::Result;
use latchless_core::mem::budget;
use std::sync::Arc;

/// A memory limit that several indexes of any kind share: [`Options::budget`](super::Options::budget). Clones
/// name the same budget.
///
/// What the indexes hold together ([`memory_bytes`](crate::Index::memory_bytes)), and what a program has
/// [reserved](Budget::reserve) for its own buffers, never exceeds the limit, with any number of threads. What
/// would exceed it is refused with [`MemoryLimit`](crate::Error::MemoryLimit). Before that, at a high-water
/// mark, the budget calls a function of the program, which may make room.
///
/// ```
/// use latchless::Index;
/// use latchless::index::{Budget, Options};
///
/// let budget = Budget::new(64 << 20);
/// let options = Options { budget: Some(budget.clone()), ..Options::default() };
/// let numbers = Index::<u64, u64>::with_options(options.clone())?;
/// let names = Index::<String, u64>::with_options(options)?;
/// assert_eq!(budget.taken_bytes(), numbers.memory_bytes() + names.memory_bytes());
/// drop(names);
/// assert_eq!(budget.taken_bytes(), numbers.memory_bytes());
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Clone)]
pub struct Budget(Arc<budget::Budget>);

impl Budget {
    /// Creates a budget of this many bytes.
    pub fn new(limit_bytes: usize) -> Self {
        Self(Arc::new(budget::Budget::new(Some(limit_bytes))))
    }

    /// Creates a budget that calls `call` with the bytes that are taken each time that they rise to
    /// `mark_bytes`, once: they must fall below the mark before there is another call. A request that the
    /// limit would refuse counts as a rise, and if there is a call, is tried once more after it.
    ///
    /// The thread calls that took the memory, or one that takes memory shortly after it, in the middle of
    /// an insert or of a load. It has no latch, so the function may read and change every index, and drop
    /// indexes; but other operations of its thread wait for it, so the real work often is another thread's.
    /// If it panics, the operation panics, and the index is as if that hadn't begun. A function that owns an
    /// index of the budget keeps both for ever: give it a [`Weak`](std::sync::Weak), or the sender of a channel.
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::{Budget, Options};
    /// use std::sync::mpsc;
    ///
    /// let (flush, due) = mpsc::channel();
    /// let budget = Budget::with_high_water(64 << 20, 1 << 20, move |taken| _ = flush.send(taken));
    /// let options = Options { budget: Some(budget), ..Options::default() };
    /// let index = Index::<u64, u64>::with_options(options)?;
    /// index.try_extend((0..100_000).map(|key| (key, key)))?;
    /// assert!(due.try_recv().is_ok_and(|taken| taken >= 1 << 20));
    /// assert!(due.try_recv().is_err(), "one call, although it went on to grow");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn with_high_water(
        limit_bytes: usize,
        mark_bytes: usize,
        call: impl Fn(usize) + Send + Sync + 'static,
    ) -> Self {
        let budget = budget::Budget::new(Some(limit_bytes));
        Self(Arc::new(budget.with_high_water(mark_bytes, call)))
    }

    /// Returns the bytes that all indexes and reservations hold. O(1).
    pub fn taken_bytes(&self) -> usize {
        self.0.taken_bytes()
    }

    /// Returns the limit.
    pub fn limit_bytes(&self) -> usize {
        self.0.limit_bytes().unwrap_or(usize::MAX)
    }

    /// Counts this many bytes of the program's own, until the reservation is dropped. Calls the function of
    /// the high-water mark, if there is one and it is due: no latch may be held that it needs.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`](crate::Error::MemoryLimit); nothing is counted then.
    ///
    /// ```
    /// let budget = latchless::index::Budget::new(1000);
    /// let buffer = budget.reserve(600)?;
    /// assert!(budget.reserve(600).is_err());
    /// drop(buffer);
    /// assert_eq!(budget.taken_bytes(), 0);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn reserve(&self, bytes: usize) -> Result<Reserved> {
        let reserved = budget::Budget::within(None, Some(Arc::clone(&self.0)));
        reserved.relieved(|| reserved.take(bytes))?;
        Ok(Reserved(reserved))
    }

    /// Returns the count that indexes share.
    pub(crate) fn shared(self) -> Arc<budget::Budget> {
        self.0
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (taken, limit) = (self.taken_bytes(), self.limit_bytes());
        f.debug_struct("Budget").field("taken_bytes", &taken).field("limit_bytes", &limit).finish()
    }
}

/// Bytes of a [`Budget`] that a program takes for itself, until this is dropped.
#[derive(Debug)]
#[must_use = "what is reserved is given back when this is dropped"]
pub struct Reserved(budget::Budget);

impl Reserved {
    /// Returns how many bytes these are.
    pub fn bytes(&self) -> usize {
        self.0.taken_bytes()
    }
}
