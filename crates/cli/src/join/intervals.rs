//! Intervals that share a point with others, by an index.
//!
//! An index over the first points alone finds no overlaps: an interval that began long ago may still last. So
//! intervals are divided into *lanes*: those of one group whose lengths have the same number of bits. In a
//! lane of `b` bits none is longer than `2^b - 1`, so an interval that shares a point with `first..=last`
//! begins in `first - (2^b - 1) ..= last`, and all that begin in `first - 2^(b - 1) ..= last` do share one.
//! What has to be looked at in a lane and isn't an overlap is thus only in the window of half that length
//! before it. Each interval is in one lane, so each overlap is found once.
//!
//! The entries of all lanes are side by side in one array, and so are the lanes on one line of 64 bits: each
//! has a section of it as long as its first points are apart. The index leads from a point of that line to
//! the place of the next entry: one lookup for each lane of a group that isn't ruled out by its ends, in
//! batches. If the sections would be longer than the line, several points share one of it, which makes a walk
//! start earlier and finds nothing else, since every entry is compared.

use latchless::index::Options;
use latchless::{FillFactor, Index};
use std::collections::HashMap;
use std::ops::Range;

/// Lanes of at most this many entries are read from their start.
const SHORT: u32 = 8;

/// The points from the first to the last, both included, of one group. There are none if the last is before
/// the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The group.
    pub group: u32,
    /// The first point.
    pub first: u64,
    /// The last point.
    pub last: u64,
}

/// An interval of a lane, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    first: u64,
    last: u64,
    number: u32,
}

/// Intervals of one group, and of lengths with one number of bits.
#[derive(Debug, Clone)]
struct Lane {
    entries: Range<u32>,
    /// Its first points are at most so far before its last ones.
    reach: u64,
    /// Its first and its last point, and the first one of the entry that begins last.
    first: u64,
    last: u64,
    begins_last: u64,
    /// Where its section of the line begins.
    section: u64,
}

/// A set of intervals, numbered from 0.
#[derive(Debug)]
pub struct Intervals {
    entries: Vec<Entry>,
    lanes: Vec<Lane>,
    /// The lanes of each group.
    groups: HashMap<u32, Range<u32>>,
    /// How many bits of a point the line leaves out.
    shift: u32,
    /// The place of the first entry at a point of the line.
    places: Index<u64, u32>,
}

/// The entries to look at for each of many intervals. See [`Intervals::seek`].
#[derive(Debug, Default)]
pub struct Found {
    /// For each interval, where its ranges end among all.
    ends: Vec<usize>,
    ranges: Vec<Range<u32>>,
}

impl Intervals {
    /// A set of at most `u32::MAX` intervals.
    ///
    /// # Errors
    /// Memory is refused.
    pub fn new(intervals: impl Iterator<Item = Interval>, options: Options) -> latchless::Result<Self> {
        let mut all: Vec<(u32, u32, Entry)> = Vec::new();
        for (Interval { group, first, last }, number) in intervals.zip(0..) {
            if let Some(length) = last.checked_sub(first) {
                all.push((group, u64::BITS - length.leading_zeros(), Entry { first, last, number }));
            }
        }
        all.sort_unstable();
        let (mut lanes, mut groups) = (Vec::<Lane>::new(), HashMap::new());
        for lane in all.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            let (group, bits, Entry { first, .. }) = lane[0];
            let (start, number) = (lanes.last().map_or(0, |before| before.entries.end), lanes.len() as u32);
            groups.entry(group).or_insert(number..number).end = number + 1;
            lanes.push(Lane {
                entries: start..start + lane.len() as u32,
                reach: 1u64.checked_shl(bits).map_or(u64::MAX, |past| past - 1),
                first,
                last: lane.iter().map(|(.., entry)| entry.last).max().unwrap_or(first),
                begins_last: lane[lane.len() - 1].2.first,
                section: 0,
            });
        }
        let entries: Vec<Entry> = all.into_iter().map(|(.., entry)| entry).collect();
        let shift = lay_out(&mut lanes);
        let mut starts: Vec<(u64, u32)> = Vec::with_capacity(entries.len());
        for lane in &lanes {
            let range = lane.entries.clone();
            let points = range.clone().zip(&entries[range.start as usize..range.end as usize]);
            starts.extend(points.map(|(place, entry)| (lane.on_line(entry.first, shift), place)));
        }
        starts.dedup_by_key(|(point, _)| *point);
        let mut places = Index::with_options(options)?;
        places.bulk_load(&starts, FillFactor::FULL)?;
        Ok(Self { entries, lanes, groups, shift, places })
    }

    /// How much memory they take, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.entries[..]) + size_of_val(&self.lanes[..]) + self.places.memory_bytes()
    }

    /// Looks for many intervals at once. Those that share a point with the interval `asked[i]` are then
    /// [`Intervals::overlaps`] of `i`.
    ///
    /// # Errors
    /// Those of the index.
    pub fn seek(&self, asked: &[Interval]) -> latchless::Result<Found> {
        let (mut found, mut keys, mut places) = (Found::default(), Vec::new(), Vec::new());
        for &Interval { group, first, last } in asked {
            let lanes = self.groups.get(&group).filter(|_| first <= last).cloned().unwrap_or(0..0);
            for number in lanes {
                let lane = &self.lanes[number as usize];
                if last < lane.first || lane.last < first {
                    continue;
                }
                let from = first.saturating_sub(lane.reach);
                if lane.begins_last < from {
                    continue;
                }
                if lane.entries.len() as u32 > SHORT && lane.first < from {
                    keys.push(lane.on_line(from, self.shift));
                    places.push(found.ranges.len());
                }
                found.ranges.push(lane.entries.clone());
            }
            found.ends.push(found.ranges.len());
        }
        let mut answers = vec![None; keys.len()];
        self.places.ceiling_many(&keys, &mut answers)?;
        for (place, answer) in places.into_iter().zip(answers) {
            // There is one: the lane has an entry that begins there or later.
            let range = &mut found.ranges[place];
            range.start = answer.map_or(range.end, |(_, start)| start);
        }
        Ok(found)
    }

    /// Appends the numbers of the intervals that share a point with `asked`, ascending: the `place`th one of
    /// those that `found` is of.
    pub fn overlaps(&self, asked: Interval, found: &Found, place: usize, into: &mut Vec<u32>) {
        let before = into.len();
        let start = place.checked_sub(1).map_or(0, |before| found.ends[before]);
        for range in &found.ranges[start..found.ends[place]] {
            let entries = &self.entries[range.start as usize..range.end as usize];
            let until = entries.iter().take_while(|entry| entry.first <= asked.last);
            into.extend(until.filter(|entry| entry.last >= asked.first).map(|entry| entry.number));
        }
        into[before..].sort_unstable();
    }
}

impl Lane {
    /// Where a point that isn't before its first is on the line.
    fn on_line(&self, point: u64, shift: u32) -> u64 {
        self.section + ((point - self.first) >> shift)
    }
}

/// Gives each lane a section of the line, and returns how many bits of points have no room there.
fn lay_out(lanes: &mut [Lane]) -> u32 {
    let length = |lane: &Lane, shift: u32| u128::from((lane.begins_last - lane.first) >> shift) + 1;
    let has_room = |shift: &u32| {
        let all: u128 = lanes.iter().map(|lane| length(lane, *shift)).sum();
        all <= u128::from(u64::MAX)
    };
    // With a bit for each lane there is room for all: there are fewer than 2^32.
    let shift = (0..u64::BITS).find(has_room).unwrap_or(u64::BITS - 1);
    let mut section = 0;
    for lane in lanes {
        lane.section = section;
        section += length(lane, shift) as u64;
    }
    shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Intervals, short and long, at the ends of the points and between them.
    fn intervals(count: usize) -> impl Strategy<Value = Vec<Interval>> {
        let point = prop_oneof![0u64..300, (0u64..300).prop_map(|back| u64::MAX - back), any::<u64>()];
        let length = prop_oneof![0u64..4, 0u64..300, any::<u64>(), (0u32..64).prop_map(|bits| 1 << bits)];
        let one = (0u32..3, point, length, 0u8..20).prop_map(|(group, first, length, odd)| {
            // Some have no point.
            let last = if odd == 0 { first.wrapping_sub(1) } else { first.saturating_add(length) };
            Interval { group, first, last }
        });
        prop::collection::vec(one, 0..count)
    }

    fn check(all: &[Interval], asked: &[Interval]) {
        let set = Intervals::new(all.iter().copied(), Options::default()).unwrap();
        let found = set.seek(asked).unwrap();
        for (place, &one) in asked.iter().enumerate() {
            let mut numbers = vec![7];
            set.overlaps(one, &found, place, &mut numbers);
            let shares = |other: &&Interval| {
                let (first, last) = (one.first.max(other.first), one.last.min(other.last));
                let are_points = one.first <= one.last && other.first <= other.last;
                one.group == other.group && are_points && first <= last
            };
            let expected: Vec<u32> =
                (0..).zip(all).filter(|(_, other)| shares(other)).map(|(number, _)| number).collect();
            assert_eq!(numbers[1..], expected, "{one:?} in {all:?}");
        }
    }

    #[test]
    fn intervals_that_only_touch_a_point_are_found() {
        let of = |first, last| Interval { group: 1, first, last };
        // A lane that is too long to be read from its start, and windows that begin at each of its entries.
        let lane: Vec<Interval> = (0..40).map(|at| of(at * 8, at * 8 + 7)).collect();
        let asked: Vec<Interval> = (0..330).flat_map(|at| [of(at, at), of(at, at + 9)]).collect();
        check(&lane, &asked);
        check(
            &[of(0, u64::MAX), of(u64::MAX, u64::MAX), of(5, 4)],
            &[of(0, 0), of(u64::MAX, u64::MAX), of(5, 4)],
        );
    }

    proptest! {
        #[test]
        fn overlaps_are_those_that_a_look_at_all_finds(all in intervals(80), asked in intervals(20)) {
            check(&all, &asked);
        }
    }
}
