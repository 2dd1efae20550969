//! The engine of keys and values that fit words: the tree itself.

#[cfg(feature = "rayon")]
use super::access::decode_key;
use super::access::{Access, Words, encode_key, encode_range, encode_value, full_range};
use super::bulk::Bulk;
use super::changes::{Action, Changes};
use super::engine::{Choice, Engine};
#[cfg(feature = "rayon")]
use super::order::Scanned;
use super::order::Side;
use super::storage::Storage;
use super::traits::sort_and_dedup;
use super::{Entries, Incomplete, Options, TryInsertError};
use crate::blink::Tries;
use crate::tree::Shared;
use core::cmp::Ordering;
use core::num::NonZeroUsize;
#[cfg(feature = "rayon")]
use core::ops::ControlFlow;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::bytes_value::Word;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::InWord;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Value;

impl<B: Bits, K: Key<Bits = B>, V: Value> Choice<K, V, Word> for InWord<B> {
    type Engine = Words<K, V>;
}

impl<K: Key, V: Value> Words<K, V> {
    /// Returns access to the tree, shared with other threads.
    #[inline(always)]
    pub(super) fn access(&self) -> Access<'_, K, V, Shared> {
        Access::new(self)
    }
}

impl<K: Key, V: Value> Storage for Words<K, V> {
    fn create(options: Options) -> Result<Self> {
        Self::with_options(options)
    }

    #[inline]
    fn key_count(&self) -> usize {
        self.tree.len()
    }

    fn memory_bytes(&self) -> usize {
        self.tree.held_bytes()
    }

    fn live_bytes(&self) -> usize {
        self.tree.live_bytes()
    }

    fn mapped_bytes(&self) -> usize {
        self.tree.mapped_bytes()
    }

    fn counted(&self) -> Stats {
        self.tree.counted()
    }

    fn stats(&self) -> Stats {
        self.tree.stats()
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.tree.check_invariants()
    }

    fn reset(&mut self) {
        self.tree.clear();
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.tree.shrink(fill)
    }
}

impl<K: Key, V: Value> Engine<K, V> for Words<K, V> {
    type Entries<'i> = Entries<&'i Self>;

    fn collect(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let mut entries: Vec<(K, V)> = entries.into_iter().collect();
        sort_and_dedup(&mut entries, <Self as Engine<K, V>>::order);
        let mut words = Self::with_options(Options::default())?;
        words.bulk_load(&entries, FillFactor::default(), NonZeroUsize::MIN)?;
        Ok(words)
    }

    fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()> {
        self.access().extend(entries)
    }

    #[inline(always)]
    fn order(one: &K, other: &K) -> Ordering {
        one.encode().cmp(&other.encode())
    }

    #[inline(always)]
    fn get(&self, key: K) -> Option<V> {
        self.access().get(key)
    }

    #[inline(always)]
    fn see<R>(&self, key: K, see: impl FnOnce(V) -> R) -> Option<R> {
        self.access().get(key).map(see)
    }

    #[inline(always)]
    fn contains(&self, key: K) -> bool {
        self.access().get(key).is_some()
    }

    #[inline(always)]
    fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        self.access().insert(key, value)
    }

    #[inline(always)]
    fn remove(&self, key: K) -> Option<V> {
        self.access().remove(key)
    }

    fn tries(&self, key: K) -> Tries<'_> {
        self.tree.tries(encode_key::<K, V>(key))
    }

    #[inline(always)]
    fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.access().get_many(keys, answers)
    }

    #[inline(always)]
    fn get_each(&self, keys: &[K], see: impl FnMut(usize, Option<V>)) {
        self.access().get_each(keys, see);
    }

    #[inline(always)]
    fn near(&self, from: Bound<K>, direction: Direction) -> Option<(K, V)> {
        self.access().near(from, direction)
    }

    #[inline(always)]
    fn pop(&self, direction: Direction) -> Option<(K, V)> {
        self.access().pop(direction)
    }

    #[inline(always)]
    fn all(&self) -> Entries<&Self> {
        Entries::all(self)
    }

    #[inline(always)]
    fn entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Entries<&Self> {
        Entries::of(self, range)
    }

    #[inline(always)]
    fn try_entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<Entries<&Self>> {
        Entries::try_of(self, range)
    }

    #[inline(always)]
    fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        self.access().count(encode_range::<K, V>(&range))
    }

    #[inline(always)]
    fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize> {
        self.access().remove_range(&range)
    }

    fn clear(&self) {
        let (low, high) = full_range::<K, V>();
        self.tree.remove_range::<Shared>(low, high);
    }

    #[inline(always)]
    fn get_columns(&self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        self.access().get_columns(keys, values, found)
    }

    #[inline(always)]
    fn remove_columns(&self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        self.access().remove_columns(keys, values, found)
    }

    #[inline(always)]
    fn near_columns(
        &self,
        side: Side,
        keys: &[K],
        columns: (&mut [K], &mut [V], &mut [bool]),
    ) -> Result<usize> {
        self.access().neighbour_columns(side, keys, columns)
    }

    fn range_columns<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        keys: &mut Vec<K>,
        values: &mut Vec<V>,
    ) -> Result<usize> {
        self.access().range_columns(&range, keys, values)
    }

    #[cfg(feature = "rayon")]
    fn middle<'q>(&self, range: (Bound<K::Probe<'q>>, Bound<K::Probe<'q>>)) -> Option<K> {
        let (low, high) = encode_range::<K, V>(&range)?;
        let nearest = |from, direction| self.tree.nearest::<Shared>(from, direction).map(|(key, _)| key);
        let (first, last) = (nearest(low, Direction::Forward)?, nearest(high, Direction::Reverse)?);
        let between = (last.to_u64().checked_sub(first.to_u64())?).div_ceil(2);
        // Only stored bits are decoded: the key from the middle on.
        let middle = nearest(Bits::truncate(first.to_u64() + between), Direction::Forward)?;
        (between > 0 && middle <= high).then(|| decode_key::<K, V>(middle))
    }

    #[cfg(feature = "rayon")]
    fn each<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        Scanned::scan(self, range, see)
    }
}

impl<K: Key, V: Value> Changes<K, V> for Words<K, V> {
    #[inline(always)]
    fn try_insert(&self, key: K, value: V) -> Result<(), TryInsertError<V>> {
        self.access().try_insert(key, value)
    }

    #[inline(always)]
    fn replace(&self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.access().replace(key, value))
    }

    #[inline(always)]
    fn exchange<'v>(
        &self,
        key: K,
        expected: V,
        value: Option<V>,
        _: fn(&V, V) -> bool,
    ) -> Result<Result<V, Option<V>>> {
        Ok(self.access().exchange(key, expected, value))
    }

    #[inline(always)]
    fn change(&self, key: K, change: impl FnMut(Option<V>) -> Action<V>) -> Result<Option<V>> {
        self.access().compare_and_update(key, change)
    }

    #[inline(always)]
    fn get_or_insert_with(&self, key: K, value: impl FnOnce() -> V) -> Result<V> {
        self.access().get_or_insert_with(key, value)
    }

    fn retain(&self, keep: impl FnMut(K, V) -> bool) -> usize {
        self.access().retain(keep)
    }
}

impl<K: Key, V: Value> Bulk<K, V> for Words<K, V> {
    type IntoEntries = Entries<Self>;

    #[inline(always)]
    fn insert_many(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<(), Incomplete> {
        self.access().insert_many(entries, replaced)
    }

    #[inline(always)]
    fn remove_many(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.access().remove_many(keys, removed)
    }

    fn load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.bulk_load(entries, fill, NonZeroUsize::MIN)
    }

    fn load_by<'e>(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (K::Probe<'e>, <V as IndexValue>::Given<'e>) + Sync,
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        let entry_at = |at: usize| {
            let (key, value) = entry_at(at);
            (encode_key::<K, V>(key), encode_value::<K, V>(value))
        };
        self.tree.bulk_load(len, entry_at, fill, threads)
    }

    fn into_entries(self) -> Entries<Self> {
        Entries::all(self)
    }
}
