//! Versions in the keys of an index, with each kind of value: their order, and the newest ones, against a
//! `BTreeMap`.

use latchless::index::Options;
use latchless::{BytesKey, Index, VersionedKey};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

type Key = VersionedKey<Vec<u8>>;
type Model = BTreeMap<Key, u64>;

/// Enough for predictions by position and by hash.
const KEYS: u64 = if cfg!(miri) { 100 } else { 45_000 };

fn options() -> Options {
    Options { huge_pages: false, ..Options::default() }
}

fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn borrowed(key: &Key) -> VersionedKey<&[u8]> {
    VersionedKey(&key.0, key.1)
}

/// Returns the newest version in the model.
fn newest(model: &Model, key: &[u8], number: u64) -> Option<(u64, u64)> {
    let (found, &value) = model.range(VersionedKey(key.to_vec(), number)..).next()?;
    (found.0 == key).then_some((found.1, value))
}

/// Keys of this kind, each with the number of one of its versions.
fn keys(kind: &str, most: u64) -> Vec<Key> {
    let key = |number: u64| match kind {
        "one key" => (b"hot".to_vec(), number),
        "numbers" => (scattered(number / 2).to_be_bytes().to_vec(), scattered(number) >> (number % 64)),
        "texts" => {
            let id = scattered(number / 3);
            (format!("customer/{:04}/order/{:x}", id % 5000, id >> 40).into_bytes(), number % 3 * 300)
        }
        "zeros" => (vec![0; (number / 8 % 300) as usize], scattered(number)),
        "prefixes" => (vec![b'a'; (number / 8 % 300) as usize], number),
        "long" => ([&vec![7; 250][..], &number.to_be_bytes()[6..]].concat(), number >> 9),
        _ => unreachable!("{kind}"),
    };
    (0..if ["one key", "numbers", "texts"].contains(&kind) { most } else { most.min(KEYS / 8) })
        .map(|number| VersionedKey(key(number).0, key(number).1))
        .collect()
}

const KINDS: [&str; 6] = ["one key", "numbers", "texts", "zeros", "prefixes", "long"];

/// What is done with an index, and with the model.
#[derive(Debug, Clone)]
enum Step {
    Insert(Key, u64),
    Remove(Key),
    Newest(Key),
}

fn any_key() -> impl Strategy<Value = Key> {
    let byte = || prop::sample::select(vec![0u8, 0, 0, 1, 9, 127, 128, 0xff]);
    let lengths = prop::sample::select(vec![0usize, 0, 0, 0, 0, 0, 1, 1, 13, 14, 14, 130, 300, 65_000]);
    let key = (lengths, byte(), prop::collection::vec(byte(), 0..4))
        .prop_map(|(len, byte, rest)| [vec![byte.max(u8::from(len > 300)); len], rest].concat());
    let number = prop::sample::select(vec![
        0,
        1,
        2,
        255,
        256,
        65_535,
        65_536,
        1 << 55,
        1 << 56,
        u64::MAX - 1,
        u64::MAX,
    ]);
    (key, number).prop_map(|(key, number)| VersionedKey(key, number))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (any_key(), 0..9u64).prop_map(|(key, what)| match what {
        0..5 => Step::Insert(key, what),
        5 => Step::Remove(key),
        _ => Step::Newest(key),
    });
    prop::collection::vec(step, 1..if cfg!(miri) { 20 } else { 100 })
}

/// The checks with values of one type: the most keys, and how values are made of numbers, and back.
macro_rules! checked {
    ($($name:ident: $value:ty, $most:expr, $of:expr, $number:expr;)*) => {$(
        mod $name {
            use super::*;

            type Values = Index<Key, $value>;

            fn of(number: u64) -> $value {
                let of: fn(u64) -> $value = $of;
                of(number)
            }

            fn number(value: &$value) -> u64 {
                let number: fn(&$value) -> u64 = $number;
                number(value)
            }

            fn insert(index: &Values, key: &Key, value: u64) -> Option<u64> {
                let mut replaced = [None];
                index.insert_many(&[(borrowed(key), of(value))], &mut replaced).unwrap();
                replaced[0].as_ref().map(number)
            }

            fn check_newest(index: &Values, model: &Model, keys: &[VersionedKey<&[u8]>]) {
                let mut answers = vec![None; keys.len()];
                index.newest_many(keys, &mut answers).unwrap();
                for (&VersionedKey(key, at), answer) in keys.iter().zip(answers) {
                    let expected = newest(model, key, at);
                    let own = |(found, value): (u64, $value)| (found, number(&value));
                    assert_eq!(index.newest(key, at).map(own), expected, "{key:?} {at}");
                    assert_eq!(answer.map(own), expected, "{key:?} {at}, in a batch");
                    let lent = index.newest_with(key, at, |found, _| found);
                    assert_eq!(lent, expected.map(|(found, _)| found));
                }
            }

            fn check_all(index: &Values, model: &Model) {
                index.check_invariants().unwrap();
                let own = |(key, value): (Key, $value)| (key, number(&value));
                assert!(index.iter().map(own).eq(model.iter().map(|(key, &value)| (key.clone(), value))));
                let mut seen = model.keys();
                let _ = index.scan(.., |key, _| {
                    assert_eq!(Some(&key), seen.next());
                    ControlFlow::Continue(())
                });
                let ends = [index.first_with(|key, _| Key::from_bytes(key)), index.last_with(|key, _| Key::from_bytes(key))];
                assert_eq!(ends, [model.keys().next().cloned(), model.keys().next_back().cloned()]);
            }

            #[test]
            fn every_kind_of_keys_with_and_without_predictions() {
                for kind in KINDS {
                    let (index, mut model, keys) = (Values::with_options(options()).unwrap(), Model::new(), keys(kind, $most));
                    for (at, key) in keys.iter().enumerate() {
                        assert_eq!(insert(&index, key, at as u64), model.insert(key.clone(), at as u64), "{kind}");
                    }
                    let asked: Vec<_> = keys.iter().step_by(3).enumerate().map(|(at, key)| {
                        let off = [0, 1, u64::MAX - key.1, key.1.wrapping_neg() / 2][at % 4];
                        VersionedKey(&key.0[..key.0.len() - usize::from(at % 16 == 0 && !key.0.is_empty())], key.1.saturating_add(off))
                    }).collect();
                    // Once to learn, then by predictions.
                    for _ in 0..3 {
                        check_newest(&index, &model, &asked);
                    }
                    for key in keys.iter().step_by(2) {
                        assert_eq!(index.remove(borrowed(key)).is_some(), model.remove(key).is_some());
                    }
                    check_newest(&index, &model, &asked);
                    check_all(&index, &model);
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 40 }, failure_persistence: None, ..Default::default() })]

                #[test]
                fn any_steps(steps in steps()) {
                    let (index, mut model) = (Values::with_options(options()).unwrap(), Model::new());
                    for step in steps {
                        match step {
                            Step::Insert(key, value) => {
                                prop_assert_eq!(insert(&index, &key, value), model.insert(key, value));
                            }
                            Step::Remove(key) => {
                                let removed = index.remove(borrowed(&key)).as_ref().map(number);
                                prop_assert_eq!(removed, model.remove(&key));
                            }
                            Step::Newest(key) => {
                                check_newest(&index, &model, &[borrowed(&key), VersionedKey(&key.0, u64::MAX)]);
                                prop_assert_eq!(
                                    index.ceiling_with(borrowed(&key), |key, _| Key::from_bytes(key)),
                                    model.range(&key..).next().map(|(found, _)| found.clone())
                                );
                                prop_assert_eq!(
                                    index.lower_with(borrowed(&key), |key, _| Key::from_bytes(key)),
                                    model.range(..&key).next_back().map(|(found, _)| found.clone())
                                );
                            }
                        }
                    }
                    check_all(&index, &model);
                    let asked: Vec<_> = model.keys().map(borrowed).collect();
                    check_newest(&index, &model, &asked);
                }
            }
        }
    )*};
}

checked! {
    words: u64, KEYS, |number| number, |&value| value;
    strings: Vec<u8>, KEYS / 4,
        |number| [&vec![1; number as usize % 300][..], &number.to_le_bytes()].concat(),
        |value| u64::from_le_bytes(*value.last_chunk().unwrap());
    handles: Arc<u64>, KEYS / 8, Arc::new, |value| **value;
}

#[test]
fn the_newest_version_never_goes_back() {
    let (index, done) =
        (Index::<VersionedKey<String>, u64>::with_options(options()).unwrap(), AtomicBool::new(false));
    let (names, versions) = (["a", "aa", "b"], if cfg!(miri) { 50 } else { 20_000 });
    names.iter().for_each(|name| _ = index.insert(VersionedKey(name, 0), 0).unwrap());
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for version in 1..versions {
                for name in names {
                    index.insert(VersionedKey(name, version), version).unwrap();
                    // One version remains, or two.
                    assert!(index.remove(VersionedKey(name, version - 1)).is_some());
                }
            }
            done.store(true, Ordering::Release);
        });
        threads.spawn(|| {
            let mut last = [0; 3];
            while !done.load(Ordering::Acquire) {
                let mut answers = [None; 3];
                index.newest_many(&names.map(|name| VersionedKey(name, u64::MAX)), &mut answers).unwrap();
                for (at, name) in names.into_iter().enumerate() {
                    for answer in [answers[at], index.newest(name, u64::MAX)] {
                        let (number, value) = answer.expect("a version is present at each moment");
                        assert!(number == value && number >= last[at]);
                        last[at] = number;
                    }
                }
            }
        });
    });
}

#[test]
fn keys_of_other_types_and_refused_buffers() {
    let index: Index<VersionedKey<(u32, String)>, u8> =
        [(VersionedKey((7, "a".to_owned()), 3), 1), (VersionedKey((7, "a".to_owned()), 5), 2)].into();
    assert_eq!((index.newest((7, "a"), 4), index.newest((7, ""), 4)), (Some((3, 1)), None));
    assert_eq!(index.ceiling(VersionedKey((7, "a"), 9)).map(|(key, _)| key.1), Some(5));
    let error = index.newest_many(&[VersionedKey((7, "a"), 9)], &mut []);
    assert!(matches!(error, Err(latchless::Error::UnequalBuffers { .. })), "{error:?}");
}
