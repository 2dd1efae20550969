//! The nearest entries in an index of byte strings: all forms of keys and kinds of values, with and without
//! prediction tables, against a `BTreeMap`.

use latchless::bytes::{ByteStrings, Lent};
use latchless::index::Options;
use latchless::{BytesKey, BytesValue};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// Enough for predictions by position.
const KEYS: u64 = if cfg!(miri) { 150 } else { 40_000 };
/// The number of keys that are searched each time.
const ASKED: u64 = if cfg!(miri) { 20 } else { 2_000 };

/// Returns a number that looks random, and is different for each argument.
fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn bytes_of<K: BytesKey>(key: &K) -> Vec<u8> {
    key.with_bytes(<[u8]>::to_vec)
}

type Model = BTreeMap<Vec<u8>, u64>;

/// Returns the entries before a key, at or before it, at or after it, and after it in the model.
fn expected(model: &Model, key: &[u8]) -> [Option<(Vec<u8>, u64)>; 4] {
    let before = |end| model.range::<[u8], _>((Unbounded, end)).next_back();
    let after = |start| model.range::<[u8], _>((start, Unbounded)).next();
    let (lower, floor) = (before(Excluded(key)), before(Included(key)));
    let (ceiling, higher) = (after(Included(key)), after(Excluded(key)));
    [lower, floor, ceiling, higher].map(|found| found.map(|(key, &value)| (key.clone(), value)))
}

/// Returns the number of a value.
type Number<V> = fn(Lent<'_, V>) -> u64;

/// Checks the neighbours of an index.
fn check<K: BytesKey, V: BytesValue>(
    index: &ByteStrings<K, V>,
    model: &Model,
    (key, number): (&dyn Fn(u64) -> K, Number<V>),
) {
    let lent = |key: &[u8], value: Lent<'_, V>| (key.to_vec(), number(value));
    for nth in 0..ASKED {
        let key = key(scattered(nth) % (2 * KEYS));
        let owned = [index.lower(&key), index.floor(&key), index.ceiling(&key), index.higher(&key)];
        let shown = [
            index.lower_with(&key, lent),
            index.floor_with(&key, lent),
            index.ceiling_with(&key, lent),
            index.higher_with(&key, lent),
        ];
        let expected = expected(model, &bytes_of(&key));
        assert_eq!(shown, expected, "{:?}", bytes_of(&key));
        let keys = owned.map(|found| found.map(|(key, _)| bytes_of(&key)));
        assert_eq!(keys, expected.map(|found| found.map(|(key, _)| key)));
    }
    let ends = [model.first_key_value(), model.last_key_value()];
    let ends = ends.map(|found| found.map(|(key, &value)| (key.clone(), value)));
    for _ in 0..2 {
        assert_eq!([index.first_with(lent), index.last_with(lent)], ends);
        let owned = [index.first(), index.last()].map(|found| found.map(|(key, _)| bytes_of(&key)));
        assert_eq!(owned, ends.clone().map(|found| found.map(|(key, _)| key)));
    }
}

/// Inserts every second key; removes long runs, so that leaves are passed; removes the ends; and empties the
/// index.
fn like_a_map<K: BytesKey, V: BytesValue>(
    key: impl Fn(u64) -> K,
    (put, number): (impl Fn(&ByteStrings<K, V>, &K, u64), Number<V>),
) {
    let options = Options { huge_pages: false, ..Options::default() };
    let index = ByteStrings::<K, V>::with_options(options).expect("a leaf finds room");
    let (mut model, ask) = (Model::new(), (&key as &dyn Fn(u64) -> K, number));
    check(&index, &model, ask);
    for nth in (0..2 * KEYS).step_by(2) {
        put(&index, &key(nth), nth);
        model.insert(bytes_of(&key(nth)), nth);
    }
    check(&index, &model, ask);
    let all: Vec<Vec<u8>> = model.keys().cloned().collect();
    let mut remove = |those: &[Vec<u8>]| {
        for bytes in those {
            assert!(index.remove(&K::from_bytes(bytes)).is_some());
            model.remove(bytes);
        }
        check(&index, &model, ask);
    };
    let (third, all_but_one) = (all.len() / 3, all.len() - 1);
    remove(&all[third..2 * third]);
    remove(&all[..third]);
    remove(&all[2 * third..all_but_one]);
    remove(&all[all_but_one..]);
    index.check_invariants().expect("a whole index");
}

fn put_word<K: BytesKey>(index: &ByteStrings<K, u64>, key: &K, nth: u64) {
    assert_eq!(index.insert(key, nth), Ok(None));
}

/// Inserts a word, for keys of which two may be equal. See `put_word`.
fn put_word_if_new<K: BytesKey>(index: &ByteStrings<K, u64>, key: &K, nth: u64) {
    index.insert(key, nth).expect("room");
}

/// Returns keys of up to 500 bytes, some of which are long and share a prefix.
fn uneven(number: u64) -> Vec<u8> {
    let after =
        if number.is_multiple_of(50) { 100 + (number % 400) as usize } else { (number % 13) as usize };
    [format!("key/{}/", number % 7).into_bytes(), number.to_be_bytes().to_vec(), vec![b'.'; after]].concat()
}

#[test]
fn neighbours_of_numbers_are_those_of_a_map() {
    like_a_map(scattered, (put_word, |value| value));
    like_a_map(|nth| i64::MAX.wrapping_sub_unsigned(nth), (put_word, |value| value));
    let both = |nth: u64| {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&scattered(nth).to_be_bytes());
        key[8..].copy_from_slice(&nth.to_be_bytes());
        key
    };
    like_a_map(both, (put_word, |value| value));
}

#[test]
fn neighbours_of_texts_and_byte_strings_are_those_of_a_map() {
    like_a_map(|nth| format!("{:012}", scattered(nth) % 1_000_000_000_000), (put_word_if_new, |value| value));
    like_a_map(uneven, (put_word, |value| value));
}

#[test]
fn neighbours_of_tuples_are_those_of_a_map() {
    like_a_map(|nth| ("x".to_owned(), Reverse(nth)), (put_word, |value| value));
    like_a_map(|nth| ("x".to_owned(), nth), (put_word, |value| value));
    let of_users = |nth: u64| (format!("user{:08}", scattered(nth / 4) >> 38), Reverse(nth));
    like_a_map(of_users, (put_word, |value| value));
}

#[test]
fn neighbours_with_values_of_any_kind_are_those_of_a_map() {
    let key = |nth: u64| ("x".to_owned(), Reverse(nth));
    like_a_map(
        key,
        (
            |index: &ByteStrings<_, (u64, u64)>, key: &_, nth| {
                assert_eq!(index.insert(key, (nth, !nth)), Ok(None));
            },
            |(own, other)| if own == !other { own } else { u64::MAX },
        ),
    );
    // Next to their keys, and some outside.
    like_a_map(
        key,
        (
            |index: &ByteStrings<_, Vec<u8>>, key: &_, nth: u64| {
                let value = nth.to_be_bytes().repeat(if nth.is_multiple_of(64) { 40 } else { 4 });
                assert_eq!(index.insert(key, &value), Ok(None));
            },
            |value| value.first_chunk().map_or(u64::MAX, |own| u64::from_be_bytes(*own)),
        ),
    );
}
