//! References under a pin, and values without an `Arc`.

use super::{Census, Counted, Kind, empty, over_every_kind};
use latchless::Index;
use latchless::index::Slot;
use std::cell::Cell;
use std::sync::Arc;

over_every_kind!(a_reference_is_valid_as_long_as_its_pin);

fn a_reference_is_valid_as_long_as_its_pin<K: Kind>() {
    let census = Census::new();
    let index = empty::<K, Arc<Counted>>();
    (0..100).for_each(|number| _ = index.insert(K::key(number).probe(), census.value(number, 1)).unwrap());
    let pin = index.pin();
    let seen: Vec<_> = (0..100).map(|number| index.get_ref(K::key(number).probe(), &pin).unwrap()).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..100 {
                match number % 2 {
                    0 => drop(index.remove(K::key(number).probe())),
                    _ => drop(index.insert(K::key(number).probe(), census.value(number, 2)).unwrap()),
                }
            }
            index.flush();
        });
    });
    for (value, number) in seen.iter().zip(0..) {
        assert!(value.is_whole() && (value.key, value.version) == (number, 1));
        let now = index.get_ref(K::key(number).probe(), &pin).map(|value| value.version);
        assert_eq!(now, (number % 2 == 1).then_some(2));
    }
    assert_eq!(census.counts(), (150, 0), "the pin keeps them");
    drop(pin);
    drop(index);
    census.all_dropped_once();
}

thread_local! {
    static CLONES: Cell<usize> = const { Cell::new(0) };
}

#[derive(Debug, PartialEq)]
struct Row(String);

impl Clone for Row {
    fn clone(&self) -> Self {
        CLONES.set(CLONES.get() + 1);
        Self(self.0.clone())
    }
}

#[test]
fn a_value_in_a_slot_is_cloned_only_where_it_is_returned() {
    fn clones<R>(work: impl FnOnce() -> R) -> (R, usize) {
        let before = CLONES.get();
        (work(), CLONES.get() - before)
    }
    let row = |number: u64| Row(number.to_string());
    let index = Index::<u64, Slot<Row>>::new().unwrap();
    let (inserted, cloned) = clones(|| (0..1000).all(|key| index.insert(key, row(key)).unwrap().is_none()));
    assert_eq!((inserted, cloned), (true, 0));
    assert_eq!(clones(|| index.get_with(7, |row| row.0.len())), (Some(1), 0));
    assert_eq!(clones(|| index.ceiling_with(990, |key, row| (key, row.0.len()))), (Some((990, 3)), 0));
    let pin = index.pin();
    assert_eq!(clones(|| index.get_ref(7, &pin).map(|row| &*row.0)), (Some("7"), 0));
    assert_eq!(clones(|| index.fold(.., 0, |sum, _, row| sum + row.0.len())), (2890, 0));
    assert_eq!(clones(|| index.get(7).map(Slot::into_inner)), (Some(row(7)), 1));
    assert_eq!(clones(|| index.compare_exchange(7, &row(7), row(70)).unwrap().unwrap()), (Slot(row(7)), 2));
    assert_eq!(clones(|| index.remove(7)), (Some(Slot(row(70))), 1));
    let (owned, cloned) = clones(|| index.into_iter().map(|(_, row)| row.into_inner()).next_back());
    assert_eq!((owned, cloned), (Some(row(999)), 0));
}
