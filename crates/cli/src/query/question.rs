//! Questions over an index's keys, and the answers.

use crate::rows::place::Span;
use crate::rows::postings::Postings;
use crate::rows::runs::Runs;
use latchless::Direction;

/// A question over keys. `None` is a span without keys of the columns' types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The rows of each of these spans.
    Get(Vec<Option<Span>>),
    /// The rows of a span, at most `limit` of them.
    Between { span: Option<Span>, limit: usize, direction: Direction },
    /// How many rows there are in a span.
    Count(Option<Span>),
    /// The rows of the first key of a span, or of its last for [`Direction::Reverse`].
    Nearest(Option<Span>, Direction),
}

/// An index's answer: rows by their number in the file, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// These rows, in this order; and which of the requested keys are missing, by their place in the
    /// question.
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

    fn rows(rows: Vec<u32>) -> Self {
        Self::Rows { rows, missing: Vec::new() }
    }
}

impl Question {
    /// The answer of an index whose values are the numbers of the postings' runs.
    ///
    /// # Errors
    /// Those of the index.
    pub fn answer(&self, index: &dyn Runs, postings: &Postings) -> latchless::Result<Answer> {
        let end = |span: &Option<Span>, end| match span {
            Some(span) => index.end(span, end),
            None => Ok(None),
        };
        let ends = |span| -> latchless::Result<Option<(u32, u32)>> {
            Ok(end(span, Direction::Forward)?.zip(end(span, Direction::Reverse)?))
        };
        Ok(match self {
            Self::Get(spans) => {
                let (mut rows, mut missing) = (Vec::new(), Vec::new());
                for (place, span) in spans.iter().enumerate() {
                    match ends(span)? {
                        Some((first, last)) => rows.extend_from_slice(postings.span(first, last)),
                        None => missing.push(place),
                    }
                }
                Answer::Rows { rows, missing }
            }
            &Self::Between { ref span, limit, direction } => {
                let rows = ends(span)?.map(|(first, last)| match direction {
                    Direction::Forward => postings.span(first, last).iter().take(limit).copied().collect(),
                    // Equal keys keep the order of the file.
                    Direction::Reverse => {
                        let runs = (first..=last).rev();
                        runs.flat_map(|run| postings.rows(run)).take(limit).copied().collect()
                    }
                });
                Answer::rows(rows.unwrap_or_default())
            }
            Self::Count(span) => {
                Answer::Count(ends(span)?.map_or(0, |(first, last)| postings.span(first, last).len()))
            }
            &Self::Nearest(ref span, direction) => {
                Answer::rows(end(span, direction)?.map_or(Vec::new(), |run| postings.rows(run).to_vec()))
            }
        })
    }
}
