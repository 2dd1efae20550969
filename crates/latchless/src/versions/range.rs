//! The entries of a range as of one commit.

use super::version::Version;
use crate::KeyFor;
use crate::index::Range;
use crate::index::ahead::Ahead;
use crate::index::engine::Engine;
use crate::index::pages::first;
use core::fmt;
use core::iter::FusedIterator;
use latchless_core::base::index::Direction;
use latchless_core::base::index_value::IndexValue;

/// The most entries that are read together, under one pin.
const TOGETHER: usize = 32;

/// The entries of a range of a [`Snapshot`](super::Snapshot), from both ends.
///
/// The iterator of the index is weakly consistent, but a key that the snapshot sees is in the index
/// throughout, with the version that the snapshot sees. So entries may be read before they are taken: up to
/// 32 at a time, the first one alone.
pub struct SnapshotRange<'s, K: KeyFor<Version<V>>, V: IndexValue> {
    entries: Range<'s, K, Version<V>>,
    number: u64,
    ahead: Ahead<K, V>,
}

impl<'s, K: KeyFor<Version<V>>, V: IndexValue> SnapshotRange<'s, K, V> {
    pub(super) fn new(entries: Range<'s, K, Version<V>>, number: u64) -> Self {
        Self { entries, number, ahead: Ahead::new(1, 4, TOGETHER) }
    }

    #[inline]
    fn take(&mut self, direction: Direction) -> Option<(K, V)> {
        let Self { entries, number, ahead } = self;
        ahead.take(direction, |most, each| steps(entries, *number, direction, most, each))
    }

    /// Calls `each` with the first `max` entries, in a direction, of a range of which nothing was read yet.
    pub(super) fn page(mut self, direction: Direction, max: usize, each: impl FnMut(K, V)) {
        let Self { entries, number, .. } = &mut self;
        first(max, each, |most, each| steps(entries, *number, direction, most, each));
    }
}

/// Passes on those of up to `most` entries that have a value at a number. Returns whether there may be more.
///
/// The chain of versions is lent: a copy would count a reference to the version before the newest one, which
/// is elsewhere in memory.
#[inline]
fn steps<K: KeyFor<Version<V>>, V: IndexValue>(
    entries: &mut Range<'_, K, Version<V>>,
    number: u64,
    direction: Direction,
    most: usize,
    each: impl FnMut(K, V),
) -> bool {
    let seen = |version: &Version<V>| version.value_at(number).cloned();
    K::Engine::steps(entries, direction, most, seen, each)
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Iterator for SnapshotRange<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.take(Direction::Forward)
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> DoubleEndedIterator for SnapshotRange<'_, K, V> {
    fn next_back(&mut self) -> Option<(K, V)> {
        self.take(Direction::Reverse)
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> FusedIterator for SnapshotRange<'_, K, V> {}

/// A clone goes on from the same entry.
impl<K: KeyFor<Version<V>>, V: IndexValue> Clone for SnapshotRange<'_, K, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), number: self.number, ahead: self.ahead.clone() }
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> fmt::Debug for SnapshotRange<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotRange").field("number", &self.number).finish_non_exhaustive()
    }
}
