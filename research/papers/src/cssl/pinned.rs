//! Reads under a pin: entries stay readable, and one pin serves many reads.

use super::range::{Ends, Way};
use super::skip_list::{In, SkipList};
use crate::common::interleave::BatchSize;
use crate::error;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::{Sum, check_side_by_side};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::encoded_range;
use latchless_core::base::value::Fits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{NoTrace, Trace};

/// The map, pinned: see [`CsslMap::pin`](super::CsslMap::pin). Pinning costs some 20 ns, so one pin should
/// serve many lookups; but while it exists, no memory that other threads release is reused. A map has room
/// for 64 pins at a time; the next one waits until one is dropped.
///
/// `T` hears of the accesses of [`get`](Self::get), [`contains`](Self::contains) and of the searches for the
/// ends of a range: see [`CsslMap::pin_as`](super::CsslMap::pin_as).
pub struct Pinned<'a, K: Key, V: Fits<K::Bits>, T = NoTrace> {
    list: &'a SkipList<K::Bits>,
    inside: In<'a, K::Bits>,
    entry: PhantomData<fn() -> (K, V)>,
    touch: PhantomData<fn() -> T>,
}

impl<'a, K: Key, V: Fits<K::Bits>, T: Trace> Pinned<'a, K, V, T> {
    pub(super) fn new(list: &'a SkipList<K::Bits>) -> Self {
        Self { list, inside: list.enter(), entry: PhantomData, touch: PhantomData }
    }

    /// Returns the value under a key. O(log n), plus a step for each key that was inserted near it since
    /// lanes were built.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.list.get::<T>(&self.inside, key.encode()).map(V::decode_from)
    }

    /// Returns whether a key is present. Reads the lanes alone if nothing has changed since they were built
    /// (Algorithm 1, which returns the key itself).
    #[inline]
    pub fn contains(&self, key: K) -> bool {
        self.list.contains::<T>(&self.inside, key.encode())
    }

    /// Looks up each key; the answers are in the keys' order. The misses of a group of lookups overlap.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers).
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let key_at = |at: usize| keys[at].encode();
        self.list.get_many(&self.inside, keys.len(), key_at, |at, value| {
            answers[at] = value.map(V::decode_from);
        });
        Ok(())
    }

    /// Looks up each key like [`get_many`](Self::get_many), in batches of the caller's size, through the
    /// executor that all indexes share ([`interleave`](crate::common::interleave::interleave)): finished
    /// lookups leave their places to the others, and groups may be larger.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers),
    /// [`Error::BatchSize`](crate::Error::BatchSize).
    pub fn get_many_interleaved(
        &self,
        keys: &[K],
        answers: &mut [Option<V>],
        size: BatchSize,
    ) -> error::Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let key_at = |at: usize| keys[at].encode();
        self.list.get_interleaved(&self.inside, size.checked()?, keys.len(), key_at, |at, value| {
            answers[at] = value.map(V::decode_from);
        });
        Ok(())
    }

    /// Finds the entries of a range as a linked run, by two interleaved descents: O(log n) if nothing has
    /// changed since lanes were built.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    #[inline]
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Run<'_, K, V, T>> {
        self.run(range, Way::Descend)
    }

    /// Finds a range in the paper's way (§4, Algorithm 2): from the first element along lane 1 to the
    /// last, reading each element of the lane: O(entries · p). See [`Pinned::range`].
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    #[inline]
    pub fn range_along_lane(&self, range: impl RangeBounds<K>) -> Result<Run<'_, K, V, T>> {
        self.run(range, Way::Run)
    }

    #[inline]
    fn run(&self, range: impl RangeBounds<K>, way: Way) -> Result<Run<'_, K, V, T>> {
        let lanes = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        let ends = match lanes {
            Some((low, high)) => self.list.ends::<T>(&self.inside, low, high, way),
            None => None,
        };
        Ok(Run { pinned: self, lanes: lanes.unwrap_or((K::Bits::MAX, K::Bits::MIN)), ends })
    }

    /// Finds one run for each range, in the ranges' order; the misses of a group of descents overlap.
    /// Ranges include both of their ends.
    pub fn range_many(&self, ranges: &[(K, K)], mut found: impl FnMut(usize, Run<'_, K, V, T>)) {
        let lanes = |at: usize| (ranges[at].0.encode(), ranges[at].1.encode());
        let in_order = |at: usize| Some(lanes(at)).filter(|(low, high)| low <= high);
        self.list.ends_many(&self.inside, ranges.len(), in_order, |at, ends| {
            found(at, Run { pinned: self, lanes: lanes(at), ends });
        });
    }

    /// Returns the number of entries in a range: O(log n) if nothing has changed since lanes were built.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let lanes = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        Ok(lanes.map_or(0, |(low, high)| self.list.count(&self.inside, low, high)))
    }

    /// Returns the sum of the values of a range as lanes (it wraps), and their number.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn sum(&self, range: impl RangeBounds<K>) -> Result<Sum> {
        let lanes = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        Ok(lanes.map_or(Sum::default(), |(low, high)| self.sum_lanes(low, high, usize::MAX)))
    }

    pub(super) fn sum_lanes(&self, low: K::Bits, high: K::Bits, limit: usize) -> Sum {
        if limit == 0 {
            return Sum::default();
        }
        self.list.fold(&self.inside, low, high, Sum::default(), |so_far, _, value| {
            let total = so_far.total.wrapping_add(value.to_u64());
            let sum = Sum { entries: so_far.entries + 1, total };
            if sum.entries < limit { ControlFlow::Continue(sum) } else { ControlFlow::Break(sum) }
        })
    }
}

impl<K: Key, V: Fits<K::Bits>, T> fmt::Debug for Pinned<'_, K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").finish_non_exhaustive()
    }
}

/// A range's entries, linked: from its first to its last element (§4). Finding it doesn't visit them.
///
/// A visit shows every entry that is present from the creation of the run until it
/// is visited, in order, each once, and only entries that existed.
pub struct Run<'a, K: Key, V: Fits<K::Bits>, T = NoTrace> {
    pinned: &'a Pinned<'a, K, V, T>,
    lanes: (K::Bits, K::Bits),
    ends: Option<Ends>,
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Run<'_, K, V, T> {
    /// Returns whether no entry was found in the range.
    pub fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// The first entry that was found.
    #[inline]
    pub fn first(&self) -> Option<(K, V)> {
        self.entry(self.ends?.first)
    }

    /// The last entry that was found.
    #[inline]
    pub fn last(&self) -> Option<(K, V)> {
        self.entry(self.ends?.last)
    }

    fn entry(&self, node: NodeRef) -> Option<(K, V)> {
        let list = self.pinned.list.list();
        Some((K::decode(list.key(node)), V::decode_from(list.value(node))))
    }

    /// The entries, in ascending order of keys.
    pub fn iter(&self) -> impl Iterator<Item = (K, V)> {
        let (list, (low, high)) = (self.pinned.list.list(), self.lanes);
        let mut next = self.ends.map(|ends| ends.first);
        core::iter::from_fn(move || {
            let mut found = None;
            list.visit_on(next.take()?, low, high, |node, key, value| match found {
                None => {
                    found = Some((key, value));
                    true
                }
                Some(_) => {
                    next = Some(node);
                    false
                }
            });
            let (key, value) = found?;
            Some((K::decode(key), V::decode_from(value)))
        })
    }

    /// Returns the number of entries: from the lanes if nothing has changed since they were built, by
    /// counting otherwise.
    pub fn count(&self) -> usize {
        match self.ends {
            Some(Ends { len: Some(len), .. }) => len,
            Some(_) => self.pinned.list.count(&self.pinned.inside, self.lanes.0, self.lanes.1),
            None => 0,
        }
    }

    /// Returns the sum of the values as lanes (it wraps), and their number.
    pub fn sum(&self) -> Sum {
        match self.ends {
            Some(_) => self.pinned.sum_lanes(self.lanes.0, self.lanes.1, usize::MAX),
            None => Sum::default(),
        }
    }
}

impl<K: Key, V: Fits<K::Bits>, T> fmt::Debug for Run<'_, K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("lanes", &self.lanes).field("ends", &self.ends).finish()
    }
}
