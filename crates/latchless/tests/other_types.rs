//! Keys and values of other crates' types, and strings in other containers, in an `Index` against `BTreeMap`.

use latchless::{FillFactor, IndexValue, KeyFor};
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Inserts and removes the keys of numbers at random, and compares all answers.
fn agrees<K, V>(
    key: impl Fn(u64) -> K,
    value: impl Fn(u64) -> V,
    probe: impl for<'q> Fn(&'q K) -> K::Probe<'q> + Sync,
    given: impl for<'v> Fn(&'v V) -> V::Given<'v> + Sync,
) where
    K: KeyFor<V> + Ord + Clone + Debug + Sync,
    V: IndexValue + PartialEq + Debug,
{
    let (index, mut model) = (latchless::Index::<K, V>::new().unwrap(), BTreeMap::new());
    let mut rng = Rng(48);
    for step in 0..if cfg!(miri) { 50 } else { 1_000 } {
        let (own, new) = (key(rng.below(150)), value(step));
        if rng.below(3) == 0 {
            assert_eq!(index.remove(probe(&own)), model.remove(&own));
        } else {
            assert_eq!(index.insert(probe(&own), given(&new)), Ok(model.insert(own.clone(), new)));
        }
        let there = key(rng.below(150));
        assert_eq!(index.get(probe(&there)), model.get(&there).cloned());
        let below = model.range(..&there).next_back().map(|(key, value)| (key.clone(), value.clone()));
        assert_eq!(index.lower(probe(&there)), below);
    }
    index.check_invariants().unwrap();
    assert!(index.iter().eq(model.iter().map(|(key, value)| (key.clone(), value.clone()))));
    assert!(index.keys().rev().eq(model.keys().rev().cloned()));

    // More keys than a batch takes at once.
    let keys: Vec<K> = (0..150).map(key).collect();
    let (probes, mut seen): (Vec<_>, _) = (keys.iter().map(&probe).collect(), Vec::new());
    index.get_each(&probes, |at, value| seen.push((at, value.is_some())));
    assert!(seen.into_iter().eq(keys.iter().map(|key| model.contains_key(key)).enumerate()));
    let entries: Vec<(K, V)> = index.iter().collect();
    let (mut loaded, threads) = (latchless::Index::<K, V>::new().unwrap(), NonZeroUsize::MIN);
    let entry_at = |at: usize| (probe(&entries[at].0), given(&entries[at].1));
    loaded.bulk_load_by(entries.len(), entry_at, FillFactor::FULL, threads).unwrap();
    assert!(loaded.iter().eq(entries.iter().cloned()));
}

fn same<T: Copy>(it: &T) -> T {
    *it
}

/// Prefixes of one another, with zero bytes.
fn text(number: u64) -> String {
    "\0a".repeat(number as usize / 5) + &"b".repeat(number as usize % 5)
}

#[test]
fn strings_in_boxes_and_arcs() {
    agrees::<Arc<str>, u64>(|number| text(number).into(), |value| value, |key| key, same);
    agrees::<Box<str>, Box<[u8]>>(
        |number| text(number).into(),
        |value| text(value % 100).into_bytes().into(),
        |key| key,
        |value| value,
    );
    agrees::<Arc<[u8]>, Box<str>>(
        |number| text(number).into_bytes().into(),
        |value| text(value % 100).into(),
        |key| key,
        |value| value,
    );
    agrees::<Box<[u8]>, Arc<str>>(
        |number| text(number).into_bytes().into(),
        |value| text(value % 100).into(),
        |key| key,
        Arc::clone,
    );
    agrees::<bytes::Bytes, bytes::Bytes>(
        |number| text(number).into(),
        |value| text(value % 100).into(),
        |key| key,
        |value| value,
    );
    agrees::<(Arc<str>, i8), u8>(
        |number| (text(number / 3).into(), number as i8),
        |value| value as u8,
        |key| (&key.0, key.1),
        same,
    );
    let names = latchless::Index::<Arc<str>, u64>::from([("seven".into(), 7)]);
    assert_eq!((names.get("seven"), names.range("s".."t").count()), (Some(7), 1));
}

#[test]
fn wide_integers() {
    let wide = |number: u64| [number / 50, u64::MAX - number / 10, 0, number.wrapping_sub(75)];
    agrees::<[u64; 4], [u64; 4]>(wide, wide, same, same);
    agrees::<Option<[i32; 3]>, ()>(
        |number| (number > 3).then_some([number as i32 / 9 - 8, 5, 75 - number as i32]),
        |_| (),
        same,
        same,
    );
}

#[test]
fn times_before_and_after_1970() {
    let second = |number: u64| (number as i64 - 75) * 40_000;
    let nanos = |number: u64| number as u32 % 3 * 499_999_999;
    let time = |number| {
        let moment = time::OffsetDateTime::from_unix_timestamp(second(number)).unwrap();
        moment.replace_nanosecond(nanos(number)).unwrap()
    };
    let local = |number| time::PrimitiveDateTime::new(time(number).date(), time(number).time());
    agrees::<time::OffsetDateTime, time::OffsetDateTime>(time, time, same, same);
    agrees::<time::PrimitiveDateTime, time::Date>(local, |value| time(value % 100).date(), same, same);
    agrees::<time::Date, time::PrimitiveDateTime>(|number| time(number).date(), local, same, same);
    let chrono = |number| chrono::DateTime::from_timestamp(second(number), nanos(number)).unwrap();
    let naive = |number| chrono(number).naive_utc();
    agrees::<chrono::DateTime<chrono::Utc>, chrono::NaiveDate>(
        chrono,
        |value| chrono(value % 100).date_naive(),
        same,
        same,
    );
    agrees::<chrono::NaiveDateTime, chrono::DateTime<chrono::Utc>>(naive, chrono, same, same);
    agrees::<Option<chrono::NaiveDate>, chrono::NaiveDateTime>(
        |number| (number > 5).then(|| chrono(number).date_naive()),
        naive,
        same,
        same,
    );
    let jiff = |number| jiff::Timestamp::new(second(number), nanos(number) as i32).unwrap();
    let civil = |number| jiff::tz::TimeZone::UTC.to_datetime(jiff(number));
    agrees::<jiff::Timestamp, jiff::civil::Date>(jiff, |value| civil(value % 100).date(), same, same);
    agrees::<jiff::civil::DateTime, jiff::Timestamp>(civil, jiff, same, same);
    agrees::<(jiff::civil::Date, u32), jiff::civil::DateTime>(
        |number| (civil(number).date(), number as u32 % 4),
        civil,
        same,
        same,
    );
}
