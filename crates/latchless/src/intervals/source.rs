//! The intervals of one group, by lanes: in the tree, or in a copy.
//!
//! An index over the first positions alone finds no overlaps: an interval that began long ago may still last.
//! So each interval is in a lane, that of its length's class. In a lane, one that overlaps `first..=last`
//! begins in `first - reach ..= last`, and each that begins in `first..=last` overlaps it. Each interval is
//! in one lane, so each is found once.

use super::span::Span;
use crate::bytes::ByteStrings;
use core::cell::Cell;
use core::ops::{ControlFlow, Range, RangeInclusive};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::index::Direction;

/// A group, a lane, the first and the last position, and an id: intervals in the order of a tree.
pub(super) type Key<G> = (G, u8, u64, u64, u64);

/// Intervals as keys without values.
pub(super) type Tree<G> = ByteStrings<Key<G>, ()>;

/// The bytes of a key after those of its group.
pub(super) const TAIL: usize = 1 + 3 * size_of::<u64>();

/// An interval of a lane, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub span: Span,
    pub id: u64,
}

impl Entry {
    /// That of a key's bytes, which end with those of three words.
    #[inline]
    pub fn of_key(key: &[u8]) -> Self {
        let words: &[u8; TAIL - 1] = key.last_chunk().expect("a key has three words");
        let word =
            |at: usize| u64::from_be_bytes(*words[8 * at..].first_chunk().expect("a word has 8 bytes"));
        Self { span: Span { first: word(0), last: word(1) }, id: word(2) }
    }
}

/// A lane of a group: its number, and its place among those of the group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub number: u8,
    place: usize,
}

/// The intervals of a group.
pub(super) enum Source<'a, G: BytesKey, Q: ?Sized> {
    /// In the tree. `used`: a bit for each lane that may have intervals.
    Tree { tree: &'a Tree<G>, used: u64, group: &'a Q },
    /// In a copy: ascending, `lanes` has those of each lane, and `near` where it was looked at last.
    Copied { entries: &'a [Entry], used: u64, lanes: &'a [Range<usize>], near: &'a [Cell<usize>] },
}

impl<G: BytesKey, Q: BytesKey<G> + ?Sized> Source<'_, G, Q> {
    /// The lanes that may have intervals, those of short ones first.
    #[inline]
    pub fn lanes(&self) -> impl Iterator<Item = Lane> + use<G, Q> {
        let (Self::Tree { used, .. } | Self::Copied { used, .. }) = *self;
        let mut rest = used;
        let numbers = core::iter::from_fn(move || {
            let number = rest.trailing_zeros() as u8;
            let others = rest.checked_sub(1)?;
            rest &= others;
            Some(number)
        });
        numbers.enumerate().map(|(place, number)| Lane { number, place })
    }

    /// Shows the intervals of a lane whose first positions are in a range, in a direction, until `see`
    /// breaks.
    #[inline]
    pub fn scan(
        &self,
        lane: Lane,
        firsts: RangeInclusive<u64>,
        direction: Direction,
        mut see: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (low, high) = firsts.into_inner();
        match self {
            Self::Tree { tree, group, .. } => {
                let keys = keys_between(*group, lane, low, high);
                let see = |key: &[u8], ()| see(Entry::of_key(key));
                match direction {
                    Direction::Forward => tree.scan(keys, see),
                    Direction::Reverse => tree.scan_back(keys, see),
                }
            }
            Self::Copied { entries, lanes, near, .. } => {
                let (entries, near) = (&entries[lanes[lane.place].clone()], &near[lane.place]);
                match direction {
                    Direction::Forward => {
                        let from = entries[seek(entries, near, low)..].iter();
                        from.take_while(|entry| entry.span.first <= high).copied().try_for_each(see)
                    }
                    Direction::Reverse => {
                        let until = entries[..after(entries, near, high)].iter().rev();
                        until.take_while(|entry| entry.span.first >= low).copied().try_for_each(see)
                    }
                }
            }
        }
    }

    /// How many intervals of a lane have first positions in a range.
    #[inline]
    pub fn count(&self, lane: Lane, firsts: RangeInclusive<u64>) -> usize {
        let (low, high) = firsts.into_inner();
        match self {
            Self::Tree { tree, group, .. } => tree.count(keys_between(*group, lane, low, high)),
            Self::Copied { entries, lanes, near, .. } => {
                let (entries, near) = (&entries[lanes[lane.place].clone()], &near[lane.place]);
                let from = seek(entries, near, low);
                after(entries, near, high).saturating_sub(from)
            }
        }
    }
}

/// The keys of a lane's intervals whose first positions are from `low` to `high`.
fn keys_between<Q: ?Sized>(group: &Q, lane: Lane, low: u64, high: u64) -> RangeInclusive<Key<&Q>> {
    (group, lane.number, low, 0, 0)..=(group, lane.number, high, u64::MAX, u64::MAX)
}

/// The place of the first entry that begins after `high`.
fn after(entries: &[Entry], near: &Cell<usize>, high: u64) -> usize {
    high.checked_add(1).map_or(entries.len(), |past| seek(entries, near, past))
}

/// The place of the first entry that begins at `low` or later. The search begins `near` that of the last one,
/// because questions come in order, and doubles its steps.
fn seek(entries: &[Entry], near: &Cell<usize>, low: u64) -> usize {
    let is_before = |entry: &Entry| entry.span.first < low;
    let (mut start, mut end) = (near.get(), entries.len());
    if start > 0 && !is_before(&entries[start - 1]) {
        (start, end) = (0, start - 1);
    } else {
        let mut step = 1;
        while let Some(entry) = entries.get(start + step - 1) {
            if !is_before(entry) {
                end = start + step - 1;
                break;
            }
            start += step;
            step *= 2;
        }
    }
    let found = start + entries[start..end].partition_point(is_before);
    near.set(found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_from_every_place_find_the_same() {
        let entries: Vec<Entry> =
            [3, 3, 5, 9, 9, 9, 20].map(|first| Entry { span: Span { first, last: u64::MAX }, id: 0 }).into();
        for len in 0..=entries.len() {
            for (near, low) in (0..=len).flat_map(|near| (0..22).map(move |low| (near, low))) {
                let (entries, near) = (&entries[..len], Cell::new(near));
                let expected = entries.iter().filter(|entry| entry.span.first < low).count();
                assert_eq!(seek(entries, &near, low), expected, "{len} {near:?} {low}");
                assert_eq!(near.get(), expected);
            }
        }
    }
}
