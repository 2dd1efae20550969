//! The two kinds of index that store handles for a [`Boxed`](super::Boxed): the operations on handles that
//! both kinds have, and the forms in which each kind takes keys. `numbers.rs` implements them for keys of
//! fixed width, `bytes/boxed.rs` for byte strings.

use crate::index::access::expect_infallible;
use crate::index::order::Side;
use crate::index::{Incomplete, Storage};
use crate::slot_map::SlotId;
use crate::tree::{Edit, Edited, Tries};
use core::cmp::Ordering;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::mem::budget::Budget;
use std::sync::Arc;

/// The ends of a range of keys.
pub type Span<'k, I> = (Bound<<I as Handles>::KeyRef<'k>>, Bound<<I as Handles>::KeyRef<'k>>);

/// An index from keys to handles of values: of words, or of byte strings.
pub trait Handles: Storage {
    type Key;
    type KeyRef<'k>: Copy + fmt::Debug;
    type Entries<'i>: DoubleEndedIterator<Item = (Self::Key, SlotId)> + FusedIterator + Clone + fmt::Debug
    where
        Self: 'i;
    type IntoEntries: DoubleEndedIterator<Item = (Self::Key, SlotId)> + FusedIterator + fmt::Debug;

    /// Returns the budget of all memory, that of the values' slots included.
    fn budget(&self) -> &Arc<Budget>;

    /// Returns a key in owned form.
    fn own(key: Self::KeyRef<'_>) -> Self::Key;

    /// Returns the handle of a key.
    fn find(&self, key: Self::KeyRef<'_>) -> Option<SlotId>;
    /// Applies an edit. One that adds no key returns no error.
    fn edit_handle(&self, key: Self::KeyRef<'_>, edit: Edit<SlotId>) -> Result<Edited<SlotId>>;
    /// Inserts a key or replaces its handle. Returns the handle before.
    #[inline]
    fn put(&self, key: Self::KeyRef<'_>, handle: SlotId) -> Result<Option<SlotId>> {
        Ok(self.edit_handle(key, Edit::Put(handle))?.before)
    }
    /// Removes a key and returns its handle.
    #[inline]
    fn take_out(&self, key: Self::KeyRef<'_>) -> Option<SlotId> {
        expect_infallible(self.edit_handle(key, Edit::Remove)).before
    }
    /// Returns the tries of an operation with a closure on `key`.
    fn tries(&self, key: Self::KeyRef<'_>) -> Tries<'_>;
    /// Calls `see` with the nearest entry in a direction: the key's own or the next one, without the key's
    /// own if it is excluded, or the first one if there is no key.
    fn near<R>(
        &self,
        from: Bound<Self::KeyRef<'_>>,
        direction: Direction,
        see: impl FnOnce(Self::KeyRef<'_>, SlotId) -> R,
    ) -> Option<R>;
    /// Removes the first entry in a direction.
    fn pop(&self, direction: Direction) -> Option<(Self::Key, SlotId)>;
    /// Returns the nearest entries before and after a bound, of one moment.
    fn beside(&self, from: Bound<Self::KeyRef<'_>>) -> [Option<(Self::Key, SlotId)>; 2];

    /// Returns the entries of a range; of an inverted range, none.
    fn entries(&self, span: Span<'_, Self>) -> Self::Entries<'_>;
    /// Returns the entries of a range.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange).
    fn try_entries(&self, span: Span<'_, Self>) -> Result<Self::Entries<'_>>;
    /// Calls `show` with the next entry from an end: from the front, if the direction is forward.
    fn step<R>(
        entries: &mut Self::Entries<'_>,
        direction: Direction,
        show: impl FnOnce(Self::KeyRef<'_>, SlotId) -> R,
    ) -> Option<R>;
    fn into_entries(self) -> Self::IntoEntries;
    /// Calls `see` with the entries of a range, in a direction, until it breaks; of an inverted range, with
    /// none.
    fn scan_span(
        &self,
        span: Span<'_, Self>,
        direction: Direction,
        see: impl FnMut(Self::KeyRef<'_>, SlotId) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
    /// Returns the number of keys in a range; in an inverted range, zero.
    fn count_span(&self, span: Span<'_, Self>) -> usize;
    /// Returns the entry before which there are `position` others.
    fn entry_at(&self, position: usize) -> Option<(Self::Key, SlotId)>;
    /// Returns keys that partition the index into parts of equal size.
    fn part_starts(&self, parts: usize) -> Vec<Self::Key>;
    /// Removes the keys of a range and calls `gone` with each handle. Returns their number.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange); the index is then unchanged.
    fn remove_span(&self, span: Span<'_, Self>, gone: impl FnMut(SlotId)) -> Result<usize>;
}

/// An index that takes `Q` as a form of its keys: the keys themselves, and of byte strings any
/// [`BytesKey<K>`](crate::BytesKey), such as `&str` for `String`.
pub trait KeyForm<Q>: Handles {
    /// Calls `serve` with the key.
    fn with_key<R>(key: &Q, serve: impl FnOnce(Self::KeyRef<'_>) -> R) -> R;
    /// Calls `serve` with the ends of a range.
    fn with_span<R>(range: &impl RangeBounds<Q>, serve: impl FnOnce(Span<'_, Self>) -> R) -> R;
    /// Compares two keys by the order of the index.
    fn compare(one: &Q, other: &Q) -> Ordering;
    /// Looks up many keys. See [`Index::get_many`](crate::Index::get_many).
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    fn find_many(&self, keys: &[Q], handles: &mut [Option<SlotId>]) -> Result<()>;
    /// Finds the neighbours of many keys; `found` has room for as many.
    fn near_many(&self, side: Side, keys: &[Q], found: &mut [Option<(Self::Key, SlotId)>]);
    /// Inserts many keys. See [`Index::insert_many`](crate::Index::insert_many).
    ///
    /// # Errors
    /// The inserts that were refused.
    fn put_many(&self, entries: &[(Q, SlotId)], before: &mut [Option<SlotId>]) -> Result<(), Incomplete>;
    /// Removes many keys. See [`Index::remove_many`](crate::Index::remove_many).
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    fn take_out_many(&self, keys: &[Q], removed: &mut [Option<SlotId>]) -> Result<()>;
    /// Fills the index, which is empty.
    ///
    /// # Errors
    /// The entries aren't strictly ascending, or memory was refused; the index is then empty.
    fn load(&mut self, entries: &[(Q, SlotId)], fill: FillFactor) -> Result<()>;
}
