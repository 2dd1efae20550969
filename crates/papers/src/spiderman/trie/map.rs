//! The trie as a map from keys to values, and batches of lookups in it.

use super::way::Way;
use super::{Trie, pools};
use crate::common::interleave::{BatchSize, Interleaving, SizeTuner, interleave};
use crate::common::ordered::forwarded;
use crate::common::walk::{Aim, Rounds};
use core::fmt;
use core::marker::PhantomData;
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{
    Direction, OrderedIndex, Scanner, Span, check_buffers, check_side_by_side,
};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::{encoded_range, next, previous};
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::bulk::check_ascending;
use latchless_core::mem::touch::{NoTrace, Trace};

/// An ordered map on an adaptive radix tree, for one writer or many readers, whose batches of lookups
/// interleave their descents.
///
/// Lookups and updates look at one node for each byte of a key at most.
///
/// ```
/// use latchless_core::base::index::OrderedIndex;
/// use latchless_papers::spiderman::BatchSize;
/// use latchless_papers::spiderman::trie::TrieMap;
/// let mut map = TrieMap::<u64, u32>::new(None);
/// map.insert(7, 70)?;
/// map.insert(700, 7)?;
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

impl<K: Key, V: Fits<K::Bits>, T: Trace> TrieMap<K, V, T> {
    /// An empty map, whose nodes take at most so many bytes.
    pub fn new(limit_bytes: Option<usize>) -> Self {
        let tuner = SizeTuner::new(BatchSize::CANDIDATES);
        Self { trie: Trie::new(limit_bytes), tuner, entry: PhantomData }
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.trie.get(key.encode()).map(V::decode_from)
    }

    /// One answer for each key, in their order, by batches of this size.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`], [`Error::BatchSize`](crate::Error::BatchSize).
    pub fn get_many_in(
        &self,
        keys: &[K],
        answers: &mut [Option<V>],
        size: BatchSize,
    ) -> crate::error::Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let size = size.checked()?;
        let how =
            Interleaving { size, rounds: Rounds::Unfinished, tuner: &self.tuner, levels: K::Bits::BYTES };
        interleave(
            &self.trie.walk(),
            how,
            keys.len(),
            |at| (keys[at].encode(), Aim::Look),
            |at, leaf| {
                let key = keys[at].encode();
                let found = leaf.map_or_else(|| self.trie.get(key), |leaf| self.trie.get_from(leaf, key));
                answers[at] = found.map(V::decode_from);
            },
        );
        Ok(())
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the map is then as before.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.trie.insert(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.trie.remove(key.encode()).map(V::decode_from)
    }

    /// Leaves and inner nodes in use.
    pub fn nodes(&self) -> (usize, usize) {
        self.trie.nodes()
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> fmt::Debug for TrieMap<K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrieMap").field("len", &self.trie.len()).finish_non_exhaustive()
    }
}

/// A paused scan.
struct Paused<'a, K: Key, V, T: Trace> {
    trie: &'a Trie<K::Bits, T>,
    direction: Direction,
    /// What is left of the range, both ends included.
    left: Option<(K::Bits, K::Bits)>,
    value: PhantomData<fn() -> V>,
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Paused<'_, K, V, T> {
    fn hand_out(&mut self, room: usize, mut to: impl FnMut(usize, K, V)) -> usize {
        let Some((low, high)) = self.left else { return 0 };
        let forward = self.direction == Direction::Forward;
        let (mut way, mut at): (Way, _) = self.trie.seek(if forward { low } else { high }, forward);
        for filled in 0..room {
            let leaf: Option<&pools::Leaf<K::Bits>> = at.map(|place| self.trie.pools.leaf(place));
            let Some(leaf) = leaf.filter(|leaf| (low..=high).contains(&leaf.key)) else {
                self.left = None;
                return filled;
            };
            T::read(core::ptr::from_ref(leaf).cast(), size_of_val(leaf));
            to(filled, K::decode(leaf.key), V::decode_from(leaf.value));
            self.left = match forward {
                true => next(leaf.key).filter(|&from| from <= high).map(|from| (from, high)),
                false => previous(leaf.key).filter(|&until| until >= low).map(|until| (low, until)),
            };
            if self.left.is_none() {
                return filled + 1;
            }
            if filled + 1 < room {
                at = self.trie.advance(&mut way, forward);
            }
        }
        room
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Scanner<K, V> for Paused<'_, K, V, T> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Ok(self.hand_out(keys.len(), |at, key, value| (keys[at], values[at]) = (key, value)))
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, _, value| values[at] = value))
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> TrieMap<K, V, T> {
    fn paused(&self, span: Span<K>, direction: Direction) -> Result<Paused<'_, K, V, T>> {
        let left = encoded_range(&span)?;
        Ok(Paused { trie: &self.trie, direction, left, value: PhantomData })
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> OrderedIndex<K, V> for TrieMap<K, V, T> {
    forwarded! { get insert remove }

    fn len(&self) -> usize {
        self.trie.len()
    }

    fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let done = self.get_many_in(keys, answers, BatchSize::Auto);
        debug_assert!(done.is_ok(), "the lengths are equal and the size is none in particular");
        Ok(())
    }

    fn scan(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        self.paused(span, direction)?.fill(keys, values)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        Ok(Box::new(self.paused(span, direction)?))
    }

    /// Goes over the range's leaves.
    fn count(&self, span: Span<K>) -> Result<usize> {
        Ok(self.paused(span, Direction::Forward)?.hand_out(usize::MAX, |_, _, _| ()))
    }

    /// One insert after the other: nodes have as many children as there are, whatever the fill factor.
    fn bulk_load(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        if !self.trie.is_empty() {
            return Err(Error::NotEmpty { len: self.trie.len() });
        }
        check_ascending(entries.iter().map(|entry| entry.0.encode()))?;
        let loaded = entries.iter().try_for_each(|&(key, value)| self.insert(key, value).map(|_| ()));
        if loaded.is_err() {
            self.trie.clear();
        }
        loaded
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.trie.memory_bytes())
    }

    /// Levels are as many as keys of this width can lead to.
    fn stats(&self) -> Option<Stats> {
        let (leaves, inner_nodes) = self.trie.nodes();
        let levels = if inner_nodes == 0 { 1 } else { K::Bits::BYTES + 1 };
        Some(Stats { levels, inner_nodes, leaves, leaf_fill: 1.0, ..Stats::default() })
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.trie.check_invariants()
    }
}
