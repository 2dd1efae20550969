//! Operations by the order of keys.

use super::kinds::{Kind, Of, key, over_every_kind};
use latchless::{BoxedIndex, Error};
use std::ops::Bound::{Excluded, Included};
use std::ops::ControlFlow;

over_every_kind!(
    a_scan_ends_where_its_closure_breaks,
    ranges_from_both_ends,
    a_cursor_steps_to_what_is_next_now,
    the_standard_traits,
);

/// Returns an index of these numbers, each with its decimal digits.
fn digits<K: Kind>(numbers: impl Iterator<Item = u64>) -> Of<K, String> {
    numbers.map(|number| (K::key(number), number.to_string())).collect()
}

fn a_scan_ends_where_its_closure_breaks<K: Kind>() {
    let index = digits::<K>(0..500);
    let mut seen = Vec::new();
    let last = index.scan(K::key(100).., |key, value| {
        let number = K::shown(key);
        assert_eq!(*value, number.to_string());
        seen.push(number);
        if number < 300 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(last.is_break() && seen.into_iter().eq(100..=300));
    assert!(index.scan(K::key(499).., |_, _| ControlFlow::Continue(())).is_continue());
}

fn ranges_from_both_ends<K: Kind>() {
    let index = digits::<K>(0..100);
    let pin = index.pin();
    let mut entries = index.range(K::key(47)..K::key(53), &pin);
    assert_eq!(entries.next().unwrap().1, "47");
    assert_eq!(entries.next_back().unwrap().1, "52");
    index.insert(key!(K, 50), "fifty".to_owned(), &pin).unwrap();
    index.remove(key!(K, 51), &pin);
    assert_eq!(entries.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["48", "49", "fifty"]);
    let mut values = index.values(&pin).map(String::as_str);
    assert_eq!((values.next().unwrap(), values.next_back().unwrap()), ("0", "99"));
    index.insert(key!(K, 1), "one".to_owned(), &pin).unwrap();
    index.remove(key!(K, 2), &pin);
    assert_eq!((values.next().unwrap(), values.next().unwrap(), values.count()), ("one", "3", 94));
    // What the iterator has copied already is shown as it is when the iterator reaches it.
    let mut ahead = index.iter(&pin).map(|(_, value)| value.as_str());
    assert_eq!(ahead.next(), Some("0"));
    index.insert(key!(K, 1), "I".to_owned(), &pin).unwrap();
    index.remove(key!(K, 3), &pin);
    assert_eq!((ahead.next(), ahead.next()), (Some("I"), Some("4")));
    let inverted = (Included(K::key(53)), Excluded(K::key(47)));
    assert_eq!((index.range(inverted.clone(), &pin).next(), index.count(inverted.clone())), (None, 0));
    index.for_each(inverted.clone(), |_, _| unreachable!());
    assert!(index.scan(inverted.clone(), |_, _| unreachable!()).is_continue());
    assert_eq!(index.try_range(inverted.clone(), &pin).err(), Some(Error::InvertedRange));
    assert_eq!(index.remove_range(inverted), Err(Error::InvertedRange));
    index.update(key!(K, 50), |value| value.clone() + "!", &pin).unwrap();
    assert_eq!(index.get_cloned(key!(K, 50)), Some("fifty!".to_owned()));
    assert_eq!(index.len(), 97);
}

#[test]
fn numbers_are_shown_as_a_map() {
    let few: BoxedIndex<i64, &str> = [(7, "seven"), (-7, "minus seven")].into();
    assert_eq!(format!("{few:?}"), r#"{-7: "minus seven", 7: "seven"}"#);
}

fn a_cursor_steps_to_what_is_next_now<K: Kind>() {
    let index = digits::<K>((0..1000).step_by(10));
    let pin = index.pin();
    let mut cursor = index.cursor(&pin);
    macro_rules! at {
        ($found:expr) => {
            $found.map(|(key, value)| (K::shown(key), value.as_str()))
        };
    }
    assert!(cursor.current().is_none() && cursor.prev().is_none());
    assert_eq!(at!(cursor.next()), Some((0, "0")));
    assert_eq!(at!(cursor.seek(key!(K, 55))), Some((60, "60")));
    index.remove(key!(K, 60), &pin);
    index.remove(key!(K, 70), &pin);
    index.insert(key!(K, 65), "new".to_owned(), &pin).unwrap();
    assert_eq!((at!(cursor.current()), cursor.value_now()), (Some((60, "60")), None));
    let mut fork = cursor.clone();
    assert_eq!(at!(cursor.next()), Some((65, "new")));
    assert_eq!(cursor.value_now().unwrap(), "new");
    assert_eq!(at!(cursor.next()), Some((80, "80")));
    assert_eq!(at!(cursor.prev()), Some((65, "new")));
    assert_eq!(at!(cursor.prev()), Some((50, "50")));
    assert_eq!(at!(fork.current()), Some((60, "60")));
    assert_eq!(at!(fork.prev()), Some((50, "50")));
    assert_eq!(at!(cursor.seek_for_prev(key!(K, 64))), Some((50, "50")));
    assert_eq!(at!(cursor.seek_last()), Some((990, "990")));
    assert_eq!((at!(cursor.next()), at!(cursor.current())), (None, None));
    assert_eq!(at!(cursor.prev()), Some((990, "990")));
    assert_eq!(at!(cursor.seek_first()), Some((0, "0")));
    assert_eq!((at!(cursor.prev()), cursor.value_now()), (None, None));
    index.clear();
    assert_eq!((at!(cursor.next()), at!(cursor.prev()), at!(cursor.seek(key!(K, 0)))), (None, None, None));
}

fn the_standard_traits<K: Kind>() {
    let unsorted = [(9, "nine"), (7, "seven"), (9, "IX"), (5, "five")].map(|(n, name)| (K::key(n), name));
    let mut index: Of<K, &str> = unsorted.clone().into_iter().collect();
    index.extend([(7, "VII"), (1, "one")].map(|(n, name)| (K::key(n), name)));
    (&index).extend((100..400).map(|n| (K::key(n), "many")));
    assert_eq!((index.len(), index.get_cloned(key!(K, 7))), (304, Some("VII")));
    assert_eq!(Of::<K, &str>::from(unsorted).len(), 3);
    assert!(Of::<K, String>::default().is_empty());
    assert_eq!(index.take(key!(K, 1)), Some("one"));
    index.check_invariants().unwrap();
    let mut owned = index.into_iter().map(|(key, name)| (K::number(&key), name));
    assert_eq!((owned.next(), owned.next_back()), (Some((5, "five")), Some((399, "many"))));
    assert_eq!(owned.by_ref().rev().nth(298), Some((100, "many")));
    assert_eq!(owned.by_ref().collect::<Vec<_>>(), [(7, "VII"), (9, "IX")]);
    assert_eq!((owned.next(), owned.next_back()), (None, None));
}

#[test]
fn owned_numbers_have_a_size_hint() {
    let index: BoxedIndex<u32, &str> = [(5, "five"), (7, "seven")].into();
    let mut owned = index.into_iter();
    assert_eq!(owned.by_ref().count(), 2);
    assert_eq!((owned.next(), owned.size_hint()), (None, (0, Some(0))));
}
