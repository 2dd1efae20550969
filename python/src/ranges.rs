//! Ranges: their entries as columns, and their sizes.

use crate::asked::{Closed, Ends};
use crate::batch::Pulse;
use crate::column::Words;
use crate::engine::{Engine, NoKey, Undone};
use crate::failure;
use crate::gate::Pass;
use crate::lane::{Lane, Shared};
use crate::sort::reserve;
use latchless::Direction;
use pyo3::PyErr;
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::atomic::AtomicU8;

/// Entries that are copied between two looks at the clock.
const PIECE: usize = 1 << 16;
/// Ranges that are shown between two looks at the clock.
pub const RANGES: usize = 64;

fn refused(error: latchless::Error) -> PyErr {
    failure::exception(&error)
}

/// The ends of many ranges that belong to them.
#[derive(Debug, Clone, Copy)]
pub enum Closes<'a> {
    /// Of all the same.
    All(Closed),
    /// Of each range its own low end and high end.
    Each(Words<'a, AtomicU8>, Words<'a, AtomicU8>),
}

impl Closes<'_> {
    /// Those of the range at a position.
    #[inline(always)]
    pub fn at(&self, at: usize) -> Closed {
        match self {
            Self::All(closed) => *closed,
            Self::Each(low, high) => Closed { low: low.load(at), high: high.load(at) },
        }
    }
}

/// Keys and their values.
pub type Columns<B> = (Vec<B>, Vec<B>);

/// The stored words of a range, both ends included; nothing for an empty one. Every word but the last has a
/// successor, so an open end is the closed one next to it.
pub fn words<B: Lane>(Ends { low, high, closed }: Ends<B>) -> Option<RangeInclusive<B>> {
    let low = match low {
        Some(low) if !closed.low => low.next()?,
        low => low.unwrap_or(B::MIN),
    };
    let high = match high {
        Some(high) if !closed.high => high.before()?,
        high => high.unwrap_or(B::MAX),
    };
    (low <= high).then_some(low..=high)
}

impl<B: Lane> Engine<B> {
    /// The entries of a range, at most `limit`, from its low end or from its high end.
    pub fn collect(
        &self,
        range: RangeInclusive<B>,
        direction: Direction,
        limit: usize,
    ) -> Result<Columns<B>, PyErr> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        if *range.start() == B::MIN && *range.end() == B::MAX {
            let len = self.index().len().min(limit);
            reserve(&mut keys, len).and_then(|()| reserve(&mut values, len)).map_err(refused)?;
        }
        let (mut rest, mut pulse) = (Some(range), Pulse::new());
        while let Some(range) = rest.take().filter(|_| keys.len() < limit) {
            let before = keys.len();
            let room = PIECE.min(limit - before);
            {
                let _pass = Pass::new();
                self.append(range.clone(), direction, room, &mut keys, &mut values).map_err(refused)?;
            }
            if keys.len() - before >= room {
                let last = keys.last().and_then(|&last| self.encode(last));
                rest = last.and_then(|last| match direction {
                    Direction::Forward => last.next().map(|low| low..=*range.end()),
                    Direction::Reverse => last.before().map(|high| *range.start()..=high),
                });
                rest = rest.filter(|range| range.start() <= range.end());
                pulse.check()?;
            }
        }
        keys.truncate(limit);
        values.truncate(limit);
        Ok((keys, values))
    }

    /// Appends the first entries of a range: `room` or a few more, or all.
    fn append(
        &self,
        range: RangeInclusive<B>,
        direction: Direction,
        room: usize,
        keys: &mut Vec<B>,
        values: &mut Vec<B>,
    ) -> latchless::Result<()> {
        let before = keys.len();
        match direction {
            Direction::Forward => {
                let mut room_left = Ok(());
                let _ = self.index().scan_chunks(range, |more, their| {
                    room_left = reserve(keys, more.len()).and_then(|()| reserve(values, more.len()));
                    if room_left.is_err() {
                        return ControlFlow::Break(());
                    }
                    keys.extend(more.iter().map(|&key| self.decode(key)));
                    values.extend_from_slice(their);
                    if keys.len() - before < room {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                });
                room_left
            }
            Direction::Reverse => {
                reserve(keys, room)?;
                reserve(values, room)?;
                keys.resize(before + room, B::MIN);
                values.resize(before + room, B::MIN);
                let places = (&mut keys[before..], &mut values[before..]);
                let filled = self.index().page(range, direction, places.0, places.1)?;
                keys.truncate(before + filled);
                values.truncate(before + filled);
                keys[before..].iter_mut().for_each(|key| *key = self.decode(*key));
                Ok(())
            }
        }
    }

    /// How many keys there are in a range.
    pub fn count(&self, range: RangeInclusive<B>) -> usize {
        self.index().count(range)
    }

    /// The range at a position of two columns of ends.
    pub fn range_at(
        &self,
        lows: Words<'_, B::Atomic>,
        highs: Words<'_, B::Atomic>,
        closes: Closes<'_>,
        at: usize,
    ) -> Result<Option<RangeInclusive<B>>, NoKey> {
        let low = self.encode(lows.load(at)).ok_or(NoKey(at))?;
        let high = self.encode(highs.load(at)).ok_or(NoKey(at))?;
        Ok(words(Ends { low: Some(low), high: Some(high), closed: closes.at(at) }))
    }

    /// Appends the entries of some ranges, one range after the other; `ends` gets how many entries there are
    /// up to the end of each.
    pub fn append_ranges(
        &self,
        lows: Words<'_, B::Atomic>,
        highs: Words<'_, B::Atomic>,
        closes: Closes<'_>,
        chunk: Range<usize>,
        ends: &mut Vec<i64>,
        (keys, values): (&mut Vec<B>, &mut Vec<B>),
    ) -> Result<(), Undone> {
        let mut ranges = Vec::with_capacity(chunk.len());
        for at in chunk {
            // One that is empty shows nothing: its place is kept by a range without a key.
            ranges.push(self.range_at(lows, highs, closes, at)?);
        }
        let filled: Vec<_> = ranges.iter().flatten().cloned().collect();
        let (mut lengths, mut room_left) = (vec![0; filled.len()], Ok(()));
        self.index().range_many(&filled, |at, more, their| {
            if room_left.is_ok() {
                room_left = reserve(keys, more.len()).and_then(|()| reserve(values, more.len()));
            }
            if room_left.is_err() {
                return ControlFlow::Break(());
            }
            keys.extend(more.iter().map(|&key| self.decode(key)));
            values.extend_from_slice(their);
            lengths[at] += more.len();
            ControlFlow::Continue(())
        });
        room_left?;
        let mut lengths = lengths.into_iter();
        let mut end = ends.last().copied().unwrap_or(0);
        for range in &ranges {
            if range.is_some() {
                end += lengths.next().unwrap_or(0) as i64;
            }
            ends.push(end);
        }
        Ok(())
    }

    /// Counts the keys of each range of a chunk.
    pub fn count_chunk<A: Shared<Word = u64>>(
        &self,
        lows: Words<'_, B::Atomic>,
        highs: Words<'_, B::Atomic>,
        closes: Closes<'_>,
        chunk: Range<usize>,
        counts: Words<'_, A>,
    ) -> Result<(), NoKey> {
        for at in chunk {
            let range = self.range_at(lows, highs, closes, at)?;
            counts.store(at, range.map_or(0, |range| self.count(range)) as u64);
        }
        Ok(())
    }

    /// How many keys are less than each key of a chunk.
    pub fn rank_chunk<A: Shared<Word = u64>>(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        ranks: Words<'_, A>,
    ) -> Result<(), NoKey> {
        for at in chunk {
            let key = self.encode(keys.load(at)).ok_or(NoKey(at))?;
            ranks.store(at, self.index().rank(key) as u64);
        }
        Ok(())
    }
}
