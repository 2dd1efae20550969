//! What was asked: a question over numbers as they were written, whatever type the keys turn out to have.

use super::args::Args;
use super::error::QueryError;
use super::key::{self, Rule};
use super::number::Number;
use super::question::{Answer, Question};
use latchless::{Bits, Direction};

/// A number on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound<'a> {
    /// As it was written.
    text: &'a str,
    /// What it means; `None`: NaN.
    number: Option<Number>,
}

/// The five questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked<'a> {
    /// The rows of these keys.
    Get(Vec<Bound<'a>>),
    /// The rows from one key to another, at most `limit` of them.
    Between { low: Bound<'a>, high: Bound<'a>, limit: usize, direction: Direction },
    /// How many rows there are from one key to another.
    Count { low: Bound<'a>, high: Bound<'a> },
    /// The rows of the largest key up to this one.
    Floor(Bound<'a>),
    /// The rows of the smallest key from this one on.
    Ceil(Bound<'a>),
}

impl<'a> Asked<'a> {
    /// The question that the arguments ask.
    ///
    /// # Errors
    /// [`QueryError::OnlyBetween`], [`QueryError::ZeroLimit`], [`QueryError::NotANumber`],
    /// [`QueryError::NanBound`], [`QueryError::InvertedRange`].
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
            (Some(ends), ..) => {
                let (low, high) = range("--between", ends)?;
                Self::Between { low, high, limit, direction }
            }
            (_, Some(ends), ..) => {
                let (low, high) = range("--count", ends)?;
                Self::Count { low, high }
            }
            (_, _, Some(key), _) => Self::Floor(ordered("--floor", key)?),
            (_, _, _, Some(key)) => Self::Ceil(ordered("--ceil", key)?),
            _ => {
                Self::Get(args.get.iter().flatten().map(|key| bound("--get", key)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The question over the keys of a column that was read by this rule.
    pub fn over<B: Bits>(&self, rule: Rule) -> Question<B> {
        let from = |bound: &Bound| bound.place(rule).0;
        let up_to = |bound: &Bound| bound.place(rule).1;
        let keys = |low: Option<u64>, high: Option<u64>| {
            low.zip(high)
                .filter(|(low, high)| low <= high)
                .map(|(low, high)| (B::truncate(low), B::truncate(high)))
        };
        let (smallest, largest) = rule.key_type.ends();
        match self {
            Self::Get(bounds) => {
                let exactly = |bound: &Bound| match bound.place(rule) {
                    (Some(from), Some(up_to)) if from == up_to => Some(B::truncate(from)),
                    _ => None,
                };
                Question::Get(bounds.iter().map(exactly).collect())
            }
            Self::Between { low, high, limit, direction } => {
                Question::Between { keys: keys(from(low), up_to(high)), limit: *limit, direction: *direction }
            }
            Self::Count { low, high } => Question::Count(keys(from(low), up_to(high))),
            Self::Floor(bound) => Question::Nearest(keys(Some(smallest), up_to(bound)), Direction::Reverse),
            Self::Ceil(bound) => Question::Nearest(keys(from(bound), Some(largest)), Direction::Forward),
        }
    }

    /// The keys that --get asked for and that the answer says aren't there.
    pub fn missing(&self, answer: &Answer) -> Vec<&'a str> {
        match (self, answer) {
            (Self::Get(keys), Answer::Rows { missing, .. }) => {
                missing.iter().map(|&place| keys[place].text).collect()
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
                format!("no row has {column} between {} and {}", low.text, high.text)
            }
            Self::Floor(key) => format!("no row has {column} {} or smaller", key.text),
            Self::Ceil(key) => format!("no row has {column} {} or larger", key.text),
        })
    }
}

impl Bound<'_> {
    /// From which key on keys are this number or larger, and up to which they are it or smaller.
    fn place(&self, rule: Rule) -> (Option<u64>, Option<u64>) {
        match &self.number {
            Some(number) => rule.place(self.text, number),
            // NaN is a key of float columns alone, and equal to itself.
            None => (rule.read(self.text).ok(), rule.read(self.text).ok()),
        }
    }
}

/// The number in an option's argument, blanks around it ignored.
fn bound<'a>(option: &'static str, given: &'a str) -> Result<Bound<'a>, QueryError> {
    let text = given.trim_ascii();
    let number = Number::parse(text);
    if number.is_none() && !key::is_nan(text) {
        return Err(QueryError::NotANumber { option, given: key::quoted(text) });
    }
    Ok(Bound { text, number })
}

/// The same where NaN would be no answer's limit.
fn ordered<'a>(option: &'static str, given: &'a str) -> Result<Bound<'a>, QueryError> {
    let bound = bound(option, given)?;
    if bound.number.is_none() { Err(QueryError::NanBound { option }) } else { Ok(bound) }
}

fn range<'a>(option: &'static str, ends: &'a [String]) -> Result<(Bound<'a>, Bound<'a>), QueryError> {
    let (low, high) = (ordered(option, &ends[0])?, ordered(option, &ends[1])?);
    if low.number > high.number {
        return Err(QueryError::InvertedRange { option, low: ends[0].clone(), high: ends[1].clone() });
    }
    Ok((low, high))
}
