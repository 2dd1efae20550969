//! The five questions, and how an index answers them.

use super::args::Args;
use super::error::QueryError;
use super::key::Rule;
use super::postings::Postings;
use latchless::base::key::Bits;
use latchless::{Direction, OrderedIndex};
use std::ops::Bound::{Included, Unbounded};

/// The most runs that a scan asks the index for at once.
const SCAN_RUNS: usize = 4096;

/// A question over keys of type `K`: text as it was asked, then order-keeping bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question<K> {
    /// The rows of these keys.
    Get(Vec<K>),
    /// The rows from one key to another, at most `limit` of them.
    Between { low: K, high: K, limit: usize, direction: Direction },
    /// How many rows there are from one key to another.
    Count { low: K, high: K },
    /// The rows of the largest key up to this one.
    Floor(K),
    /// The rows of the smallest key from this one on.
    Ceil(K),
}

/// What an index answers: rows by their number in the file, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// These rows, in this order; and which of the keys that were asked for aren't there, by
    /// their place in the question.
    Rows { rows: Vec<u32>, missing: Vec<usize> },
    /// So many rows.
    Count(usize),
}

impl<'a> Question<&'a str> {
    /// The question that the arguments ask.
    ///
    /// # Errors
    /// [`QueryError::OnlyBetween`], [`QueryError::ZeroLimit`].
    pub fn new(args: &'a Args) -> Result<Self, QueryError> {
        // `clap` lets this pass: what an option requires may be missing if that would conflict.
        for (option, given) in [("--limit", args.limit.is_some()), ("--reverse", args.reverse)] {
            if given && args.between.is_none() {
                return Err(QueryError::OnlyBetween { option });
            }
        }
        if args.limit == Some(0) {
            return Err(QueryError::ZeroLimit);
        }
        let (limit, direction) = (
            args.limit.unwrap_or(usize::MAX),
            if args.reverse { Direction::Reverse } else { Direction::Forward },
        );
        // `clap` has seen to it that exactly one is there, and that a range has two ends.
        Ok(match (&args.between, &args.count, &args.floor, &args.ceil) {
            (Some(ends), ..) => Self::Between { low: &ends[0], high: &ends[1], limit, direction },
            (_, Some(ends), ..) => Self::Count { low: &ends[0], high: &ends[1] },
            (_, _, Some(key), _) => Self::Floor(key),
            (_, _, _, Some(key)) => Self::Ceil(key),
            _ => Self::Get(args.get.iter().flatten().map(String::as_str).collect()),
        })
    }

    /// The question with its keys read as the column's were.
    ///
    /// # Errors
    /// [`QueryError::Argument`], [`QueryError::InvertedRange`].
    pub fn read<B: Bits>(&self, rule: Rule) -> Result<Question<B>, QueryError> {
        let option = self.option();
        let read = |text: &str| match rule.read(text) {
            Ok(bits) => Ok(B::truncate(bits)),
            Err(complaint) => Err(QueryError::Argument { option, complaint, inferred: rule.inferred }),
        };
        let range = |low: &str, high: &str| match (read(low)?, read(high)?) {
            (from, to) if from > to => {
                Err(QueryError::InvertedRange { option, low: low.to_owned(), high: high.to_owned() })
            }
            ends => Ok(ends),
        };
        Ok(match *self {
            Self::Get(ref keys) => Question::Get(keys.iter().map(|key| read(key)).collect::<Result<_, _>>()?),
            Self::Between { low, high, limit, direction } => {
                let (low, high) = range(low, high)?;
                Question::Between { low, high, limit, direction }
            }
            Self::Count { low, high } => {
                let (low, high) = range(low, high)?;
                Question::Count { low, high }
            }
            Self::Floor(key) => Question::Floor(read(key)?),
            Self::Ceil(key) => Question::Ceil(read(key)?),
        })
    }

    /// The keys that --get asked for and that the answer says aren't there.
    pub fn missing(&self, answer: &Answer) -> Vec<&'a str> {
        match (self, answer) {
            (Self::Get(keys), Answer::Rows { missing, .. }) => {
                missing.iter().map(|&place| keys[place]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What to tell people whose question found nothing, or not everything.
    pub fn note(&self, column: &str, answer: &Answer) -> Option<String> {
        let missing = self.missing(answer);
        if answer.found() > 0 && missing.is_empty() {
            return None;
        }
        Some(match self {
            Self::Get(_) => format!("no row has {column} {}", missing.join(" or ")),
            Self::Between { low, high, .. } | Self::Count { low, high } => {
                format!("no row has {column} between {low} and {high}")
            }
            Self::Floor(key) => format!("no row has {column} {key} or smaller"),
            Self::Ceil(key) => format!("no row has {column} {key} or larger"),
        })
    }
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

impl<K> Question<K> {
    /// The option that asks it.
    pub fn option(&self) -> &'static str {
        match self {
            Self::Get(_) => "--get",
            Self::Between { .. } => "--between",
            Self::Count { .. } => "--count",
            Self::Floor(_) => "--floor",
            Self::Ceil(_) => "--ceil",
        }
    }
}

impl<B: Bits> Question<B> {
    /// The answer of an index whose values are the numbers of the postings' runs.
    ///
    /// # Errors
    /// Those of the index.
    pub fn answer(&self, index: &dyn OrderedIndex<B, u32>, postings: &Postings) -> latchless::Result<Answer> {
        let nearest = |low, high, direction| -> latchless::Result<Option<u32>> {
            let (mut key, mut run) = ([B::MIN], [0]);
            let found = index.scan((low, high), direction, &mut key, &mut run)?;
            Ok((found > 0).then_some(run[0]))
        };
        let rows_of = |run: Option<u32>| Answer::Rows {
            rows: run.map_or(Vec::new(), |run| postings.rows(run).to_vec()),
            missing: Vec::new(),
        };
        Ok(match self {
            Self::Get(keys) => get(index, postings, keys)?,
            &Self::Between { low, high, limit, direction } => {
                between(index, postings, (low, high), limit, direction)?
            }
            &Self::Count { low, high } => {
                let first = nearest(Included(low), Included(high), Direction::Forward)?;
                let last = nearest(Included(low), Included(high), Direction::Reverse)?;
                Answer::Count(first.zip(last).map_or(0, |(first, last)| postings.span(first, last).len()))
            }
            &Self::Floor(key) => rows_of(nearest(Unbounded, Included(key), Direction::Reverse)?),
            &Self::Ceil(key) => rows_of(nearest(Included(key), Unbounded, Direction::Forward)?),
        })
    }
}

fn get<B: Bits>(
    index: &dyn OrderedIndex<B, u32>,
    postings: &Postings,
    keys: &[B],
) -> latchless::Result<Answer> {
    let mut runs = vec![None; keys.len()];
    index.get_many(keys, &mut runs)?;
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
        // A run holds a row or more, so so many runs fill what is left.
        rows.extend(runs[..found].iter().flat_map(|&run| postings.rows(run)));
    }
    rows.truncate(limit);
    Ok(Answer::Rows { rows, missing: Vec::new() })
}
