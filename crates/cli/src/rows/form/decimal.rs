//! Decimal numbers as order-keeping bytes, exact to the last digit; and their notation with a comma.

use super::super::number::{Number, has_leading_zero};
use std::borrow::Cow;

/// The separator of a number's fraction. The other one separates thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// 1.50, 1,234.50
    Point,
    /// 1,50, 1.234,50
    Comma,
}

/// The first byte of a key: the sign.
const MINUS_INFINITY: u8 = 1;
const NEGATIVE: u8 = 2;
const ZERO: u8 = 3;
const POSITIVE: u8 = 4;
const INFINITY: u8 = 5;
const NAN: u8 = 6;

/// Where the keys begin and end that are numbers: infinities are, NaN isn't.
pub const ENDS: [u8; 2] = [MINUS_INFINITY, INFINITY];

/// Appends the bytes of the number that a text is, of which none are the beginning of others'.
pub fn push(text: &str, mark: Mark, key: &mut Vec<u8>) -> Option<()> {
    let text = with_point(text, mark)?;
    match Number::parse(&text) {
        Some(number) => push_number(&number, key),
        None => key.push(NAN),
    }
    Some(())
}

/// The number that a text is; `None` for NaN, too.
pub fn number(text: &str, mark: Mark) -> Option<Number> {
    Number::parse(&with_point(text, mark)?)
}

fn push_number(number: &Number, key: &mut Vec<u8>) {
    let (sign, point, digits) = number.parts();
    let tag = match (sign, point) {
        (0, _) => ZERO,
        (-1, i64::MAX) => MINUS_INFINITY,
        (_, i64::MAX) => INFINITY,
        (-1, _) => NEGATIVE,
        _ => POSITIVE,
    };
    key.push(tag);
    if !matches!(tag, NEGATIVE | POSITIVE) {
        return;
    }
    let start = key.len();
    // Where the point is: in one byte if it is near, as it is in nearly all numbers.
    match point {
        -126..=127 => key.push((point + 127) as u8),
        _ => {
            key.push(if point < 0 { 0 } else { u8::MAX });
            key.extend_from_slice(&(point as u64 ^ 1 << 63).to_be_bytes());
        }
    }
    // Two digits a byte, from 1 on, and 0 after the last: fewer digits that begin alike are less.
    for pair in digits.as_bytes().chunks(2) {
        let value = |digit: Option<&u8>| digit.map_or(0, |digit| digit - b'0');
        key.push(value(pair.first()) * 10 + value(pair.get(1)) + 1);
    }
    key.push(0);
    if tag == NEGATIVE {
        key[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// The text of the same number with a point before its fraction and nothing between thousands; `None` if it
/// is no number that is written so.
fn with_point(text: &str, mark: Mark) -> Option<Cow<'_, str>> {
    if mark == Mark::Point && text.parse::<f64>().is_ok() {
        return Some(text.into());
    }
    let (point, thousands) = if mark == Mark::Point { ('.', ',') } else { (',', '.') };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once(point) {
        Some((whole, fraction)) => (whole, fraction),
        None => (unsigned, ""),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(thousands);
    let first = groups.next()?;
    let is_grouped = whole.contains(thousands);
    if !is_digits(first)
        || !is_digits(fraction)
        || whole.len() + fraction.len() == 0
        || (is_grouped && !(1..=3).contains(&first.len()))
        || !groups.all(|group| group.len() == 3 && is_digits(group))
    {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    Some(format!("{sign}{}.{fraction}", whole.replace(thousands, "")).into())
}

/// Whether a cell is a number in this notation, and no id with leading zeros.
pub fn looks_so(text: &str, mark: Mark) -> bool {
    with_point(text, mark).is_some() && !has_leading_zero(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str, mark: Mark) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        push(text, mark, &mut key).map(|()| key)
    }

    #[test]
    fn numbers_are_in_their_order_to_the_last_digit() {
        let ascending = [
            "-inf",
            "-1e400",
            "-649686000000001631.441",
            "-649686000000001631.440",
            "-100",
            "-10.5",
            "-10",
            "-1",
            "-0.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "0.11",
            "1",
            "1.05",
            "1.5",
            "9",
            "10",
            "649686000000001631.440",
            "649686000000001631.441",
            "1e127",
            "1e128",
            "1e400",
            "inf",
            "NaN",
        ];
        let keys = ascending.map(|text| key(text, Mark::Point).expect(text));
        assert!(keys.is_sorted_by(|a, b| a < b));
        for same in
            [&["1.5", "1.50", "+1.5", "15e-1", "001.5"][..], &["0", "-0", "0.00", ".0"], &["NaN", "-nan"]]
        {
            assert!(same.iter().all(|text| key(text, Mark::Point) == key(same[0], Mark::Point)), "{same:?}");
        }
    }

    #[test]
    fn commas_are_points_and_points_are_nothing_where_that_is_the_way() {
        for (text, point, comma) in [
            ("1,5", None, Some("1.5")),
            ("-1,50", None, Some("-1.5")),
            ("1.5", Some("1.5"), None),
            ("1.500", Some("1.5"), Some("1500")),
            ("1,500", Some("1500"), Some("1.5")),
            ("1.234.567,89", None, Some("1234567.89")),
            ("-1,234,567.89", Some("-1234567.89"), None),
            (",5", None, Some("0.5")),
            ("7", Some("7"), Some("7")),
            ("1,2,3", None, None),
            ("1234,567.8", None, None),
            ("1.2345,6", None, None),
            (",", None, None),
            ("", None, None),
            ("-", None, None),
            ("1,5é", None, None),
            (",123", None, Some("0.123")),
        ] {
            let expected = |number: Option<&str>| number.and_then(|number| key(number, Mark::Point));
            assert_eq!(key(text, Mark::Point), expected(point), "{text}");
            assert_eq!(key(text, Mark::Comma), expected(comma), "{text}");
        }
    }

    proptest! {
        /// The order of the bytes is the exact order of the reference, and no key begins another.
        #[test]
        fn bytes_compare_as_the_numbers_do(
            a in "-?[0-9]{1,25}(\\.[0-9]{1,25})?(e-?[0-9]{1,3})?",
            b in "-?[0-9]{1,25}(\\.[0-9]{1,25})?(e-?[0-9]{1,3})?",
            near: bool,
            digit in 0u8..10,
        ) {
            let b = if near && !a.contains('e') && a.contains('.') { format!("{a}{digit}") } else { b };
            let of = |text: &str| (Number::parse(text).unwrap(), key(text, Mark::Point).unwrap());
            let (left, right) = (of(&a), of(&b));
            prop_assert_eq!(left.0.cmp(&right.0), left.1.cmp(&right.1), "{} {}", a, b);
            prop_assert_eq!(left.1.starts_with(&right.1), left.1 == right.1);
        }
    }
}
