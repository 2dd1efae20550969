//! The skip list as a map from keys to values.

use super::options::Options;
use super::pinned::Pinned;
use super::skip_list::SkipList;
use super::{Entries, Scan};
use crate::error;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::index::{Direction, Sum};
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;
use latchless_core::base::value::Fits;
use latchless_core::bulk::check_ascending;
use latchless_core::mem::touch::Trace;

/// An ordered map: a Cache-Sensitive Skip List.
///
/// Every operation takes `&self` and may run on many threads at once. Single operations are linearizable.
/// Lookups and updates cost O(log n), plus a step for each key that was inserted near theirs since lanes
/// were built.
///
/// ```
/// use latchless_papers::cssl::CsslMap;
///
/// let entries: Vec<(f64, u32)> = (0..1000).map(|i| (f64::from(i) / 4.0, i)).collect();
/// let map = CsslMap::from_sorted(&entries)?;
/// let pinned = map.pin();
/// let run = pinned.range(10.0..20.0)?;
/// assert_eq!((run.first(), run.last(), run.count()), (Some((10.0, 40)), Some((19.75, 79)), 40));
/// map.insert(10.1, 7)?;
/// map.remove(10.0);
/// assert_eq!(map.range(..=10.25)?.last(), Some((10.25, 41)));
/// assert_eq!(map.count(10.0..20.0)?, 40);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct CsslMap<K: Key, V: Fits<K::Bits>> {
    pub(super) list: SkipList<K::Bits>,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<K: Key, V: Fits<K::Bits>> CsslMap<K, V> {
    /// An empty map with the default [`Options`].
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new() -> error::Result<Self> {
        Self::with_options(&Options::default())
    }

    /// An empty map.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting), [`Error::KernelUnavailable`], or when memory is refused.
    pub fn with_options(options: &Options) -> error::Result<Self> {
        Ok(Self { list: SkipList::new(options)?, entry: PhantomData })
    }

    /// A map of strictly ascending entries, with the default [`Options`]. O(n).
    ///
    /// # Errors
    /// Those of [`CsslMap::bulk_load`].
    pub fn from_sorted(entries: &[(K, V)]) -> error::Result<Self> {
        let mut map = Self::new()?;
        map.bulk_load(entries)?;
        Ok(map)
    }

    /// Fills an empty map from strictly ascending entries: "initialized with a sorted set of keys" (§3.2).
    /// O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the map is then
    /// as before.
    pub fn bulk_load(&mut self, entries: &[(K, V)]) -> Result<()> {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        let bits = |at: usize| entries[at].0.encode();
        check_ascending((0..entries.len()).map(bits))?;
        self.list.load(entries.len(), |at| (bits(at), entries[at].1.encode_as()))
    }

    /// Removes all entries and frees the memory. Needs exclusive access.
    ///
    /// # Errors
    /// When not even an empty map's memory is granted.
    pub fn clear(&mut self) -> Result<()> {
        self.list.clear()
    }

    /// Returns the number of keys. Exact while no other thread updates the map. O(1).
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pins the map for many reads: see [`Pinned`].
    #[inline]
    pub fn pin(&self) -> Pinned<'_, K, V> {
        Pinned::new(&self.list)
    }

    /// Pins the map for reads that report their accesses to `T`, which also selects how they search lanes:
    /// see [`Trace::BRANCHING`].
    #[inline]
    pub fn pin_as<T: Trace>(&self) -> Pinned<'_, K, V, T> {
        Pinned::new(&self.list)
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.pin().get(key)
    }

    /// Looks up each key; the answers are in the keys' order. The misses of a group of lookups overlap.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`].
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.pin().get_many(keys, answers)
    }

    /// Puts a value under a key and returns the value that it replaces. Puts a new key into the data list
    /// only; lanes catch up when they are rebuilt (§3.2).
    ///
    /// # Errors
    /// When memory is refused; replacing a value needs none.
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.list.insert(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    /// Removes a key and returns its value. Its entries in the lanes are overwritten by their successors
    /// first, then it leaves the data list (§3.2).
    pub fn remove(&self, key: K) -> Option<V> {
        self.list.remove(key.encode()).map(V::decode_from)
    }

    /// Gives an entry another key: "an insert operation followed by a deletion" (§3.2), so others may see
    /// both keys for a moment. Returns whether there was an entry; a value under the new key is replaced.
    ///
    /// # Errors
    /// When memory is refused; the entry is then under its old key.
    pub fn update_key(&self, from: K, to: K) -> Result<bool> {
        if from.encode() == to.encode() {
            return Ok(self.get(from).is_some());
        }
        let Some(value) = self.get(from) else { return Ok(false) };
        self.insert(to, value)?;
        Ok(self.remove(from).is_some())
    }

    /// Rebuilds the lanes over the parts that have changed, concurrently with readers and writers. Returns
    /// the number of those parts. Costs a walk over those parts: O(n) if lanes are in one array.
    ///
    /// # Errors
    /// When memory is refused; the lanes are then as before.
    pub fn rebuild_changed(&self) -> Result<usize> {
        self.list.rebuild(false)
    }

    /// Rebuilds all lanes, concurrently with readers and writers. Returns the number of parts. O(n).
    ///
    /// # Errors
    /// When memory is refused; the lanes are then as before.
    pub fn rebuild(&self) -> Result<usize> {
        self.list.rebuild(true)
    }

    /// Returns the number of rebuilds of parts so far.
    pub fn rebuilt_parts(&self) -> u64 {
        self.list.rebuilt()
    }

    /// The entries of a range in ascending order of keys.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V>> {
        Ok(Entries::new(self.scanner(range, Direction::Forward)?))
    }

    /// The entries of a range in descending order of keys.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn range_reverse(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V>> {
        Ok(Entries::new(self.scanner(range, Direction::Reverse)?))
    }

    /// A scan that fills the caller's buffers, pauses when they are full and resumes where it stopped. It
    /// keeps nothing pinned meanwhile.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Scan<'_, K, V>> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        Ok(Scan::new(&self.list, encoded_range(&span)?, direction, usize::MAX))
    }

    /// Returns the number of entries in a range: O(log n) if nothing has changed since lanes were built.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        self.pin().count(range)
    }

    /// Returns the sum of the values of a range as lanes (it wraps), and their number.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn sum(&self, range: impl RangeBounds<K>) -> Result<Sum> {
        self.pin().sum(range)
    }

    /// Bytes that the map holds for nodes and lanes, those nodes included that wait to be used again. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.list.held_bytes()
    }

    /// Returns the memory of the lanes and of the data list: see [`Space`](super::Space). O(parts).
    pub fn space(&self) -> super::Space {
        self.list.space()
    }

    /// Checks the whole map, and reports the first violation. The map must be at rest. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.list.check_invariants()
    }

    /// Writes the parts and their lanes as text, keys as their lanes. Wants the map at rest.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.list.dump(out)
    }

    /// Frees memory that was released and that no thread can read any more.
    pub fn collect(&self) {
        self.list.collect();
    }
}

impl<K: Key, V: Fits<K::Bits>> fmt::Debug for CsslMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = encoded_range::<K>(&(Bound::Unbounded, Bound::Unbounded)).unwrap_or_default();
        let entries = Entries::<K, V>::new(Scan::new(&self.list, all, Direction::Forward, usize::MAX));
        f.debug_map().entries(entries).finish()
    }
}
