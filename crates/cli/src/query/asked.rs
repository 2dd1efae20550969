//! The question: its keys as they were written, whatever their columns turn out to hold.

use super::args::Args;
use super::given::Given;
use super::question::{Answer, Question};
use crate::rows::error::QueryError;
use crate::rows::guess::Meant;
use crate::rows::key;
use crate::rows::kind::Kind;
use crate::rows::place::{Place, Span};
use latchless::Direction;
use latchless_terminal::output::visible;
use std::cmp::Ordering;

/// The six questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked<'a> {
    /// The rows of these keys.
    Get(Vec<Given<'a>>),
    /// The rows from one key to another, at most `limit` of them.
    Between { low: Given<'a>, high: Given<'a>, limit: usize, direction: Direction },
    /// The rows whose keys begin with this one, at most `limit` of them.
    Prefix { prefix: Given<'a>, limit: usize, direction: Direction },
    /// How many rows there are from one key to another.
    Count { low: Given<'a>, high: Given<'a> },
    /// The rows of the largest key up to this one.
    Floor(Given<'a>),
    /// The rows of the smallest key from this one on.
    Ceil(Given<'a>),
}

impl<'a> Asked<'a> {
    /// The question that the arguments ask, over this many columns.
    ///
    /// # Errors
    /// [`QueryError::OnlyRows`], [`QueryError::ZeroLimit`], [`QueryError::Parts`].
    pub fn new(args: &'a Args, columns: usize) -> Result<Self, QueryError> {
        // `clap` lets this pass: an option's requirement may be missing if that would conflict.
        for (option, given) in [("--limit", args.limit.is_some()), ("--reverse", args.reverse)] {
            if given && args.between.is_none() && args.prefix.is_none() {
                return Err(QueryError::OnlyRows { option });
            }
        }
        if args.limit == Some(0) {
            return Err(QueryError::ZeroLimit);
        }
        let (limit, direction) = (
            args.limit.unwrap_or(usize::MAX),
            if args.reverse { Direction::Reverse } else { Direction::Forward },
        );
        let given = |option, text| Given::new(option, text, columns);
        // `clap` has seen to it that exactly one is there, and that a range has two ends.
        Ok(match (&args.between, &args.count, &args.prefix, &args.floor, &args.ceil) {
            (Some(ends), ..) => {
                let (low, high) = (given("--between", &ends[0])?, given("--between", &ends[1])?);
                Self::Between { low, high, limit, direction }
            }
            (_, Some(ends), ..) => {
                Self::Count { low: given("--count", &ends[0])?, high: given("--count", &ends[1])? }
            }
            (_, _, Some(prefix), ..) => Self::Prefix { prefix: given("--prefix", prefix)?, limit, direction },
            (_, _, _, Some(key), _) => Self::Floor(given("--floor", key)?),
            (.., Some(key)) => Self::Ceil(given("--ceil", key)?),
            _ => {
                let keys = args.get.iter().flatten();
                Self::Get(keys.map(|key| given("--get", key)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The option of the question, and all its keys.
    fn given(&self) -> (&'static str, Vec<&Given<'a>>) {
        match self {
            Self::Get(keys) => ("--get", keys.iter().collect()),
            Self::Between { low, high, .. } => ("--between", vec![low, high]),
            Self::Prefix { prefix, .. } => ("--prefix", vec![prefix]),
            Self::Count { low, high } => ("--count", vec![low, high]),
            Self::Floor(key) => ("--floor", vec![key]),
            Self::Ceil(key) => ("--ceil", vec![key]),
        }
    }

    /// The constraint that it puts on the column of a part.
    pub fn means(&self, part: usize) -> Meant {
        let means = |given: &Given| match self {
            Self::Prefix { .. } if self.is_prefix(part) => Meant::Texts,
            _ => given.means(part),
        };
        let (_, given) = self.given();
        given.into_iter().map(means).fold(Meant::Anything, Meant::and)
    }

    /// Whether a part of its keys is the beginning of a text.
    pub fn is_prefix(&self, part: usize) -> bool {
        matches!(self, Self::Prefix { prefix, .. } if part + 1 == prefix.parts.len())
    }

    /// Whether it compares keys, rather than looks for equal ones or for their beginnings.
    pub fn is_ordered(&self) -> bool {
        !matches!(self, Self::Get(_) | Self::Prefix { .. })
    }

    /// Checks that this can be asked about columns of these kinds and names.
    /// # Errors
    /// [`QueryError::PrefixOfNumbers`], [`QueryError::NotANumber`], [`QueryError::NanBound`],
    /// [`QueryError::InvertedRange`].
    pub fn check(&self, kinds: &[Kind], columns: &[String]) -> Result<(), QueryError> {
        let (option, given) = self.given();
        if let Self::Prefix { prefix, .. } = self {
            let last = prefix.parts.len() - 1;
            if !kinds[last].is_text() {
                let column = columns[last].clone();
                return Err(QueryError::PrefixOfNumbers { column, kind: kinds[last] });
            }
        }
        given.iter().try_for_each(|given| given.check(option, kinds, columns, self.is_ordered()))?;
        self.check_numbers_among_texts(kinds, columns)?;
        match self {
            Self::Between { low, high, .. } | Self::Count { low, high }
                if low.compare(high, kinds) == Ordering::Greater =>
            {
                let (low, high) = (low.text.to_owned(), high.text.to_owned());
                Err(QueryError::InvertedRange { option, low, high })
            }
            _ => Ok(()),
        }
    }

    /// Checks that all keys are numbers where a column is one of texts only because nothing else fits.
    fn check_numbers_among_texts(&self, kinds: &[Kind], columns: &[String]) -> Result<(), QueryError> {
        let (option, given) = self.given();
        let is_about_numbers = |part| matches!(self.means(part), Meant::Values { numbers: true, .. });
        for (part, (kind, column)) in kinds.iter().zip(columns).enumerate() {
            if self.is_ordered() && *kind == (Kind::Text { guessed: true }) && is_about_numbers(part) {
                let text =
                    given.iter().find_map(|given| given.parts.get(part)).map_or("", |text| text.as_str());
                let (given, column) = (key::quoted(text), column.clone());
                return Err(QueryError::ComparedAsText { option, given, column });
            }
        }
        Ok(())
    }

    /// The question over keys of these kinds, for which it was checked.
    pub fn over(&self, kinds: &[Kind]) -> Question {
        let span = |low: &Given, high: &Given| Span::new(low.places(kinds).0, high.places(kinds).1);
        match self {
            Self::Get(keys) => Question::Get(keys.iter().map(|key| span(key, key)).collect()),
            Self::Between { low, high, limit, direction } => {
                Question::Between { span: span(low, high), limit: *limit, direction: *direction }
            }
            Self::Prefix { prefix, limit, direction } => {
                let (low, high) = prefix.prefix_places(kinds);
                Question::Between { span: Span::new(low, high), limit: *limit, direction: *direction }
            }
            Self::Count { low, high } => Question::Count(span(low, high)),
            Self::Floor(key) => {
                Question::Nearest(Span::new(ends(kinds).0, key.places(kinds).1), Direction::Reverse)
            }
            Self::Ceil(key) => {
                Question::Nearest(Span::new(key.places(kinds).0, ends(kinds).1), Direction::Forward)
            }
        }
    }

    /// The keys of --get that the answer reports as missing.
    pub fn missing(&self, answer: &Answer) -> Vec<&'a str> {
        match (self, answer) {
            (Self::Get(keys), Answer::Rows { missing, .. }) => {
                missing.iter().map(|&place| keys[place].text).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The note for a question that found nothing, or not everything.
    pub fn note(&self, column: &str, answer: &Answer) -> Option<String> {
        let missing = self.missing(answer);
        if answer.found() > 0 && missing.is_empty() {
            return None;
        }
        Some(match self {
            Self::Get(_) => {
                let missing: Vec<String> = missing.into_iter().map(shown).collect();
                format!("no row has {column} {}", missing.join(" or "))
            }
            Self::Between { low, high, .. } | Self::Count { low, high } => {
                format!("no row has {column} between {} and {}", shown(low.text), shown(high.text))
            }
            Self::Prefix { prefix, .. } => {
                format!("no row has {column} that begins with {}", shown(prefix.text))
            }
            Self::Floor(key) => format!("no row has {column} {} or smaller", shown(key.text)),
            Self::Ceil(key) => format!("no row has {column} {} or larger", shown(key.text)),
        })
    }
}

/// Where the keys begin and end. Of numbers, infinities are the ends, so that NaN is left out.
fn ends(kinds: &[Kind]) -> (Place, Place) {
    let of_form = match kinds[0] {
        Kind::Number(rule) => {
            let (smallest, largest) = rule.key_type.ends();
            return (
                Place::before(smallest.to_be_bytes().to_vec()),
                Place::after(largest.to_be_bytes().to_vec()),
            );
        }
        Kind::Form(form) => form.ends(),
        _ => None,
    };
    let (smallest, largest) =
        of_form.map_or_else(Default::default, |[smallest, largest]| (vec![smallest], vec![largest]));
    (Place::before(smallest), Place::after(largest))
}

/// A key as it was written, made harmless, and seen even if it is empty.
fn shown(text: &str) -> String {
    match text.trim_ascii() {
        "" => format!("{text:?}"),
        text => visible(text).into_owned(),
    }
}
