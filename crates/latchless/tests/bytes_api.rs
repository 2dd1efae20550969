//! The index of keys of any length, through its public interface.

use latchless::bytes::{ByteStrings, BytesCursor, MultiIndex};
use latchless::index::Options;
use latchless::{BytesKey, Error, FillFactor, Value};
use latchless_core::testing::Rng;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

/// Small pages: tests have many small indexes.
fn empty<K: BytesKey, V: Value>() -> ByteStrings<K, V> {
    ByteStrings::with_options(Options { huge_pages: false, ..Options::default() }).expect("a leaf finds room")
}

/// Returns a key of up to 400 bytes; many have common prefixes, and every fifth is long.
fn key_of(number: u64) -> Vec<u8> {
    let after = if number.is_multiple_of(5) { 100 + (number % 300) as usize } else { (number % 13) as usize };
    [format!("key/{}/", number % 7).into_bytes(), number.to_be_bytes().to_vec(), vec![b'.'; after]].concat()
}

#[test]
fn wide_and_composite_keys_are_in_the_order_of_their_parts() {
    let wide = empty::<i128, u32>();
    for key in [5, -1, i128::MAX, i128::MIN, 0] {
        wide.insert(&key, (key % 100) as u32).unwrap();
    }
    let keys: Vec<_> = wide.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [i128::MIN, -1, 0, 5, i128::MAX]);

    let series = empty::<(u64, i64), f64>();
    for (sensor, at) in [(2u64, 5i64), (1, -7), (1, 9), (2, -1)] {
        series.insert(&(sensor, at), at as f64).unwrap();
    }
    assert_eq!(series.floor(&(1u64, 100i64)), Some(((1, 9), 9.0)));
    assert_eq!(series.prefix(&2u64).map(|(key, _)| key).collect::<Vec<_>>(), [(2, -1), (2, 5)]);

    // Newest first, as in a storage engine; and rows of equal keys.
    let table = empty::<(String, Reverse<u64>), u32>();
    table.insert(&("ab", Reverse(3u64)), 3).unwrap();
    table.insert(&("ab", Reverse(9u64)), 9).unwrap();
    table.insert(&("abc", Reverse(5u64)), 5).unwrap();
    assert_eq!(table.ceiling(&("ab", Reverse(7u64))), Some((("ab".to_owned(), Reverse(3)), 3)));
    assert_eq!(table.first().map(|(_, value)| value), Some(9));

    let hosts = empty::<Ipv6Addr, u8>();
    hosts.insert(&Ipv6Addr::LOCALHOST, 1).unwrap();
    hosts.insert(&Ipv6Addr::UNSPECIFIED, 0).unwrap();
    assert_eq!(hosts.last(), Some((Ipv6Addr::LOCALHOST, 1)));
}

#[test]
fn an_index_by_default_is_empty_and_takes_keys() {
    let index = ByteStrings::<(String, u32), bool>::default();
    assert!(index.is_empty());
    assert_eq!(index.insert(&("key", 7u32), true), Ok(None));
    assert_eq!(index.get(&("key", 7u32)), Some(true));
}

#[test]
fn iterators_from_both_ends_meet_and_give_each_entry_once() {
    let mut random = Rng(3);
    for len in [0u64, 1, 2, 30, 700] {
        let model: BTreeMap<Vec<u8>, u64> = (0..len).map(|number| (key_of(number), number)).collect();
        let index: ByteStrings<Vec<u8>, u64> = model.clone().into_iter().collect();
        for _ in 0..20 {
            let (mut entries, mut front, mut back) = (index.iter(), Vec::new(), Vec::new());
            loop {
                let (next, to) = if random.next().is_multiple_of(2) {
                    (entries.next(), &mut front)
                } else {
                    (entries.next_back(), &mut back)
                };
                let Some(entry) = next else { break };
                to.push(entry);
            }
            assert_eq!((entries.next(), entries.next_back()), (None, None), "it has ended for good");
            front.extend(back.into_iter().rev());
            assert_eq!(front, model.clone().into_iter().collect::<Vec<_>>());
        }
    }
}

/// The type of the keys determines that of a lookup: no number and no text needs a suffix.
#[test]
fn literals_take_the_type_of_the_keys() {
    let numbers = empty::<u16, u64>();
    numbers.insert(&2000, 1).unwrap();
    numbers.insert_many(&[(7, 2), (9, 3)], &mut [None; 2]).unwrap();
    assert_eq!((numbers.get(&2000), numbers.get_all(&[7, 8])), (Some(1), vec![Some(2), None]));
    assert_eq!((numbers.count(7..9), numbers.count(..=2000), numbers.floor(&8)), (1, 3, Some((7, 2))));
    assert_eq!(numbers.remove(&7), Some(2));

    let signed = empty::<i64, u64>();
    signed.insert(&-5, 1).unwrap();
    assert_eq!((signed.count(-6..-4), signed.get(&5)), (1, None));

    let floats = empty::<f64, u64>();
    floats.insert(&1.5, 1).unwrap();
    assert_eq!(floats.count(1.0..2.0), 1);

    let series = empty::<(String, u64), u64>();
    series.insert(&("a", 1), 1).unwrap();
    series.insert_many(&[(("a", 2), 2), (("b", 3), 3)], &mut [None; 2]).unwrap();
    assert_eq!((series.get(&("a", 2)), series.count(("a", 2)..("b", 4))), (Some(2), 2));

    let newest_first = empty::<(String, Reverse<u32>), u64>();
    newest_first.insert(&("a", Reverse(7)), 1).unwrap();
    assert_eq!(newest_first.ceiling(&("a", Reverse(9))).map(|(_, value)| value), Some(1));

    let texts = empty::<String, u64>();
    let owned = String::from("b");
    texts.insert("a", 1).unwrap();
    texts.insert(&owned, 2).unwrap();
    texts.insert(&format!("{owned}c"), 3).unwrap();
    assert_eq!((texts.get(&*owned), texts.count("a".."bc"), texts.count(owned.clone()..)), (Some(2), 2, 2));

    let bytes = empty::<Vec<u8>, u64>();
    bytes.insert(&b"key"[..], 1).unwrap();
    assert_eq!((bytes.get(&vec![b'k', b'e', b'y']), bytes.count(&b"k"[..]..)), (Some(1), 1));

    let arrays = empty::<[u8; 3], u64>();
    arrays.insert(b"key", 1).unwrap();
    assert_eq!((arrays.get(&[0; 3]), arrays.count([0; 3]..[255; 3])), (None, 1));

    let rows = MultiIndex::<u16>::new().unwrap();
    rows.insert(&2000, 1).unwrap();
    rows.insert_many(&[(2000, 2), (2001, 3)]).unwrap();
    assert_eq!((rows.rows(&2000).count(), rows.range(2000..).count(), rows.contains(&2001, 3)), (2, 3, true));
}

/// Reads of a range that starts after its end see nothing; `try_range` and changes return an error.
fn inverted_ranges_are_empty_to_read(index: &ByteStrings<String, u32>) {
    let inverted: (Bound<&str>, Bound<&str>) = (Bound::Included("b"), Bound::Included("a"));
    let before = index.len();
    assert_eq!(index.range::<str>(inverted).next(), None);
    assert_eq!(index.range::<str>(inverted).next_back(), None);
    assert_eq!(index.count::<str>(inverted), 0);
    assert!(index.scan::<str>(inverted, |_, _| unreachable!()).is_continue());
    assert!(index.scan_back::<str>(inverted, |_, _| unreachable!()).is_continue());
    assert_eq!(index.try_range::<str>(inverted).err(), Some(Error::InvertedRange));
    assert_eq!(index.remove_range::<str>(inverted), Err(Error::InvertedRange));
    assert_eq!(index.len(), before);
}

#[test]
fn ranges_are_as_their_ends_say() {
    let index: ByteStrings<String, u32> =
        ["a", "ab", "b", "c"].map(String::from).into_iter().zip(0..).collect();
    let keys = |range: (Bound<&str>, Bound<&str>)| -> Vec<String> {
        index.range::<str>(range).map(|(key, _)| key).collect()
    };
    assert_eq!(keys((Bound::Excluded("a"), Bound::Included("b"))), ["ab", "b"]);
    assert_eq!(keys((Bound::Included("aa"), Bound::Unbounded)), ["ab", "b", "c"]);
    assert_eq!(keys((Bound::Excluded("b"), Bound::Excluded("b"))), [""; 0]);
    inverted_ranges_are_empty_to_read(&index);
    assert_eq!(index.count::<str>((Bound::Included("ab"), Bound::Unbounded)), 3);
    let mut seen = Vec::new();
    let outcome = index.scan_back::<String>(.., |key, value| {
        seen.push((key.to_vec(), value));
        if value == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((outcome, seen.len()), (ControlFlow::Break(()), 2));
    assert_eq!(index.remove_range::<str>((Bound::Included("ab"), Bound::Included("b"))), Ok(2));
    assert_eq!(index.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "c"]);
    // The range of a prefix of ones has no end.
    let ones = empty::<Vec<u8>, u8>();
    [vec![0xFE], vec![0xFF], vec![0xFF, 0xFF, 3]]
        .iter()
        .for_each(|key| assert_eq!(ones.insert(key, 1), Ok(None)));
    assert_eq!(ones.prefix(&[0xFFu8][..]).count(), 2);
    assert_eq!(ones.prefix(&[][..] as &[u8]).count(), 3);
}

#[test]
fn cursors_walk_as_in_a_model() {
    let model: BTreeMap<Vec<u8>, u64> = (0..900).map(|number| (key_of(number), number)).collect();
    let index: Arc<ByteStrings<Vec<u8>, u64>> = Arc::new(model.clone().into_iter().collect());
    let keys: Vec<_> = model.keys().collect();
    let (mut cursor, mut random) = (BytesCursor::of(Arc::clone(&index)), Rng(5));
    // The cursor's position: 0 is before the first entry.
    let mut at = 0usize;
    for _ in 0..if cfg!(miri) { 300 } else { 30_000 } {
        let key = key_of(random.next() % 1000);
        let found = match random.next() % 40 {
            0 => {
                at = keys.partition_point(|own| **own < key) + 1;
                cursor.seek(&key).is_some()
            }
            1 => {
                at = keys.partition_point(|own| **own <= key);
                cursor.seek_for_prev(&key).is_some()
            }
            2..=20 => {
                at = (at + 1).min(keys.len() + 1);
                cursor.next().is_some()
            }
            _ => {
                at = at.saturating_sub(1);
                cursor.prev().is_some()
            }
        };
        let expected = at.checked_sub(1).and_then(|at| keys.get(at));
        assert_eq!(found, expected.is_some());
        assert_eq!(cursor.current(), expected.map(|key| (&key[..], model[*key])));
        assert_eq!(cursor.key(), expected.map(|key| &key[..]));
    }
    let walker = std::thread::spawn(move || cursor.seek_last().is_some());
    assert!(walker.join().unwrap(), "a cursor can be sent");
}

#[test]
fn batches_say_which_of_their_inserts_were_refused() {
    let index = empty::<Vec<u8>, u64>();
    let too_long = vec![1; 1 << 24];
    let mut entries: Vec<(Vec<u8>, u64)> = (0..100).map(|number| (key_of(number), number)).collect();
    entries[7].0.clone_from(&too_long);
    entries[40].0.clone_from(&too_long);
    let mut replaced = vec![Some(1); entries.len()];
    let incomplete = index.insert_many(&entries, &mut replaced).unwrap_err();
    assert_eq!(incomplete.refused, [7, 40]);
    assert_eq!(incomplete.error, Error::KeyTooLong { len: 1 << 24, limit: (1 << 24) - 1 });
    assert_eq!(index.len(), 98);
    assert!(replaced.iter().all(Option::is_none));
    let keys: Vec<_> = entries.iter().map(|(key, _)| key).collect();
    let answers = index.get_all(&keys);
    assert!(
        answers.iter().enumerate().all(|(at, answer)| *answer == (at != 7 && at != 40).then_some(at as u64))
    );
    let mut removed = vec![None; 100];
    index.remove_many(&keys, &mut removed).unwrap();
    assert_eq!((removed, index.len()), (answers, 0));
    assert_eq!(index.get_many(&keys, &mut [None; 3]), Err(Error::UnequalBuffers { left: 100, right: 3 }));
}

#[test]
fn closures_of_many_threads_lose_no_count() {
    let index = empty::<String, u64>();
    let rounds = if cfg!(miri) { 20 } else { 3000 };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..rounds {
                    let key = format!("counter {}", round % 5);
                    index.upsert(&key, |count| count.unwrap_or(0) + 1).unwrap();
                }
            });
        }
    });
    assert_eq!(index.iter().map(|(_, count)| count).sum::<u64>(), 3 * rounds);
    assert_eq!(index.update("counter 9", |count| count + 1), Ok(None));
    assert_eq!(index.get_or_insert_with("counter 9", || 7), Ok(7));
    assert_eq!(index.compute("counter 9", |_| None), Ok(Some(7)));
    let changing_itself = index.compute("counter 0", |count| {
        index.insert("counter 0", count.unwrap_or(0) + 1).unwrap();
        Some(0)
    });
    assert!(matches!(changing_itself, Err(Error::ClosureChangesItsKey { .. })));
}

#[test]
fn emptied_and_filled_again_it_needs_no_more_memory() {
    let index = empty::<Vec<u8>, u64>();
    let (fills, keys) = if cfg!(miri) { (3, 40) } else { (1000, 300) };
    let mut most = 0;
    for fill in 0..fills {
        (0..keys).for_each(|number| assert_eq!(index.insert(&key_of(number), number), Ok(None)));
        if fill < 3 {
            most = index.memory_bytes().max(most);
        }
        (0..keys).for_each(|number| assert_eq!(index.remove(&key_of(number)), Some(number)));
    }
    assert!(index.memory_bytes() <= most + most / 4, "{most} bytes, then {}", index.memory_bytes());
    index.check_invariants().unwrap();
}

#[test]
fn loads_are_checked_and_full_leaves_take_more() {
    let sorted: BTreeMap<Vec<u8>, u64> = (0..2000).map(|number| (key_of(number), number)).collect();
    let index = ByteStrings::<Vec<u8>, u64>::from_sorted(
        sorted.iter().map(|(key, &value)| (key, value)),
        FillFactor::FULL,
    );
    let mut index = index.unwrap();
    index.check_invariants().unwrap();
    assert_eq!(index.bulk_load([(b"x".to_vec(), 1)], FillFactor::FULL), Err(Error::NotEmpty { len: 2000 }));
    assert!((0..2000).all(|number| index.get(&key_of(number)) == Some(number)));
    index.clear();
    assert_eq!((index.len(), index.first()), (0, None));
    let unsorted = index.bulk_load([(b"b".to_vec(), 1), (b"a".to_vec(), 1)], FillFactor::FULL);
    assert_eq!(unsorted, Err(Error::Unsorted { position: 1 }));
    assert!(index.is_empty() && index.insert(&b"a"[..], 1) == Ok(None));
}
