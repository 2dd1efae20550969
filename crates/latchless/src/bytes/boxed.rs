//! Byte strings as the keys of a [`Boxed`](crate::index::boxed::Boxed).

use super::bounds::{NOTHING, OwnedBounds, upright, with_ends};
use super::{ByteStrings, BytesEntries, Entries};
use crate::byte_tree::{Border, Bounds};
use crate::index::Incomplete;
use crate::index::boxed::{Handles, KeyForm, SlotId, Span};
use crate::index::order::Side;
use crate::tree::{Edit, Edited, Tries};
use core::cmp::Ordering;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::mem::budget::Budget;
use std::sync::Arc;

impl<K: BytesKey> Handles for ByteStrings<K, SlotId> {
    type Key = K;
    type KeyRef<'k> = &'k [u8];
    type Entries<'i>
        = BytesEntries<'i, K, SlotId>
    where
        Self: 'i;
    type IntoEntries = Entries<Self>;

    fn budget(&self) -> &Arc<Budget> {
        self.tree.budget()
    }

    #[inline]
    fn own(key: &[u8]) -> K {
        K::from_bytes(key)
    }

    #[inline]
    fn find(&self, key: &[u8]) -> Option<SlotId> {
        self.look_up(key, |handle| handle)
    }

    #[inline(always)]
    fn edit_handle(&self, key: &[u8], edit: Edit<SlotId>) -> Result<Edited<SlotId>> {
        match self.edit_bytes(key, edit) {
            // Such a key isn't there.
            Err(Error::KeyTooLong { .. }) if !matches!(edit, Edit::Put(_) | Edit::Add(_)) => {
                Ok(Edited { before: None, applied: false })
            }
            outcome => outcome,
        }
    }

    fn tries(&self, key: &[u8]) -> Tries<'_> {
        self.tree.tries(key)
    }

    #[inline]
    fn near<R>(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        see: impl FnOnce(&[u8], SlotId) -> R,
    ) -> Option<R> {
        self.look_near(Border { from, direction }, see)
    }

    fn pop(&self, direction: Direction) -> Option<(K, SlotId)> {
        self.pop_shown(direction, |key, handle| (K::from_bytes(key), handle))
    }

    fn beside(&self, from: Bound<&[u8]>) -> [Option<(K, SlotId)>; 2] {
        self.look_beside(from, |beside| {
            beside.map(|found| found.map(|(key, handle)| (K::from_bytes(key), handle)))
        })
    }

    fn entries(&self, span: Span<'_, Self>) -> BytesEntries<'_, K, SlotId> {
        Entries::new(self, OwnedBounds::copy(readable(span)))
    }

    fn try_entries(&self, span: Span<'_, Self>) -> Result<BytesEntries<'_, K, SlotId>> {
        Ok(Entries::new(self, OwnedBounds::copy(bounds(span)?)))
    }

    #[inline]
    fn step<R>(
        entries: &mut BytesEntries<'_, K, SlotId>,
        direction: Direction,
        show: impl FnOnce(&[u8], SlotId) -> R,
    ) -> Option<R> {
        match direction {
            Direction::Forward => entries.next_with(show),
            Direction::Reverse => entries.next_back_with(show),
        }
    }

    fn into_entries(self) -> Entries<Self> {
        Entries::new(self, OwnedBounds::ALL)
    }

    #[inline]
    fn scan_span(
        &self,
        span: Span<'_, Self>,
        direction: Direction,
        see: impl FnMut(&[u8], SlotId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.visit(readable(span), direction, see)
    }

    fn count_span(&self, span: Span<'_, Self>) -> usize {
        self.count_within(readable(span))
    }

    fn entry_at(&self, position: usize) -> Option<(K, SlotId)> {
        self.entry_at(position)
    }

    fn part_starts(&self, parts: usize) -> Vec<K> {
        self.part_starts(parts)
    }

    fn remove_span(&self, span: Span<'_, Self>, mut gone: impl FnMut(SlotId)) -> Result<usize> {
        let mut removed = 0;
        self.each_key(bounds(span)?, |key| {
            if let Some(handle) = self.take_out(key) {
                removed += 1;
                gone(handle);
            }
        });
        Ok(removed)
    }
}

/// The bounds of a range.
///
/// # Errors
/// [`Error::InvertedRange`].
fn bounds<'k>((low, high): (Bound<&'k [u8]>, Bound<&'k [u8]>)) -> Result<Bounds<'k>> {
    upright(Bounds { low, high })
}

/// The bounds of a range that is only read: of an inverted one, bounds with no key between them.
fn readable<'k>(span: (Bound<&'k [u8]>, Bound<&'k [u8]>)) -> Bounds<'k> {
    bounds(span).unwrap_or(NOTHING)
}

impl<K: BytesKey, Q: BytesKey<K>> KeyForm<Q> for ByteStrings<K, SlotId> {
    #[inline(always)]
    fn with_key<R>(key: &Q, serve: impl FnOnce(&[u8]) -> R) -> R {
        key.with_bytes(serve)
    }

    fn with_span<R>(range: &impl RangeBounds<Q>, serve: impl FnOnce(Span<'_, Self>) -> R) -> R {
        with_ends(range, |Bounds { low, high }| serve((low, high)))
    }

    fn compare(one: &Q, other: &Q) -> Ordering {
        one.with_bytes(|one| other.with_bytes(|other| one.cmp(other)))
    }

    fn find_many(&self, keys: &[Q], handles: &mut [Option<SlotId>]) -> Result<()> {
        self.get_many(keys, handles)
    }

    fn near_many(&self, side: Side, keys: &[Q], found: &mut [Option<(K, SlotId)>]) {
        self.neighbours(side, keys, found);
    }

    fn put_many(&self, entries: &[(Q, SlotId)], before: &mut [Option<SlotId>]) -> Result<(), Incomplete> {
        self.insert_many(entries, before)
    }

    fn take_out_many(&self, keys: &[Q], removed: &mut [Option<SlotId>]) -> Result<()> {
        self.remove_many(keys, removed)
    }

    fn load(&mut self, entries: &[(Q, SlotId)], fill: FillFactor) -> Result<()> {
        self.bulk_load(entries.iter().map(|(key, handle)| (key, *handle)), fill)
    }
}
