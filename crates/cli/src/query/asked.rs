//! The question: its keys as they were written, whatever their columns turn out to hold.

use super::args::Ask;
use super::question::{Answer, Fraction, Page, Question};
use crate::rows::error::QueryError;
use crate::rows::given::Given;
use crate::rows::key;
use crate::rows::kind::Kind;
use crate::rows::meant::Meant;
use crate::rows::place::{Place, Span};
use latchless::Direction;
use latchless_terminal::output::visible;
use std::cmp::Ordering;

/// The questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked<'a> {
    /// The rows of these keys, from this option.
    Get(&'static str, Vec<Given<'a>>),
    /// The rows from one key to another.
    Between { low: Given<'a>, high: Given<'a>, page: Page },
    /// The rows whose keys begin with this one.
    Prefix { prefix: Given<'a>, page: Page },
    /// How many rows there are from one key to another.
    Count { low: Given<'a>, high: Given<'a> },
    /// The rows of the largest key up to this one.
    Floor(Given<'a>),
    /// The rows of the smallest key from this one on.
    Ceil(Given<'a>),
    /// How many rows have smaller keys.
    Rank(Given<'a>),
    /// The row at this place in the order of the keys, counted from 1.
    Nth(usize),
    /// The rows at these fractions of all.
    Quantile(Vec<Fraction>),
    /// Each key once, from this option.
    Groups(&'static str, Page),
}

impl<'a> Asked<'a> {
    /// The question that the arguments ask, over this many columns. `keys`: those of --get-from.
    ///
    /// # Errors
    /// [`QueryError::OnlyRows`], [`QueryError::ZeroLimit`], [`QueryError::Parts`], [`QueryError::NoPlace`],
    /// [`QueryError::Fraction`].
    pub fn new(args: &'a Ask, keys: Option<&'a str>, columns: usize) -> Result<Self, QueryError> {
        let page = page(args)?;
        let given = |option, text| Given::new(option, text, columns);
        let pair = |option, ends: &'a [String]| {
            Ok::<_, QueryError>((given(option, &ends[0])?, given(option, &ends[1])?))
        };
        // `clap` has seen to it that exactly one is there, and that a range has two ends.
        if let Some(ends) = &args.between {
            let (low, high) = pair("--between", ends)?;
            return Ok(Self::Between { low, high, page });
        }
        if let Some(ends) = &args.count {
            let (low, high) = pair("--count", ends)?;
            return Ok(Self::Count { low, high });
        }
        if let Some(prefix) = &args.prefix {
            return Ok(Self::Prefix { prefix: given("--prefix", prefix)?, page });
        }
        if let Some(keys) = keys {
            let keys = keys.lines().filter(|line| !line.trim_ascii().is_empty());
            return Ok(Self::Get(
                "--get-from",
                keys.map(|key| given("--get-from", key)).collect::<Result<_, _>>()?,
            ));
        }
        if let Some(fractions) = &args.quantile {
            let bad = |given: &String| QueryError::Fraction { given: given.clone() };
            let read = fractions.iter().map(|given| Fraction::parse(given).ok_or_else(|| bad(given)));
            return Ok(Self::Quantile(read.collect::<Result<_, _>>()?));
        }
        Ok(match (&args.floor, &args.ceil, &args.rank, args.nth) {
            (Some(key), ..) => Self::Floor(given("--floor", key)?),
            (_, Some(key), ..) => Self::Ceil(given("--ceil", key)?),
            (_, _, Some(key), _) => Self::Rank(given("--rank", key)?),
            (.., Some(0)) => return Err(QueryError::NoPlace),
            (.., Some(place)) => Self::Nth(place),
            _ if args.distinct => Self::Groups("--distinct", page),
            _ if args.count_by => Self::Groups("--count-by", page),
            _ => {
                let keys = args.get.iter().flatten();
                Self::Get("--get", keys.map(|key| given("--get", key)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The option of the question, and all its keys.
    fn given(&self) -> (&'static str, Vec<&Given<'a>>) {
        match self {
            Self::Get(option, keys) => (option, keys.iter().collect()),
            Self::Between { low, high, .. } => ("--between", vec![low, high]),
            Self::Prefix { prefix, .. } => ("--prefix", vec![prefix]),
            Self::Count { low, high } => ("--count", vec![low, high]),
            Self::Floor(key) => ("--floor", vec![key]),
            Self::Ceil(key) => ("--ceil", vec![key]),
            Self::Rank(key) => ("--rank", vec![key]),
            Self::Nth(_) => ("--nth", Vec::new()),
            Self::Quantile(_) => ("--quantile", Vec::new()),
            Self::Groups(option, _) => (option, Vec::new()),
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
        !matches!(self, Self::Get(..) | Self::Prefix { .. } | Self::Groups(..))
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
            Self::Get(_, keys) => Question::Get(keys.iter().map(|key| span(key, key)).collect()),
            Self::Between { low, high, page } => Question::Between(span(low, high), *page),
            Self::Prefix { prefix, page } => {
                let (low, high) = prefix.prefix_places(kinds);
                Question::Between(Span::new(low, high), *page)
            }
            Self::Count { low, high } => Question::Count(span(low, high)),
            Self::Rank(key) => {
                let ((low, high), (start, end)) = (key.places(kinds), ends(kinds));
                Question::Rank { from: Span::new(low, end), up_to: Span::new(start, high) }
            }
            &Self::Nth(place) => Question::Nth(place - 1),
            Self::Quantile(fractions) => {
                let (start, end) = ends(kinds);
                Question::Quantile(Span::new(start, end), fractions.clone())
            }
            Self::Groups(_, page) => Question::Groups(*page),
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
            (Self::Get(_, keys), Answer::Rows { missing, .. }) => {
                missing.iter().map(|&place| keys[place].text).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The note for a question that found nothing, or not everything.
    pub fn note(&self, column: &str, answer: &Answer) -> Option<String> {
        /// The most missing keys that are named.
        const NAMED_MAX: usize = 20;
        let missing = self.missing(answer);
        if answer.found() > 0 && missing.is_empty() {
            return None;
        }
        Some(match self {
            Self::Get(..) if missing.is_empty() => "no key was given".to_owned(),
            Self::Get(..) => {
                let mut named: Vec<String> = missing.iter().take(NAMED_MAX).map(|&key| shown(key)).collect();
                if missing.len() > NAMED_MAX {
                    named.push(format!("{} more", missing.len() - NAMED_MAX));
                }
                format!("no row has {column} {}", named.join(" or "))
            }
            Self::Between { low, high, .. } | Self::Count { low, high } => {
                format!("no row has {column} between {} and {}", shown(low.text), shown(high.text))
            }
            Self::Prefix { prefix, .. } => {
                format!("no row has {column} that begins with {}", shown(prefix.text))
            }
            Self::Floor(key) => format!("no row has {column} {} or smaller", shown(key.text)),
            Self::Ceil(key) => format!("no row has {column} {} or larger", shown(key.text)),
            Self::Rank(key) => format!("no row has {column} below {}", shown(key.text)),
            Self::Nth(place) => format!("there are fewer than {place} rows"),
            Self::Quantile(_) | Self::Groups(..) => "there are no rows".to_owned(),
        })
    }
}

/// The page that the arguments name.
fn page(args: &Ask) -> Result<Page, QueryError> {
    // `clap` lets this pass: an option's requirement may be missing if that would conflict.
    let is_there = args.between.is_some() || args.prefix.is_some() || args.distinct || args.count_by;
    for (option, given) in
        [("--limit", args.limit.is_some()), ("--offset", args.offset.is_some()), ("--reverse", args.reverse)]
    {
        if given && !is_there {
            return Err(QueryError::OnlyRows { option });
        }
    }
    if args.limit == Some(0) {
        return Err(QueryError::ZeroLimit);
    }
    Ok(Page {
        offset: args.offset.unwrap_or(0),
        limit: args.limit.unwrap_or(usize::MAX),
        direction: if args.reverse { Direction::Reverse } else { Direction::Forward },
    })
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
