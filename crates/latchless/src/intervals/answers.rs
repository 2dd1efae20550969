//! The answers to many questions, whatever the intervals are stored in.

use super::queries::{Near, Side};
use super::source::Source;
use super::span::{Position, Span};
use crate::index::reserve;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::Result;

/// The ids of the intervals that overlap each of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// The ids: of the first question, ascending, then of the second one, and so on.
    pub ids: Vec<u64>,
    /// Where the ids of each question start, and where those of the last one end.
    pub offsets: Vec<usize>,
}

impl Overlaps {
    /// The ids of the question at a position.
    ///
    /// # Panics
    /// If there are fewer questions.
    pub fn of(&self, at: usize) -> &[u64] {
        &self.ids[self.offsets[at]..self.offsets[at + 1]]
    }

    /// From ids in the order in which they were found: for each run its question and its length.
    fn new(questions: usize, found: &[u64], runs: &[(usize, usize)]) -> Result<Self> {
        let mut overlaps = Self::default();
        reserve(&mut overlaps.offsets, questions + 1)?;
        overlaps.offsets.resize(questions + 1, 0);
        for &(at, len) in runs {
            overlaps.offsets[at + 1] = len;
        }
        let mut end = 0;
        for offset in &mut overlaps.offsets {
            end += *offset;
            *offset = end;
        }
        reserve(&mut overlaps.ids, found.len())?;
        overlaps.ids.resize(found.len(), 0);
        let mut rest = found;
        for &(at, len) in runs {
            let (run, others) = rest.split_at(len);
            overlaps.ids[overlaps.offsets[at]..][..len].copy_from_slice(run);
            rest = others;
        }
        Ok(overlaps)
    }
}

/// Takes the position of a question, its span, and the intervals of its group.
pub(super) type Answer<'a, G, Q> = dyn FnMut(usize, Span, &Source<'_, G, Q>) -> Result<()> + 'a;

/// What answers batches.
pub(super) trait Answers<G: BytesKey, P: Position> {
    /// Calls `answer` with each question that isn't empty, in any order, and the intervals of its group.
    fn each<Q: BytesKey<G>, R: RangeBounds<P>>(
        &self,
        asked: &[(Q, R)],
        answer: &mut Answer<'_, G, Q>,
    ) -> Result<()>;

    fn overlaps_many<Q: BytesKey<G>, R: RangeBounds<P>>(&self, asked: &[(Q, R)]) -> Result<Overlaps> {
        let (mut found, mut runs) = (Vec::new(), Vec::new());
        reserve(&mut runs, asked.len())?;
        self.each(asked, &mut |at, span, source| {
            let (before, mut room) = (found.len(), Ok(()));
            let _ = source.overlaps(span, |entry| {
                if found.len() == found.capacity() {
                    room = reserve(&mut found, 1);
                    if room.is_err() {
                        return ControlFlow::Break(());
                    }
                }
                found.push(entry.id);
                ControlFlow::Continue(())
            });
            found[before..].sort_unstable();
            runs.push((at, found.len() - before));
            room
        })?;
        Overlaps::new(asked.len(), &found, &runs)
    }

    fn count_many<Q: BytesKey<G>, R: RangeBounds<P>>(&self, asked: &[(Q, R)]) -> Result<Vec<usize>> {
        self.answers(asked, 0, |span, source| source.count_overlaps(span))
    }

    fn coverage_many<Q: BytesKey<G>, R: RangeBounds<P>>(&self, asked: &[(Q, R)]) -> Result<Vec<u64>> {
        let mut room = Vec::new();
        self.answers(asked, 0, |span, source| source.coverage(span, &mut room))
    }

    fn near_many<Q: BytesKey<G>, R: RangeBounds<P>>(
        &self,
        asked: &[(Q, R)],
        side: Side,
    ) -> Result<Vec<Option<Near<P>>>> {
        self.answers(asked, None, |span, source| source.nearest(span, side).map(Near::of))
    }

    /// One answer to each question, and `none` to those that are empty or have an unknown group.
    fn answers<Q: BytesKey<G>, R: RangeBounds<P>, A: Clone>(
        &self,
        asked: &[(Q, R)],
        none: A,
        mut answer: impl FnMut(Span, &Source<'_, G, Q>) -> A,
    ) -> Result<Vec<A>> {
        let mut answers = Vec::new();
        reserve(&mut answers, asked.len())?;
        answers.resize(asked.len(), none);
        self.each(asked, &mut |at, span, source| {
            answers[at] = answer(span, source);
            Ok(())
        })?;
        Ok(answers)
    }
}
