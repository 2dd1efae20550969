//! Times of day, with 24 hours or twice twelve.

use super::date::number;

/// Nanoseconds of a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Digits of a second that are kept.
const FRACTION_DIGITS: usize = 9;

/// Parses a time at the start of a text; returns nanoseconds since midnight, and the rest. Digits of a
/// second after the ninth must be zeros.
pub fn read(text: &str) -> Option<(u64, &str)> {
    let (hour, rest) = digits(text);
    let (minute, mut rest) = digits(rest.strip_prefix(':')?);
    let (mut second, mut fraction_ns) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        let (whole, after) = digits(after);
        second = number(whole, 2..=2)?;
        rest = after;
        if let Some(after) = rest.strip_prefix(['.', ',']) {
            let (fraction, after) = digits(after);
            fraction_ns = nanoseconds(fraction)?;
            rest = after;
        }
    }
    let (hour, minute) = (number(hour, 1..=2)?, number(minute, 2..=2)?);
    let (hour, rest) = half_of_day(hour, rest)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some((((hour * 60 + minute) * 60 + second) as u64 * SECOND_NS + fraction_ns, rest))
}

/// The hour of 24, after `AM` or `PM` if that follows.
fn half_of_day(hour: i64, rest: &str) -> Option<(i64, &str)> {
    let half = rest.trim_start_matches(' ');
    let Some(letters) = half.get(..2) else { return Some((hour, rest)) };
    let afternoon = match letters.to_ascii_lowercase().as_str() {
        "am" => 0,
        "pm" => 12,
        _ => return Some((hour, rest)),
    };
    (1..=12).contains(&hour).then(|| (hour % 12 + afternoon, &half[2..]))
}

/// The digits at the start of a text, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn nanoseconds(fraction: &str) -> Option<u64> {
    let kept = fraction.get(..FRACTION_DIGITS).unwrap_or(fraction);
    if fraction[kept.len()..].bytes().any(|digit| digit != b'0') {
        return None;
    }
    Some(number(kept, 1..=FRACTION_DIGITS)? as u64 * 10u64.pow((FRACTION_DIGITS - kept.len()) as u32))
}

/// A time of day, with as many digits of a second as there are.
#[cfg(feature = "parquet")]
pub fn written(since_midnight_ns: u64) -> String {
    let (seconds, fraction) = (since_midnight_ns / SECOND_NS, since_midnight_ns % SECOND_NS);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match format!("{fraction:09}").trim_end_matches('0') {
        "" => time,
        digits => format!("{time}.{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let at = |hour: u64, minute: u64, second: u64| ((hour * 60 + minute) * 60 + second) * SECOND_NS;
        for (text, expected) in [
            ("00:00", (0, "")),
            ("9:05", (at(9, 5, 0), "")),
            ("23:59:59", (at(23, 59, 59), "")),
            ("23:59:59.000000001Z", (at(23, 59, 59) + 1, "Z")),
            ("23:59:59,5 +02", (at(23, 59, 59) + SECOND_NS / 2, " +02")),
            ("23:59:59.1234567890000", (at(23, 59, 59) + 123_456_789, "")),
            ("12:00 AM", (0, "")),
            ("12:30pm", (at(12, 30, 0), "")),
            ("1:02:03 PM UTC", (at(13, 2, 3), " UTC")),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        for none in
            ["", "9", "9:5", "24:00", "23:60", "23:59:60", "1:2:3", "13:00 PM", "0:00 am", "100:00", ":00"]
                .into_iter()
                .chain(["23:59:59.1234567891", "23:59:", "23:59:59.", "é:00"])
        {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
