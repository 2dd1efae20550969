//! Times and dates keep the order of their crates and come back, at every end and before 1970.

use crate::base::bytes_key::BytesKey;
use crate::base::bytes_value::WideValue;
use crate::base::key::Key;
use crate::base::value::Value;
use crate::testing::{bytes_are_lawful, ordered_and_itself, random_cases};
use core::fmt::Debug;
use proptest::prelude::*;

/// Checks two moments as keys and as values.
fn moments<M: BytesKey + WideValue<2> + Ord + Debug>(a: M, b: M) {
    bytes_are_lawful(&a, &b, a.cmp(&b));
    bytes_are_lawful(&(Some(a), 7u8), &(Some(b), 3u8), (a, 7).cmp(&(b, 3)));
    for moment in [a, b] {
        assert_eq!(M::from_words(moment.to_words()), moment);
    }
}

/// Checks two dates as keys in words and of bytes, and as values.
fn dates<D: Key + BytesKey + Value + Ord>(a: D, b: D) {
    ordered_and_itself(a, b);
    bytes_are_lawful(&a, &b, a.cmp(&b));
    for date in [a, b] {
        assert_eq!(<D as Value>::decode(Value::encode(date)), date);
    }
}

/// Seconds that are far apart, near each other, or on both sides of an epoch.
fn seconds() -> impl Strategy<Value = (i64, i64)> {
    let far = -370_000_000_000..250_000_000_000i64;
    (
        prop_oneof![far, -2..3i64, -90_000..90_000i64],
        prop_oneof![-2..3i64, -100_000..100_000i64, Just(86_400)],
    )
        .prop_map(|(one, apart)| (one, one + apart))
}

fn nanos() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(999_999_999), 0..1_000_000_000u32]
}

proptest! {
    #![proptest_config(random_cases(512))]

    #[test]
    #[cfg(feature = "time")]
    fn of_time((a, b) in seconds(), x in nanos(), y in nanos(), offset in -93_599..93_600i32) {
        let offset = time::UtcOffset::from_whole_seconds(offset).unwrap();
        let moment = |second, nanos| {
            time::OffsetDateTime::from_unix_timestamp(second).unwrap().replace_nanosecond(nanos).unwrap()
        };
        let (a, b) = (moment(a, x), moment(b, y));
        let local = |moment: time::OffsetDateTime| time::PrimitiveDateTime::new(moment.date(), moment.time());
        moments(a, b.replace_offset(offset));
        moments(local(a), local(b));
        dates(a.date(), b.date());
        let kept = time::OffsetDateTime::from_words(a.replace_offset(offset).to_words());
        prop_assert_eq!((kept, kept.offset()), (a.replace_offset(offset), offset));
        prop_assert_eq!(a.with_bytes(<[u8]>::to_vec), a.to_offset(offset).with_bytes(<[u8]>::to_vec));
    }

    #[test]
    #[cfg(feature = "chrono")]
    fn of_chrono((a, b) in seconds(), x in nanos(), y in nanos(), leap: bool) {
        use chrono::Timelike;
        let moment = |second, nanos| {
            let moment = chrono::DateTime::from_timestamp(second, 0).unwrap();
            // A leap second has more than a billion nanoseconds; this crate takes one of any minute.
            moment.with_nanosecond(if leap { nanos + 1_000_000_000 } else { nanos }).unwrap()
        };
        let (a, b) = (moment(a, x), moment(b, y));
        moments(a, b);
        moments(a.naive_utc(), b.naive_utc());
        dates(a.date_naive(), b.date_naive());
    }

    #[test]
    #[cfg(feature = "jiff")]
    fn of_jiff((a, b) in seconds(), x in nanos(), y in nanos()) {
        let moment = |second: i64, nanos: u32| {
            jiff::Timestamp::from_nanosecond(i128::from(second) * 1_000_000_000 + i128::from(nanos)).unwrap()
        };
        let (a, b) = (moment(a, x), moment(b, y));
        moments(a, b);
        let [a, b] = [a, b].map(|moment| jiff::tz::TimeZone::UTC.to_datetime(moment));
        moments(a, b);
        dates(a.date(), b.date());
    }
}

#[test]
#[cfg(feature = "time")]
fn the_last_hours_of_time_come_back_from_any_offset() {
    let [west, east] = [-93_599, 93_599].map(|offset| time::UtcOffset::from_whole_seconds(offset).unwrap());
    let last = time::PrimitiveDateTime::MAX.assume_offset(west);
    let first = time::PrimitiveDateTime::MIN.assume_offset(east);
    moments(last, first);
    moments(time::PrimitiveDateTime::MIN, time::PrimitiveDateTime::MAX);
    dates(time::Date::MIN, time::Date::MAX);
    assert!(!time::Date::is_key(&[0; 4]) && !time::Date::is_key(&[0x80; 3]));
    assert!(!time::OffsetDateTime::is_key(&[0xff; 12]) && !time::OffsetDateTime::is_key(&[0x80; 11]));
}

#[test]
#[cfg(feature = "chrono")]
fn the_ends_of_chrono() {
    moments(chrono::DateTime::<chrono::Utc>::MIN_UTC, chrono::DateTime::<chrono::Utc>::MAX_UTC);
    moments(chrono::NaiveDateTime::MIN, chrono::NaiveDateTime::MAX);
    dates(chrono::NaiveDate::MIN, chrono::NaiveDate::MAX);
    assert!(!chrono::NaiveDate::is_key(&[0; 4]));
    assert!(!chrono::NaiveDateTime::is_key(&[0xff; 12]) && !chrono::NaiveDateTime::is_key(&[0; 12]));
}

#[test]
#[cfg(feature = "jiff")]
fn the_ends_of_jiff() {
    moments(jiff::Timestamp::MIN, jiff::Timestamp::MAX);
    moments(jiff::civil::DateTime::MIN, jiff::civil::DateTime::MAX);
    dates(jiff::civil::Date::MIN, jiff::civil::Date::MAX);
    assert!(!jiff::civil::Date::is_key(&[0x80, 0, 0, 0]), "there is no month 0");
    assert!(!jiff::Timestamp::is_key(&[0xff; 12]) && !jiff::civil::DateTime::is_key(&[0x80; 12]));
}
