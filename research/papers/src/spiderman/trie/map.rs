//! The trie as a map from keys to values, and batches of lookups in it.

use super::{Scan, Trie, TrieOptions};
use crate::common::interleave::{BatchSize, Interleaving, SizeTuner, interleave};
use crate::common::ordered::forwarded;
use crate::common::pages::Pages;
use crate::common::walk::{Aim, Rounds};
use crate::error;
use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{
    ConcurrentIndex, Direction, OrderedIndex, Scanner, Span, check_buffers, check_side_by_side,
};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::bulk::check_ascending;
use latchless_core::mem::touch::{NoTrace, Trace};

/// An ordered map on an adaptive radix tree, whose batches of lookups interleave their descents.
///
/// Lookups and updates read at most one node for each byte of a key. All operations take `&self` and may
/// run on many threads at once, except [`TrieMap::bulk_load`] and [`TrieMap::clear`].
///
/// ```
/// use latchless_papers::spiderman::BatchSize;
/// use latchless_papers::spiderman::trie::TrieMap;
/// let map = TrieMap::<u64, u32>::new()?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| map.insert(7, 70));
///     threads.spawn(|| map.insert(700, 7));
/// });
/// let mut answers = [None; 3];
/// map.get_many_in(&[7, 8, 700], &mut answers, BatchSize::of(2)?)?;
/// assert_eq!(answers, [Some(70), None, Some(7)]);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct TrieMap<K: Key, V: Fits<K::Bits>, T: Trace = NoTrace> {
    trie: Trie<K::Bits, T>,
    tuner: SizeTuner,
    entry: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Fits<K::Bits>> TrieMap<K, V> {
    /// An empty map.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new() -> error::Result<Self> {
        Self::with_options(TrieOptions::default())
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> TrieMap<K, V, T> {
    /// An empty map as the caller wants it.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn with_options(options: TrieOptions) -> error::Result<Self> {
        let tuner = SizeTuner::new(BatchSize::CANDIDATES);
        Ok(Self { trie: Trie::new(options)?, tuner, entry: PhantomData })
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.trie.get(key.encode()).map(V::decode_from)
    }

    /// Looks up each key; the answers are in their order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`].
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let done = self.get_many_in(keys, answers, BatchSize::Auto);
        debug_assert!(done.is_ok(), "the lengths are equal and the size is none in particular");
        Ok(())
    }

    /// Looks up each key, in batches of this size; the answers are in their order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`], [`Error::BatchSize`](crate::Error::BatchSize).
    pub fn get_many_in(&self, keys: &[K], answers: &mut [Option<V>], size: BatchSize) -> error::Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let size = size.checked()?;
        let how =
            Interleaving { size, rounds: Rounds::Unfinished, tuner: &self.tuner, levels: K::Bits::BYTES };
        interleave(
            &self.trie.walk(),
            how,
            keys.len(),
            |at| (keys[at].encode(), Aim::Look),
            |at, landed| {
                let key = keys[at].encode();
                let found =
                    landed.map_or_else(|| self.trie.get(key), |landed| self.trie.get_from(landed, key));
                answers[at] = found.map(V::decode_from);
            },
        );
        Ok(())
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the map is then as before.
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.trie.put(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    /// Removes a key and returns its value.
    pub fn remove(&self, key: K) -> Option<V> {
        self.trie.take(key.encode()).map(V::decode_from)
    }

    /// A scan that fills the caller's buffers and pauses in between for as long as the caller likes.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Scan<'_, K, V, T>> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        Ok(Scan::new(&self.trie, encoded_range(&span)?, direction, usize::MAX))
    }

    /// Returns the number of entries in a range. O(entries in the range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let lanes = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        Ok(lanes.map_or(0, |(low, high)| self.trie.count(low, high)))
    }

    /// Fills an empty map from strictly ascending entries, one insert after the other; nodes have as many
    /// children as there are, so the fill factor is ignored.
    ///
    /// # Errors
    /// [`Error::NotEmpty`]; [`Error::Unsorted`] and [`Error::DuplicateKey`] name the first position at
    /// fault; or memory is refused. The map is then as before.
    pub fn bulk_load(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        if !self.trie.is_empty() {
            return Err(Error::NotEmpty { len: self.trie.len() });
        }
        check_ascending(entries.iter().map(|entry| entry.0.encode()))?;
        let loaded = entries.iter().try_for_each(|&(key, value)| self.insert(key, value).map(|_| ()));
        if loaded.is_err() {
            self.clear()?;
        }
        loaded
    }

    /// Returns the number of entries: exact while no other thread changes it. O(1).
    pub fn len(&self) -> usize {
        self.trie.len()
    }

    /// Returns whether there is no entry, as exact as [`TrieMap::len`]. O(1).
    pub fn is_empty(&self) -> bool {
        self.trie.is_empty()
    }

    /// Forgets everything and gives the memory back to the system.
    ///
    /// # Errors
    /// When memory for an empty map is refused, which it had before.
    pub fn clear(&mut self) -> Result<()> {
        self.trie.clear()
    }

    /// Bytes that the map holds for nodes, those included that wait to be used again. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.trie.held_bytes()
    }

    /// Bytes of the nodes that are part of the trie. O(threads).
    pub fn live_bytes(&self) -> usize {
        self.trie.live_bytes()
    }

    /// Levels are as many as keys of this width can lead to.
    pub fn stats(&self) -> Stats {
        let (leaves, inner_nodes) = self.trie.nodes();
        let levels = if inner_nodes == 0 { 1 } else { K::Bits::BYTES + 1 };
        let restarts = self.trie.restarts();
        let mut stats = Stats::default();
        stats.levels = levels;
        stats.inner_nodes = inner_nodes;
        stats.leaves = leaves;
        stats.leaf_fill = 1.0;
        stats.restarts = restarts;
        stats
    }

    /// Checks every node, and reports the first violation. The map must be at rest. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.trie.check_invariants()
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> fmt::Debug for TrieMap<K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrieMap").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> OrderedIndex<K, V> for TrieMap<K, V, T> {
    forwarded! { len get get_many insert remove scanner count bulk_load memory_bytes stats check_invariants }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Scan::new(&self.trie, encoded_range(&span)?, direction, keys.len()).fill(keys, values)
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        Some(self)
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> ConcurrentIndex<K, V> for TrieMap<K, V, T> {
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>> {
        self.insert(key, value)
    }

    fn remove_shared(&self, key: K) -> Option<V> {
        self.remove(key)
    }
}
