//! Every operation of an index, against a `BTreeMap`.

use super::{Numbered, bytes, empty, key_of, length, options};
use latchless::bytes::ByteStrings;
use latchless::{Error, FillFactor, TryInsertError};
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::ops::ControlFlow::{self, Continue};

type Model<V> = BTreeMap<Vec<u8>, V>;
type Index<V> = ByteStrings<Vec<u8>, V>;

const ROUNDS: u64 = if cfg!(miri) { 60 } else { 6_000 };
const KEYS: u64 = if cfg!(miri) { 30 } else { 700 };

/// Applies one operation on a key to the index and to the model.
fn edit<V: Numbered>(index: &Index<V>, model: &mut Model<V>, random: &mut Rng, grows: bool) {
    let key = key_of(random.below(KEYS));
    let value = V::of(random.next(), length(random.next()));
    let expected = model.get(&key).cloned();
    assert_eq!(index.get(&key), expected);
    assert_eq!(index.get_with(&key, |lent| V::own(lent)), expected);
    match random.below(if grows { 9 } else { 14 }) {
        0..3 => {
            assert_eq!(index.insert(&key, value.lend()).unwrap(), expected);
            model.insert(key, value);
        }
        3 => match index.try_insert(&key, value.clone()) {
            Ok(()) => assert_eq!(model.insert(key, value), None),
            Err(TryInsertError::Present { present, value: back }) => {
                assert_eq!((Some(present), back), (expected, value));
            }
            Err(TryInsertError::Refused { error, .. }) => panic!("{error}"),
        },
        4 => {
            assert_eq!(index.try_replace(&key, value.lend()).unwrap(), expected);
            model.entry(key).and_modify(|own| *own = value);
        }
        5 => {
            let wanted = if random.below(3) == 0 { V::of(1, 300) } else { V::of(random.next(), 9) };
            let told = expected.clone().filter(|_| random.below(4) > 0).unwrap_or(wanted);
            let outcome = index.try_compare_exchange(&key, told.lend(), value.lend()).unwrap();
            if expected.as_ref() == Some(&told) {
                assert_eq!(outcome, Ok(told));
                model.insert(key, value);
            } else {
                assert_eq!(outcome, Err(expected));
            }
        }
        6 => {
            assert_eq!(index.upsert(&key, |_| value.clone()).unwrap(), expected);
            model.insert(key, value);
        }
        7 => {
            assert_eq!(index.update(&key, |_| value.clone()).unwrap(), expected);
            model.entry(key).and_modify(|own| *own = value);
        }
        8 => {
            let told = if random.below(2) == 0 { expected.clone().unwrap_or(value) } else { value };
            let outcome = index.compare_remove(&key, told.lend());
            if expected.as_ref() == Some(&told) {
                assert_eq!(outcome, Ok(told));
                model.remove(&key);
            } else {
                assert_eq!(outcome, Err(expected));
            }
        }
        _ => {
            assert_eq!(index.remove(&key), expected);
            model.remove(&key);
        }
    }
}

/// Compares ranges from both ends, cursors and neighbours.
fn compare<V: Numbered>(index: &Index<V>, model: &Model<V>, random: &mut Rng) {
    let owned = |(key, value): (&Vec<u8>, &V)| (key.clone(), value.clone());
    let all: Vec<_> = model.iter().map(owned).collect();
    assert_eq!(index.iter().collect::<Vec<_>>(), all);
    let mut back: Vec<_> = index.iter().rev().collect();
    back.reverse();
    assert_eq!(back, all);
    let low = key_of(random.below(KEYS));
    let from_low: Vec<_> = model.range(low.clone()..).map(owned).collect();
    let mut seen = Vec::new();
    let _: ControlFlow<()> = index.scan::<Vec<u8>>(low.clone().., |key, value| {
        seen.push((key.to_vec(), V::own(value)));
        Continue(())
    });
    assert_eq!(seen, from_low);
    seen.clear();
    let _ = index.scan_back::<Vec<u8>>(low.clone().., |key, value| {
        seen.push((key.to_vec(), V::own(value)));
        Continue(())
    });
    seen.reverse();
    assert_eq!(seen, from_low);
    assert_eq!(index.count::<Vec<u8>>(low.clone()..), from_low.len());
    let mut cursor = index.cursor();
    let mut found = cursor.seek(&low).map(|(key, value)| (key.to_vec(), V::own(value)));
    for entry in &from_low {
        assert_eq!(found.as_ref(), Some(entry));
        found = cursor.next().map(|(key, value)| (key.to_vec(), V::own(value)));
    }
    assert!(found.is_none() && cursor.current().is_none());
    for entry in all.iter().rev() {
        assert_eq!(cursor.prev().map(|(key, value)| (key.to_vec(), V::own(value))).as_ref(), Some(entry));
    }
    let after = (Bound::Excluded(low.clone()), Bound::Unbounded);
    assert_eq!(index.higher(&low), model.range(after).next().map(owned));
    assert_eq!(index.floor(&low), model.range(..=low.clone()).next_back().map(owned));
    assert_eq!((index.first(), index.last()), (all.first().cloned(), all.last().cloned()));
}

fn like_a_map<V: Numbered>() {
    let (mut index, mut model, mut random) = (empty::<V>(), Model::<V>::new(), Rng(1));
    let at_first = index.live_bytes();
    for round in 0..ROUNDS {
        edit(&index, &mut model, &mut random, (round / (ROUNDS / 4)).is_multiple_of(2));
        if round % (ROUNDS / 20) == 0 {
            index.check_invariants().unwrap_or_else(|broken| panic!("round {round}: {broken}"));
            assert_eq!(index.len(), model.len());
            compare(&index, &model, &mut random);
        }
    }
    for round in 0.. {
        let (own, expected) = match round % 2 {
            0 => (index.pop_first(), model.pop_first()),
            _ => (index.pop_last(), model.pop_last()),
        };
        assert_eq!(own, expected);
        if expected.is_none() {
            break;
        }
    }
    index.check_invariants().unwrap();
    let stays = if cfg!(latchless_small_nodes) { 128 << 10 } else { 0 };
    assert!(index.live_bytes() <= at_first + stays, "{} bytes of {at_first}", index.live_bytes());
    index.clear();
    index.check_invariants().unwrap();
}

/// Batches, in which a key may occur twice.
fn batches_like_a_map<V: Numbered>() {
    let (index, mut model, mut random) = (empty::<V>(), Model::<V>::new(), Rng(2));
    for round in 0..if cfg!(miri) { 1 } else { 30 } {
        let entries: Vec<_> = (0..if cfg!(miri) { 10 } else { 100 })
            .map(|_| (key_of(random.below(KEYS)), V::of(random.next(), length(random.next()))))
            .collect();
        let mut replaced = vec![None; entries.len()];
        if round % 2 == 0 {
            index.insert_many(&entries, &mut replaced).unwrap();
            for ((key, value), replaced) in entries.iter().zip(replaced) {
                assert_eq!(model.insert(key.clone(), value.clone()), replaced);
            }
        } else {
            let keys: Vec<_> = entries.iter().map(|(key, _)| &key[..]).collect();
            let values: Vec<_> = entries.iter().map(|(_, value)| V::lend(value)).collect();
            let before = model.len();
            model.extend(entries.iter().cloned());
            assert_eq!(index.insert_columns(&keys, &values), Ok(model.len() - before));
        }
        let keys: Vec<_> = (0..100).map(|_| key_of(random.below(KEYS))).collect();
        let expected: Vec<_> = keys.iter().map(|key| model.get(key).cloned()).collect();
        assert_eq!(index.get_all(&keys), expected);
        let mut shown = Vec::new();
        index.get_each(&keys, |at, found| {
            assert_eq!(at, shown.len());
            shown.push(found.map(V::own));
        });
        assert_eq!(shown, expected);
        if round % 3 == 2 {
            let mut removed = vec![None; keys.len()];
            index.remove_many(&keys, &mut removed).unwrap();
            keys.iter().zip(removed).for_each(|(key, removed)| assert_eq!(model.remove(key), removed));
        }
    }
    index.check_invariants().unwrap();
    let (low, high) = (key_of(5), key_of(13));
    let within: Vec<_> = model.range(low.clone()..high.clone()).map(|(key, _)| key.clone()).collect();
    assert_eq!(index.remove_range(low..high).unwrap(), within.len());
    within.iter().for_each(|key| _ = model.remove(key));
    assert!(index.iter().eq(model));
    index.check_invariants().unwrap();
}

fn loads_like_a_map<V: Numbered>() {
    for (count, fill) in [(0, 1.0), (1, 1.0), (40, 0.5), (KEYS, 1.0), (KEYS, 0.3)] {
        let value = |number: u64| V::of(number, length(number));
        let model: Model<V> = (0..count).map(|number| (key_of(number), value(number))).collect();
        let index = Index::<V>::from_sorted(model.clone(), FillFactor::new(fill).unwrap()).unwrap();
        index.check_invariants().unwrap();
        assert!(index.iter().eq(model.clone()));
        // It grows like any other.
        for number in 0..count / 4 {
            let key = [&key_of(number)[..], b"+"].concat();
            index.insert(&key, value(number + 1).lend()).unwrap();
        }
        index.check_invariants().unwrap();
        assert!(model.iter().all(|(key, value)| index.get(key).as_ref() == Some(value)));
        let collected: Index<V> = model.clone().into_iter().rev().collect();
        assert!(collected.iter().eq(model));
    }
}

macro_rules! of_each_type {
    ($($name:ident: $value:ty;)*) => {$(
        mod $name {
            #[test]
            fn an_index_is_like_a_map() {
                super::like_a_map::<$value>();
            }

            #[test]
            fn batches_are_like_a_map() {
                super::batches_like_a_map::<$value>();
            }

            #[test]
            fn loads_are_like_a_map() {
                super::loads_like_a_map::<$value>();
            }
        }
    )*};
}
of_each_type! {
    one_word: u64;
    array_of_one: [u64; 1];
    two_words: u128;
    pairs: (u64, f64);
    five_words: [u8; 40];
    eight_words: [u64; 8];
    byte_strings: Vec<u8>;
    texts: String;
}

/// Values of one key that grow and shrink: in place, in its leaf, and out of it.
#[test]
fn a_value_becomes_one_of_another_length() {
    let (index, mut random) = (empty::<Vec<u8>>(), Rng(3));
    let neighbours: u64 = if cfg!(miri) { 6 } else { 40 };
    for number in 0..neighbours {
        index.insert(&key_of(number), &bytes(number, 20)).unwrap();
    }
    let key = key_of(neighbours / 2);
    let mut before = index.get(&key).unwrap();
    for _ in 0..if cfg!(miri) { 20 } else { 3_000 } {
        let value = bytes(random.next(), length(random.next()));
        assert_eq!(index.insert(&key, &value).unwrap(), Some(before));
        before = value;
    }
    index.check_invariants().unwrap();
    for number in (0..neighbours).filter(|&number| key_of(number) != key) {
        assert_eq!(index.get(&key_of(number)).map(|value| value.len()), Some(20));
    }
}

#[test]
fn a_value_that_is_too_long_is_refused() {
    let mut index = empty::<Vec<u8>>();
    let (longest, longer) = (vec![7; (1 << 24) - 1], vec![7; 1 << 24]);
    let refused = Error::ValueTooLong { len: 1 << 24, limit: (1 << 24) - 1 };
    index.insert(b"key".as_slice(), &longest).unwrap();
    assert_eq!(index.insert(b"key".as_slice(), &longer), Err(refused.clone()));
    assert_eq!(index.insert(b"other".as_slice(), &longer), Err(refused.clone()));
    assert_eq!(index.try_replace(b"key".as_slice(), &longer), Err(refused.clone()));
    assert_eq!(index.try_replace(vec![0; 1 << 24].as_slice(), b"short"), Ok(None));
    let mut replaced = vec![None; 3];
    let entries = [("a", longest.clone()), ("b", longer.clone()), ("c", vec![1])]
        .map(|(key, value)| (key.as_bytes().to_vec(), value));
    let incomplete = index.insert_many(&entries, &mut replaced).unwrap_err();
    assert_eq!((incomplete.error, incomplete.refused), (refused.clone(), vec![1]));
    let incomplete =
        index.insert_columns(&[&b"b"[..], b"c", b"b"], &[&longer[..], &[2], &longer]).unwrap_err();
    assert_eq!((incomplete.error, incomplete.refused), (refused.clone(), vec![0, 2]));
    assert_eq!(index.get(b"c".as_slice()), Some(vec![2]));
    let unequal = index.insert_columns(&[&b"d"[..], b"e"], &[&[1][..]]).unwrap_err();
    assert_eq!(unequal.refused, [0, 1]);
    assert_eq!(index.get(b"key".as_slice()), Some(longest));
    assert_eq!(index.len(), 3);
    index.check_invariants().unwrap();
    index.clear();
    let loaded = index.bulk_load([(b"a".to_vec(), vec![1]), (b"b".to_vec(), longer)], FillFactor::FULL);
    assert_eq!((loaded, index.len()), (Err(refused), 0));
    index.check_invariants().unwrap();
}

/// A custom type, and options as for any other index.
#[test]
fn own_types_are_values() {
    use latchless::bytes::Words;
    use latchless::{BytesValue, WideValue};

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Extent {
        file: u32,
        start: u64,
        len: u64,
    }
    impl WideValue<3> for Extent {
        fn to_words(self) -> [u64; 3] {
            [self.file.into(), self.start, self.len]
        }

        fn from_words([file, start, len]: [u64; 3]) -> Self {
            Self { file: file as u32, start, len }
        }
    }
    impl BytesValue for Extent {
        type Form = Words<3>;
    }
    let index = ByteStrings::<u128, Extent>::with_options(options()).unwrap();
    let extent = Extent { file: 1, start: 2, len: 3 };
    assert_eq!(index.insert(&7u128, extent).unwrap(), None);
    assert_eq!(index.replace(&7u128, Extent { len: 4, ..extent }), Some(extent));
    let exchanged = index.compare_exchange(&7u128, Extent { len: 4, ..extent }, extent);
    assert_eq!(exchanged, Ok(Extent { len: 4, ..extent }));
    assert_eq!(index.get_or_insert_with(&7u128, || unreachable!("it is there")).unwrap(), extent);
}
