//! What is asked about an interval and those of a group, whatever they are stored in.

use super::source::{Entry, Source};
use super::span::{Position, Span, reach};
use core::cmp::Reverse;
use core::ops::{ControlFlow, RangeInclusive};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::index::Direction;

/// Which intervals are near ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Those that end before the question.
    Before,
    /// Those that begin after it.
    After,
    /// Those that overlap it, those before it, and those after it.
    Any,
}

/// An interval that is near another one. See
/// [`IntervalIndex::nearest`](super::IntervalIndex::nearest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near<P> {
    /// The distance of the two positions that are nearest to each other: 0 if the intervals overlap, 1 if
    /// they are adjacent.
    pub distance: u64,
    /// Its positions.
    pub interval: RangeInclusive<P>,
    /// Its id.
    pub id: u64,
}

impl<P: Position> Near<P> {
    pub(super) fn of((distance, Entry { span, id }): (u64, Entry)) -> Self {
        Self { distance, interval: span.positions(), id }
    }
}

impl<G: BytesKey, Q: BytesKey<G> + ?Sized> Source<'_, G, Q> {
    /// Shows the intervals that overlap `asked`, until `see` breaks. They ascend within a lane.
    #[inline]
    pub fn overlaps(&self, asked: Span, mut see: impl FnMut(Entry) -> ControlFlow<()>) -> ControlFlow<()> {
        for lane in self.lanes() {
            let firsts = asked.first.saturating_sub(reach(lane.number))..=asked.last;
            self.scan(lane, firsts, Direction::Forward, |entry| {
                if entry.span.last >= asked.first { see(entry) } else { ControlFlow::Continue(()) }
            })?;
        }
        ControlFlow::Continue(())
    }

    /// How many intervals overlap `asked`.
    pub fn count_overlaps(&self, asked: Span) -> usize {
        let mut count = 0;
        for lane in self.lanes() {
            // All that begin in it overlap it.
            count += self.count(lane, asked.first..=asked.last);
            let Some(before) = asked.first.checked_sub(1).filter(|_| reach(lane.number) > 0) else {
                continue;
            };
            let firsts = asked.first.saturating_sub(reach(lane.number))..=before;
            let _ = self.scan(lane, firsts, Direction::Forward, |entry| {
                count += usize::from(entry.span.last >= asked.first);
                ControlFlow::Continue(())
            });
        }
        count
    }

    /// How many positions of `asked` are in any interval; at most `u64::MAX`. `room` is for the intervals.
    pub fn coverage(&self, asked: Span, room: &mut Vec<Span>) -> u64 {
        room.clear();
        let _ = self.overlaps(asked, |Entry { span, .. }| {
            room.push(Span { first: span.first.max(asked.first), last: span.last.min(asked.last) });
            ControlFlow::Continue(())
        });
        room.sort_unstable();
        let mut spans = room.iter();
        let Some(&Span { mut first, mut last }) = spans.next() else { return 0 };
        let (mut covered, positions) = (0, |first: u64, last: u64| (last - first).saturating_add(1));
        for span in spans {
            if span.first > last {
                covered += positions(first, last);
                first = span.first;
            }
            last = last.max(span.last);
        }
        // Less than 2^64 are before a gap.
        positions(first, last).saturating_add(covered)
    }

    /// The nearest interval on a side, and its distance: 0 if it overlaps, 1 if it is adjacent. Of equally
    /// near ones it is the least, by its first position, its last one, and its id.
    pub fn nearest(&self, asked: Span, side: Side) -> Option<(u64, Entry)> {
        if side == Side::Any {
            let mut least = None;
            let _ = self.overlaps(asked, |entry| {
                least = least.map_or(Some(entry), |so_far: Entry| Some(so_far.min(entry)));
                ControlFlow::Continue(())
            });
            if let Some(entry) = least {
                return Some((0, entry));
            }
        }
        let before = (side != Side::After).then(|| self.last_before(asked.first)).flatten();
        let after = (side != Side::Before).then(|| self.first_after(asked.last)).flatten();
        let before = before.map(|entry| (asked.first - entry.span.last, entry));
        let after = after.map(|entry| (entry.span.first - asked.last, entry));
        before.into_iter().chain(after).min()
    }

    /// The interval with the greatest last position before `first`; of several the least.
    fn last_before(&self, first: u64) -> Option<Entry> {
        let before = first.checked_sub(1)?;
        let mut best: Option<Entry> = None;
        for lane in self.lanes() {
            // One that begins earlier ends before the best one does.
            let is_too_early = |at: u64, best: Entry| at.saturating_add(reach(lane.number)) < best.span.last;
            let low = best.map_or(0, |best| best.span.last.saturating_sub(reach(lane.number)));
            let _ = self.scan(lane, low..=before, Direction::Reverse, |entry| {
                if best.is_some_and(|best| is_too_early(entry.span.first, best)) {
                    return ControlFlow::Break(());
                }
                let order = |entry: Entry| (Reverse(entry.span.last), entry);
                if entry.span.last <= before && best.is_none_or(|best| order(entry) < order(best)) {
                    best = Some(entry);
                }
                ControlFlow::Continue(())
            });
        }
        best
    }

    /// The interval with the least first position after `last`; of several the least.
    fn first_after(&self, last: u64) -> Option<Entry> {
        let after = last.checked_add(1)?;
        let mut best: Option<Entry> = None;
        for lane in self.lanes() {
            let high = best.map_or(u64::MAX, |best| best.span.first);
            let _ = self.scan(lane, after..=high, Direction::Forward, |entry| {
                best = Some(best.map_or(entry, |best| best.min(entry)));
                ControlFlow::Break(())
            });
        }
        best
    }
}
