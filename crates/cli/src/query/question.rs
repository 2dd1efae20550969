//! Questions over an index's keys, and the answers.

use crate::rows::place::Span;
use crate::rows::postings::Groups;
use crate::rows::runs::Runs;
use latchless::Direction;

/// Which of the rows that a question has are in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// So many of the first are left out.
    pub offset: usize,
    /// At most so many of the others are there.
    pub limit: usize,
    /// The order of their keys.
    pub direction: Direction,
}

impl Page {
    /// The page of these, which are ascending by key.
    fn of<T>(self, ascending: impl DoubleEndedIterator<Item = T>) -> Vec<T> {
        match self.direction {
            Direction::Forward => ascending.skip(self.offset).take(self.limit).collect(),
            Direction::Reverse => ascending.rev().skip(self.offset).take(self.limit).collect(),
        }
    }
}

/// A fraction, as an integer of some decimal places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    digits: u128,
    unit: u128,
}

impl Fraction {
    /// The number from 0 to 1 that is written here.
    pub fn parse(text: &str) -> Option<Self> {
        /// More of them can't be distinguished among 2^32 rows.
        const PLACES_MAX: usize = 18;
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let all = format!("{whole}{places}");
        if places.len() > PLACES_MAX || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (digits, unit) = (all.parse().ok()?, 10u128.pow(places.len() as u32));
        (digits <= unit).then_some(Self { digits, unit })
    }

    /// The place, from 0, of the first of this many things up to which this fraction of them is.
    fn place(self, count: usize) -> usize {
        let up_to = (self.digits * count as u128).div_ceil(self.unit);
        (up_to as usize).saturating_sub(1)
    }
}

/// A question over keys. `None` is a span without keys of the columns' types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The rows of each of these spans.
    Get(Vec<Option<Span>>),
    /// The rows of a span.
    Between(Option<Span>, Page),
    /// How many rows there are in a span.
    Count(Option<Span>),
    /// The rows of the first key of a span, or of its last for [`Direction::Reverse`].
    Nearest(Option<Span>, Direction),
    /// How many rows have keys below a place: the spans of keys from there on, and up to there.
    Rank { from: Option<Span>, up_to: Option<Span> },
    /// The row at this place, counted from 0.
    Nth(usize),
    /// The rows at these fractions of all whose keys are in a span.
    Quantile(Option<Span>, Vec<Fraction>),
    /// Each key once.
    Groups(Page),
}

/// An index's answer: rows by their number in the file, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// These rows, in this order; and which of the requested keys are missing, by their place in the
    /// question.
    Rows { rows: Vec<u32>, missing: Vec<usize> },
    /// A row of each key, and how many rows have that key.
    Groups { rows: Vec<u32>, counts: Vec<usize> },
    /// This many rows.
    Count(usize),
}

impl Answer {
    /// How many rows it holds or counts.
    pub fn found(&self) -> usize {
        self.rows().len().max(if let Self::Count(rows) = *self { rows } else { 0 })
    }

    /// The rows that it holds.
    pub fn rows(&self) -> &[u32] {
        match self {
            Self::Rows { rows, .. } | Self::Groups { rows, .. } => rows,
            Self::Count(_) => &[],
        }
    }

    /// The same with these rows in place of its own.
    #[must_use]
    pub fn with_rows(&self, others: Vec<u32>) -> Self {
        let mut answer = self.clone();
        if let Self::Rows { rows, .. } | Self::Groups { rows, .. } = &mut answer {
            *rows = others;
        }
        answer
    }

    fn of(rows: Vec<u32>) -> Self {
        Self::Rows { rows, missing: Vec::new() }
    }
}

impl Question {
    /// The answer of an index whose values are the numbers of these runs.
    ///
    /// # Errors
    /// Those of the index.
    pub fn answer(&self, index: &dyn Runs, groups: &dyn Groups) -> latchless::Result<Answer> {
        let end = |span: &Option<Span>, end| match span {
            Some(span) => index.end(span, end),
            None => Ok(None),
        };
        let ends = |span| -> latchless::Result<Option<(u32, u32)>> {
            Ok(end(span, Direction::Forward)?.zip(end(span, Direction::Reverse)?))
        };
        let rows_of = |run: u32| groups.positions(run).map(|position| groups.row(position));
        let row = |position: usize| groups.row(position);
        let after = |run: u32| groups.positions(run).end;
        Ok(match self {
            Self::Get(spans) => get(spans, index, groups)?,
            Self::Between(span, page) => {
                let rows = ends(span)?.map(|(first, last)| match page.direction {
                    Direction::Forward => {
                        page.of(groups.positions(first).start..after(last)).into_iter().map(row).collect()
                    }
                    // Equal keys keep the order of the file.
                    Direction::Reverse => {
                        let before = |run: &u32| {
                            groups.step(Some(*run), Direction::Reverse).filter(|&before| before >= first)
                        };
                        let rows = std::iter::successors(Some(last), before).flat_map(rows_of);
                        rows.skip(page.offset).take(page.limit).collect()
                    }
                });
                Answer::of(rows.unwrap_or_default())
            }
            Self::Count(span) => Answer::Count(
                ends(span)?.map_or(0, |(first, last)| after(last) - groups.positions(first).start),
            ),
            &Self::Nearest(ref span, direction) => {
                Answer::of(end(span, direction)?.map_or(Vec::new(), |run| rows_of(run).collect()))
            }
            Self::Rank { from, up_to } => Answer::Count(match end(from, Direction::Forward)? {
                Some(run) => groups.positions(run).start,
                None => end(up_to, Direction::Reverse)?.map_or(0, after),
            }),
            &Self::Nth(place) => Answer::of((place..groups.len()).take(1).map(row).collect()),
            Self::Quantile(span, fractions) => {
                let rows = end(span, Direction::Reverse)?.map_or(0, after);
                let fractions = fractions.iter().filter(|_| rows > 0);
                Answer::of(fractions.map(|fraction| row(fraction.place(rows))).collect())
            }
            Self::Groups(page) => {
                let next = |run: &u32| groups.step(Some(*run), page.direction);
                let runs = std::iter::successors(groups.step(None, page.direction), next);
                let runs = runs.skip(page.offset).take(page.limit);
                let (rows, counts) =
                    runs.map(|run| (row(groups.positions(run).start), groups.positions(run).len())).unzip();
                Answer::Groups { rows, counts }
            }
        })
    }
}

/// The rows of each of many spans, which are looked up in one batch.
fn get(spans: &[Option<Span>], index: &dyn Runs, groups: &dyn Groups) -> latchless::Result<Answer> {
    let asked: Vec<&Span> = spans.iter().flatten().collect();
    let mut ends = index.ends(&asked)?.into_iter();
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for (place, span) in spans.iter().enumerate() {
        match span.as_ref().and_then(|_| ends.next().flatten()) {
            Some((first, last)) => {
                let positions = groups.positions(first).start..groups.positions(last).end;
                rows.extend(positions.map(|position| groups.row(position)));
            }
            None => missing.push(place),
        }
    }
    Ok(Answer::Rows { rows, missing })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact() {
        let place = |text, count| Fraction::parse(text).unwrap().place(count);
        for (text, count, expected) in [
            ("0", 10, 0),
            ("0.1", 10, 0),
            ("0.11", 10, 1),
            ("0.07", 100, 6),
            ("0.5", 5, 2),
            ("0.50", 4, 1),
            ("1", 10, 9),
            ("1.000", 10, 9),
            (".25", 4, 0),
            ("0.5", 0, 0),
        ] {
            assert_eq!(place(text, count), expected, "{text} of {count}");
        }
        for bad in ["", "1.1", "2", "-0.5", "0.5x", "1e-1", "0.5.5", "0.0000000000000000001"] {
            assert_eq!(Fraction::parse(bad), None, "{bad}");
        }
    }
}
