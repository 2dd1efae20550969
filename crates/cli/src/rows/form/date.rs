//! Calendar dates in four orders: `2024-01-05`, `1/5/2024`, `5.1.2024`, `5 Jan 2024`.

use super::calendar::Civil;

/// In which order a date's parts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// 2024-01-05, 2024/1/5
    Ymd,
    /// 1/5/2024, 01-05-2024: as in the United States
    Mdy,
    /// 5/1/2024, 05-01-2024, 5.1.2024: as in Europe
    Dmy,
    /// 5 Jan 2024, 05-Jan-2024, January 5, 2024: the month by its English name
    Mon,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The most digits that a year has. More than four need a sign, as ISO 8601 has it.
const YEAR_DIGITS: usize = 9;

/// Days since 1970-01-01. `strict`: only unambiguous notations of this order, for a guess. There a date
/// with full stops has its day first, and one that has its year first is taken for a version.
pub fn read(text: &str, order: Order, strict: bool) -> Option<i64> {
    let civil = match order {
        Order::Mon => named_month(text),
        _ => numbers(text, order, strict),
    };
    civil?.days()
}

/// A date of three numbers with one separator.
fn numbers(text: &str, order: Order, strict: bool) -> Option<Civil> {
    let sign = text.bytes().next().filter(|sign| order == Order::Ymd && matches!(sign, b'+' | b'-'));
    let body = if sign.is_some() { &text[1..] } else { text };
    let separator = body.bytes().find(|byte| !byte.is_ascii_digit())?;
    if !matches!(separator, b'-' | b'/' | b'.') || (strict && separator == b'.' && order != Order::Dmy) {
        return None;
    }
    let mut parts = body.split(char::from(separator));
    let [first, second, third] = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = match order {
        Order::Ymd => (first, second, third),
        Order::Mdy => (third, first, second),
        Order::Dmy | Order::Mon => (third, second, first),
    };
    let year = match sign {
        Some(sign) => number(year, 4..=YEAR_DIGITS)? * if sign == b'-' { -1 } else { 1 },
        None => number(year, 4..=4)?,
    };
    Some(Civil { year, month: number(month, 1..=2)? as u32, day: number(day, 1..=2)? as u32 })
}

/// A date whose month has a name, before or after the day.
fn named_month(text: &str) -> Option<Civil> {
    let mut parts = text.split([' ', '-', ',', '.', '/']).filter(|part| !part.is_empty());
    let [first, second, year] = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() {
        return None;
    }
    let (day, month) = if first.as_bytes()[0].is_ascii_digit() { (first, second) } else { (second, first) };
    let month = month.to_ascii_lowercase();
    let month = MONTHS.iter().position(|name| month.len() >= 3 && name.starts_with(&month))?;
    Some(Civil { year: number(year, 4..=4)?, month: month as u32 + 1, day: number(day, 1..=2)? as u32 })
}

/// A number of this many digits.
pub fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let is_one = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| text.bytes().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// A day as ISO 8601 has it.
#[cfg(feature = "parquet")]
pub fn written(days: i64) -> String {
    let Civil { year, month, day } = Civil::after(days);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:+05}-{month:02}-{day:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_their_order_alone() {
        let of = |text: &str| {
            [Order::Ymd, Order::Mdy, Order::Dmy, Order::Mon].map(|order| read(text, order, true))
        };
        let day = |year, month, day| Civil { year, month, day }.days();
        let (fifth, first) = (day(2024, 1, 5), day(2024, 5, 1));
        assert!(fifth < first);
        for (text, expected) in [
            ("2024-01-05", [fifth, None, None, None]),
            ("2024/1/5", [fifth, None, None, None]),
            ("1/5/2024", [None, fifth, first, None]),
            ("05-01-2024", [None, first, fifth, None]),
            ("5.1.2024", [None, None, fifth, None]),
            ("2024.1.5", [None; 4]),
            ("31.12.2023", [None, None, day(2023, 12, 31), None]),
            ("12/31/2023", [None, day(2023, 12, 31), None, None]),
            ("5 Jan 2024", [None, None, None, fifth]),
            ("05-JAN-2024", [None, None, None, fifth]),
            ("January 5, 2024", [None, None, None, fifth]),
            ("Sept. 5, 2024", [None, None, None, day(2024, 9, 5)]),
            ("+12024-01-05", [day(12024, 1, 5), None, None, None]),
            ("-0043-03-15", [day(-43, 3, 15), None, None, None]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        for none in
            ["", "-", "1/5/24", "2024-13-01", "2024-02-30", "24-01-05", "2024-01", "20240105", "2024-01/05"]
                .into_iter()
                .chain([
                    "1/5/2024/1",
                    "12024-01-05",
                    "5 J 2024",
                    "5 Jam 2024",
                    "2024-01-05T",
                    "٢٠٢٤-01-05",
                    "+1-1-1",
                ])
        {
            assert_eq!(of(none), [None; 4], "{none}");
        }
        assert_eq!(read("2024.1.5", Order::Ymd, false), fifth);
        assert_eq!(read("1.5.2024", Order::Mdy, false), fifth);
    }
}
