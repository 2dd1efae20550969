//! A paper's numbers, and their comparison with ours.

use core::cmp::Ordering;
use core::fmt;
use serde::{Serialize, Serializer};

/// The tolerance of an *about*.
pub const ABOUT: f64 = 0.10;

/// A published number, as exact as the paper gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Published {
    /// This number.
    Exactly(f64),
    /// This number, more or less: within a tenth.
    About(f64),
    /// Something from the first to the second.
    Within(f64, f64),
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// More than this, by however little: an order that the paper states, no number.
    MoreThan(f64),
    /// Less than this, by however little.
    LessThan(f64),
}

impl Published {
    /// The ends of what agrees with it.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Self::Exactly(number) => (number, number),
            Self::About(number) => (number * (1.0 - ABOUT), number * (1.0 + ABOUT)),
            Self::Within(low, high) => (low, high),
            Self::AtLeast(low) | Self::MoreThan(low) => (low, f64::INFINITY),
            Self::AtMost(high) | Self::LessThan(high) => (f64::NEG_INFINITY, high),
        }
    }

    /// `ours` over the nearest published number: 1.0 inside a band, more above, less below.
    pub fn ratio(self, ours: f64) -> f64 {
        let nearest = match self {
            Self::Exactly(number) | Self::About(number) => number,
            Self::Within(low, high) => ours.clamp(low, high),
            Self::AtLeast(low) | Self::MoreThan(low) => ours.max(low),
            Self::AtMost(high) | Self::LessThan(high) => ours.min(high),
        };
        if ours.to_bits() == nearest.to_bits() { 1.0 } else { ours / nearest }
    }

    /// Returns the verdict on `ours`: empty if it agrees, to as many digits as the paper gives.
    pub fn verdict(self, ours: f64) -> String {
        let ratio = match self {
            Self::About(_) if self.holds(ours) => 1.0,
            Self::MoreThan(low) if ours > low => 1.0,
            Self::LessThan(high) if ours < high => 1.0,
            Self::MoreThan(_) | Self::LessThan(_) if self.holds(ours) => return "no difference".to_string(),
            Self::About(_) | Self::MoreThan(_) | Self::LessThan(_) => self.ratio(ours),
            Self::Exactly(number) => self.ratio(to_digits_of(number, ours, 0)),
            Self::AtLeast(bound) | Self::AtMost(bound) => self.ratio(to_digits_of(bound, ours, BOUND_DIGITS)),
            // A band is as exact as the more exact of its ends: 1.2 isn't in "0.8 to 1".
            Self::Within(low, high) => self.ratio(to_digits_of(low, ours, digits_of(high))),
        };
        let percent = (ratio - 1.0).abs() * 100.0;
        match ratio.total_cmp(&1.0) {
            Ordering::Less => format!("below the paper's by {percent:.1} %"),
            Ordering::Greater => format!("above the paper's by {percent:.1} %"),
            Ordering::Equal => String::new(),
        }
    }

    fn holds(self, ours: f64) -> bool {
        let (low, high) = self.bounds();
        (low..=high).contains(&ours)
    }
}

/// Digits after the point to which a bound is compared at least: "at most 1" is an order, and 1.2 breaks it.
const BOUND_DIGITS: usize = 2;

/// `ours`, rounded to as many digits after the point as `published` is given with, or to `least`.
fn to_digits_of(published: f64, ours: f64, least: usize) -> f64 {
    let digits = digits_of(published).max(least);
    format!("{ours:.digits$}").parse().unwrap_or(ours)
}

/// The digits after the point that a number is given with.
fn digits_of(published: f64) -> usize {
    published.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

impl fmt::Display for Published {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(number) => write!(out, "{number}"),
            Self::About(number) => write!(out, "~{number}"),
            Self::Within(low, high) => write!(out, "{low}–{high}"),
            Self::AtLeast(low) => write!(out, "≥{low}"),
            Self::AtMost(high) => write!(out, "≤{high}"),
            Self::MoreThan(low) => write!(out, ">{low}"),
            Self::LessThan(high) => write!(out, "<{high}"),
        }
    }
}

/// A number is written as such; a band is `[low, high]`, an open end `null`.
impl Serialize for Published {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Exactly(number) | Self::About(number) => number.serialize(to),
            Self::Within(low, high) => [Some(low), Some(high)].serialize(to),
            Self::AtLeast(low) | Self::MoreThan(low) => [Some(low), None].serialize(to),
            Self::AtMost(high) | Self::LessThan(high) => [None, Some(high)].serialize(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_agreed_with_inside_and_compared_with_its_nearer_end_outside() {
        let band = Published::Within(1.2, 1.5);
        assert_eq!(band.verdict(1.2), "");
        assert_eq!(band.verdict(1.5), "");
        assert_eq!(band.verdict(1.8), "above the paper's by 20.0 %");
        assert_eq!(band.verdict(0.6), "below the paper's by 50.0 %");
        assert_eq!((band.ratio(1.3), band.ratio(3.0), band.ratio(0.6)), (1.0, 2.0, 0.5));
    }

    #[test]
    fn about_is_within_a_tenth() {
        assert_eq!(Published::About(2.0).verdict(2.19), "");
        assert_ne!(Published::About(2.0).verdict(2.21), "");
        assert_eq!(Published::About(2.0).ratio(1.0), 0.5);
    }

    #[test]
    fn digits_that_the_paper_does_not_give_are_not_compared() {
        assert_eq!(Published::Within(1.27, 1.47).verdict(1.4714), "");
        assert_eq!(Published::Within(1.27, 1.47).verdict(1.2651), "");
        assert_ne!(Published::Within(1.27, 1.47).verdict(1.4751), "");
        assert_eq!(Published::Within(6.5, 8.7).verdict(8.74), "");
        assert_eq!(Published::Exactly(8.0).verdict(8.2), "");
    }

    #[test]
    fn a_band_is_as_exact_as_the_more_exact_of_its_ends() {
        assert_eq!(Published::Within(0.8, 1.0).verdict(1.04), "");
        assert_eq!(Published::Within(0.8, 1.0).verdict(1.2), "above the paper's by 20.0 %");
        assert_eq!(Published::Within(0.8, 1.0).verdict(0.7), "below the paper's by 12.5 %");
        assert_eq!(Published::Within(2.0, 3.0).verdict(3.4), "");
    }

    #[test]
    fn open_ends_are_open() {
        assert_eq!(Published::AtLeast(1.24).verdict(9.0), "");
        assert_ne!(Published::AtLeast(1.24).verdict(1.2), "");
        assert_eq!(Published::AtMost(0.1).verdict(0.0), "");
        assert_ne!(Published::AtMost(0.1).verdict(0.2), "");
        assert_eq!(Published::AtMost(0.1).ratio(0.2), 2.0);
        assert_eq!(Published::AtMost(1.0).verdict(1.004), "");
        assert_eq!(Published::AtMost(1.0).verdict(1.18), "above the paper's by 18.0 %");
    }

    #[test]
    fn an_order_is_kept_by_however_little() {
        assert_eq!(Published::MoreThan(1.0).verdict(1.001), "");
        assert_eq!(Published::MoreThan(1.0).verdict(1.0), "no difference");
        assert_eq!(Published::MoreThan(1.0).verdict(0.75), "below the paper's by 25.0 %");
        assert_eq!(Published::LessThan(1.0).verdict(0.999), "");
        assert_eq!(Published::LessThan(1.0).verdict(1.25), "above the paper's by 25.0 %");
        assert_eq!(Published::LessThan(1.0).ratio(0.5), 1.0);
    }

    #[test]
    fn exactly_is_exactly() {
        assert_eq!(Published::Exactly(8.0).verdict(8.0), "");
        assert_ne!(Published::Exactly(8.0).verdict(7.0), "");
        assert_eq!(Published::Exactly(0.0).ratio(0.0), 1.0);
    }

    #[test]
    fn is_written_for_people_and_for_programs() {
        let forms = [
            (Published::Exactly(8.0), "8", "8.0"),
            (Published::About(1.15), "~1.15", "1.15"),
            (Published::Within(1.27, 1.47), "1.27–1.47", "[1.27,1.47]"),
            (Published::AtLeast(1.24), "≥1.24", "[1.24,null]"),
            (Published::AtMost(0.1), "≤0.1", "[null,0.1]"),
            (Published::MoreThan(1.0), ">1", "[1.0,null]"),
            (Published::LessThan(1.0), "<1", "[null,1.0]"),
        ];
        for (published, text, json) in forms {
            assert_eq!(published.to_string(), text);
            assert_eq!(serde_json::to_string(&published).unwrap(), json);
        }
    }
}
