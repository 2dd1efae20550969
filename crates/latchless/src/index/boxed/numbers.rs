//! Keys of fixed width: the handles are the values of an [`Index`]. Keys of 32 bits take 64 here.

use super::handles::{Handles, KeyForm, Span};
use crate::index::access::{Words, decode_entry, encode_key, encode_range, encode_value};
use crate::index::order::{Neighbours, Side};
use crate::index::{Entries, Incomplete, Index, Own, Range};
use crate::slot_map::SlotId;
use crate::tree::{Beside, Edit, Edited, Shared, Tries};
use core::cmp::Ordering;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Key;
use latchless_core::mem::budget::Budget;
use std::sync::Arc;

impl<K: Key> Handles for Index<K, SlotId> {
    type Key = K;
    type KeyRef<'k> = K;
    type Entries<'i> = Range<'i, K, SlotId>;
    type IntoEntries = Entries<Words<K, SlotId>>;

    fn budget(&self) -> &Arc<Budget> {
        self.engine.tree.budget()
    }

    #[inline(always)]
    fn own(key: K) -> K {
        key
    }

    #[inline(always)]
    fn find(&self, key: K) -> Option<SlotId> {
        self.get(key)
    }

    #[inline(always)]
    fn put(&self, key: K, handle: SlotId) -> Result<Option<SlotId>> {
        self.insert(key, handle)
    }

    #[inline(always)]
    fn take_out(&self, key: K) -> Option<SlotId> {
        self.remove(key)
    }

    #[inline]
    fn edit_handle(&self, key: K, edit: Edit<SlotId>) -> Result<Edited<SlotId>> {
        self.access().edit(key, edit.map(encode_value::<K, SlotId>))
    }

    #[inline]
    fn tries(&self, key: K) -> Tries<'_> {
        self.engine.tree.tries(encode_key::<K, SlotId>(key))
    }

    #[inline]
    fn near<R>(&self, from: Bound<K>, direction: Direction, see: impl FnOnce(K, SlotId) -> R) -> Option<R> {
        self.access().near(from, direction).map(|(key, handle)| see(key, handle))
    }

    fn pop(&self, direction: Direction) -> Option<(K, SlotId)> {
        self.access().pop(direction)
    }

    fn beside(&self, from: Bound<K>) -> [Option<(K, SlotId)>; 2] {
        let (key, own) = match from {
            Bound::Included(key) => (key, Own::Counts),
            Bound::Excluded(key) => (key, Own::IsPassed),
            Bound::Unbounded => return [None, None],
        };
        let Beside { before, after } = self.engine.tree.beside::<Shared>(encode_key::<K, SlotId>(key), own);
        [before, after].map(|found| found.map(decode_entry::<K, SlotId>))
    }

    #[inline]
    fn entries(&self, span: Span<'_, Self>) -> Range<'_, K, SlotId> {
        self.range(span)
    }

    #[inline]
    fn try_entries(&self, span: Span<'_, Self>) -> Result<Range<'_, K, SlotId>> {
        self.try_range(span)
    }

    #[inline(always)]
    fn step<R>(
        entries: &mut Range<'_, K, SlotId>,
        direction: Direction,
        show: impl FnOnce(K, SlotId) -> R,
    ) -> Option<R> {
        let (key, handle) = match direction {
            Direction::Forward => entries.next()?,
            Direction::Reverse => entries.next_back()?,
        };
        Some(show(key, handle))
    }

    fn into_entries(self) -> Entries<Words<K, SlotId>> {
        self.into_iter()
    }

    #[inline]
    fn scan_span(
        &self,
        span: Span<'_, Self>,
        direction: Direction,
        see: impl FnMut(K, SlotId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.access().scan_towards(encode_range::<K, SlotId>(&span), direction, see)
    }

    fn count_span(&self, span: Span<'_, Self>) -> usize {
        self.count(span)
    }

    fn entry_at(&self, position: usize) -> Option<(K, SlotId)> {
        self.nth(position)
    }

    fn part_starts(&self, parts: usize) -> Vec<K> {
        self.split_points(parts)
    }

    fn remove_span(&self, span: Span<'_, Self>, gone: impl FnMut(SlotId)) -> Result<usize> {
        self.access().remove_each(&span, gone)
    }
}

impl<K: Key> KeyForm<K> for Index<K, SlotId> {
    #[inline(always)]
    fn with_key<R>(key: &K, serve: impl FnOnce(K) -> R) -> R {
        serve(*key)
    }

    #[inline(always)]
    fn with_span<R>(range: &impl RangeBounds<K>, serve: impl FnOnce(Span<'_, Self>) -> R) -> R {
        serve((range.start_bound().cloned(), range.end_bound().cloned()))
    }

    #[inline(always)]
    fn compare(one: &K, other: &K) -> Ordering {
        one.encode().cmp(&other.encode())
    }

    #[inline]
    fn find_many(&self, keys: &[K], handles: &mut [Option<SlotId>]) -> Result<()> {
        self.get_many(keys, handles)
    }

    #[inline]
    fn near_many(&self, side: Side, keys: &[K], found: &mut [Option<(K, SlotId)>]) {
        self.engine.near_many(side, keys, found);
    }

    #[inline]
    fn put_many(&self, entries: &[(K, SlotId)], before: &mut [Option<SlotId>]) -> Result<(), Incomplete> {
        self.insert_many(entries, before)
    }

    #[inline]
    fn take_out_many(&self, keys: &[K], removed: &mut [Option<SlotId>]) -> Result<()> {
        self.remove_many(keys, removed)
    }

    fn load(&mut self, entries: &[(K, SlotId)], fill: FillFactor) -> Result<()> {
        self.bulk_load(entries, fill)
    }
}
