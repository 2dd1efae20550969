//! Filling an empty index from sorted entries, and emptying one.

use super::access::{Words, encode_key, encode_value};
use super::bulk::Bulk;
use super::engine::KeyFor;
use super::storage::Storage;
use super::{Index, Options};
use core::num::NonZeroUsize;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

impl<K: Key, V: Value> Words<K, V> {
    /// Implements [`Index::bulk_load_with`].
    pub(super) fn bulk_load(
        &mut self,
        entries: &[(K, V)],
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        let entry_at = |at: usize| {
            let (key, value) = entries[at];
            (encode_key::<K, V>(key), encode_value::<K, V>(value))
        };
        self.tree.bulk_load(entries.len(), entry_at, fill, threads)
    }
}

/// Loads, for keys and values of every type.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Creates an index from strictly ascending entries. O(n), and much faster than inserting them.
    ///
    /// # Errors
    /// [`Error::Unsorted`](crate::Error::Unsorted) and [`Error::DuplicateKey`](crate::Error::DuplicateKey)
    /// name the first position at fault; or memory was refused, or a string is too long.
    ///
    /// ```
    /// use latchless::{Error, FillFactor, Index};
    /// let index = Index::from_sorted(&[(3u64, 30u32), (5, 50)], FillFactor::default())?;
    /// assert_eq!(index.get(5), Some(50));
    /// let twice = Index::from_sorted(&[(3u64, 30u32), (3, 50)], FillFactor::FULL);
    /// assert_eq!(twice.err(), Some(Error::DuplicateKey { position: 1 }));
    /// let names = [("five".to_owned(), 5), ("six".to_owned(), 6)];
    /// assert_eq!(Index::from_sorted(&names, FillFactor::FULL)?.get("six"), Some(6));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_sorted(entries: &[(K, V)], fill: FillFactor) -> Result<Self> {
        let mut index = Self::with_options(Options::default())?;
        index.bulk_load(entries, fill)?;
        Ok(index)
    }

    /// Fills an empty index from strictly ascending entries. O(n).
    ///
    /// # Errors
    /// Those of [`Index::from_sorted`], and [`Error::NotEmpty`](crate::Error::NotEmpty). The index is then
    /// unchanged.
    ///
    /// ```
    /// # use latchless::{FillFactor, Index};
    /// let mut index = Index::<u64, u32>::new()?;
    /// index.bulk_load(&[(3, 30), (5, 50)], FillFactor::default())?;
    /// assert_eq!(index.len(), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.engine.load(entries, fill)
    }

    /// Fills an empty index from `len` entries that `entry_at` computes by position, so that they needn't be
    /// in memory together: keys and values in the form in which operations take them. With keys and values
    /// that fit words several threads load, and `entry_at` is called twice for some positions, and must
    /// return the same entry then. See [`Index::bulk_load`].
    ///
    /// # Errors
    /// Those of [`Index::bulk_load`].
    ///
    /// ```
    /// # use latchless::{FillFactor, Index};
    /// # use std::num::NonZero;
    /// let mut index = Index::<u64, u64>::new()?;
    /// let square = |at| (at as u64, at as u64 * at as u64);
    /// index.bulk_load_by(1000, square, FillFactor::FULL, NonZero::<usize>::MIN)?;
    /// assert_eq!(index.get(12), Some(144));
    /// let (mut names, lines) = (Index::<String, String>::new()?, ["five 5", "six 6"]);
    /// let entry_at = |at: usize| lines[at].split_once(' ').unwrap();
    /// names.bulk_load_by(2, entry_at, FillFactor::FULL, NonZero::<usize>::MIN)?;
    /// assert_eq!(names.get("six").as_deref(), Some("6"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn bulk_load_by<'e>(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (K::Probe<'e>, V::Given<'e>) + Sync,
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        self.engine.load_by(len, entry_at, fill, threads)
    }

    /// Removes all keys, drops all values, and returns all memory to the system at once. If drops panic, all
    /// others are done first and then the first panic is resumed.
    ///
    /// ```
    /// # let mut index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 0)).collect();
    /// index.reset();
    /// assert!(index.is_empty());
    /// ```
    pub fn reset(&mut self) {
        self.engine.reset();
    }

    /// Drops every value that was replaced or removed and that no operation can see any more. Otherwise
    /// later operations drop up to some hundred values in [`Arc`](std::sync::Arc)s: this is for those that
    /// own scarce resources, such as files. Does nothing if values are words or strings.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let files = latchless::Index::<u32, Arc<str>>::new()?;
    /// let file: Arc<str> = "seven".into();
    /// files.insert(7, Arc::clone(&file))?;
    /// files.remove(7);
    /// files.flush();
    /// assert_eq!(Arc::strong_count(&file), 1);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn flush(&self) {
        self.engine.flush();
    }
}

impl<K: Key, V: Value> Index<K, V> {
    /// Fills an empty index from strictly ascending entries, with several threads. See [`Index::bulk_load`].
    ///
    /// # Errors
    /// Those of [`Index::bulk_load`].
    ///
    /// ```
    /// # use latchless::{FillFactor, Index};
    /// let entries: Vec<(u64, u32)> = (0..10_000).map(|key| (key, 0)).collect();
    /// let mut index = Index::new()?;
    /// index.bulk_load_with(&entries, FillFactor::FULL, std::thread::available_parallelism().unwrap())?;
    /// assert_eq!(index.len(), 10_000);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn bulk_load_with(
        &mut self,
        entries: &[(K, V)],
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        self.engine.bulk_load(entries, fill, threads)
    }

    /// Fills an empty index from columns, with several threads: each value is stored under the key at its
    /// position. See [`Index::bulk_load_with`].
    ///
    /// # Errors
    /// Those of [`Index::bulk_load`], and [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) if the
    /// columns don't have the same length.
    ///
    /// ```
    /// # use latchless::{Error, FillFactor, Index};
    /// # use std::num::NonZero;
    /// let mut index = Index::<u64, u32>::new()?;
    /// index.bulk_load_columns(&[3, 5], &[30, 50], FillFactor::default(), NonZero::<usize>::MIN)?;
    /// assert_eq!(index.get(5), Some(50));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bulk_load_columns(
        &mut self,
        keys: &[K],
        values: &[V],
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        check_side_by_side(keys.len(), values.len())?;
        let entry_at = |at: usize| (encode_key::<K, V>(keys[at]), encode_value::<K, V>(values[at]));
        self.engine.tree.bulk_load(keys.len(), entry_at, fill, threads)
    }
}
