//! Distances between the keys of two rows, exact as their cells are: between numbers, days and times.

use crate::rows::form::{self, Form};
use crate::rows::kind::Kind;
use crate::rows::number::Number;

/// The units of a time in nanoseconds, the longest last.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", DAY),
    ("w", 604_800_000_000_000),
];

/// A day in nanoseconds.
pub const DAY: i128 = 86_400_000_000_000;

/// Any two integers of this many digits have a difference that fits.
const DIGITS_MAX: i64 = 37;

/// A key as a point on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Point {
    /// An integer, a day, or a time in nanoseconds.
    Whole(i128),
    /// Any other number.
    Number(Number),
}

impl Point {
    /// The point of a cell of a column of this kind; `None` if keys of this kind have no distance, or if the
    /// cell is none or NaN.
    pub fn of(kind: Kind, cell: &str) -> Option<Self> {
        let cell = cell.trim_ascii();
        let number = || {
            let whole = cell.parse::<i64>().map(|whole| Self::Whole(whole.into()));
            whole.ok().or_else(|| Number::parse(cell).map(Self::Number))
        };
        match kind {
            Kind::Number(_) => number(),
            Kind::Form(Form::Decimal(mark)) => form::number(cell, mark).map(Self::Number),
            Kind::Form(form) => form.time(cell).map(Self::Whole),
            Kind::Text { .. } => None,
        }
    }

    /// Whether keys of this kind have a distance.
    pub fn is_on_a_line(kind: Kind) -> bool {
        match kind {
            Kind::Number(_) => true,
            Kind::Form(form) => {
                matches!(form, Form::Decimal(_) | Form::Date(_) | Form::Timestamp(..) | Form::Time)
            }
            Kind::Text { .. } => false,
        }
    }

    /// The distance that an argument gives between keys of this kind.
    pub fn distance(kind: Kind, given: &str) -> Option<Self> {
        let given = given.trim_ascii();
        let unit = match kind {
            Kind::Number(_) | Kind::Form(Form::Decimal(_)) => {
                return Self::of(kind, given).filter(|point| point.float() >= 0.0);
            }
            Kind::Form(Form::Date(_)) => DAY,
            _ => 1,
        };
        let digits = given.bytes().take_while(u8::is_ascii_digit).count();
        let (_, length) = UNITS.iter().find(|(name, _)| *name == given[digits..].trim_start())?;
        let length = given[..digits].parse::<i128>().ok()?.checked_mul(*length)?;
        (length % unit == 0).then_some(Self::Whole(length / unit))
    }

    /// Whether two points are at most this far from each other.
    pub fn is_within(&self, other: &Self, distance: &Self) -> bool {
        let all = [self, other, distance];
        self == other
            || match scaled(all) {
                Some([own, other, distance]) => own.abs_diff(other) <= distance.unsigned_abs(),
                None => {
                    let [own, other, distance] = all.map(Self::float);
                    (own - other).abs() <= distance
                }
            }
    }

    /// Whether `after` is nearer than `before`.
    pub fn is_nearer(&self, after: &Self, before: &Self) -> bool {
        let all = [self, before, after];
        match scaled(all) {
            Some([own, before, after]) => own.abs_diff(after) < own.abs_diff(before),
            None if self == before || self == after => self != before,
            None => {
                let [own, before, after] = all.map(Self::float);
                (after - own).abs() < (own - before).abs()
            }
        }
    }

    /// The nearest float.
    fn float(&self) -> f64 {
        match self {
            Self::Whole(whole) => *whole as f64,
            Self::Number(number) => number.nearest().unwrap_or(f64::NAN),
        }
    }

    /// It without a point, how many digits that has, and how many of these are after the point; `None` if it
    /// has too many, or is an infinity.
    fn digits(&self) -> Option<(i128, i64, i64)> {
        let number = match self {
            Self::Whole(whole) => {
                let digits = whole.unsigned_abs().checked_ilog10().map_or(1, |log| i64::from(log) + 1);
                return Some((*whole, digits, 0));
            }
            Self::Number(number) => number,
        };
        match number.parts() {
            (0, ..) => Some((0, 1, 0)),
            (_, i64::MAX, _) => None,
            (sign, point, digits) => {
                let count = digits.len() as i64;
                Some((i128::from(sign) * digits.parse::<i128>().ok()?, count, count - point))
            }
        }
    }
}

/// Points as integers of one unit, unless that takes too many digits.
fn scaled<const N: usize>(points: [&Point; N]) -> Option<[i128; N]> {
    let mut digits = [(0, 0, 0); N];
    for (digits, point) in digits.iter_mut().zip(points) {
        *digits = point.digits()?;
    }
    let scale = digits.iter().map(|&(.., after)| after).max().map_or(0, |after| after.max(0));
    let mut scaled = [0; N];
    for (scaled, (whole, count, after)) in scaled.iter_mut().zip(digits) {
        let zeros = scale - after;
        if count + zeros > DIGITS_MAX {
            return None;
        }
        *scaled = whole * 10i128.pow(zeros as u32);
    }
    Some(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::form::{Order, Zone};
    use crate::rows::key::{KeyType, Rule};

    const FLOATS: Kind = Kind::Number(Rule { key_type: KeyType::F64, inferred: true });
    const MOMENTS: Kind = Kind::Form(Form::Timestamp(Order::Ymd, Zone::Without));

    fn number(text: &str) -> Point {
        Point::of(FLOATS, text).unwrap()
    }

    #[test]
    fn distances_are_exact() {
        for (own, other, distance, expected) in [
            ("0.3", "0.4", "0.1", true),
            ("0.3", "0.2", "0.1", true),
            ("0.3", "0.2", "0.0999999999999999", false),
            ("-5", "5", "10", true),
            ("9007199254740993", "9007199254740992", "0", false),
            ("1e300", "1e300", "0", true),
            ("1e300", "2e300", "1", false),
            ("1e300", "1", "1e301", true),
            ("inf", "inf", "0", true),
            ("inf", "5", "1e300", false),
            ("0", "-0", "0", true),
            ("1e-300", "0", "0", false),
        ] {
            let within = |one, other| number(one).is_within(&number(other), &number(distance));
            assert_eq!(
                (within(own, other), within(other, own)),
                (expected, expected),
                "{own} {other} {distance}"
            );
        }
    }

    #[test]
    fn of_two_points_that_are_equally_near_none_is_nearer() {
        for (own, before, after, expected) in [
            ("0.3", "0.2", "0.4", false),
            ("0.3", "0.19", "0.4", true),
            ("5", "5", "5", false),
            ("5", "4", "5", true),
            ("5", "-inf", "1e300", true),
            ("-inf", "-inf", "1", false),
            ("inf", "1", "inf", true),
            ("18446744073709551615", "18446744073709551613", "18446744073709551616", true),
        ] {
            assert_eq!(number(own).is_nearer(&number(after), &number(before)), expected, "{own}");
        }
    }

    #[test]
    fn times_have_units() {
        let time = |text| Point::distance(MOMENTS, text);
        assert_eq!(time("90m"), time("5400s"));
        assert_eq!(time("1d"), Some(Point::Whole(DAY)));
        assert_eq!(time("2 us"), Some(Point::Whole(2_000)));
        for none in ["5", "1.5h", "-1h", "h", "", "9999999999999999999999999999w"] {
            assert_eq!(time(none), None, "{none}");
        }
        let days = |text| Point::distance(Kind::Form(Form::Date(Order::Ymd)), text);
        assert_eq!(
            (days("2w"), days("48h"), days("1h")),
            (Some(Point::Whole(14)), Some(Point::Whole(2)), None)
        );
        assert_eq!((Point::distance(FLOATS, "0.5").is_some(), Point::distance(FLOATS, "-1")), (true, None));
        let moment = |text| Point::of(MOMENTS, text).unwrap();
        let hour = time("1h").unwrap();
        assert!(moment("2024-01-01 00:30").is_within(&moment("2023-12-31 23:30"), &hour));
        assert!(!moment("2024-01-01 00:30").is_within(&moment("2023-12-31 23:29:59.999999999"), &hour));
        assert_eq!(Point::of(Kind::Text { guessed: true }, "1"), None);
    }
}
