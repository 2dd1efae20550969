//! Concurrent threads: no reader sees a partly written value.

use super::{bytes, empty, length};
use latchless::bytes::ByteStrings;
use latchless_core::testing::Rng;
use std::ops::ControlFlow::Continue;
use std::sync::atomic::{AtomicBool, Ordering};

const KEYS: u64 = 60;
const ROUNDS: u64 = if cfg!(miri) { 30 } else { 20_000 };

fn key_of(number: u64) -> Vec<u8> {
    super::key_of(number * 7)
}

/// Returns the value of a number: the number, and bytes that depend on it and on the length.
fn value_of(number: u64, len: usize) -> Vec<u8> {
    [&number.to_be_bytes()[..], &bytes(number, len)].concat()
}

fn check(value: &[u8]) {
    let number = u64::from_be_bytes(*value.first_chunk().expect("a value begins with its number"));
    assert!(value == value_of(number, value.len() - 8), "a value of {} bytes isn't whole", value.len());
}

/// Reads in every way until the test is over.
fn read(index: &ByteStrings<Vec<u8>, Vec<u8>>, is_over: &AtomicBool, mut random: Rng) {
    while !is_over.load(Ordering::Relaxed) {
        let key = key_of(random.below(KEYS));
        match random.below(8) {
            0..4 => _ = index.get_with(&key, check),
            4 => index.get_all(&[key, key_of(1), key_of(2)]).iter().flatten().for_each(|value| check(value)),
            5 => index.ceiling(&key).iter().for_each(|(_, value)| check(value)),
            6 => {
                let mut last = None;
                let _ = index.scan::<Vec<u8>>(.., |key, value| {
                    check(value);
                    assert!(last.as_deref() < Some(key), "keys don't ascend");
                    last = Some(key.to_vec());
                    Continue(())
                });
            }
            _ => {
                let mut cursor = index.cursor();
                let mut found = cursor.seek(&key);
                while let Some((_, value)) = found {
                    check(value);
                    found = if random.below(4) > 0 { cursor.next() } else { cursor.prev() };
                    found = found.filter(|_| random.below(16) > 0);
                }
            }
        }
    }
}

fn write(index: &ByteStrings<Vec<u8>, Vec<u8>>, mut random: Rng) {
    for _ in 0..ROUNDS {
        let key = key_of(random.below(KEYS));
        let value = value_of(random.next(), length(random.next()));
        match random.below(8) {
            0..4 => index.insert(&key, &value).unwrap().iter().for_each(|before| check(before)),
            4 => {
                let before = index.upsert(&key, |before| {
                    before.into_iter().for_each(check);
                    value.clone()
                });
                before.unwrap().iter().for_each(|before| check(before));
            }
            5 => {
                let expected = index.get(&key).unwrap_or_default();
                match index.try_compare_exchange(&key, &expected, &value).unwrap() {
                    Ok(before) => assert!(before == expected),
                    Err(before) => assert!(before.as_ref() != Some(&expected)),
                }
            }
            6 => index.pop_first().iter().for_each(|(_, value)| check(value)),
            _ => index.remove(&key).iter().for_each(|before| check(before)),
        }
    }
}

#[test]
fn readers_see_whole_values() {
    let (index, is_over) = (empty::<Vec<u8>>(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for own in 0..2 {
            let (index, is_over) = (&index, &is_over);
            scope.spawn(move || read(index, is_over, Rng(own + 10)));
        }
        let writers: Vec<_> = (0..2)
            .map(|own| {
                let index = &index;
                scope.spawn(move || write(index, Rng(own + 1)))
            })
            .collect();
        let outcomes: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    });
    index.check_invariants().unwrap();
    index.iter().for_each(|(_, value)| check(&value));
}

/// A value of eight words, all of which are the same number.
#[test]
fn readers_see_all_words_of_one_value() {
    let (index, is_over) = (empty::<[u64; 8]>(), AtomicBool::new(false));
    let is_whole = |value: [u64; 8]| assert!(value.iter().all(|word| *word == value[0]), "{value:?}");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Rng(1);
            while !is_over.load(Ordering::Relaxed) {
                _ = index.get_with(&key_of(random.below(KEYS)), is_whole);
                if random.below(32) == 0 {
                    index.iter().for_each(|(_, value)| is_whole(value));
                }
            }
        });
        let mut random = Rng(2);
        for number in 0..ROUNDS {
            let key = key_of(random.below(KEYS));
            if random.below(8) == 0 {
                index.remove(&key).into_iter().for_each(is_whole);
            } else {
                index.insert(&key, [number; 8]).unwrap().into_iter().for_each(is_whole);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    index.check_invariants().unwrap();
}

/// Each thread increments every counter; the value is long, and all its words are the count.
#[test]
fn no_update_is_lost() {
    const THREADS: u64 = 3;
    let rounds: u64 = if cfg!(miri) { 3 } else { 200 };
    let index = empty::<Vec<u8>>();
    let count = |value: &[u8]| u64::from_be_bytes(*value.first_chunk().unwrap());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..rounds {
                    for number in 0..5 {
                        let next = |before: Option<&[u8]>| {
                            let own = before.map_or(0, count) + 1;
                            value_of(own, length(own + number + round % 2))
                        };
                        index.upsert(&key_of(number), next).unwrap();
                    }
                }
            });
        }
    });
    for number in 0..5 {
        assert_eq!(index.get_with(&key_of(number), count), Some(THREADS * rounds));
    }
    index.check_invariants().unwrap();
}
