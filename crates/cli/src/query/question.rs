//! Questions over an index's keys, and how it answers them.

use super::postings::Postings;
use latchless::index::OrderedIndex;
use latchless::{Bits, Direction};
use std::ops::Bound::Included;

/// The most runs that a scan asks the index for at once.
const SCAN_RUNS: usize = 4096;

/// A question over keys, as their order-keeping bits. Ranges have both their ends in them, and `None`
/// is the range that no key of the column's type lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question<B> {
    /// The rows of these keys; `None` is a number that no key of the column's type is.
    Get(Vec<Option<B>>),
    /// The rows of a range, at most `limit` of them.
    Between { keys: Option<(B, B)>, limit: usize, direction: Direction },
    /// How many rows there are in a range.
    Count(Option<(B, B)>),
    /// The rows of the first key of a range, or of its last for [`Direction::Reverse`].
    Nearest(Option<(B, B)>, Direction),
}

/// What an index answers: rows by their number in the file, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// These rows, in this order; and which of the keys that were asked for aren't there, by
    /// their place in the question.
    Rows { rows: Vec<u32>, missing: Vec<usize> },
    /// This many rows.
    Count(usize),
}

impl Answer {
    /// How many rows it holds or counts.
    pub fn found(&self) -> usize {
        match self {
            Self::Rows { rows, .. } => rows.len(),
            Self::Count(rows) => *rows,
        }
    }
}

impl<B: Bits> Question<B> {
    /// The answer of an index whose values are the numbers of the postings' runs.
    ///
    /// # Errors
    /// Those of the index.
    pub fn answer(&self, index: &dyn OrderedIndex<B, u32>, postings: &Postings) -> latchless::Result<Answer> {
        let nearest = |(low, high), direction| -> latchless::Result<Option<u32>> {
            let (mut key, mut run) = ([B::MIN], [0]);
            let found = index.scan((Included(low), Included(high)), direction, &mut key, &mut run)?;
            Ok((found > 0).then_some(run[0]))
        };
        Ok(match self {
            Self::Get(keys) => get(index, postings, keys)?,
            &Self::Between { keys: Some(keys), limit, direction } => {
                between(index, postings, keys, limit, direction)?
            }
            &Self::Count(Some(keys)) => {
                let (first, last) = (nearest(keys, Direction::Forward)?, nearest(keys, Direction::Reverse)?);
                Answer::Count(first.zip(last).map_or(0, |(first, last)| postings.span(first, last).len()))
            }
            &Self::Nearest(Some(keys), direction) => {
                let rows = nearest(keys, direction)?.map_or(Vec::new(), |run| postings.rows(run).to_vec());
                Answer::Rows { rows, missing: Vec::new() }
            }
            Self::Count(None) => Answer::Count(0),
            Self::Between { .. } | Self::Nearest(..) => {
                Answer::Rows { rows: Vec::new(), missing: Vec::new() }
            }
        })
    }
}

fn get<B: Bits>(
    index: &dyn OrderedIndex<B, u32>,
    postings: &Postings,
    keys: &[Option<B>],
) -> latchless::Result<Answer> {
    let possible: Vec<B> = keys.iter().flatten().copied().collect();
    let mut found = vec![None; possible.len()];
    index.get_many(&possible, &mut found)?;
    let mut found = found.into_iter();
    let runs: Vec<Option<u32>> = keys.iter().map(|key| key.and_then(|_| found.next().flatten())).collect();
    let missing = (0..runs.len()).filter(|&place| runs[place].is_none()).collect();
    let rows = runs.iter().flatten().flat_map(|&run| postings.rows(run)).copied().collect();
    Ok(Answer::Rows { rows, missing })
}

fn between<B: Bits>(
    index: &dyn OrderedIndex<B, u32>,
    postings: &Postings,
    (low, high): (B, B),
    limit: usize,
    direction: Direction,
) -> latchless::Result<Answer> {
    let mut scanner = index.scanner((Included(low), Included(high)), direction)?;
    let mut runs = vec![0; limit.min(SCAN_RUNS)];
    let mut rows = Vec::new();
    while rows.len() < limit {
        let found = scanner.fill_values(&mut runs)?;
        if found == 0 {
            break;
        }
        // A run holds a row or more, so this many runs fill what is left.
        rows.extend(runs[..found].iter().flat_map(|&run| postings.rows(run)));
    }
    rows.truncate(limit);
    Ok(Answer::Rows { rows, missing: Vec::new() })
}
