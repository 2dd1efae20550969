//! The entries of a range as of one commit.

use super::version::Version;
use crate::KeyFor;
use crate::index::Range;
use crate::index::engine::Engine;
use core::fmt;
use core::iter::FusedIterator;
use latchless_core::base::index::Direction;
use latchless_core::base::index_value::IndexValue;
use std::collections::VecDeque;

/// Entries that are read together at most.
const TOGETHER: usize = 32;
/// How much more than before is read together: a range of one entry reads one, and a long one few too many.
const GROWTH: usize = 4;

/// The entries of a range of a [`Snapshot`](super::Snapshot), from both ends.
///
/// The iterator of the index is weakly consistent, but a key that the snapshot sees is in the index
/// throughout, with the version that the snapshot sees. So entries may be read before they are taken: up to
/// 32 at a time, the first one alone.
pub struct SnapshotRange<'s, K: KeyFor<Version<V>>, V: IndexValue> {
    entries: Range<'s, K, Version<V>>,
    number: u64,
    /// How many entries are read next.
    next: usize,
    /// What was read from either end, ascending.
    front: VecDeque<(K, V)>,
    back: VecDeque<(K, V)>,
}

impl<'s, K: KeyFor<Version<V>>, V: IndexValue> SnapshotRange<'s, K, V> {
    pub(super) fn new(entries: Range<'s, K, Version<V>>, number: u64) -> Self {
        Self { entries, number, next: 1, front: VecDeque::new(), back: VecDeque::new() }
    }

    /// Reads entries from an end until some have a value at this number, and returns the first one. The
    /// chain of versions is lent: a copy would count a reference to the version before the newest one, which
    /// is elsewhere in memory.
    fn read(&mut self, direction: Direction) -> Option<(K, V)> {
        let number = self.number;
        let mut first = None;
        let mut is_more = true;
        while first.is_none() && is_more {
            let (most, front, back) = (self.next, &mut self.front, &mut self.back);
            let seen = |version: &Version<V>| version.value_at(number).cloned();
            is_more =
                K::Engine::steps(&mut self.entries, direction, most, seen, |key, value| match direction {
                    _ if first.is_none() => first = Some((key, value)),
                    Direction::Forward => front.push_back((key, value)),
                    Direction::Reverse => back.push_front((key, value)),
                });
            self.next = (most * GROWTH).min(TOGETHER);
        }
        first
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Iterator for SnapshotRange<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        let read = self.front.pop_front().or_else(|| self.read(Direction::Forward));
        read.or_else(|| self.back.pop_front())
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> DoubleEndedIterator for SnapshotRange<'_, K, V> {
    fn next_back(&mut self) -> Option<(K, V)> {
        let read = self.back.pop_back().or_else(|| self.read(Direction::Reverse));
        read.or_else(|| self.front.pop_back())
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> FusedIterator for SnapshotRange<'_, K, V> {}

/// A clone goes on from the same entry.
impl<K: KeyFor<Version<V>>, V: IndexValue> Clone for SnapshotRange<'_, K, V> {
    fn clone(&self) -> Self {
        let copied = |read: &VecDeque<(K, V)>| -> VecDeque<(K, V)> {
            read.iter().map(|(key, value)| (K::own(key.probe()), value.clone())).collect()
        };
        let (front, back) = (copied(&self.front), copied(&self.back));
        Self { entries: self.entries.clone(), number: self.number, next: self.next, front, back }
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> fmt::Debug for SnapshotRange<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotRange").field("number", &self.number).finish_non_exhaustive()
    }
}
