//! [`IndexSet`]: keys without values, as `BTreeSet` is to `BTreeMap`.

use crate::frozen::{Frozen, NotFrozen};
use crate::index::engine::{Engine, KeyFor};
use crate::index::{Index, IntoRange, Keys, Options, Range, key};
use core::cmp::Ordering;
use core::fmt;
use core::iter::{FusedIterator, Peekable};
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;

/// An ordered set of keys for many concurrent readers and writers: `BTreeSet` through `&self`.
///
/// It is an [`Index`] with values of type `()`, and takes the same keys, named in the same way. A key that
/// is stored as a byte string takes no room for a value, and one in a word takes that of another word. Costs
/// and guarantees are those of [the index](crate::index). Operations that aren't here are those of
/// [`as_index`](IndexSet::as_index): ranks, batches, cursors, statistics.
///
/// ```
/// use latchless::IndexSet;
///
/// let seen = IndexSet::<(u64, String)>::new()?;
/// assert!(seen.insert((7, "/home"))?);
/// assert!(!seen.insert((7, "/home"))?);
/// assert!(seen.contains((7, "/home")) && !seen.contains((8, "/home")));
/// assert_eq!(seen.ceiling((7, "")), Some((7, "/home".to_owned())));
/// assert_eq!(seen.range((8, "")..).next(), None);
///
/// let even: IndexSet<u32> = (0..10).step_by(2).collect();
/// let small: IndexSet<u32> = (0..4).collect();
/// assert_eq!(even.intersection(&small).collect::<Vec<_>>(), [0, 2]);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct IndexSet<K: KeyFor<()>> {
    index: Index<K, ()>,
}

impl<K: KeyFor<()>> IndexSet<K> {
    /// Creates an empty set.
    ///
    /// # Errors
    /// Those of [`Index::new`].
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// Creates an empty set with these [`Options`].
    ///
    /// # Errors
    /// Those of [`Index::with_options`].
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { index: Index::with_options(options)? })
    }

    /// Creates a set of all keys of an iterator, in any order. O(n log n): sorts them and loads them in bulk.
    ///
    /// # Errors
    /// Those of [`Index::try_from_iter`].
    pub fn try_from_iter(keys: impl IntoIterator<Item = K>) -> Result<Self> {
        Ok(Self { index: Index::try_from_iter(keys.into_iter().map(|key| (key, ())))? })
    }

    /// Creates a set of the same keys. See [`Index::try_clone`].
    ///
    /// # Errors
    /// Memory was refused.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self { index: self.index.try_clone()? })
    }

    /// Inserts all keys of an iterator. See [`Index::try_extend`].
    ///
    /// # Errors
    /// Those of [`Index::try_extend`]; the keys before that are inserted.
    pub fn try_extend(&self, keys: impl IntoIterator<Item = K>) -> Result<()> {
        self.index.try_extend(keys.into_iter().map(|key| (key, ())))
    }

    /// Returns the number of keys, as exactly as [`Index::len`]. O(1).
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns `true` if there is no key, as exactly as [`Index::len`].
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns the bytes that the set holds: see [`Index::memory_bytes`].
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// Returns whether a key is present. O(log n).
    #[inline]
    pub fn contains(&self, key: K::Probe<'_>) -> bool {
        self.index.contains_key(key)
    }

    /// Inserts a key. Returns whether it is new. O(log n).
    ///
    /// # Errors
    /// Those of [`Index::insert`]; the set is then unchanged.
    #[inline]
    pub fn insert(&self, key: K::Probe<'_>) -> Result<bool> {
        Ok(self.index.insert(key, ())?.is_none())
    }

    /// Removes a key. Returns whether it was present. O(log n).
    #[inline]
    pub fn remove(&self, key: K::Probe<'_>) -> bool {
        self.index.remove(key).is_some()
    }

    /// Returns the smallest key. O(log n).
    pub fn first(&self) -> Option<K> {
        self.index.first().map(key)
    }

    /// Returns the largest key. O(log n).
    pub fn last(&self) -> Option<K> {
        self.index.last().map(key)
    }

    /// Removes the smallest key and returns it. O(log n).
    pub fn pop_first(&self) -> Option<K> {
        self.index.pop_first().map(key)
    }

    /// Removes the largest key and returns it. O(log n).
    pub fn pop_last(&self) -> Option<K> {
        self.index.pop_last().map(key)
    }

    /// Returns the largest key that is at most `at`. O(log n).
    ///
    /// ```
    /// let set: latchless::IndexSet<i32> = [-5, 3].into();
    /// assert_eq!((set.floor(2), set.ceiling(-5)), (Some(-5), Some(-5)));
    /// assert_eq!((set.lower(-5), set.higher(-5)), (None, Some(3)));
    /// ```
    pub fn floor(&self, at: K::Probe<'_>) -> Option<K> {
        self.index.floor(at).map(key)
    }

    /// Returns the smallest key that is at least `at`. O(log n).
    pub fn ceiling(&self, at: K::Probe<'_>) -> Option<K> {
        self.index.ceiling(at).map(key)
    }

    /// Returns the largest key below `at`. O(log n).
    pub fn lower(&self, at: K::Probe<'_>) -> Option<K> {
        self.index.lower(at).map(key)
    }

    /// Returns the smallest key above `at`. O(log n).
    pub fn higher(&self, at: K::Probe<'_>) -> Option<K> {
        self.index.higher(at).map(key)
    }

    /// Returns an iterator over the keys of a range, ascending; from the back, descending. Weakly
    /// consistent, as [`Index::range`]. A range that starts after its end is empty.
    ///
    /// ```
    /// let set: latchless::IndexSet<u64> = (0..10).collect();
    /// assert_eq!(set.range(3..6).rev().collect::<Vec<_>>(), [5, 4, 3]);
    /// ```
    #[inline]
    pub fn range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> SetRange<'_, K> {
        Keys(self.index.range(range))
    }

    /// Returns an iterator over the keys of a range, which may be inverted. See [`IndexSet::range`].
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) if the range starts after its end.
    pub fn try_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<SetRange<'_, K>> {
        self.index.try_range(range).map(Keys)
    }

    /// Returns an iterator over all keys. See [`IndexSet::range`].
    pub fn iter(&self) -> SetRange<'_, K> {
        Keys(self.index.iter())
    }

    /// Returns the number of keys in a range: see [`Index::count`].
    pub fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        self.index.count(range)
    }

    /// Removes the keys of a range and returns their number: see [`Index::remove_range`].
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange); the set is then unchanged.
    pub fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize> {
        self.index.remove_range(range)
    }

    /// Removes all keys: see [`Index::clear`].
    pub fn clear(&self) {
        self.index.clear();
    }

    /// Moves the keys to new nodes, and returns the memory of the old ones to the system: see
    /// [`Index::shrink`].
    ///
    /// # Errors
    /// Those of [`Index::shrink`]; the set is then unchanged.
    ///
    /// ```
    /// use latchless::{FillFactor, IndexSet};
    ///
    /// let mut set: IndexSet<u32> = (0..100_000).collect();
    /// let full = set.memory_bytes();
    /// set.remove_range(1_000..)?;
    /// set.shrink(FillFactor::FULL)?;
    /// assert!(set.len() == 1_000 && set.memory_bytes() < full / 20);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.index.shrink(fill)
    }

    /// Packs the set, and returns it for reading alone, with shared ownership: see [`Index::freeze`].
    ///
    /// # Errors
    /// Those of [`Index::freeze`].
    ///
    /// ```
    /// let primes = latchless::IndexSet::from([2_u32, 3, 5, 7]).freeze()?;
    /// assert!(primes.contains(5) && primes.range(4..).eq([5, 7]) && primes.as_index().rank(7) == 3);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn freeze(self) -> Result<Frozen<Self>, NotFrozen<Self>> {
        Frozen::packed(self, Self::shrink)
    }

    /// Returns an iterator over the keys of either set or both, ascending. O(1) per key of either; weakly
    /// consistent, as the two iterators that it merges.
    ///
    /// ```
    /// let [one, other]: [latchless::IndexSet<u8>; 2] = [[1, 2].into(), [2, 3].into()];
    /// assert!(one.union(&other).eq([1, 2, 3]) && one.intersection(&other).eq([2]));
    /// assert!(one.difference(&other).eq([1]) && one.symmetric_difference(&other).eq([1, 3]));
    /// ```
    pub fn union<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.merged(other, |_| true)
    }

    /// Returns an iterator over the keys of both sets, ascending. See [`IndexSet::union`].
    pub fn intersection<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.merged(other, Ordering::is_eq)
    }

    /// Returns an iterator over the keys of this set that `other` lacks, ascending. See
    /// [`IndexSet::union`].
    pub fn difference<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.merged(other, Ordering::is_lt)
    }

    /// Returns an iterator over the keys that one set has and the other lacks, ascending. See
    /// [`IndexSet::union`].
    pub fn symmetric_difference<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.merged(other, Ordering::is_ne)
    }

    /// Returns whether `other` has all keys of this set. O(n + m).
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }

    /// Returns whether this set has all keys of `other`. O(n + m).
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Returns whether no key is in both sets. O(n + m).
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }

    fn merged<'s>(&'s self, other: &'s Self, wanted: fn(Ordering) -> bool) -> Merged<SetRange<'s, K>> {
        Merged {
            own: self.iter().peekable(),
            other: other.iter().peekable(),
            order: K::Engine::order,
            wanted,
        }
    }

    /// Returns the index that has the keys, for all operations that a set has no names for.
    ///
    /// ```
    /// let set: latchless::IndexSet<u64> = (0..100).map(|key| 2 * key).collect();
    /// assert_eq!((set.as_index().rank(10), set.as_index().nth(10)), (5, Some((20, ()))));
    /// ```
    pub fn as_index(&self) -> &Index<K, ()> {
        &self.index
    }
}

/// The keys of a range of an [`IndexSet`], from both ends.
pub type SetRange<'s, K> = Keys<Range<'s, K, ()>>;

/// The keys of two sets, merged in ascending order: [`IndexSet::union`], [`IndexSet::intersection`],
/// [`IndexSet::difference`] or [`IndexSet::symmetric_difference`].
pub struct Merged<I: Iterator> {
    own: Peekable<I>,
    other: Peekable<I>,
    order: fn(&I::Item, &I::Item) -> Ordering,
    /// Whether keys of one set only, of both, or of the other set only are yielded: less, equal, greater.
    wanted: fn(Ordering) -> bool,
}

impl<I: Iterator> Iterator for Merged<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        loop {
            let order = match (self.own.peek(), self.other.peek()) {
                (Some(own), Some(other)) => (self.order)(own, other),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            let own = if order.is_le() { self.own.next() } else { None };
            let other = if order.is_ge() { self.other.next() } else { None };
            if (self.wanted)(order) {
                return own.or(other);
            }
        }
    }
}

impl<I: FusedIterator> FusedIterator for Merged<I> {}

/// A clone goes on from the same key.
impl<I: Iterator<Item: Clone> + Clone> Clone for Merged<I> {
    fn clone(&self) -> Self {
        Self { own: self.own.clone(), other: self.other.clone(), ..*self }
    }
}

impl<I: Iterator> fmt::Debug for Merged<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merged").finish_non_exhaustive()
    }
}

/// Panics as the standard library's sets do if memory is refused.
fn expect<T>(made: Result<T>) -> T {
    made.unwrap_or_else(|error| panic!("a set can't be made or extended: {error}"))
}

impl<K: KeyFor<()>> FromIterator<K> for IndexSet<K> {
    /// Creates a set of all keys of an iterator. See [`IndexSet::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused.
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        expect(Self::try_from_iter(keys))
    }
}

impl<K: KeyFor<()>, const N: usize> From<[K; N]> for IndexSet<K> {
    /// Creates a set of the keys of an array. See [`IndexSet::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused.
    fn from(keys: [K; N]) -> Self {
        keys.into_iter().collect()
    }
}

impl<K: KeyFor<()>> From<Index<K, ()>> for IndexSet<K> {
    fn from(index: Index<K, ()>) -> Self {
        Self { index }
    }
}

impl<K: KeyFor<()>> From<IndexSet<K>> for Index<K, ()> {
    fn from(set: IndexSet<K>) -> Self {
        set.index
    }
}

impl<K: KeyFor<()>> Extend<K> for IndexSet<K> {
    /// Inserts all keys of an iterator. See [`IndexSet::try_extend`].
    ///
    /// # Panics
    /// If memory is refused.
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        expect(self.try_extend(keys));
    }
}

impl<K: KeyFor<()>> Extend<K> for &IndexSet<K> {
    /// Inserts all keys of an iterator. See [`IndexSet::try_extend`].
    ///
    /// # Panics
    /// If memory is refused.
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        expect(self.try_extend(keys));
    }
}

impl<K: KeyFor<()>> Default for IndexSet<K> {
    /// Creates an empty set.
    ///
    /// # Panics
    /// If the system has no memory for a first node.
    fn default() -> Self {
        expect(Self::new())
    }
}

impl<K: KeyFor<()>> Clone for IndexSet<K> {
    /// Creates a set of the same keys. See [`IndexSet::try_clone`].
    ///
    /// # Panics
    /// If memory is refused.
    fn clone(&self) -> Self {
        expect(self.try_clone())
    }
}

impl<K: KeyFor<()>> PartialEq for IndexSet<K> {
    /// Returns whether both sets have the same keys. O(n). Of sets that other threads change, see
    /// [`Index::eq`].
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<K: KeyFor<()>> Eq for IndexSet<K> {}

impl<K: KeyFor<()> + fmt::Debug> fmt::Debug for IndexSet<K> {
    /// Formats the set as one: `{7, 9}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'s, K: KeyFor<()>> IntoIterator for &'s IndexSet<K> {
    type Item = K;
    type IntoIter = SetRange<'s, K>;

    fn into_iter(self) -> SetRange<'s, K> {
        self.iter()
    }
}

impl<K: KeyFor<()>> IntoIterator for IndexSet<K> {
    type Item = K;
    type IntoIter = Keys<IntoRange<K, ()>>;

    fn into_iter(self) -> Self::IntoIter {
        Keys(self.index.into_iter())
    }
}
