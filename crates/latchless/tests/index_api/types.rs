//! `Index<K, V>` for every engine that its types choose: one body of tests, against `BTreeMap`.

use crate::common::{Rng, scaled};
use crate::{bulk, by_order, changes, lent};
use core::cmp::Reverse;
use core::fmt::Debug;
use core::ops::Bound::{Excluded, Included, Unbounded};
use latchless::index::{Comparable, Options};
use latchless::{Error, InBox, Index, IndexKey, IndexValue, KeyFor};
use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::sync::Arc;

/// The entry before a key or after it, with the key's own or without it.
fn nearest<K: Ord + Clone, V: Clone>(map: &BTreeMap<K, V>, key: &K, own: bool, up: bool) -> Option<(K, V)> {
    let end = if own { Included(key.clone()) } else { Excluded(key.clone()) };
    let found = if up { map.range((end, Unbounded)).next() } else { map.range((Unbounded, end)).next_back() };
    found.map(|(key, value)| (key.clone(), value.clone()))
}

fn owned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}

/// Makes random changes to an index and to a map, and compares all answers. Keys and values are made of
/// numbers.
fn agrees<K, V, P, G>(key: impl Fn(u64) -> K + Sync, value: impl Fn(u64) -> V + Sync, probe: P, given: G)
where
    K: KeyFor<V> + Ord + Clone + Debug + Sync,
    V: Comparable + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q> + Sync,
    G: for<'v> Fn(&'v V) -> V::Given<'v> + Sync,
    Index<K, V>: Sync,
    for<'v> V::Lent<'v>: Debug,
{
    changes::agree::<K, V, P, G>(&key, &value, &probe, &given);
    changes::are_atomic::<K, V, P>(&key, &value, &probe);
    changes::follow_each_other::<K, V, P, G>(&key, &value, &probe, &given);
    changes::run_again::<K, V, P, G>(&key, &value, &probe, &given);
    bulk::agree::<K, V, P, G>(&key, &value, (&probe, &given));
    let (index, mut map) = (Index::<K, V>::new().unwrap(), BTreeMap::new());
    let mut rng = Rng(17);
    for step in 0..scaled(4_000) as u64 {
        let number = rng.next() % 400;
        let (own, new) = (key(number), value(step));
        match rng.next() % 8 {
            0..4 => {
                let before = index.insert(probe(&own), given(&new)).unwrap();
                assert_eq!(before, map.insert(own.clone(), new));
            }
            4..6 => assert_eq!(index.remove(probe(&own)), map.remove(&own)),
            6 if step % 16 == 0 => {
                assert_eq!(index.pop_first(), map.pop_first());
                assert_eq!(index.pop_last(), map.pop_last());
            }
            _ => {}
        }
        assert_eq!(index.get(own.probe()), map.get(&own).cloned());
        assert_eq!(index.contains_key(probe(&own)), map.contains_key(&own));
        assert_eq!(index.floor(probe(&own)), nearest(&map, &own, true, false));
        assert_eq!(index.ceiling(probe(&own)), nearest(&map, &own, true, true));
        assert_eq!(index.lower(probe(&own)), nearest(&map, &own, false, false));
        assert_eq!(index.higher(probe(&own)), nearest(&map, &own, false, true));
        assert_eq!((index.len(), index.is_empty()), (map.len(), map.is_empty()));
    }
    index.check_invariants().unwrap();
    same_ranges(&index, &map, &probe, [key(40), key(41), key(300), key(3)]);
    let all: Vec<K> = (0..400).map(&key).collect();
    by_order::agrees(&index, &map, &probe, &all);
    lent::agrees(&index, &map, &probe, &all);
    let probes: Vec<_> = all.iter().map(&probe).collect();
    assert_eq!(index.get_all(&probes), all.iter().map(|key| map.get(key).cloned()).collect::<Vec<_>>());
    assert!(matches!(index.get_many(&probes, &mut []), Err(Error::UnequalBuffers { .. })));

    let (low, high) = (key(100).min(key(200)), key(100).max(key(200)));
    let gone = map.range(&low..&high).count();
    assert_eq!(index.remove_range(probe(&low)..probe(&high)), Ok(gone));
    map.retain(|own, _| !(&low..&high).contains(&own));
    same_ranges(&index, &map, &probe, [key(99), key(100), key(150), key(200)]);

    let collected: Index<K, V> = index.iter().rev().collect();
    collected.check_invariants().unwrap();
    assert!(collected.iter().eq(map.iter().map(owned)));
    index.clear();
    assert!(index.is_empty() && index.iter().next().is_none() && index.first().is_none());
    index.try_extend(map.clone()).unwrap();
    assert!(index.iter().eq(collected.iter()));
}

/// Compares the iterators and counts of an index with those of a map, for ranges between these keys.
fn same_ranges<K, V, P, const N: usize>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: [K; N])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    assert!(index.iter().eq(map.iter().map(owned)) && index.iter().rev().eq(map.iter().rev().map(owned)));
    assert!(index.keys().eq(map.keys().cloned()) && index.values().rev().eq(map.values().rev().cloned()));
    assert_eq!(index.first(), map.iter().next().map(owned));
    assert_eq!(index.last(), map.iter().next_back().map(owned));
    for low in &keys {
        assert!(index.range(probe(low)..).eq(map.range(low.clone()..).map(owned)));
        assert_eq!(index.count(..=probe(low)), map.range(..=low.clone()).count());
        for high in &keys {
            let range = || probe(low)..probe(high);
            if low > high {
                assert_eq!((index.range(range()).next(), index.count(range())), (None, 0));
                assert!(matches!(index.try_range(range()), Err(Error::InvertedRange)));
                assert_eq!(index.remove_range(range()), Err(Error::InvertedRange));
                continue;
            }
            let mut both = index.try_range(range()).unwrap();
            let mut expected = map.range(low.clone()..high.clone()).map(owned);
            assert_eq!(index.count(range()), expected.clone().count());
            while let Some(entry) = expected.next() {
                assert_eq!(both.next(), Some(entry));
                assert_eq!(both.next_back(), expected.next_back());
            }
            assert_eq!((both.next(), both.next_back()), (None, None));
            assert!(index.range(range()).rev().eq(map.range(low.clone()..high.clone()).rev().map(owned)));
        }
    }
}

fn scattered(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A key or value that is passed by value.
fn same<T: Copy>(it: &T) -> T {
    *it
}

/// Compares the operations on one key and the ranges of an index with those of a map: for types that take
/// the same paths as some of those for which [`agrees`] compares everything, which take long to compile.
fn agrees_in_short<K, V, P, G>(key: impl Fn(u64) -> K, value: impl Fn(u64) -> V, probe: P, given: G)
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
    G: for<'v> Fn(&'v V) -> V::Given<'v>,
{
    let (index, mut map) = (Index::<K, V>::new().unwrap(), BTreeMap::new());
    let mut rng = Rng(19);
    for step in 0..scaled(2_000) as u64 {
        let (own, new) = (key(rng.next() % 400), value(step));
        if rng.next().is_multiple_of(3) {
            assert_eq!(index.remove(probe(&own)), map.remove(&own));
        } else {
            let before = index.insert(probe(&own), given(&new)).unwrap();
            assert_eq!(before, map.insert(own.clone(), new));
        }
        let own = key(rng.next() % 400);
        assert_eq!(index.get(own.probe()), map.get(&own).cloned());
        assert_eq!(index.lower(probe(&own)), nearest(&map, &own, false, false));
        assert_eq!(index.ceiling(probe(&own)), nearest(&map, &own, true, true));
    }
    index.check_invariants().unwrap();
    assert!(index.iter().eq(map.iter().map(owned)));
    let (low, high) = (key(100).min(key(200)), key(100).max(key(200)));
    let expected = map.range(&low..&high).map(owned);
    assert!(index.range(probe(&low)..probe(&high)).rev().eq(expected.rev()));
    assert_eq!(index.count(probe(&low)..), map.range(&low..).count());
}

#[test]
fn words() {
    agrees::<u64, u64, _, _>(|number| number, |value| value, same, same);
    agrees::<i8, u16, _, _>(|number| number as i8, |value| value as u16, same, same);
    agrees_in_short::<(u16, i32), f64, _, _>(
        |number| (number as u16, scattered(number) as i32),
        |value| value as f64,
        same,
        same,
    );
    agrees_in_short::<Reverse<(u8, bool, char)>, (), _, _>(
        |number| Reverse((number as u8, number % 2 == 0, 'x')),
        |_| (),
        same,
        same,
    );
    agrees_in_short::<u32, u64, _, _>(|number| number as u32, |value| value << 50, same, same);
    agrees_in_short::<i64, u32, _, _>(|number| number as i64 - 200, |value| value as u32, same, same);
}

#[test]
fn keys_of_any_length() {
    agrees::<String, u64, _, _>(|number| number.to_string(), |value| value, String::as_str, same);
    let long = |number: u64| scattered(number).to_be_bytes().repeat(number as usize % 40);
    let text = |value: u64| value.to_string().repeat(value as usize % 90);
    agrees::<Vec<u8>, String, _, _>(long, text, Vec::as_slice, String::as_str);
    agrees::<(u64, u64), [u8; 32], _, _>(
        |number| (number / 7, scattered(number)),
        |value| [value as u8; 32],
        same,
        same,
    );
    agrees_in_short::<Vec<u8>, u8, _, _>(long, |value| value as u8, Vec::as_slice, same);
    agrees_in_short::<(u64, String), (u64, i64), _, _>(
        |number: u64| (number / 7, number.to_string()),
        |value| (value, -1i64),
        |key| (key.0, key.1.as_str()),
        same,
    );
    agrees_in_short::<u128, String, _, _>(
        |number| u128::from(scattered(number)) << 50,
        |value| value.to_string(),
        same,
        String::as_str,
    );
    let bytes = |value: u64| vec![7u8; value as usize % 300];
    let address = |number: u64| Ipv6Addr::from_bits(scattered(number).into());
    agrees_in_short::<Ipv6Addr, Vec<u8>, _, _>(address, bytes, same, Vec::as_slice);
    let nested = |number: u64| (Some(number), Reverse(number.to_string()), number as i8);
    agrees_in_short::<(Option<u64>, Reverse<String>, i8), u64, _, _>(
        nested,
        |value| value,
        |key| (key.0, Reverse(key.1.0.as_str()), key.2),
        same,
    );
}

#[test]
fn words_with_values_that_fit_none() {
    let bytes = |value: u64| vec![value as u8; value as usize % 300];
    agrees::<u64, Vec<u8>, _, _>(|number| number, bytes, same, Vec::as_slice);
    let text = |value: u64| value.to_string().repeat(value as usize % 90);
    agrees_in_short::<u32, String, _, _>(|number| number as u32, text, same, String::as_str);
    agrees_in_short::<i16, (u64, f64, i64), _, _>(
        |number| number as i16,
        |value| (value, 0.5f64, value as i64),
        same,
        same,
    );
    agrees_in_short::<(u32, u32), u128, _, _>(|number| (number as u32, 7u32), u128::from, same, same);
}

#[test]
fn values_of_any_type() {
    agrees::<u64, Arc<Vec<String>>, _, _>(
        scattered,
        |value| Arc::new(vec![value.to_string()]),
        same,
        Arc::clone,
    );
    agrees::<String, Arc<str>, _, _>(
        |number| number.to_string(),
        |value| Arc::<str>::from(value.to_string()),
        String::as_str,
        Arc::clone,
    );
    agrees_in_short::<(u64, u64), Arc<u64>, _, _>(
        |number| (scattered(number), 7u64),
        Arc::new,
        same,
        Arc::clone,
    );
    let order = |value| Order { items: vec![value] };
    agrees_in_short::<u64, Order, _, _>(|number| number, order, same, Order::clone);
}

/// A value of a type of its own.
#[derive(Debug, Clone, PartialEq)]
struct Order {
    items: Vec<u64>,
}

impl IndexValue for Order {
    type Form = InBox;
    type Given<'v> = Self;
    type Lent<'v> = &'v Self;

    fn given(order: Self) -> Self {
        order
    }

    fn lend(&self) -> &Self {
        self
    }
}

#[test]
fn keys_and_values_are_taken_borrowed_and_lent() {
    let index = Index::<String, String>::new().unwrap();
    let (five, six) = ("five".to_owned(), "six".to_owned());
    assert_eq!(index.insert(&five, &six), Ok(None));
    assert_eq!(index.insert("five", "5"), Ok(Some(six.clone())));
    assert_eq!(index.get_with(&five, str::len), Some(1));
    assert_eq!(index.get_all(&[&five, &six]), [Some("5".to_owned()), None]);
    assert_eq!((index.count("f".."g"), index.count(..five.as_str()), index.count(..)), (1, 0, 1));

    let index = Index::<(u64, String), Vec<u8>>::new().unwrap();
    index.insert((7, "seven"), b"VII").unwrap();
    assert_eq!(index.get((7, "seven")).as_deref(), Some(&b"VII"[..]));
    assert_eq!(index.range((7, "")..(7, "s")).next(), None);
    assert_eq!(index.remove((7, "seven")), Some(b"VII".to_vec()));

    let index = Index::<Vec<u8>, Arc<[u8]>>::new().unwrap();
    index.insert(b"key", Arc::from(*b"value")).unwrap();
    assert_eq!(index.get_with(b"key", |value| value.len()), Some(5));
}

#[test]
fn the_types_are_inferred_from_entries() {
    let index: Index<_, _> = ["a", "b"].map(|key| (key.to_owned(), Arc::new(key))).into_iter().collect();
    assert_eq!(*index.get("b").unwrap(), "b");
    let index = Index::from([((7u64, 8u64), "text".to_owned())]);
    assert_eq!(index.get((7, 8)).as_deref(), Some("text"));
    let index = Index::try_from_iter([(7u32, 70u32)]).unwrap();
    assert_eq!(index.rank(8), 1);
}

#[test]
fn cursors_of_every_engine_go_both_ways() {
    macro_rules! walks {
        ($key:ty, $value:ty, $make:expr, $probe:expr, $given:expr) => {{
            let make: fn(u8) -> ($key, $value) = $make;
            let probe: fn(&$key) -> <$key as IndexKey>::Probe<'_> = $probe;
            let given: fn(&$value) -> <$value as IndexValue>::Given<'_> = $given;
            let index: Index<$key, $value> = [3, 5, 7].map(make).into();
            let mut cursor = index.cursor();
            let at = |number: u8| {
                let (key, value) = make(number);
                format!("{:?}", Some((&key, &value)))
            };
            assert!(cursor.current().is_none() && cursor.prev().is_none());
            assert_eq!(format!("{:?}", cursor.next()), at(3));
            assert_eq!(format!("{:?}", cursor.seek(probe(&make(4).0))), at(5));
            index.remove(probe(&make(5).0));
            assert!(cursor.current().is_some() && cursor.value_now().is_none());
            index.insert(probe(&make(6).0), given(&make(6).1)).unwrap();
            assert_eq!(format!("{:?}", cursor.next()), at(6));
            assert_eq!(cursor.value_now(), Some(make(6).1));
            assert_eq!(format!("{:?}", cursor.prev()), at(3));
            assert!(cursor.prev().is_none() && cursor.prev().is_none());
            assert_eq!(format!("{:?}", cursor.seek_last()), at(7));
            assert!(cursor.next().is_none() && cursor.next().is_none() && cursor.current().is_none());
            assert_eq!(format!("{:?}", cursor.prev()), at(7));
            assert_eq!(format!("{:?}", cursor.seek_for_prev(probe(&make(4).0))), at(3));
            assert_eq!(format!("{:?}", cursor.seek_first()), at(3));
        }};
    }
    walks!(u64, u32, |number| (number.into(), number.into()), |key| *key, |value| *value);
    walks!(String, u32, |number| (number.to_string(), number.into()), |key| key, |value| *value);
    walks!(u64, (u64, u64), |number| (number.into(), (7, number.into())), |key| *key, |value| *value);
    walks!(
        (u64, String),
        Arc<u8>,
        |number| ((7, number.to_string()), Arc::new(number)),
        |key| (key.0, &key.1),
        Arc::clone
    );
}

#[test]
fn every_engine_refuses_what_is_too_long_or_too_much() {
    let options = Options { limit_bytes: Some(64 << 10), huge_pages: false, ..Options::default() };
    let index = Index::<String, Arc<u64>>::with_options(options).unwrap();
    let long = "x".repeat(1 << 24);
    assert!(matches!(index.insert(&long, Arc::new(7)), Err(Error::KeyTooLong { .. })));
    assert_eq!((index.get(&long), index.remove(&long), index.len()), (None, None, 0));
    let refused = (0..10_000u64).find_map(|key| index.insert(&key.to_string(), Arc::new(key)).err());
    assert!(matches!(refused, Some(Error::MemoryLimit { .. })), "{refused:?}");
    index.check_invariants().unwrap();

    let index = Index::<u64, String>::new().unwrap();
    assert!(matches!(index.insert(7, &long), Err(Error::ValueTooLong { .. })));
    assert!(index.is_empty());
}

#[test]
fn values_in_an_arc_are_dropped_with_their_entries() {
    let value = Arc::new(7u64);
    let index: Index<u64, Arc<u64>> = (0..100).map(|key| (key, Arc::clone(&value))).collect();
    assert_eq!(Arc::strong_count(&value), 101);
    assert_eq!(index.get(7).map(|value| Arc::strong_count(&value)), Some(102));
    index.remove_range(..50).unwrap();
    assert!(index.remove(60).is_some() && index.insert(61, Arc::clone(&value)).unwrap().is_some());
    index.flush();
    assert_eq!(Arc::strong_count(&value), 50);
    // This drops at once what no pin can see.
    index.clear();
    assert_eq!(Arc::strong_count(&value), 1);
}
