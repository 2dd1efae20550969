//! A [`ByteStrings`] as the engine of an [`Index`](crate::Index): of keys or values that don't fit words.

use super::bounds::OwnedBounds;
use super::order::owned;
use super::stored::own;
use super::{ByteStrings, BytesEntries, Entries, Lent};
use crate::blink::Tries;
use crate::byte_tree::{Border, Bounds};
use crate::index::boxed::{Boxed, SlotId};
use crate::index::bulk::Bulk;
use crate::index::changes::{Action, Changes};
use crate::index::columns::Columned;
use crate::index::engine::{Choice, Engine};
use crate::index::{Incomplete, TryInsertError, settled, storage};
use crate::tree::Edit;
use core::cmp::Ordering;
use core::num::NonZeroUsize;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::{ByteString, BytesValue, Text, Word, Words};
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::{InBytes, InWord, IndexKey};
use latchless_core::base::index_value::{InBox, IndexValue};
use latchless_core::base::key::Bits;

/// The forms of keys and of values that are stored as byte strings.
macro_rules! chosen {
    ($([$($parameter:tt)*] $key:ty, $value:ty;)*) => {$(
        impl<$($parameter)* K, V: BytesValue<Form = $value>> Choice<K, V, $value> for $key
        where
            K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
        {
            type Engine = ByteStrings<K, V>;
        }
    )*};
}
chosen! {
    [] InBytes, Word;
    [const N: usize,] InBytes, Words<N>;
    [] InBytes, ByteString;
    [] InBytes, Text;
    [B: Bits, const N: usize,] InWord<B>, Words<N>;
    [B: Bits,] InWord<B>, ByteString;
    [B: Bits,] InWord<B>, Text;
}

impl<K, V: IndexValue> Choice<K, V, InBox> for InBytes
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    type Engine = Boxed<ByteStrings<K, SlotId>, V>;
}

storage!([K: BytesKey, V: BytesValue] ByteStrings<K, V>, tree);

impl<K, V: BytesValue> Engine<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    type Entries<'i>
        = BytesEntries<'i, K, V>
    where
        Self: 'i;

    fn collect(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        Self::try_from_iter(entries)
    }

    fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()> {
        self.try_extend(entries)
    }

    #[inline]
    fn order(one: &K, other: &K) -> Ordering {
        one.with_bytes(|one| other.with_bytes(|other| one.cmp(other)))
    }

    #[inline]
    fn get(&self, key: K::Probe<'_>) -> Option<V> {
        self.get(&key)
    }

    #[inline]
    fn see<R>(&self, key: K::Probe<'_>, see: impl FnOnce(Lent<'_, V>) -> R) -> Option<R> {
        self.get_with(&key, see)
    }

    #[inline]
    fn contains(&self, key: K::Probe<'_>) -> bool {
        self.contains_key(&key)
    }

    #[inline]
    fn insert(&self, key: K::Probe<'_>, value: Lent<'_, V>) -> Result<Option<V>> {
        self.insert(&key, value)
    }

    #[inline]
    fn remove(&self, key: K::Probe<'_>) -> Option<V> {
        self.remove(&key)
    }

    fn tries(&self, key: K::Probe<'_>) -> Tries<'_> {
        key.with_bytes(|key| self.tree.tries(key))
    }

    #[inline]
    fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()> {
        self.get_many(keys, answers)
    }

    #[inline]
    fn get_each(&self, keys: &[K::Probe<'_>], see: impl FnMut(usize, Option<Lent<'_, V>>)) {
        self.get_each(keys, see);
    }

    fn near(&self, from: Bound<K::Probe<'_>>, direction: Direction) -> Option<(K, V)> {
        match from {
            Bound::Included(key) => self.at_or_beside(&key, direction, owned),
            Bound::Excluded(key) => self.beside(&key, direction, owned),
            Bound::Unbounded => self.look_near(Border { from: Bound::Unbounded, direction }, owned),
        }
    }

    fn pop(&self, direction: Direction) -> Option<(K, V)> {
        self.pop_shown(direction, owned)
    }

    fn all(&self) -> BytesEntries<'_, K, V> {
        self.iter()
    }

    #[inline]
    fn entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> BytesEntries<'_, K, V> {
        self.range(range)
    }

    fn try_entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<BytesEntries<'_, K, V>> {
        self.try_range(range)
    }

    fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        self.count(range)
    }

    fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize> {
        self.remove_range(range)
    }

    fn clear(&self) {
        self.remove_within(Bounds::ALL);
    }
}

impl<K, V: BytesValue> Changes<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    fn try_insert(&self, key: K::Probe<'_>, value: V) -> Result<(), TryInsertError<V>> {
        self.try_insert(&key, value)
    }

    #[inline]
    fn replace(&self, key: K::Probe<'_>, value: Lent<'_, V>) -> Result<Option<V>> {
        self.try_replace(&key, value)
    }

    fn exchange<'v>(
        &self,
        key: K::Probe<'_>,
        expected: Lent<'v, V>,
        value: Option<Lent<'v, V>>,
        _: fn(&V, Lent<'_, V>) -> bool,
    ) -> Result<Result<V, Option<V>>> {
        match value {
            Some(value) => self.try_compare_exchange(&key, expected, value),
            None => Ok(self.compare_remove(&key, expected)),
        }
    }

    fn change(
        &self,
        key: K::Probe<'_>,
        change: impl FnMut(Option<Lent<'_, V>>) -> Action<V>,
    ) -> Result<Option<V>> {
        key.with_bytes(|key| self.revise(key, self.look_up(key, |lent| own::<V>(lent)), change))
    }

    fn get_or_insert_with(&self, key: K::Probe<'_>, value: impl FnOnce() -> V) -> Result<V> {
        self.get_or_insert_with(&key, value)
    }

    fn retain(&self, mut keep: impl FnMut(K, Lent<'_, V>) -> bool) -> usize {
        let mut removed = 0;
        let _ = self.visit(Bounds::ALL, Direction::Forward, |key, value| {
            if keep(K::from_bytes(key), value) {
                return ControlFlow::Continue(());
            }
            let edited = settled(self.edit_bytes(key, Edit::RemoveIf(value)));
            removed += usize::from(edited.applied || self.remove_unless(key, edited.before, &mut keep));
            ControlFlow::Continue(())
        });
        removed
    }
}

impl<K, V: BytesValue> Bulk<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    type IntoEntries = Entries<Self>;

    fn insert_many(
        &self,
        entries: &[(K::Probe<'_>, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        self.insert_many(entries, replaced)
    }

    fn remove_many(&self, keys: &[K::Probe<'_>], removed: &mut [Option<V>]) -> Result<()> {
        self.remove_many(keys, removed)
    }

    fn load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        let mut entries = entries.iter();
        self.bulk_load_bytes(fill, |bytes| {
            let (key, value) = entries.next()?;
            key.with_bytes(|key| bytes.extend_from_slice(key));
            Some(value)
        })
    }

    fn load_by<'e>(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (K::Probe<'e>, <V as IndexValue>::Given<'e>) + Sync,
        fill: FillFactor,
        _threads: NonZeroUsize,
    ) -> Result<()> {
        self.bulk_load_lent(fill, (0..len).map(entry_at))
    }

    fn into_entries(self) -> Entries<Self> {
        Entries::new(self, OwnedBounds::ALL)
    }
}

impl<K, V: BytesValue> Columned<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    fn insert_columns(&self, keys: &[K::Probe<'_>], values: &[Lent<'_, V>]) -> Result<usize, Incomplete> {
        self.insert_columns(keys, values)
    }
}
