//! A key on the command line: its parts, their possible meanings, and its place among a column's keys.

use super::error::QueryError;
use super::form::Forms;
use super::key;
use super::keys::push;
use super::kind::Kind;
use super::line;
use super::meant::Meant;
use super::number::{Number, has_leading_zero};
use super::place::Place;
use std::cmp::Ordering;

/// A key as it was written, or its first parts alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<'a> {
    /// As it was written.
    pub text: &'a str,
    /// Its parts, one for each column from the first on.
    pub parts: Vec<String>,
}

impl<'a> Given<'a> {
    /// The key in an option's argument, over this many columns. Of several ones, parts are separated and
    /// quoted as in a line of CSV.
    ///
    /// # Errors
    /// [`QueryError::Parts`].
    pub fn new(option: &'static str, text: &'a str, columns: usize) -> Result<Self, QueryError> {
        let parts = if columns == 1 { vec![text.to_owned()] } else { line::fields(text) };
        if parts.len() > columns {
            let (given, found) = (key::quoted(text), parts.len());
            return Err(QueryError::Parts { option, given, found, columns });
        }
        Ok(Self { text, parts })
    }

    /// The constraint that a part puts on its column.
    pub fn means(&self, part: usize) -> Meant {
        self.parts.get(part).map_or(Meant::Anything, |text| Meant::by(text))
    }

    /// Returns which part isn't of its column's kind. `is_ordered`: whether it is compared, as NaN can't be.
    ///
    /// # Errors
    /// [`QueryError::NotANumber`], [`QueryError::NotOfForm`], [`QueryError::NanBound`],
    /// [`QueryError::DayOfMoments`], [`QueryError::ComparedAsText`].
    pub fn check(
        &self,
        option: &'static str,
        kinds: &[Kind],
        columns: &[String],
        is_ordered: bool,
    ) -> Result<(), QueryError> {
        for (place, ((text, &kind), column)) in self.parts.iter().zip(kinds).zip(columns).enumerate() {
            let text = text.trim_ascii();
            let (given, column) = (|| key::quoted(text), || column.clone());
            let is_nan = is_ordered && key::is_nan(text);
            match kind {
                Kind::Number(rule) if !key::is_number(text) || (rule.inferred && has_leading_zero(text)) => {
                    return Err(QueryError::NotANumber { option, given: given(), column: column() });
                }
                Kind::Number(_) if is_nan => return Err(QueryError::NanBound { option }),
                Kind::Form(form) => match form.span(text) {
                    None => {
                        let (given, column) = (given(), column());
                        return Err(QueryError::NotOfForm { option, given, column, form });
                    }
                    Some(_) if form.ends().is_some() && is_nan => {
                        return Err(QueryError::NanBound { option });
                    }
                    Some([first, last]) if first != last && place + 1 < self.parts.len() => {
                        return Err(QueryError::DayOfMoments { option, given: given() });
                    }
                    Some(_) => {}
                },
                Kind::Text { guessed: true } if is_ordered && has_an_order(text) => {
                    return Err(QueryError::ComparedAsText { option, given: given(), column: column() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Compares the parts that both have.
    pub fn compare(&self, other: &Self, kinds: &[Kind]) -> Ordering {
        let parts = self.parts.iter().zip(&other.parts).zip(kinds);
        let by_part = parts.map(|((ours, theirs), kind)| match kind {
            Kind::Number(_) => Number::parse(ours.trim_ascii()).cmp(&Number::parse(theirs.trim_ascii())),
            Kind::Form(form) => match (form.span(ours.trim_ascii()), form.span(theirs.trim_ascii())) {
                (Some(ours), Some(theirs)) if ours[0] > theirs[1] => Ordering::Greater,
                (ours, theirs) if ours == theirs => Ordering::Equal,
                _ => Ordering::Less,
            },
            Kind::Text { .. } => ours.cmp(theirs),
        });
        by_part.fold(Ordering::Equal, Ordering::then)
    }

    /// Where the keys begin that are this one or larger, and where those end that are it or smaller. Keys
    /// that begin with these parts are this one.
    pub fn places(&self, kinds: &[Kind]) -> (Place, Place) {
        let bytes = match bytes(&self.parts, kinds) {
            Ok(bytes) => bytes,
            Err(places) => return places,
        };
        let is_whole_text =
            self.parts.len() == kinds.len() && kinds.last().is_some_and(|kind| kind.is_text());
        let high = if is_whole_text {
            // Longer texts begin with this one, and are others. Right after it comes it and a zero byte.
            Place::before([&bytes[..], &[0]].concat())
        } else {
            Place::after(bytes.clone())
        };
        (Place::before(bytes), high)
    }

    /// The bounds of the keys that have these parts, the last of which is only a prefix of theirs.
    pub fn prefix_places(&self, kinds: &[Kind]) -> (Place, Place) {
        let (last, before) = self.parts.split_last().unwrap_or_else(|| unreachable!("a key has a part"));
        match bytes(before, kinds) {
            Ok(mut bytes) => {
                // An argument has no zero byte, so these are its bytes whether or not a part follows.
                push(&mut bytes, last.as_str(), true);
                (Place::before(bytes.clone()), Place::after(bytes))
            }
            Err(places) => places,
        }
    }
}

/// The bytes that keys begin with whose first parts are these.
///
/// # Errors
/// If there can be no such key: where the larger ones begin, and where the smaller ones end.
fn bytes(parts: &[String], kinds: &[Kind]) -> Result<Vec<u8>, (Place, Place)> {
    let mut bytes = Vec::new();
    for (at, (text, kind)) in parts.iter().zip(kinds).enumerate() {
        let is_last = at + 1 == kinds.len();
        let rule = match kind {
            Kind::Number(rule) => rule,
            Kind::Form(form) => {
                let Some([first, last]) = form.span(text.trim_ascii()) else {
                    unreachable!("it was checked")
                };
                if first == last {
                    bytes.extend(first);
                    continue;
                }
                // All keys between these, whatever comes after them.
                let with = |end: Vec<u8>| [bytes.clone(), end].concat();
                return Err((Place::before(with(first)), Place::after(with(last))));
            }
            Kind::Text { .. } => {
                push(&mut bytes, text.as_str(), is_last);
                continue;
            }
        };
        let text = text.trim_ascii();
        let (from, up_to) = match Number::parse(text) {
            Some(number) => rule.place(text, &number),
            // NaN is a key of float columns alone, and equal to itself.
            None => (rule.read(text).ok(), rule.read(text).ok()),
        };
        match (from, up_to) {
            (Some(from), Some(up_to)) if from == up_to => push(&mut bytes, &from, is_last),
            // It is between two numbers of the column, so the parts after it make no difference.
            _ => {
                let with = |number: u64| {
                    let mut bytes = bytes.clone();
                    push(&mut bytes, &number, is_last);
                    bytes
                };
                let low = from.map_or_else(|| Place::after(bytes.clone()), |from| Place::before(with(from)));
                let high =
                    up_to.map_or_else(|| Place::before(bytes.clone()), |up_to| Place::after(with(up_to)));
                return Err((low, high));
            }
        }
    }
    Ok(bytes)
}

/// Whether a text has an order other than that of texts: a form, or digits with non-letters among them, as
/// in `$9.50`. Numbers are handled where all keys are numbers, and bare digits are ids.
fn has_an_order(text: &str) -> bool {
    let is_bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits_alone =
        !is_bare && text.bytes().any(|byte| byte.is_ascii_digit()) && !text.chars().any(char::is_alphabetic);
    !key::is_number(text) && (has_digits_alone || !Forms::of(text).is_empty())
}
