//! Filling an empty index from sorted entries.

use super::access::{encode_key, encode_value};
use super::{Index, Options};
use core::num::NonZeroUsize;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

impl<K: Key, V: Value> Index<K, V> {
    /// An index filled from strictly ascending entries. O(n), and much faster than inserting them.
    ///
    /// # Errors
    /// [`Error::Unsorted`](crate::Error::Unsorted) and
    /// [`Error::DuplicateKey`](crate::Error::DuplicateKey) name the first position at fault; or
    /// memory is refused.
    ///
    /// ```
    /// use latchless::{Error, FillFactor, Index};
    /// let index = Index::from_sorted(&[(3u64, 30u32), (5, 50)], FillFactor::default())?;
    /// assert_eq!(index.get(5), Some(50));
    /// let twice = Index::from_sorted(&[(3u64, 30u32), (3, 50)], FillFactor::FULL);
    /// assert_eq!(twice.err(), Some(Error::DuplicateKey { position: 1 }));
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
    /// As [`Index::from_sorted`], and [`Error::NotEmpty`](crate::Error::NotEmpty). The index is then
    /// as before.
    ///
    /// ```
    /// # use latchless::{FillFactor, Index};
    /// let mut index = Index::<u64, u32>::new()?;
    /// index.bulk_load(&[(3, 30), (5, 50)], FillFactor::default())?;
    /// assert_eq!(index.len(), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.bulk_load_with(entries, fill, NonZeroUsize::MIN)
    }

    /// As [`Index::bulk_load`], by several threads.
    ///
    /// # Errors
    /// As [`Index::bulk_load`].
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
        let entry_at = |at: usize| {
            let (key, value) = entries[at];
            (encode_key::<K, V>(key), encode_value::<K, V>(value))
        };
        self.tree.bulk_load(entries.len(), entry_at, fill, threads)
    }

    /// As [`Index::bulk_load_with`], from columns: each value goes under the key at its place.
    ///
    /// # Errors
    /// As [`Index::bulk_load`], and [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) if the columns
    /// aren't equally long.
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
        self.tree.bulk_load(keys.len(), entry_at, fill, threads)
    }

    /// As [`Index::bulk_load_with`], of `len` entries that `entry_at` makes when it is asked for a
    /// position, so that they needn't be in memory side by side. It is asked for some positions twice, and
    /// must say the same then.
    ///
    /// # Errors
    /// As [`Index::bulk_load`].
    ///
    /// ```
    /// # use latchless::{FillFactor, Index};
    /// # use std::num::NonZero;
    /// let mut index = Index::<u64, u64>::new()?;
    /// let square = |at| (at as u64, at as u64 * at as u64);
    /// index.bulk_load_by(1000, square, FillFactor::FULL, NonZero::<usize>::MIN)?;
    /// assert_eq!(index.get(12), Some(144));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn bulk_load_by(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (K, V) + Sync,
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        let entry_at = |at: usize| {
            let (key, value) = entry_at(at);
            (encode_key::<K, V>(key), encode_value::<K, V>(value))
        };
        self.tree.bulk_load(len, entry_at, fill, threads)
    }
}
