//! Operations by the order of keys.

use latchless::{BoxedIndex, Error};
use std::ops::Bound::{Excluded, Included};
use std::ops::ControlFlow;

#[test]
fn a_scan_ends_where_its_closure_breaks() {
    let index: BoxedIndex<u32, String> = (0..500).map(|key| (key, key.to_string())).collect();
    let mut seen = Vec::new();
    let last = index.scan(100.., |key, value| {
        assert_eq!(*value, key.to_string());
        seen.push(key);
        if key < 300 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(last.is_break() && seen.into_iter().eq(100..=300));
    assert!(index.scan(499.., |_, _| ControlFlow::Continue(())).is_continue());
}

#[test]
fn ranges_from_both_ends_and_debug() {
    let index = BoxedIndex::<i64, String>::new().unwrap();
    let pin = index.pin();
    for key in -50..50 {
        index.insert(key, key.to_string(), &pin).unwrap();
    }
    let mut entries = index.range(-3..3, &pin);
    assert_eq!(entries.next().unwrap().1, "-3");
    assert_eq!(entries.next_back().unwrap().1, "2");
    index.insert(0, "zero".to_owned(), &pin).unwrap();
    index.remove(1, &pin);
    assert_eq!(entries.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["-2", "-1", "zero"]);
    let inverted = (Included(3), Excluded(-3));
    assert_eq!((index.range(inverted, &pin).next(), index.count(inverted)), (None, 0));
    index.for_each(inverted, |_, _| unreachable!());
    assert!(index.scan(inverted, |_, _| unreachable!()).is_continue());
    assert_eq!(index.try_range(inverted, &pin).err(), Some(Error::InvertedRange));
    assert_eq!(index.remove_range(inverted), Err(Error::InvertedRange));
    index.update(0, |value| value.clone() + "!", &pin).unwrap();
    assert_eq!(index.get_cloned(0), Some("zero!".to_owned()));
    let few = BoxedIndex::<u8, &str>::new().unwrap();
    few.insert(7, "seven", &pin).unwrap();
    assert_eq!(format!("{few:?}"), r#"{7: "seven"}"#);
}

#[test]
fn a_cursor_steps_to_what_is_next_now() {
    let index: BoxedIndex<u64, String> = (0..1000).step_by(10).map(|key| (key, key.to_string())).collect();
    let pin = index.pin();
    let mut cursor = index.cursor(&pin);
    assert!(cursor.current().is_none() && cursor.prev().is_none());
    assert_eq!(cursor.next().unwrap(), (0, &"0".to_owned()));
    assert_eq!(cursor.seek(55).unwrap().0, 60);
    index.remove(60, &pin);
    index.remove(70, &pin);
    index.insert(65, "new".to_owned(), &pin).unwrap();
    assert_eq!((cursor.current().unwrap().1.as_str(), cursor.value_now()), ("60", None));
    let fork = cursor.clone();
    assert_eq!(cursor.next().unwrap(), (65, &"new".to_owned()));
    assert_eq!(cursor.value_now().unwrap(), "new");
    assert_eq!((cursor.next().unwrap().0, cursor.prev().unwrap().0, cursor.prev().unwrap().0), (80, 65, 50));
    assert_eq!(fork.current().unwrap().0, 60);
    assert_eq!(cursor.seek_for_prev(64).unwrap().0, 50);
    assert_eq!((cursor.seek_last().unwrap().0, cursor.next(), cursor.prev().unwrap().0), (990, None, 990));
    assert_eq!((cursor.seek_first().unwrap().0, cursor.prev()), (0, None));
    index.clear();
    assert_eq!((cursor.next(), cursor.prev(), cursor.seek(0)), (None, None, None));
}

#[test]
fn the_standard_traits() {
    let unsorted = [(9u32, "nine"), (7, "seven"), (9, "IX"), (5, "five")];
    let mut index: BoxedIndex<u32, &str> = unsorted.into_iter().collect();
    assert_eq!(format!("{index:?}"), r#"{5: "five", 7: "seven", 9: "IX"}"#);
    index.extend([(7, "VII"), (1, "one")]);
    (&index).extend((100..400).map(|key| (key, "many")));
    assert_eq!((index.len(), index.get_cloned(7)), (304, Some("VII")));
    assert_eq!(BoxedIndex::from(unsorted).len(), 3);
    assert!(BoxedIndex::<u32, String>::default().is_empty());
    assert_eq!(index.take(1), Some("one"));
    let mut owned = index.into_iter();
    assert_eq!((owned.next(), owned.next_back()), (Some((5, "five")), Some((399, "many"))));
    assert_eq!(owned.by_ref().rev().nth(298), Some((100, "many")));
    assert_eq!(owned.by_ref().collect::<Vec<_>>(), [(7, "VII"), (9, "IX")]);
    assert_eq!((owned.next(), owned.next_back(), owned.size_hint()), (None, None, (0, Some(0))));
}
