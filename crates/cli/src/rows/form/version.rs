//! Versions: numbers with full stops between them, perhaps with a pre-release after a hyphen.
//!
//! The order is that of Semantic Versioning 2.0.0, section 11, for any count of numbers: number by number.
//! A pre-release comes before its release; its parts are compared as numbers if they are such, and numbers
//! come before other parts. Trailing zeros make no difference, so that 1.2 is 1.2.0; nor do zeros in front
//! of a number, a `v` before the first, and the build after a `+`.

use super::super::number::has_leading_zero;

/// The most digits of a number in a version.
const DIGITS_MAX: usize = 200;

/// The byte after the numbers. Numbers begin with larger ones.
const PRE_RELEASE: u8 = 0;
const RELEASE: u8 = 1;

/// The first byte of a part of a pre-release.
const LAST: u8 = 0;
const NUMBER: u8 = 1;
const WORD: u8 = 2;

/// Appends bytes in the versions' order, of which none are the beginning of others.
pub fn push(text: &str, key: &mut Vec<u8>) -> Option<()> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let (text, build) = text.split_once('+').unwrap_or((text, "0"));
    let (numbers, pre_release) = match text.split_once('-') {
        Some((numbers, parts)) => (numbers, Some(parts)),
        None => (text, None),
    };
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let words = pre_release.into_iter().chain([build]).flat_map(|parts| parts.split('.'));
    if !numbers.split('.').all(is_number) || !words.clone().all(is_word) || words.clone().any(is_long) {
        return None;
    }
    let end = key.len();
    let mut significant = end;
    for number in numbers.split('.') {
        push_number(number, key);
        if number.bytes().any(|digit| digit != b'0') {
            significant = key.len();
        }
    }
    key.truncate(significant);
    let Some(parts) = pre_release else {
        key.push(RELEASE);
        return Some(());
    };
    key.push(PRE_RELEASE);
    for part in parts.split('.') {
        if is_number(part) {
            key.push(NUMBER);
            push_number(part, key);
        } else {
            key.push(WORD);
            key.extend_from_slice(part.as_bytes());
            key.push(0);
        }
    }
    key.push(LAST);
    Some(())
}

/// A number's length, and it.
fn push_number(number: &str, key: &mut Vec<u8>) {
    let number = number.trim_start_matches('0');
    key.push(RELEASE + 1 + number.len() as u8);
    key.extend_from_slice(number.as_bytes());
}

fn is_number(text: &str) -> bool {
    (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is a number of more digits than there may be.
fn is_long(text: &str) -> bool {
    text.len() > DIGITS_MAX && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a cell is a version and nothing else: it has three numbers, or two after a `v`, or is a number
/// where others are versions.
pub fn looks_so(text: &str) -> bool {
    let numbers = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let numbers = numbers.split(['-', '+']).next().unwrap_or_default();
    let dots = numbers.bytes().filter(|&byte| byte == b'.').count();
    let is_called_so = dots >= 2 || (dots == 1 && text.starts_with(['v', 'V']));
    let is_plain = numbers.len() == text.len() && numbers.split('.').all(is_number);
    push(text, &mut Vec::new()).is_some() && (is_called_so || (is_plain && !has_leading_zero(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        push(text, &mut key).map(|()| key)
    }

    #[test]
    fn versions_are_in_the_order_of_semantic_versioning() {
        let ascending = [
            "0",
            "0.0.1-alpha",
            "0.0.1",
            "0.9",
            "1.0.0-0",
            "1.0.0-9",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.0.1",
            "1.0.1",
            "1.2",
            "1.10.0",
            "2.0",
            "10",
            "99999999999999999999999.0",
        ];
        let keys = ascending.map(|text| key(text).expect(text));
        assert!(keys.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn versions_that_mean_the_same_are_equal() {
        for same in [&["1.2", "1.2.0", "v1.2.0.0", "1.02", "1.2+build.7"][..], &["0", "0.0", "00.0.0"]] {
            assert!(same.iter().all(|text| key(text) == key(same[0])), "{same:?}");
        }
        for none in
            ["", "v", "1.", ".1", "1..2", "1.x", "1.2-", "1.2-a..b", "1.2+", "1.2-a_b", "-1", "1,2", "é.1.1"]
        {
            assert_eq!(key(none), None, "{none}");
        }
        for (text, expected) in [
            ("1.2.3", true),
            ("v1.2.3-rc.1", true),
            ("1.2", true),
            ("3", true),
            ("007", false),
            ("1-2", false),
        ] {
            assert_eq!(looks_so(text), expected, "{text}");
        }
    }
}
