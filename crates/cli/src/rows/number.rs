//! An exact decimal number from its digits, to be compared with keys of any type.

use std::cmp::Ordering;
use std::str::FromStr;

/// Exponents beyond this are held to be this. No key's digits reach that far.
const EXPONENT_MAX: i64 = 1 << 60;

/// Digits after the point of the longest `f64`: with them, each is written exactly.
const F64_DIGITS: usize = 1074;

/// A real number or an infinity: `sign · 0.digits · 10^point`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    /// −1, 0 or 1.
    sign: i8,
    /// The position of the decimal point in the digits; `i64::MAX` for an infinity.
    point: i64,
    /// Without zeros at either end; none for zero and the infinities.
    digits: String,
}

impl Number {
    /// The number that a text means, in any way that a key of any type may be written: `-5`, `+5.0`,
    /// `1e3`, `inf`. `None` for everything else, NaN included.
    pub fn parse(text: &str) -> Option<Self> {
        // One grammar for bounds and for a column's cells.
        if text.parse::<f64>().ok()?.is_nan() {
            return None;
        }
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let body = text.trim_start_matches(['-', '+']);
        if body.starts_with(['i', 'I']) {
            return Some(Self { sign, point: i64::MAX, digits: String::new() });
        }
        let (mantissa, exponent) = body.split_once(['e', 'E']).unwrap_or((body, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self { sign: 0, point: 0, digits: String::new() });
        }
        let zeros = all.len() - digits.len();
        let exponent: i64 =
            exponent.parse().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
        let point = exponent.clamp(-EXPONENT_MAX, EXPONENT_MAX) + whole.len() as i64 - zeros as i64;
        Some(Self { sign, point, digits: digits.trim_end_matches('0').to_owned() })
    }

    /// Exactly this float; `None` for NaN.
    pub fn of(float: f64) -> Option<Self> {
        if float.is_finite() {
            Self::parse(&format!("{float:.F64_DIGITS$}"))
        } else {
            Self::parse(&float.to_string())
        }
    }

    /// The shortest decimal that is read as this float; `None` for NaN.
    pub fn shortest(float: f64) -> Option<Self> {
        Self::parse(&format!("{float:e}"))
    }

    /// Its sign, the position of the point in its digits, and these. `i64::MAX` and no digits: an infinity.
    pub fn parts(&self) -> (i8, i64, &str) {
        (self.sign, self.point, &self.digits)
    }

    /// The float that this number is read as: the nearest, an infinity for all that are too large.
    pub fn nearest<F: FromStr>(&self) -> Option<F> {
        let sign = if self.sign < 0 { "-" } else { "" };
        match (self.sign, self.point) {
            (0, _) => "0".parse().ok(),
            (_, i64::MAX) => format!("{sign}inf").parse().ok(),
            (_, point) => format!("{sign}0.{}e{point}", self.digits).parse().ok(),
        }
    }

    /// The largest integer that is this number or smaller; the ends of `i128` for all beyond them.
    pub fn floor(&self) -> i128 {
        let (whole, is_whole) = self.whole();
        if self.sign < 0 { -whole - i128::from(!is_whole) } else { whole }
    }

    /// The smallest integer that is this number or larger; the ends of `i128` for all beyond them.
    pub fn ceil(&self) -> i128 {
        let (whole, is_whole) = self.whole();
        if self.sign < 0 { -whole } else { whole + i128::from(!is_whole) }
    }

    /// The integer part without its sign, and whether there is nothing else.
    fn whole(&self) -> (i128, bool) {
        /// Integers of this many digits fit.
        const FIT: i64 = 38;
        if self.point > FIT {
            return (i128::MAX - 1, true);
        }
        let before = usize::try_from(self.point).unwrap_or(0);
        let given = before.min(self.digits.len());
        let read = self.digits[..given].parse::<i128>().unwrap_or(0);
        (read * 10i128.pow((before - given) as u32), self.digits.len() <= before)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        // Digits without zeros at their end compare as texts do.
        let size = || (self.point, &self.digits).cmp(&(other.point, &other.digits));
        self.sign.cmp(&other.sign).then_with(|| if self.sign < 0 { size().reverse() } else { size() })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether these are digits with a leading zero, as in ids, and no number.
pub fn has_leading_zero(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    matches!(digits, [b'0', b'0'..=b'9', ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_equal_however_they_are_written() {
        for same in [
            &["5", "+5", "5.0", "005", "5.", "0.5e1", "500E-2", ".5e+1"][..],
            &["0", "-0", "0.000", "0e99999999999999999999", ".0"],
            &["-1000", "-1e3", "-1000.0e0"],
            &["inf", "+infinity", "INF"],
        ] {
            assert!(same.iter().all(|text| number(text) == number(same[0])), "{same:?}");
        }
        for no_number in ["", " ", "x", "NaN", "-nan", "0x10", "1e", "--1", "1_000", "."] {
            assert_eq!(Number::parse(no_number), None, "{no_number}");
        }
    }

    #[test]
    fn numbers_are_in_their_order() {
        let ascending = [
            "-inf",
            "-1e99999999999999999999",
            "-1e400",
            "-10",
            "-9.5",
            "-9",
            "-1e-400",
            "0",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "9007199254740992",
            "9007199254740992.5",
            "9007199254740993",
            "1e400",
            "inf",
        ];
        assert!(ascending.map(number).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn ids_with_zeros_in_front_are_no_numbers() {
        for (text, expected) in
            [("007", true), ("-01", true), ("00", true), ("0", false), ("0.5", false), ("70", false)]
        {
            assert_eq!(has_leading_zero(text), expected, "{text}");
        }
    }

    #[test]
    fn floors_and_ceilings() {
        for (text, floor, ceil) in [
            ("5", 5, 5),
            ("5.5", 5, 6),
            ("-5.5", -6, -5),
            ("1e-400", 0, 1),
            ("-1e-400", -1, 0),
            ("1.25e1", 12, 13),
            ("18446744073709551616", 1 << 64, 1 << 64),
        ] {
            assert_eq!((number(text).floor(), number(text).ceil()), (floor, ceil), "{text}");
        }
        for beyond in ["1e39", "1e400", "inf"] {
            assert!(number(beyond).floor() > i128::from(u64::MAX));
            assert!(number(&format!("-{beyond}")).ceil() < i128::from(i64::MIN));
        }
    }

    proptest! {
        /// Scaled to integers of 128 bits, fractions compare without this file's help.
        #[test]
        fn fractions_compare_as_their_numerators(
            a in -1_000_000_000_000_000_000i128..1_000_000_000_000_000_000,
            b in -1_000_000_000_000_000_000i128..1_000_000_000_000_000_000,
            near in -3i128..4,
            is_near: bool,
            scale: bool,
            shift in 0u32..18,
        ) {
            let b = if is_near { a + near } else { b };
            // a / 10^shift against b / 10^(shift or shift - 1).
            let b_shift = if scale { shift.saturating_sub(1) } else { shift };
            let b_scaled = b * 10i128.pow(shift - b_shift);
            let (left, right) = (number(&format!("{a}e-{shift}")), number(&format!("{b}e-{b_shift}")));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b_scaled));
            prop_assert_eq!(left.floor(), a.div_euclid(10i128.pow(shift)));
            prop_assert_eq!(left.ceil(), -(-a).div_euclid(10i128.pow(shift)));
        }

        #[test]
        fn floats_are_exact(a: f64, b: f64) {
            if let (Some(left), Some(right)) = (Number::of(a), Number::of(b)) {
                prop_assert_eq!(Some(left.cmp(&right)), a.partial_cmp(&b));
            }
        }
    }
}
