//! An index that is read in the file that it was saved in.

use super::error::Result;
use super::rows::{Past, Rows};
use super::saved::Saved;
use crate::index::engine::KeyFor;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::{Bound, Range, RangeBounds};
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use std::path::Path;

/// An index in the file that [`save`](super::save) or [`strings::save`](super::strings::save) wrote, read
/// where it lies: nothing is loaded.
///
/// [`Mapped::open`] reads the head of the file, some kilobytes, and a page of each record batch of about a
/// million rows. After that a lookup reads the pages on its way, which processes that map one file share.
/// The file has the entries, 16 bytes each of two numbers of 64 bits, and an eighth of a byte per entry for
/// the directory.
///
/// ```
/// use latchless::snapshot::{self, Mapped};
/// use latchless::Index;
///
/// # let folder = std::env::temp_dir().join(format!("latchless-mapped-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("prices.arrow");
/// let prices: Index<u64, f64> = [(99, 5.0), (101, 7.5), (105, 3.0)].into_iter().collect();
/// snapshot::save(&prices, &path)?;
///
/// // SAFETY: files that are saved here are replaced, never changed in place.
/// let mapped = unsafe { Mapped::<u64, f64>::open(&path)? };
/// assert_eq!(mapped.get(101)?, Some(7.5));
/// assert_eq!(mapped.floor(104)?, Some((101, 7.5)));
/// assert_eq!((mapped.rank(105), mapped.nth(0)?), (2, Some((99, 5.0))));
/// let range: Result<Vec<(u64, f64)>, _> = mapped.range(100..).rev().collect();
/// assert_eq!(range?, [(105, 3.0), (101, 7.5)]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Damage
/// Opening checks the head of the file: its own checksum, the types, and the place of every column. Keys,
/// values and the directory aren't read before they are needed, and a lookup doesn't compare them with the
/// checksum: [`Mapped::verify`] does. A damaged file causes wrong answers, and errors where strings are no
/// keys or values of their type; it causes no panic, except in a [`BytesKey::is_key`] of the caller's own.
///
/// # Keys that repeat
/// An index has a key once, but rows of [`Layout::save_rows`](super::Layout::save_rows) may repeat one. Then
/// [`Mapped::get`] answers with the first of its rows, and counts and positions are those of rows.
///
/// [`BytesKey::is_key`]: crate::BytesKey::is_key
pub struct Mapped<K, V> {
    rows: Rows,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> Mapped<K, V> {
    /// Maps a file. O(b) with b record batches of up to 2^20 rows.
    ///
    /// # Safety
    /// No process may change the file in place or cut it short while this, or an iterator over it, exists.
    /// Another file may take its name: [`save`](super::save) replaces files in this way, and the old one
    /// stays mapped. A copy over the file changes it in place.
    ///
    /// # Errors
    /// [`Error::Io`](super::Error::Io); [`Error::NoDirectory`](super::Error::NoDirectory) for a file that
    /// can only be loaded; [`Error::OtherType`](super::Error::OtherType),
    /// [`Error::OtherKeys`](super::Error::OtherKeys), [`Error::OtherKeyType`](super::Error::OtherKeyType) or
    /// [`Error::OtherValueType`](super::Error::OtherValueType) if it has other types than `K` and `V`; the
    /// others if it is no snapshot, or its head is damaged.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's contract.
        Self::of(unsafe { Rows::open(path) }?)
    }

    /// Reads a file into memory and verifies it, with the same answers after that. O(n).
    ///
    /// # Errors
    /// Those of [`Mapped::open`] and of [`Mapped::verify`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let read = Self::of(Rows::read(path)?)?;
        read.verify_entries()?;
        Ok(read)
    }

    fn of(rows: Rows) -> Result<Self> {
        K::Engine::check(&rows)?;
        Ok(Self { rows, entry: PhantomData })
    }

    /// Compares the whole file with its checksum, and checks the order of the keys, the directory, and that
    /// every entry is one of `K` and `V`. O(n).
    ///
    /// # Errors
    /// [`Error::Checksum`](super::Error::Checksum), [`Error::Damaged`](super::Error::Damaged),
    /// [`Error::NoKey`](super::Error::NoKey), [`Error::NoValue`](super::Error::NoValue).
    pub fn verify(&self) -> Result<()> {
        self.rows.verify()?;
        self.verify_entries()
    }

    fn verify_entries(&self) -> Result<()> {
        self.iter().try_for_each(|entry| entry.map(drop))
    }

    /// The rows, as the bytes of their cells: a key or value that is a string is lent by them.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The number of entries. O(1).
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The value of a key. O(log n).
    ///
    /// # Errors
    /// [`Error::NoValue`](super::Error::NoValue), of a damaged file.
    #[inline]
    pub fn get(&self, key: K::Probe<'_>) -> Result<Option<V>> {
        let at = K::Engine::find(&self.rows, key, Past::Smaller);
        if K::Engine::is_at(&self.rows, at, key) {
            K::Engine::value(&self.rows, at).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Whether there is a key. O(log n).
    #[inline]
    pub fn contains_key(&self, key: K::Probe<'_>) -> bool {
        K::Engine::is_at(&self.rows, K::Engine::find(&self.rows, key, Past::Smaller), key)
    }

    /// The values of many keys. The cache misses of keys that are words overlap.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers), within
    /// [`Error::Index`](super::Error::Index), if `answers` isn't as long as `keys`; those of
    /// [`Mapped::get`].
    pub fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        K::Engine::get_many(&self.rows, keys, answers)
    }

    /// The entry at a position, counted from 0 in the order of the keys; `None` from the end on. O(1).
    ///
    /// # Errors
    /// [`Error::NoKey`](super::Error::NoKey), [`Error::NoValue`](super::Error::NoValue), of a damaged file.
    #[inline]
    pub fn nth(&self, position: usize) -> Result<Option<(K, V)>> {
        if position >= self.len() {
            return Ok(None);
        }
        Ok(Some((K::Engine::key(&self.rows, position)?, K::Engine::value(&self.rows, position)?)))
    }

    /// The entry before a position.
    fn before(&self, position: usize) -> Result<Option<(K, V)>> {
        position.checked_sub(1).map_or(Ok(None), |before| self.nth(before))
    }

    /// The entry with the smallest key. O(1).
    ///
    /// # Errors
    /// Those of [`Mapped::nth`].
    pub fn first(&self) -> Result<Option<(K, V)>> {
        self.nth(0)
    }

    /// The entry with the largest key. O(1).
    ///
    /// # Errors
    /// Those of [`Mapped::nth`].
    pub fn last(&self) -> Result<Option<(K, V)>> {
        self.before(self.len())
    }

    /// The entry with the largest key up to `at`. O(log n).
    ///
    /// # Errors
    /// Those of [`Mapped::nth`].
    pub fn floor(&self, at: K::Probe<'_>) -> Result<Option<(K, V)>> {
        self.before(K::Engine::find(&self.rows, at, Past::Equal))
    }

    /// The entry with the smallest key from `at` on. O(log n).
    ///
    /// # Errors
    /// Those of [`Mapped::nth`].
    pub fn ceiling(&self, at: K::Probe<'_>) -> Result<Option<(K, V)>> {
        self.nth(K::Engine::find(&self.rows, at, Past::Smaller))
    }

    /// The entry with the largest key below `at`. O(log n).
    ///
    /// # Errors
    /// Those of [`Mapped::nth`].
    pub fn lower(&self, at: K::Probe<'_>) -> Result<Option<(K, V)>> {
        self.before(K::Engine::find(&self.rows, at, Past::Smaller))
    }

    /// The entry with the smallest key above `at`. O(log n).
    ///
    /// # Errors
    /// Those of [`Mapped::nth`].
    pub fn higher(&self, at: K::Probe<'_>) -> Result<Option<(K, V)>> {
        self.nth(K::Engine::find(&self.rows, at, Past::Equal))
    }

    /// The number of smaller keys. O(log n).
    pub fn rank(&self, key: K::Probe<'_>) -> usize {
        K::Engine::find(&self.rows, key, Past::Smaller)
    }

    /// The positions of the keys of a range; of an inverted range, none. O(log n).
    pub fn positions<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Range<usize> {
        let find = |&key: &K::Probe<'q>, past| K::Engine::find(&self.rows, key, past);
        let start = match range.start_bound() {
            Bound::Included(key) => find(key, Past::Smaller),
            Bound::Excluded(key) => find(key, Past::Equal),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(key) => find(key, Past::Equal),
            Bound::Excluded(key) => find(key, Past::Smaller),
            Bound::Unbounded => self.len(),
        };
        start..end.max(start)
    }

    /// The number of keys in a range; in an inverted range, zero. O(log n).
    pub fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        self.positions(range).len()
    }

    /// The entries of a range, in the order of their keys and from both ends; of an inverted range, none.
    pub fn range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Entries<'_, K, V> {
        Entries { mapped: self, positions: self.positions(range) }
    }

    /// All entries, in the order of their keys and from both ends.
    pub fn iter(&self) -> Entries<'_, K, V> {
        Entries { mapped: self, positions: 0..self.len() }
    }
}

impl<K, V> fmt::Debug for Mapped<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("len", &self.rows.len()).finish_non_exhaustive()
    }
}

impl<'m, K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> IntoIterator for &'m Mapped<K, V> {
    type Item = Result<(K, V)>;
    type IntoIter = Entries<'m, K, V>;

    fn into_iter(self) -> Entries<'m, K, V> {
        self.iter()
    }
}

/// Iterator over entries of a [`Mapped`]. Of a damaged file, which has strings that are no keys or values of
/// their type, the errors are those of [`Mapped::nth`].
pub struct Entries<'m, K, V> {
    mapped: &'m Mapped<K, V>,
    positions: Range<usize>,
}

impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> Entries<'_, K, V> {
    #[inline]
    fn at(&self, position: usize) -> Option<Result<(K, V)>> {
        self.mapped.nth(position).transpose()
    }
}

impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> Iterator for Entries<'_, K, V> {
    type Item = Result<(K, V)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let position = self.positions.next()?;
        self.at(position)
    }

    #[inline]
    fn nth(&mut self, skipped: usize) -> Option<Self::Item> {
        let position = self.positions.nth(skipped)?;
        self.at(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> DoubleEndedIterator for Entries<'_, K, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let position = self.positions.next_back()?;
        self.at(position)
    }
}

impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> ExactSizeIterator for Entries<'_, K, V> {}
impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> FusedIterator for Entries<'_, K, V> {}

impl<K, V> Clone for Entries<'_, K, V> {
    fn clone(&self) -> Self {
        Self { mapped: self.mapped, positions: self.positions.clone() }
    }
}

impl<K, V> fmt::Debug for Entries<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("positions", &self.positions).finish_non_exhaustive()
    }
}
