//! Times and dates of the crates `time`, `chrono` and `jiff`, as keys and as values, each by its feature.
//!
//! A moment takes twelve bytes: seconds since an epoch, and nanoseconds of the second. No moment of these
//! crates is rounded or out of range. A date fits a word. Both have the order of [`Ord`], also before 1970.

use super::bytes_key::BytesKey;
use super::bytes_value::{BytesValue, WideValue, Words};
use super::index_key::{InBytes, InWord, IndexKey, by_value};
use super::key::Key;
use super::value::Value;
use std::borrow::Cow;

/// The panic message for bytes that no key has.
const STORED: &str = "only bytes of keys that were stored are decoded";

/// Seconds and nanoseconds, from the bytes of a moment.
fn parts(bytes: &[u8]) -> Option<(i64, u32)> {
    let (seconds, nanos) = bytes.split_first_chunk()?;
    let seconds = u64::from_be_bytes(*seconds);
    Some((Key::decode(seconds), u32::from_be_bytes(nanos.try_into().ok()?)))
}

/// Moments as keys: the conversion to seconds and nanoseconds, and back. The latter is `None` for those of no
/// moment.
macro_rules! moments {
    ($($(#[$condition:meta])* $moment:ty: $name:literal, $to:expr, $from:expr;)*) => {$(
        $(#[$condition])*
        impl BytesKey for $moment {
            const FIXED: Option<usize> = Some(12);

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                let to: fn($moment) -> (i64, u32) = $to;
                let (seconds, nanos) = to(*self);
                let mut bytes = [0; 12];
                bytes[..8].copy_from_slice(&Key::encode(seconds).to_be_bytes());
                bytes[8..].copy_from_slice(&nanos.to_be_bytes());
                f(&bytes)
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let from: fn((i64, u32)) -> Option<$moment> = $from;
                parts(bytes).and_then(from).expect(STORED)
            }

            fn is_key(bytes: &[u8]) -> bool {
                let from: fn((i64, u32)) -> Option<$moment> = $from;
                parts(bytes).and_then(from).is_some()
            }

            fn type_name() -> Cow<'static, str> {
                $name.into()
            }
        }

        $(#[$condition])*
        impl IndexKey for $moment {
            type Form = InBytes;
            by_value!();
        }

        $(#[$condition])*
        impl IndexKey for Option<$moment> {
            type Form = InBytes;
            by_value!();
        }
    )*};
}
moments! {
    /// Ordered as moments: the same moment in another offset is the same key, and comes back in UTC.
    #[cfg(feature = "time")]
    time::OffsetDateTime: "time", |key| (key.unix_timestamp(), key.nanosecond()), in_utc;
    #[cfg(feature = "time")]
    time::PrimitiveDateTime: "date and time",
        |key| (key.assume_utc().unix_timestamp(), key.nanosecond()),
        |parts| in_utc(parts).map(|moment| time::PrimitiveDateTime::new(moment.date(), moment.time()));
    #[cfg(feature = "chrono")]
    chrono::DateTime<chrono::Utc>: "time", |key| of_naive(key.naive_utc()), |parts| naive(parts).map(|key| key.and_utc());
    #[cfg(feature = "chrono")]
    chrono::NaiveDateTime: "date and time", of_naive, naive;
    #[cfg(feature = "jiff")]
    jiff::Timestamp: "time",
        |key| {
            let nanos = key.as_nanosecond();
            (nanos.div_euclid(BILLION) as i64, nanos.rem_euclid(BILLION) as u32)
        },
        |(seconds, nanos)| {
            let nanos = i128::from(nanos);
            let all = i128::from(seconds) * BILLION + nanos;
            (nanos < BILLION).then(|| jiff::Timestamp::from_nanosecond(all).ok()).flatten()
        };
    // Its date's number in place of days: the order is the same.
    #[cfg(feature = "jiff")]
    jiff::civil::DateTime: "date and time of jiff",
        |key| {
            let second = (i64::from(key.hour()) * 60 + i64::from(key.minute())) * 60 + i64::from(key.second());
            (i64::from(number(key.date())) * DAY + second, key.time().subsec_nanosecond() as u32)
        },
        |(seconds, nanos)| {
            let (day, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            let nanos = nanos.try_into().ok()?;
            let time = jiff::civil::Time::new(hour as i8, minute as i8, second as i8, nanos).ok()?;
            Some(date(day.try_into().ok()?)?.to_datetime(time))
        };
}

#[cfg(feature = "jiff")]
const BILLION: i128 = 1_000_000_000;
#[cfg(feature = "jiff")]
const DAY: i64 = 86_400;

/// A moment in UTC. In its last or first hours, which only another offset reaches, it is in that one.
#[cfg(feature = "time")]
fn in_utc((seconds, nanos): (i64, u32)) -> Option<time::OffsetDateTime> {
    const FARTHEST_SECONDS: i32 = 25 * 3600 + 59 * 60 + 59;
    [0, -FARTHEST_SECONDS, FARTHEST_SECONDS].into_iter().find_map(|offset| {
        let local = time::OffsetDateTime::from_unix_timestamp(seconds.checked_add(offset.into())?).ok()?;
        let offset = time::UtcOffset::from_whole_seconds(offset).ok()?;
        local.replace_offset(offset).replace_nanosecond(nanos).ok()
    })
}

/// The second since 1970 and its nanoseconds, which are more than a billion in a leap second.
#[cfg(feature = "chrono")]
fn of_naive(moment: chrono::NaiveDateTime) -> (i64, u32) {
    (moment.and_utc().timestamp(), chrono::Timelike::nanosecond(&moment))
}

#[cfg(feature = "chrono")]
fn naive((seconds, nanos): (i64, u32)) -> Option<chrono::NaiveDateTime> {
    let second = chrono::DateTime::from_timestamp(seconds, 0)?.naive_utc();
    chrono::Timelike::with_nanosecond(&second, nanos)
}

/// A number that orders dates as they are ordered.
#[cfg(feature = "jiff")]
fn number(date: jiff::civil::Date) -> i32 {
    i32::from(date.year()) << 9 | i32::from(date.month()) << 5 | i32::from(date.day())
}

#[cfg(feature = "jiff")]
fn date(number: i32) -> Option<jiff::civil::Date> {
    let (month, day) = (number >> 5 & 15, number & 31);
    jiff::civil::Date::new((number >> 9).try_into().ok()?, month as i8, day as i8).ok()
}

/// Dates as keys and values: the conversion to a number in their order, and back.
macro_rules! dates {
    ($($(#[$condition:meta])* $date:ty: $name:literal, $to:expr, $from:expr;)*) => {$(
        $(#[$condition])*
        impl Key for $date {
            type Bits = u32;

            #[inline]
            fn encode(self) -> u32 {
                let to: fn($date) -> i32 = $to;
                Key::encode(to(self))
            }

            #[inline]
            fn decode(bits: u32) -> Self {
                let from: fn(i32) -> Option<$date> = $from;
                from(Key::decode(bits)).expect(STORED)
            }
        }

        $(#[$condition])*
        impl IndexKey for $date {
            type Form = InWord<u32>;
            by_value!();
        }

        $(#[$condition])*
        impl IndexKey for Option<$date> {
            type Form = InBytes;
            by_value!();
        }

        $(#[$condition])*
        impl Value for $date {
            type Bits = u32;

            #[inline]
            fn encode(self) -> u32 {
                Key::encode(self)
            }

            #[inline]
            fn decode(bits: u32) -> Self {
                Key::decode(bits)
            }
        }

        $(#[$condition])*
        impl BytesKey for $date {
            const FIXED: Option<usize> = Some(4);

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                f(&Key::encode(*self).to_be_bytes())
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                Key::decode(u32::from_be_bytes(bytes.try_into().expect(STORED)))
            }

            fn is_key(bytes: &[u8]) -> bool {
                let from: fn(i32) -> Option<$date> = $from;
                bytes.try_into().is_ok_and(|bytes| from(Key::decode(u32::from_be_bytes(bytes))).is_some())
            }

            fn type_name() -> Cow<'static, str> {
                $name.into()
            }
        }
    )*};
}
dates! {
    #[cfg(feature = "time")]
    time::Date: "julian day", time::Date::to_julian_day, |day| time::Date::from_julian_day(day).ok();
    #[cfg(feature = "chrono")]
    chrono::NaiveDate: "day",
        |date| chrono::Datelike::num_days_from_ce(&date),
        chrono::NaiveDate::from_num_days_from_ce_opt;
    #[cfg(feature = "jiff")]
    jiff::civil::Date: "date of jiff", number, date;
}

/// Moments as values: the same numbers, in two words.
macro_rules! values {
    ($($(#[$condition:meta])* $moment:ty;)*) => {$(
        $(#[$condition])*
        impl WideValue<2> for $moment {
            #[inline]
            fn to_words(self) -> [u64; 2] {
                self.with_bytes(|bytes| {
                    let (seconds, nanos) = parts(bytes).expect(STORED);
                    [seconds as u64, nanos.into()]
                })
            }

            #[inline]
            fn from_words([seconds, nanos]: [u64; 2]) -> Self {
                (seconds as i64, nanos as u32).with_bytes(<Self as BytesKey>::from_bytes)
            }
        }

        $(#[$condition])*
        impl BytesValue for $moment {
            type Form = Words<2>;
        }
    )*};
}
values! {
    #[cfg(feature = "time")]
    time::PrimitiveDateTime;
    #[cfg(feature = "chrono")]
    chrono::DateTime<chrono::Utc>;
    #[cfg(feature = "chrono")]
    chrono::NaiveDateTime;
    #[cfg(feature = "jiff")]
    jiff::Timestamp;
    #[cfg(feature = "jiff")]
    jiff::civil::DateTime;
}

/// With its offset, which a key lacks.
#[cfg(feature = "time")]
impl WideValue<2> for time::OffsetDateTime {
    #[inline]
    fn to_words(self) -> [u64; 2] {
        let local = time::PrimitiveDateTime::new(self.date(), self.time());
        let [seconds, nanos] = local.to_words();
        [seconds, nanos | (self.offset().whole_seconds() as u64) << 32]
    }

    #[inline]
    fn from_words([seconds, low]: [u64; 2]) -> Self {
        let offset = time::UtcOffset::from_whole_seconds((low >> 32) as i32).expect(STORED);
        time::PrimitiveDateTime::from_words([seconds, low & u64::from(u32::MAX)]).assume_offset(offset)
    }
}

#[cfg(feature = "time")]
impl BytesValue for time::OffsetDateTime {
    type Form = Words<2>;
}

#[cfg(test)]
mod tests;
