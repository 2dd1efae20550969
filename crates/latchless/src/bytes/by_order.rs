//! What a [`ByteStrings`] can do by the order of keys, as an engine and as an index of handles.

use super::batch::GroupKeys;
use super::bounds::{NOTHING, OwnedBounds, with_bounds};
use super::order::owned;
use super::{ByteStrings, BytesEntries, Entries, Lent, stored};
use crate::byte_tree::{Border, GROUP};
use crate::index::boxed::{Boxed, Clones, SlotId};
use crate::index::engine::Engine;
use crate::index::order::{Neighbours, Ranked, Scanned, Side, nearer, span};
use crate::index::prefix::{BytesPrefix, Prefixed};
use crate::tree::Own;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// The entry before which there are `position` others.
    pub(super) fn entry_at(&self, position: usize) -> Option<(K, V)> {
        self.look_nth(position, owned)
    }

    /// Keys that partition the index into parts of equal size.
    pub(super) fn part_starts(&self, parts: usize) -> Vec<K> {
        let mut keys = Vec::new();
        self.tree.split_points(parts, |key| keys.push(K::from_bytes(key)));
        keys
    }

    /// The neighbours of many keys; `answers` has room for as many.
    pub(super) fn neighbours<Q: BytesKey<K>>(&self, side: Side, keys: &[Q], answers: &mut [Option<(K, V)>]) {
        let mut group = GroupKeys::default();
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            let mut answers = answers.iter_mut();
            group.with(keys.iter(), |keys| {
                self.look_near_group(
                    keys,
                    &|key| Border { from: side.of(key), direction: side.direction },
                    |found| {
                        let answer = answers.next().expect("an answer for each key");
                        *answer = found.map(|(key, value)| owned(key, value));
                    },
                );
            });
        }
    }
}

impl<K: BytesPrefix, V: BytesValue> ByteStrings<K, V> {
    /// The entries of the keys that begin with a prefix within these bounds.
    fn within(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> BytesEntries<'_, K, V> {
        let owned = |bound: Bound<K::Prefix<'_>>| bound.map(|prefix| K::with_prefix(prefix, <[u8]>::to_vec));
        Entries::new(self, OwnedBounds::of_prefixes(owned(low), owned(high)))
    }

    /// Shows these entries.
    fn scan_starting(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let bounds = K::with_prefix(prefix, OwnedBounds::of_prefix);
        self.visit(bounds.borrowed(), direction, see)
    }
}

impl<K, V: BytesValue> Ranked<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    fn nth(&self, position: usize) -> Option<(K, V)> {
        self.entry_at(position)
    }

    fn split_points(&self, parts: usize) -> Vec<K> {
        self.part_starts(parts)
    }

    fn count_many<'q, R: RangeBounds<K::Probe<'q>>>(&self, ranges: &[R], counts: &mut [usize]) {
        let each = counts.iter_mut().zip(ranges);
        each.for_each(|(count, range)| *count = Engine::count(self, span(range)));
    }
}

impl<K, V: BytesValue> Prefixed<K, V> for ByteStrings<K, V>
where
    K: BytesPrefix + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    fn between(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> BytesEntries<'_, K, V> {
        self.within(low, high)
    }

    fn scan_beginning(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.scan_starting(prefix, direction, see)
    }
}

impl<K, V: BytesValue> Neighbours<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    fn near_many(&self, side: Side, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) {
        self.neighbours(side, keys, answers);
    }

    fn nearest_by<D: Ord>(
        &self,
        key: K::Probe<'_>,
        own: Own,
        distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D,
    ) -> Option<(K, V)> {
        key.with_bytes(|bytes| {
            self.look_beside(own.of(bytes), |beside| {
                let keyed = beside.map(|found| found.map(|(key, value)| (K::from_bytes(key), value)));
                nearer(key, keyed, distance).map(|(key, value)| (key, stored::own::<V>(value)))
            })
        })
    }
}

impl<K, V: BytesValue> Scanned<K, V> for ByteStrings<K, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    type KeyRef<'k> = &'k [u8];

    #[inline]
    fn own_key(key: &[u8]) -> K {
        K::from_bytes(key)
    }

    #[inline]
    fn near_with<R>(
        &self,
        from: Bound<K::Probe<'_>>,
        direction: Direction,
        see: impl FnOnce(&[u8], Lent<'_, V>) -> R,
    ) -> Option<R> {
        match from {
            Bound::Included(key) => self.at_or_beside(&key, direction, see),
            Bound::Excluded(key) => self.beside(&key, direction, see),
            Bound::Unbounded => self.look_near(Border { from: Bound::Unbounded, direction }, see),
        }
    }

    #[inline]
    fn scan_lent<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        direction: Direction,
        see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        with_bounds(&range, |bounds| self.visit(bounds.unwrap_or(NOTHING), direction, see))
    }
}

impl<K, V: IndexValue> Prefixed<K, V> for Boxed<ByteStrings<K, SlotId>, V>
where
    K: BytesPrefix + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    fn between(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> Self::Entries<'_> {
        Clones::of(self, |index| index.within(low, high))
    }

    fn scan_beginning(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(&[u8], V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.show(see, |index, show| index.scan_starting(prefix, direction, show))
    }
}
