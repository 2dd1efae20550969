//! Ends of intervals as points that an index of intervals knows: from the first to the last, both included.
//!
//! Integers that are the ends of half-open intervals count from 0, and those of closed ones from 1. Both
//! become closed ones that count from 1: `0..10` has the points 1 to 10.

use super::distance::DAY;
use crate::rows::form::Form;
use crate::rows::key::{Complaint, KeyType, Rule, is_nan, is_number, quoted};
use crate::rows::kind::Kind;
use crate::rows::number::Number;

/// How the cells of ends are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As integers of 64 bits with a sign.
    Integers,
    /// As floats, by this rule.
    Floats(Rule),
    /// As dates, times of day or time stamps.
    Times(Form),
}

/// The last integer.
const LAST: &str = "9223372036854775807";

/// A range that has no point.
const EMPTY: [u64; 2] = [1, 0];

impl Scale {
    /// The scale for ends of these kinds.
    ///
    /// # Errors
    /// A kind that no interval has, or not together with the others.
    pub fn of(kinds: impl Iterator<Item = Kind>) -> Result<Self, Kind> {
        let mut scale = None;
        for kind in kinds {
            let this = match kind {
                Kind::Number(rule) if matches!(rule.key_type, KeyType::F32 | KeyType::F64) => {
                    Self::Floats(rule)
                }
                Kind::Number(_) => Self::Integers,
                Kind::Form(form @ (Form::Date(_) | Form::Timestamp(..) | Form::Time)) => Self::Times(form),
                Kind::Form(_) | Kind::Text { .. } => return Err(kind),
            };
            scale = Some(match (scale, this) {
                (None, this) => this,
                (Some(before), this) if before == this => this,
                (Some(Self::Integers), Self::Floats(rule)) | (Some(Self::Floats(rule)), Self::Integers) => {
                    Self::Floats(rule)
                }
                _ => return Err(kind),
            });
        }
        Ok(scale.unwrap_or(Self::Integers))
    }

    /// The points from one end to the other. `is_closed`: whether the other end is one of them.
    ///
    /// # Errors
    /// Which of the two ends isn't of this scale, and why; the second is if it is below the first.
    pub fn points(self, from: &str, to: &str, is_closed: bool) -> Result<[u64; 2], (usize, Complaint)> {
        let (from, to) = (from.trim_ascii(), to.trim_ascii());
        match self {
            Self::Integers => integers(from, to, is_closed),
            Self::Floats(rule) => floats(rule, from, to, is_closed),
            Self::Times(form) => {
                let at = |place: usize, text: &str| {
                    time(form, text).ok_or_else(|| (place, Complaint::of_form(text, form)))
                };
                let ([first, _], [start, end]) = (at(0, from)?, at(1, to)?);
                if start < first {
                    return Err((1, Complaint::Inverted(quoted(from), quoted(to))));
                }
                Ok(if is_closed { [first, end] } else { until(first, start) })
            }
        }
    }

    /// The point of a cell alone.
    ///
    /// # Errors
    /// Why it is none.
    pub fn point(self, cell: &str, is_closed: bool) -> Result<[u64; 2], Complaint> {
        let points = self.points(cell, cell, true).map_err(|(_, complaint)| complaint)?;
        // Integers that count from 0 are one more if they count from 1.
        let more = u64::from(self == Self::Integers && !is_closed);
        Ok(points.map(|point| point.saturating_add(more)))
    }
}

/// The points from the first up to, and without, another one.
fn until(first: u64, end: u64) -> [u64; 2] {
    end.checked_sub(1).map_or(EMPTY, |last| [first, last])
}

fn integers(from: &str, to: &str, is_closed: bool) -> Result<[u64; 2], (usize, Complaint)> {
    let number = |place: usize, text: &str| {
        let quickly = text.parse::<i64>().ok().map(|whole| [i128::from(whole); 2]);
        let slowly = || Number::parse(text).map(|number| [number.ceil(), number.floor()]);
        quickly.or_else(slowly).ok_or_else(|| (place, not_a_number(text, KeyType::I64)))
    };
    let ([first, _], [past, last]) = (number(0, from)?, number(1, to)?);
    if last.max(past) < first {
        return Err((1, Complaint::Inverted(quoted(from), quoted(to))));
    }
    let (first, last) = if is_closed { (first, last) } else { (first.saturating_add(1), past) };
    let (min, max) = (i128::from(i64::MIN), i128::from(i64::MAX));
    if first > max || last < min {
        return Ok(EMPTY);
    }
    Ok([first, last].map(|point| point.clamp(min, max) as i64 as u64 ^ 1 << 63))
}

fn floats(rule: Rule, from: &str, to: &str, is_closed: bool) -> Result<[u64; 2], (usize, Complaint)> {
    let number = |place: usize, text: &str| {
        let number = Number::parse(text).ok_or_else(|| (place, not_a_number(text, rule.key_type)))?;
        let ends = rule.place(text, &number);
        Ok((number, ends))
    };
    let ((low, (first, _)), (high, (past, last))) = (number(0, from)?, number(1, to)?);
    if high < low {
        return Err((1, Complaint::Inverted(quoted(from), quoted(to))));
    }
    let Some(first) = first else { return Ok(EMPTY) };
    Ok(match (is_closed, past) {
        (false, Some(past)) => until(first, past),
        _ => last.map_or(EMPTY, |last| [first, last]),
    })
}

/// Why a cell isn't a number.
fn not_a_number(cell: &str, key_type: KeyType) -> Complaint {
    match cell {
        "" => Complaint::Empty(key_type),
        nan if is_nan(nan) || !is_number(nan) => Complaint::NotANumber(quoted(cell)),
        _ => Complaint::NotOfType(quoted(cell), key_type),
    }
}

/// The first and the last point of a time, which is more than one for a day among time stamps.
fn time(form: Form, text: &str) -> Option<[u64; 2]> {
    let point = |at: i128| Some(i64::try_from(at).ok()? as u64 ^ 1 << 63);
    let first = form.time(text)?;
    let is_day = matches!(form, Form::Timestamp(..)) && !text.contains(':');
    let last = if is_day { first + DAY - 1 } else { first };
    Some([point(first)?, point(last)?])
}

/// The name of a region, and its ends, if it has them.
pub fn named(cell: &str) -> (&str, Option<&str>) {
    let cell = cell.trim_ascii();
    cell.rsplit_once(':').map_or((cell, None), |(name, ends)| (name, Some(ends)))
}

/// A stretch of a chromosome as browsers write it: `chr22:50,300,000-50,400,000`, `chr22:5`, `chr22:5-`,
/// `chr22`. Its ends are included.
pub fn region(cell: &str) -> Result<(&str, [u64; 2]), Complaint> {
    let bad = || Complaint::NotARegion(quoted(cell.trim_ascii()));
    let (name, Some(ends)) = named(cell) else {
        let name = cell.trim_ascii();
        return if name.is_empty() { Err(bad()) } else { Ok((name, [0, u64::MAX])) };
    };
    let ends = ends.replace(',', "");
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (from, to) = match ends.split_once('-') {
        Some((from, "")) if is_digits(from) => (from, None),
        Some((from, to)) if is_digits(from) && is_digits(to) => (from, Some(to)),
        None if is_digits(&ends) => (&ends[..], Some(&ends[..])),
        _ => return Err(bad()),
    };
    let points = Scale::Integers.points(from, to.unwrap_or(LAST), true);
    Ok((name, points.map_err(|(_, complaint)| complaint)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::form::{Order, Zone};

    /// Whether two intervals share a point: `1..5` is half-open, `1-5` closed.
    fn share(scale: Scale, one: &str, other: &str) -> bool {
        let points = |text: &str| match text.split_once("..") {
            Some((from, to)) => scale.points(from, to, false).unwrap(),
            None => {
                let (from, to) = text.split_once('~').unwrap();
                scale.points(from, to, true).unwrap()
            }
        };
        let ([first, last], [from, to]) = (points(one), points(other));
        first.max(from) <= last.min(to) && first <= last && from <= to
    }

    #[test]
    fn integers_count_from_0_where_intervals_are_half_open() {
        let share = |one, other| share(Scale::Integers, one, other);
        for (one, other, expected) in [
            ("0..10", "10..20", false),
            ("0..10", "9..20", true),
            ("1~10", "10~20", true),
            ("1~10", "11~20", false),
            ("0..10", "10~20", true),
            ("0..10", "11~20", false),
            ("5..5", "0..10", false),
            ("-5..0", "0~3", true),
            ("-5..-1", "0~3", false),
            ("0.5..9.5", "10~10", true),
            ("0.5~9.5", "10~10", false),
            ("0..9.5", "11~11", false),
            ("0~1e30", "9223372036854775807~9223372036854775807", true),
            ("1e30~1e30", "9223372036854775807~9223372036854775807", false),
        ] {
            assert_eq!((share(one, other), share(other, one)), (expected, expected), "{one} {other}");
        }
        let points = |from, to| Scale::Integers.points(from, to, true);
        assert!(matches!(points("5", "4"), Err((1, Complaint::Inverted(..)))));
        assert!(matches!(points("x", "4"), Err((0, Complaint::NotANumber(_)))));
        assert!(matches!(points("5", ""), Err((1, Complaint::Empty(_)))));
        let share = |is_closed| Scale::Integers.point("5", is_closed).unwrap();
        assert_eq!(Ok(share(true)), points("5", "5"));
        assert_eq!(Ok(share(false)), Scale::Integers.points("5", "6", false));
    }

    #[test]
    fn floats_and_times_end_before_their_ends_where_intervals_are_half_open() {
        let floats = Scale::Floats(Rule { key_type: KeyType::F64, inferred: true });
        for (one, other, expected) in [
            ("0.1..0.3", "0.3~0.4", false),
            ("0.1~0.3", "0.3~0.4", true),
            ("0.1..0.3", "0.29999999~0.4", true),
            ("-inf..0", "0..inf", false),
            ("-inf~0", "0~inf", true),
            ("0..0", "-1~1", false),
        ] {
            assert_eq!(share(floats, one, other), expected, "{one} {other}");
        }
        let times = Scale::Times(Form::Timestamp(Order::Ymd, Zone::Without));
        for (one, other, expected) in [
            ("2024-01-01 10:00..2024-01-01 11:00", "2024-01-01 11:00~2024-01-01 12:00", false),
            ("2024-01-01 10:00~2024-01-01 11:00", "2024-01-01 11:00~2024-01-01 12:00", true),
            ("2024-01-01~2024-01-01", "2024-01-01 23:59:59.9~2024-01-02", true),
            ("2024-01-01..2024-01-02", "2024-01-02 00:00~2024-01-02 01:00", false),
        ] {
            assert_eq!(share(times, one, other), expected, "{one} {other}");
        }
        assert!(times.points("2500-01-01", "2500-01-01", true).is_err(), "beyond 64 bits of nanoseconds");
    }

    #[test]
    fn one_scale_serves_both_ends() {
        let (integer, float) = (KeyType::U64, KeyType::F64);
        let number = |key_type| Kind::Number(Rule { key_type, inferred: true });
        let date = Kind::Form(Form::Date(Order::Ymd));
        let of = |kinds: &[Kind]| Scale::of(kinds.iter().copied());
        assert_eq!(of(&[number(integer), number(KeyType::I64)]), Ok(Scale::Integers));
        assert!(matches!(of(&[number(integer), number(float)]), Ok(Scale::Floats(_))));
        assert!(matches!(of(&[number(float), number(integer)]), Ok(Scale::Floats(_))));
        assert_eq!(of(&[date, date]), Ok(Scale::Times(Form::Date(Order::Ymd))));
        assert_eq!(of(&[date, number(integer)]), Err(number(integer)));
        assert!(of(&[Kind::Text { guessed: true }]).is_err() && of(&[Kind::Form(Form::Address)]).is_err());
    }

    #[test]
    fn regions_are_written_as_browsers_have_them() {
        let points = |from, to| Scale::Integers.points(from, to, true).unwrap();
        let end = i64::MAX.to_string();
        assert_eq!(region("chr22:1,000-2,000"), Ok(("chr22", points("1000", "2000"))));
        assert_eq!(region(" HLA:01:5 "), Ok(("HLA:01", points("5", "5"))));
        assert_eq!(region("X:7-"), Ok(("X", points("7", &end))));
        assert_eq!(region("X"), Ok(("X", [0, u64::MAX])));
        for bad in ["", "X:", "X:-5", "X:a-b", "X:1-2-3", "X:9-5"] {
            assert!(region(bad).is_err(), "{bad}");
        }
    }
}
