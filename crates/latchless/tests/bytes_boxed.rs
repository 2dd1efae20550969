//! Keys of any length with values of any type, through the public interface.

use latchless::bytes::BoxedBytesIndex;
use latchless::index::{Options, TryInsertError};
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn empty<T: Send + Sync>() -> BoxedBytesIndex<Vec<u8>, T> {
    BoxedBytesIndex::with_options(Options { huge_pages: false, ..Options::default() })
        .expect("a leaf finds room")
}

fn key_of(number: u64) -> Vec<u8> {
    let len = if number.is_multiple_of(7) { 250 } else { number as usize % 5 };
    [b"key ".repeat(len / 4).as_slice(), &number.to_be_bytes()].concat()
}

#[test]
fn it_is_as_the_standard_librarys_map() {
    let (mut index, mut model) = (empty::<String>(), BTreeMap::<Vec<u8>, String>::new());
    let mut random = Rng(3);
    for round in 0..if cfg!(miri) { 40 } else { 5000u64 } {
        let (key, value) = (key_of(random.next() % 200), "v".repeat(round as usize % 40));
        let pin = index.pin();
        match random.next() % 8 {
            0..3 => assert_eq!(
                index.insert(&key, value.clone(), &pin).unwrap().cloned(),
                model.insert(key, value)
            ),
            3 => match index.try_insert(&key, value.clone(), &pin) {
                Ok(()) => assert_eq!(model.insert(key, value), None),
                Err(TryInsertError::Present { present, .. }) => assert_eq!(Some(present), model.get(&key)),
                Err(refused) => panic!("{refused:?}"),
            },
            4 => {
                let before = index.update(&key, |value| format!("{value}+"), &pin).unwrap();
                assert_eq!(before, model.get(&key));
                model.entry(key).and_modify(|value| value.push('+'));
            }
            5 => {
                let removed = index.remove_if(&key, |value| value.len() > 9, &pin);
                assert_eq!(removed, model.get(&key).filter(|value| value.len() > 9));
                model.retain(|other, value| *other != key || value.len() <= 9);
            }
            6 => assert_eq!(index.remove(&key, &pin).cloned(), model.remove(&key)),
            _ => {
                drop(pin);
                assert_eq!(index.take(&key), model.remove(&key));
            }
        }
        if round % 50 == 0 {
            compare(&index, &model, (&key_of(random.next() % 200), &key_of(random.next() % 200)));
        }
    }
    let removed = index.remove_range(b"key ".to_vec()..).unwrap();
    assert_eq!(removed, model.split_off(&b"key "[..]).len());
    compare(&index, &model, (b"", b"zz"));
    index.reset();
    assert_eq!((index.len(), index.first(&index.pin())), (0, None));
}

fn compare(
    index: &BoxedBytesIndex<Vec<u8>, String>,
    model: &BTreeMap<Vec<u8>, String>,
    ends: (&[u8], &[u8]),
) {
    index.check_invariants().unwrap();
    let pin = index.pin();
    let (low, high) = if ends.0 <= ends.1 { ends } else { (ends.1, ends.0) };
    let range = (Bound::Included(low), Bound::Included(high));
    let expected: Vec<_> = model.range::<[u8], _>(range).map(|(key, value)| (key.clone(), value)).collect();
    assert!(index.range::<[u8]>(range, &pin).eq(expected.iter().cloned()));
    assert!(index.range::<[u8]>(range, &pin).rev().eq(expected.iter().rev().cloned()));
    assert_eq!(index.count::<[u8]>(range), expected.len());
    let mut seen = Vec::new();
    let whole = index.scan::<[u8]>(range, |key, value| {
        seen.push((key.to_vec(), value.clone()));
        ControlFlow::Continue(())
    });
    assert_eq!(whole, ControlFlow::Continue(()));
    assert!(seen.iter().map(|(key, value)| (key.clone(), value)).eq(expected));
    let owned = |entry: Option<(&Vec<u8>, &String)>| entry.map(|(key, value)| (key.clone(), value.clone()));
    let cloned = |entry: Option<(Vec<u8>, &String)>| entry.map(|(key, value)| (key, value.clone()));
    assert_eq!(cloned(index.first(&pin)), owned(model.first_key_value()));
    assert_eq!(cloned(index.last(&pin)), owned(model.last_key_value()));
    let up_to = (Bound::Unbounded, Bound::Included(low));
    assert_eq!(cloned(index.floor(low, &pin)), owned(model.range::<[u8], _>(up_to).next_back()));
    let from = (Bound::Included(low), Bound::Unbounded);
    assert_eq!(cloned(index.ceiling(low, &pin)), owned(model.range::<[u8], _>(from).next()));
    assert!(index.prefix(b"key ".as_slice(), &pin).all(|(key, _)| key.starts_with(b"key ")));
    let keys: Vec<_> = (0..150).map(key_of).collect();
    let mut answers = vec![None; keys.len()];
    index.get_many(&keys, &mut answers, &pin).unwrap();
    assert!(answers.iter().zip(&keys).all(|(&answer, key)| answer == model.get(key)));
}

/// Counts its instances.
struct Counted(Arc<AtomicUsize>, u64);

impl Counted {
    fn new(of: &Arc<AtomicUsize>, number: u64) -> Self {
        of.fetch_add(1, Ordering::Relaxed);
        Self(of.clone(), number)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert_ne!(self.0.fetch_sub(1, Ordering::Relaxed), 0);
    }
}

#[test]
fn threads_read_values_that_are_replaced_and_each_is_dropped_once() {
    let (index, alive) = (empty::<Counted>(), Arc::new(AtomicUsize::new(0)));
    let rounds = if cfg!(miri) { 30 } else { 20_000 };
    std::thread::scope(|scope| {
        for own in 0..3u64 {
            let (index, alive) = (&index, &alive);
            scope.spawn(move || {
                let mut random = Rng(own + 1);
                for _ in 0..rounds {
                    let (pin, number) = (index.pin(), random.next() % 60);
                    let key = key_of(number);
                    match random.next() % 6 {
                        0 | 1 => _ = index.insert(&key, Counted::new(alive, number), &pin).unwrap(),
                        2 => _ = index.remove(&key, &pin),
                        3 => _ = index.update(&key, |old| Counted::new(alive, old.1), &pin).unwrap(),
                        4 => assert!(index.get(&key, &pin).is_none_or(|value| value.1 == number)),
                        _ => assert!(index.iter(&pin).all(|(key, value)| key == key_of(value.1))),
                    }
                }
            });
        }
    });
    index.check_invariants().unwrap();
    assert!(alive.load(Ordering::Relaxed) >= index.len());
    drop(index);
    // Retired values are dropped after the threads' pins have ended; the rest with the index.
    for _ in 0..1000 {
        if alive.load(Ordering::Relaxed) == 0 {
            return;
        }
        latchless::index::Pinned::new().flush();
        std::thread::yield_now();
    }
    panic!("{} values are left", alive.load(Ordering::Relaxed));
}
