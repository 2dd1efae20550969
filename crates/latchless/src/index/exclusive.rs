//! Exclusive access to an index: the same structure and the same operations, without latches.

use super::Group;
use super::access::Access;
use super::operations::{exclusive, operations};
use super::shared::Index;
use crate::tree;
use core::fmt;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::key::Key;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Value;

/// Exclusive access to an [`Index`]: it takes no latch and validates nothing, so a single thread pays
/// nothing for concurrency. Created by [`Index::exclusive`].
///
/// It has the operations of [`Index`], on which the examples of the methods below run. As no other thread
/// accesses the index, closures run once, ranges see exactly the current entries, and
/// [`len`](Exclusive::len) is exact. Methods that change the index take `&mut self`, so the compiler rejects
/// changes while an iterator is in use.
///
/// ```
/// # let mut index = latchless::Index::<u64, u32>::new()?;
/// let mut alone = index.exclusive();
/// for key in [3, 5, 3] {
///     alone.upsert(key, |count| count.unwrap_or(0) + 1)?;
/// }
/// assert_eq!(alone.iter().collect::<Vec<_>>(), [(3, 2), (5, 1)]);
/// assert_eq!(alone.pop_first(), Some((3, 2)));
/// assert_eq!(alone.get_all(&[3, 5]), [None, Some(1)]);
/// alone.clear();
/// assert!(index.is_empty());
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Exclusive<'a, K: Key, V: Value> {
    index: &'a mut Index<K, V>,
}

impl<'a, K: Key, V: Value> Exclusive<'a, K, V> {
    pub(super) fn new(index: &'a mut Index<K, V>) -> Self {
        Self { index }
    }

    pub(super) fn index(&self) -> &Index<K, V> {
        self.index
    }

    #[inline(always)]
    pub(super) fn access(&self) -> Access<'_, K, V, tree::Exclusive> {
        Access::new(&self.index.engine)
    }

    /// Sets the number of requests of a batch that descend together, from now on.
    pub fn with_group(self, group: Group) -> Self {
        self.index.engine.group = group;
        self
    }

    /// Removes everything and returns the memory to the system. O(1).
    pub fn clear(&mut self) {
        self.index.engine.tree.clear();
    }
}

impl<K: Key, V: Value> fmt::Debug for Exclusive<'_, K, V> {
    /// Formats the index as a map, like [`Index`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(f)
    }
}

exclusive! {
    /// See [`Index::shrink`].
    ///
    /// # Errors
    /// Those of [`Index::shrink`].
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.index.shrink(fill)
    }

    /// See [`Index::len`].
    pub fn len(&self) -> usize {
        self.access().tree.len()
    }

    /// See [`Index::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// See [`Index::memory_bytes`].
    pub fn memory_bytes(&self) -> usize {
        self.access().tree.held_bytes()
    }

    /// See [`Index::live_bytes`].
    pub fn live_bytes(&self) -> usize {
        self.access().tree.live_bytes()
    }

    /// See [`Index::stats`].
    pub fn stats(&self) -> Stats {
        self.access().tree.stats()
    }

    /// See [`Index::check_invariants`].
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.access().tree.check_invariants()
    }
}

impl<K: Key, V: Value> Index<K, V> {
    /// Lends the index for exclusive access: the same operations, without latches and validation.
    ///
    /// ```
    /// # let mut index = latchless::Index::<u64, u32>::new()?;
    /// let mut alone = index.exclusive();
    /// alone.insert(7, 70)?;
    /// assert_eq!(alone.get(7), Some(70));
    /// assert_eq!(index.get(7), Some(70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn exclusive(&mut self) -> Exclusive<'_, K, V> {
        Exclusive::new(self)
    }
}

operations! {
    /// Writes the nodes as text, with encoded keys.
    ///
    /// # Errors
    /// Those of `out`.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let mut text = String::new();
    /// index.dump(&mut text)?;
    /// assert!(!text.is_empty());
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.access().tree.dump(out)
    }
}
