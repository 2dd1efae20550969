//! The operations that an [`Index`] has whatever its types are: each is one call of its engine.

use super::bulk::Bulk;
use super::engine::{Engine, KeyFor};
use super::{Index, Options, Storage, storage};
use core::iter::FusedIterator;
use core::ops::Bound::{Excluded, Included, Unbounded};
use core::ops::RangeBounds;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::index::Direction::{Forward, Reverse};
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::stats::Stats;

/// The entries of a range of an [`Index`]. For keys and values that fit words, an
/// [`Entries`](super::Entries).
pub type Range<'i, K, V> = <<K as KeyFor<V>>::Engine as Engine<K, V>>::Entries<'i>;

/// The entries of an [`Index`] by an iterator that owns them.
pub type IntoRange<K, V> = <<K as KeyFor<V>>::Engine as Bulk<K, V>>::IntoEntries;

storage!([K: KeyFor<V>, V: IndexValue] Index<K, V>, engine);

/// What every index has.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Creates an empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the system has no memory for a first node.
    ///
    /// ```
    /// let index = latchless::Index::<(u64, String), f64>::new()?;
    /// assert!(index.is_empty());
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// Creates an empty index with these [`Options`].
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`](crate::Error::KernelUnavailable), or memory for a first node was
    /// refused.
    ///
    /// ```
    /// use latchless::{Index, Kernel, index::Options};
    ///
    /// let options = Options { kernel: Some(Kernel::Scalar), huge_pages: false, ..Options::default() };
    /// let index = Index::<u32, u32>::with_options(options)?;
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { engine: K::Engine::create(options)? })
    }

    /// Creates an index from all entries of an iterator, in any order; of equal keys the last one stays. O(n
    /// log n): sorts the entries and loads them in bulk.
    ///
    /// # Errors
    /// Memory was refused, or a key or value is too long.
    ///
    /// ```
    /// # use latchless::Index;
    /// let index = Index::<u64, u32>::try_from_iter([(9, 90), (7, 70), (9, 91)])?;
    /// assert_eq!(index.iter().collect::<Vec<_>>(), [(7, 70), (9, 91)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_from_iter(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        Ok(Self { engine: K::Engine::collect(entries)? })
    }

    /// Inserts all entries of an iterator; of equal keys the last one stays. The iterator is at most one
    /// batch of 256 entries ahead of the inserts.
    ///
    /// # Errors
    /// Memory was refused, or a key or value is too long. The entries before that are inserted, and the
    /// iterator isn't advanced further.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.try_extend((0..1000).map(|key| (key, 0)))?;
    /// assert_eq!(index.len(), 1000);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_extend(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()> {
        self.engine.extend(entries)
    }

    /// Creates an index of the same entries, with the default [`Options`]. O(n): inserts them in order, which
    /// leaves full nodes. Of an index that other threads change it is as weakly consistent as
    /// [`iter`](Index::iter).
    ///
    /// # Errors
    /// Memory was refused.
    ///
    /// ```
    /// # use latchless::Index;
    /// let prices: Index<u64, u32> = [(7, 70), (9, 90)].into();
    /// let before = prices.try_clone()?;
    /// prices.insert(7, 71)?;
    /// assert!(before.get(7) == Some(70) && before != prices);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self> {
        let copy = Self::new()?;
        copy.try_extend(self)?;
        Ok(copy)
    }

    /// Returns the number of keys. O(1). Exact if no thread is changing it, otherwise close to a recent one.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// assert_eq!(index.len(), 10_000);
    /// ```
    pub fn len(&self) -> usize {
        self.engine.key_count()
    }

    /// Returns `true` if there is no key, as exactly as [`Index::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes that the index holds: of every node that was ever in use, those with long strings
    /// included, of the slots of values in `Arc`s, and of the tables that shorten lookups and counts. O(1).
    /// Emptied nodes count, because they are kept for reuse until [`Index::shrink`]. See
    /// [`Index::live_bytes`].
    ///
    /// Not counted are one to four kilobytes that every index has (itself and its counters), four bytes per
    /// node for the free list, eight per node with long strings, what `Arc`s point to, memory for the next
    /// nodes ([`Index::mapped_bytes`] counts it), and the rest of pages that the system rounds up to, so up
    /// to 2 MiB with huge pages.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, key)).collect();
    /// assert!(index.memory_bytes() / index.len() < 30);
    /// ```
    pub fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }

    /// Returns the bytes of the nodes in use. O(1).
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// index.clear();
    /// assert!(index.live_bytes() < index.memory_bytes());
    /// ```
    pub fn live_bytes(&self) -> usize {
        self.engine.live_bytes()
    }

    /// Returns levels, nodes, fill, splits and restarts. O(nodes); approximate while others change the
    /// index.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let stats = index.stats();
    /// assert!(stats.levels == 2 || stats.levels == 3);
    /// assert!((0.7..0.9).contains(&stats.leaf_fill), "what collect fills");
    /// ```
    pub fn stats(&self) -> Stats {
        self.engine.stats()
    }

    /// Checks the invariants of every node. O(n). For an index that no thread is changing; a concurrent
    /// change may look like a violation.
    ///
    /// # Errors
    /// The first violated invariant.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// assert_eq!(index.check_invariants(), Ok(()));
    /// ```
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.engine.check_invariants()
    }

    /// Returns the value of a key. O(log n); takes no latch, and waits for a writer of the same leaf only
    /// after several failed validations.
    ///
    /// ```
    /// use latchless::Index;
    ///
    /// let index: Index<u64, u32> = [(7, 70)].into();
    /// assert_eq!((index.get(7), index.get(8)), (Some(70), None));
    /// let texts: Index<(u64, String), String> = [((7, "a".to_owned()), "text".to_owned())].into();
    /// assert_eq!(texts.get((7, "a")).as_deref(), Some("text"));
    /// ```
    #[inline]
    pub fn get(&self, key: K::Probe<'_>) -> Option<V> {
        self.engine.get(key)
    }

    /// Calls `see` with the value of a key, and returns the result. The value is lent: nothing is allocated
    /// for a string, and the references of an `Arc` aren't counted. O(log n); takes no latch.
    ///
    /// ```
    /// let texts: latchless::Index<u64, String> = [(7, "seven".to_owned())].into();
    /// assert_eq!(texts.get_with(7, |text| text.len()), Some(5));
    /// ```
    #[inline]
    pub fn get_with<R>(&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R> {
        self.engine.see(key, see)
    }

    /// Returns whether a key is present. O(log n).
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert!(index.contains_key(7) && !index.contains_key(8));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn contains_key(&self, key: K::Probe<'_>) -> bool {
        self.engine.contains(key)
    }

    /// Inserts an entry and returns the value that it replaces. O(log n). A key whose value is replaced is
    /// present at every moment. A string is taken as a `&str`, an `Arc` as it is.
    ///
    /// # Errors
    /// Memory for a new key was refused: [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::MemoryLimit`](crate::Error::MemoryLimit),
    /// [`Error::ReferencesExhausted`](crate::Error::ReferencesExhausted); or a byte string is too long:
    /// [`Error::KeyTooLong`](crate::Error::KeyTooLong), [`Error::ValueTooLong`](crate::Error::ValueTooLong).
    /// The index is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    ///
    /// let index = Index::<u64, u32>::new()?;
    /// assert_eq!(index.insert(7, 70)?, None);
    /// assert_eq!(index.insert(7, 71)?, Some(70));
    /// let names = Index::<String, String>::new()?;
    /// names.insert("seven", "VII")?;
    /// assert_eq!(names.insert("seven", "7")?.as_deref(), Some("VII"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn insert(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>> {
        self.engine.insert(key, value)
    }

    /// Removes a key and returns its value. O(log n). Needs no memory.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert_eq!((index.remove(7), index.remove(7)), (Some(70), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn remove(&self, key: K::Probe<'_>) -> Option<V> {
        self.engine.remove(key)
    }

    /// Looks up many keys, with one answer per key in the keys' order. It takes a fraction of the time of as
    /// many [`Index::get`]s, unless all keys are in the cache.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) if `answers` isn't as long as `keys`.
    ///
    /// ```
    /// # use latchless::Index;
    /// let index: Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let mut answers = [None; 3];
    /// index.get_many(&[50, 500, 5], &mut answers)?;
    /// assert_eq!(answers, [Some(100), None, Some(10)]);
    /// let names: Index<String, u32> = [("five".to_owned(), 5), ("six".to_owned(), 6)].into();
    /// names.get_many(&["six", "seven", "five"], &mut answers)?;
    /// assert_eq!(answers, [Some(6), None, Some(5)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()> {
        self.engine.get_many(keys, answers)
    }

    /// Looks up many keys and returns the answers in a vector. See [`Index::get_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// assert_eq!(index.get_all(&[50, 500, 5]), [Some(100), None, Some(10)]);
    /// ```
    pub fn get_all(&self, keys: &[K::Probe<'_>]) -> Vec<Option<V>> {
        let mut answers = vec![None; keys.len()];
        let lengths = self.get_many(keys, &mut answers);
        debug_assert_eq!(lengths, Ok(()));
        answers
    }

    /// Returns the entry with the smallest key. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.first(), Some((-5, 50)));
    /// ```
    pub fn first(&self) -> Option<(K, V)> {
        self.engine.near(Unbounded, Forward)
    }

    /// Returns the entry with the largest key. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.last(), Some((3, 30)));
    /// ```
    pub fn last(&self) -> Option<(K, V)> {
        self.engine.near(Unbounded, Reverse)
    }

    /// Removes the entry with the smallest key. O(log n).
    ///
    /// Atomic: each entry is returned to one thread, and its key is the smallest at the moment of its
    /// removal.
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.pop_first(), index.pop_first()), (Some((-5, 50)), Some((3, 30))));
    /// assert_eq!(index.pop_first(), None);
    /// ```
    pub fn pop_first(&self) -> Option<(K, V)> {
        self.engine.pop(Forward)
    }

    /// Removes the entry with the largest key, atomically. O(log n). See [`Index::pop_first`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.pop_last(), Some((3, 30)));
    /// assert_eq!(index.len(), 1);
    /// ```
    pub fn pop_last(&self) -> Option<(K, V)> {
        self.engine.pop(Reverse)
    }

    /// Returns the entry with the largest key that is at most `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.floor(3), index.floor(2), index.floor(-6)), (Some((3, 30)), Some((-5, 50)), None));
    /// ```
    pub fn floor(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.engine.near(Included(key), Reverse)
    }

    /// Returns the entry with the smallest key that is at least `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.ceiling(3), index.ceiling(-4)), (Some((3, 30)), Some((3, 30))));
    /// assert_eq!(index.ceiling(4), None);
    /// ```
    pub fn ceiling(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.engine.near(Included(key), Forward)
    }

    /// Returns the entry with the largest key below `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.lower(3), index.lower(-5)), (Some((-5, 50)), None));
    /// ```
    pub fn lower(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.engine.near(Excluded(key), Reverse)
    }

    /// Returns the entry with the smallest key above `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.higher(-5), index.higher(3)), (Some((3, 30)), None));
    /// ```
    pub fn higher(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.engine.near(Excluded(key), Forward)
    }

    /// Returns an iterator over the entries of a range, ascending; from the back, descending. Weakly
    /// consistent: see [`Entries`](super::Entries). O(log n) to start, O(1) per step.
    ///
    /// A range that starts after its end is empty, here and in every other operation that only reads;
    /// [`try_range`](Index::try_range) returns an error.
    ///
    /// ```
    /// # use latchless::Index;
    /// let index: Index<u64, u32> = (0..10).map(|key| (key, key as u32)).collect();
    /// let mut middle = index.range(3..=6);
    /// assert_eq!((middle.next(), middle.next_back()), (Some((3, 3)), Some((6, 6))));
    /// assert_eq!(middle.rev().collect::<Vec<_>>(), [(5, 5), (4, 4)]);
    /// assert_eq!(index.range(6..3).next(), None);
    /// let names: Index<String, u32> = [("five".to_owned(), 5), ("six".to_owned(), 6)].into();
    /// assert_eq!(names.range("s"..).next(), Some(("six".to_owned(), 6)));
    /// ```
    #[inline]
    pub fn range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Range<'_, K, V> {
        self.engine.entries(range)
    }

    /// Returns an iterator over the entries of a range, which may be inverted: from a user, from a file. See
    /// [`range`](Index::range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) if the range starts after its end. A range
    /// without any key is valid: `7..7`.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..10).map(|key| (key, key as u32)).collect();
    /// assert_eq!(index.try_range(6..3).err(), Some(latchless::Error::InvertedRange));
    /// assert_eq!(index.try_range(7..7)?.next(), None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn try_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<Range<'_, K, V>> {
        self.engine.try_entries(range)
    }

    /// Returns an iterator over all entries. See [`Index::range`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = [(9, 90), (7, 70)].into_iter().collect();
    /// assert_eq!(index.iter().collect::<Vec<_>>(), [(7, 70), (9, 90)]);
    /// ```
    pub fn iter(&self) -> Range<'_, K, V> {
        self.engine.all()
    }

    /// Returns an iterator over all keys, in the order of [`Index::iter`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = [(9, 90), (7, 70)].into_iter().collect();
    /// assert_eq!(index.keys().collect::<Vec<_>>(), [7, 9]);
    /// ```
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + Clone + '_ {
        self.iter().map(|(key, _)| key)
    }

    /// Returns an iterator over all values, in the order of their keys.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = [(9, 90), (7, 70)].into_iter().collect();
    /// assert_eq!(index.values().collect::<Vec<_>>(), [70, 90]);
    /// ```
    pub fn values(&self) -> impl DoubleEndedIterator<Item = V> + FusedIterator + Clone + '_ {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the number of keys in a range.
    ///
    /// With keys that fit words and values that fit words or are `Arc`s, a few thousand are counted leaf by
    /// leaf; for a longer range the index caches counts of its parts, from the first call on, and counts only
    /// those that have changed since the last call: see [`Index::rank`]. A call takes some microseconds,
    /// however long the range is, if nothing has changed. Byte strings are counted leaf by leaf, by a few
    /// cache lines of each.
    ///
    /// Weakly consistent when other threads change the index meanwhile: a key that is in the range
    /// throughout counts once, one that is inserted or removed meanwhile at most once, and any other never.
    /// Exact if no thread changes it.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 0)).collect();
    /// assert_eq!(index.count(10..=19), 10);
    /// ```
    pub fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        self.engine.count(range)
    }

    /// Removes the keys of a range and returns their number. O(entries in the range). Atomic for each leaf
    /// of words and for each other key, not for the whole range: keys that are inserted meanwhile may stay.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange); the index is then unchanged.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 0)).collect();
    /// assert_eq!(index.remove_range(100..)?, 900);
    /// assert_eq!(index.last(), Some((99, 0)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize> {
        self.engine.remove_range(range)
    }

    /// Removes all keys, like [`Index::remove_range`]. The nodes are kept for reuse; [`Index::reset`] and
    /// [`Index::shrink`] return them to the system.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 0)).collect();
    /// index.clear();
    /// assert!(index.is_empty());
    /// ```
    pub fn clear(&self) {
        self.engine.clear();
    }
}
