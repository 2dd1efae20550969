//! What only keys of any length have: prefixes, several forms, and keys that are too long.

use super::{Census, Counted};
use latchless::bytes::BoxedBytesIndex;
use latchless::index::Incomplete;
use latchless::{Error, FillFactor};

#[test]
fn a_key_is_taken_in_every_form() {
    let mut index: BoxedBytesIndex<(String, u64), u64> = [(("b", 2), 20), (("a", 1), 10)].into();
    index.extend([((String::from("c"), 3), 30), ((String::from("a"), 1), 11)]);
    index.try_extend([(("d", 4), 40)]).unwrap();
    let pin = index.pin();
    assert_eq!(index.get(&("a", 1), &pin), index.get(&("a".to_owned(), 1), &pin));
    assert!(index.keys().eq([("a", 1), ("b", 2), ("c", 3), ("d", 4)].map(|(key, n)| (key.to_owned(), n))));
    assert_eq!(index.get_all(&[("c", 3), ("c", 4)], &pin), [Some(&30), None]);
    assert_eq!(index.range(("b", 0)..("d", 0), &pin).count(), 2);
    let sum = index.fold((String::from("b"), 0)..("z".into(), 0), 0, |sum, _, value| sum + value);
    assert_eq!(sum, 90);
    assert!(index.prefix("b", &pin).map(|(_, value)| *value).eq([20]));
    assert!(index.prefix("b", &pin).rev().map(|(key, _)| key).eq([("b".to_owned(), 2)]));
    index.insert(&("b", 7), 70, &pin).unwrap();
    assert_eq!(index.prefix("b", &pin).count(), 2);
    let loaded = BoxedBytesIndex::<String, u8>::from_sorted([("a", 1), ("b", 2)], FillFactor::FULL).unwrap();
    assert_eq!(
        (loaded.get("b", &pin), format!("{loaded:?}")),
        (Some(&2), "BoxedBytesIndex { len: 2, .. }".into())
    );
}

#[test]
fn a_key_that_is_too_long_is_refused_by_what_would_add_it_and_found_by_nothing() {
    let census = Census::new();
    let mut index = BoxedBytesIndex::<Vec<u8>, Counted>::new().unwrap();
    {
        let pin = index.pin();
        let value = || census.value(0, 0);
        let short = b"short".to_vec();
        let long = &vec![7; 1 << 24];
        let too_long = |error: &Error| matches!(error, Error::KeyTooLong { .. });
        index.insert(&short, value(), &pin).unwrap();
        assert!(too_long(&index.insert(long, value(), &pin).unwrap_err()));
        assert!(too_long(&index.try_insert(long, value(), &pin).unwrap_err().into()));
        assert!(too_long(&index.upsert(long, |_| value(), &pin).unwrap_err()));
        assert!(too_long(&index.compute(long, |_| Some(value()), &pin).unwrap_err()));
        assert!(too_long(&index.get_or_insert(long, value(), &pin).unwrap_err()));
        let entries = [(long.clone(), value()), (short.clone(), value()), (long.clone(), value())];
        let Incomplete { error, refused } = index.insert_many(entries, &mut [None; 3], &pin).unwrap_err();
        assert!(too_long(&error) && refused == [0, 2]);
        let seen = index.get(&short, &pin).unwrap();
        assert!(index.get(long, &pin).is_none() && !index.contains_key(long));
        assert!(index.replace(long, value(), &pin).unwrap().is_none());
        assert!(index.update(long, |_| unreachable!(), &pin).unwrap().is_none());
        assert!(index.compute(long, |_| None, &pin).unwrap().is_none());
        assert!(index.compare_exchange(long, seen, value(), &pin).is_err());
        assert!(index.compare_remove(long, seen, &pin).is_err());
        assert!(index.remove_if(long, |_| unreachable!(), &pin).is_none());
        assert!(index.remove(long, &pin).is_none());
        let mut removed = [None; 3];
        index.remove_many(&[long.clone(), short.clone(), long.clone()], &mut removed, &pin).unwrap();
        assert!(removed[0].is_none() && removed[1].is_some() && removed[2].is_none());
    }
    let entries = [(vec![1], census.value(1, 0)), (vec![7; 1 << 24], census.value(2, 0))];
    let refused = index.bulk_load(entries, FillFactor::FULL).unwrap_err();
    assert!(matches!(refused, Error::KeyTooLong { .. }));
    assert!(index.take(&vec![7; 1 << 24]).is_none() && index.is_empty());
    index.check_invariants().unwrap();
    // None of the refused values keeps its slot.
    census.all_dropped_once_by(|| index.flush());
}
