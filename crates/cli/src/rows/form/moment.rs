//! Time stamps: a day and a time of it, in the calendar of the file, or, with a zone, instants.

use super::clock::{self, SECOND_NS};
use super::date::{self, Order, number};

/// Whether time stamps give their offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// They don't; two of them are compared as their calendars' days and times.
    Without,
    /// They do, and are compared as instants.
    With,
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Since 1970-01-01T00:00.
    pub seconds: i64,
    /// Since then, below a thousand millions.
    pub nanoseconds: u32,
}

impl Moment {
    fn new(days: i64, since_midnight_ns: u64, offset_seconds: i64) -> Self {
        let seconds = days * DAY + (since_midnight_ns / SECOND_NS) as i64 - offset_seconds;
        Self { seconds, nanoseconds: (since_midnight_ns % SECOND_NS) as u32 }
    }

    /// Appends bytes in the order of moments.
    pub fn push(self, key: &mut Vec<u8>) {
        key.extend_from_slice(&(self.seconds as u64 ^ 1 << 63).to_be_bytes());
        key.extend_from_slice(&self.nanoseconds.to_be_bytes());
    }
}

/// The first and the last moment that a text means: a day without a time is all of them.
pub fn read(text: &str, order: Order, zone: Zone, strict: bool) -> Option<[Moment; 2]> {
    let Some(colon) = text.find(':') else {
        let days = (zone == Zone::Without).then(|| date::read(text, order, strict))??;
        let last = DAY as u64 * SECOND_NS - 1;
        return Some([Moment::new(days, 0, 0), Moment::new(days, last, 0)]);
    };
    let hour = text[..colon].trim_end_matches(|digit: char| digit.is_ascii_digit());
    let day = hour.trim_end_matches(['T', 't', ' ', ',']);
    if day.len() == hour.len() {
        return None;
    }
    let (since_midnight_ns, rest) = clock::read(&text[hour.len()..])?;
    let offset = match (zone, rest) {
        (Zone::Without, "") => 0,
        (Zone::Without, _) => return None,
        (Zone::With, rest) => offset_seconds(rest.trim_start_matches(' '))?,
    };
    let moment = Moment::new(date::read(day, order, strict)?, since_midnight_ns, offset);
    Some([moment; 2])
}

/// How far before UTC's a zone's clocks are.
fn offset_seconds(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z" | "UTC" | "GMT") {
        return Some(0);
    }
    let ahead = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let parts = &zone[1..];
    let (hours, minutes) = match parts.split_once(':') {
        Some(parts) => parts,
        None if parts.len() == 4 => (parts.get(..2)?, parts.get(2..)?),
        None => (parts, "00"),
    };
    let (hours, minutes) = (number(hours, 2..=2)?, number(minutes, 2..=2)?);
    (hours < 24 && minutes < 60).then_some(ahead * (hours * 60 + minutes) * 60)
}

/// A moment as ISO 8601 has it.
#[cfg(feature = "parquet")]
pub fn written(moment: Moment, zone: Zone) -> String {
    let (days, second) = (moment.seconds.div_euclid(DAY), moment.seconds.rem_euclid(DAY));
    let time = clock::written(second as u64 * SECOND_NS + u64::from(moment.nanoseconds));
    let zone = if zone == Zone::With { "Z" } else { "" };
    format!("{}T{time}{zone}", date::written(days))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, nanoseconds: u32) -> Option<[Moment; 2]> {
        Some([Moment { seconds, nanoseconds }; 2])
    }

    #[test]
    fn instants_are_equal_however_their_zone_is_written() {
        let read = |text| read(text, Order::Ymd, Zone::With, true);
        for text in [
            "2024-01-01T10:00:00Z",
            "2024-01-01 10:00 UTC",
            "2024-01-01 12:00:00+02:00",
            "2024-01-01 12:00:00 +0200",
            "2024-01-01t12:00:00.000+02",
            "2023-12-31T23:30-10:30",
            "2024-01-01 10:00 AM GMT",
        ] {
            assert_eq!(read(text), at(1_704_103_200, 0), "{text}");
        }
        for none in
            ["2024-01-01T10:00", "2024-01-01", "2024-01-01T10:00 CET", "2024-01-01T10:00+24", "10:00Z"]
                .into_iter()
                .chain([
                    "2024-01-01T10:00+2",
                    "2024-01-01T10:00+02:60",
                    "2024-01-01T10:00+é1",
                    "2024-01-0110:00Z",
                ])
        {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn a_day_is_all_of_its_moments() {
        let read = |text, order| read(text, order, Zone::Without, true);
        let [first, last] = read("2024-01-01", Order::Ymd).unwrap();
        assert_eq!((first.seconds, first.nanoseconds), (1_704_067_200, 0));
        assert_eq!((last.seconds, last.nanoseconds), (1_704_067_200 + 86_399, 999_999_999));
        assert_eq!(read("2024-01-01T00:00:00.000000001", Order::Ymd), at(1_704_067_200, 1));
        assert_eq!(read("1/2/2024 12:00 AM", Order::Mdy), at(1_704_153_600, 0));
        assert_eq!(read("2 January 2024, 0:00", Order::Mon), at(1_704_153_600, 0));
        assert_eq!(read("1969-12-31 23:59:59.5", Order::Ymd), at(-1, 500_000_000));
        assert_eq!(read("2024-01-01T10:00Z", Order::Ymd), None);
    }
}
