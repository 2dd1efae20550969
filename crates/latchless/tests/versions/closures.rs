//! Closures that write their own keys, and values that change while a closure runs.

use latchless::Error;
use latchless::versions::VersionedIndex;
use std::cell::Cell;

/// Counts a call, and ends a test in which a closure is called for ever.
fn called(times: &Cell<u32>) {
    times.set(times.get() + 1);
    assert!(times.get() < 1000, "it goes on for ever");
}

#[test]
fn a_closure_that_writes_its_own_key_for_ever_is_refused() {
    let numbers = VersionedIndex::<u64, u64>::try_from_iter((0..10).map(|key| (key, 0))).unwrap();
    let names = VersionedIndex::<(u64, String), u64>::new().unwrap();
    let times = Cell::new(0);
    let refused = numbers.upsert(7, |_| {
        called(&times);
        numbers.insert(7, 1).unwrap();
        2
    });
    assert!(matches!(refused, Err(Error::ClosureChangesItsKey { .. })), "{refused:?}");
    assert_eq!((times.get() >= 128, numbers.get(7)), (true, Some(1)));
    times.set(0);
    let refused = names.upsert((7, "seven"), |_| {
        called(&times);
        if names.remove((7, "seven")).unwrap().is_none() {
            names.insert((7, "seven"), 1).unwrap();
        }
        2
    });
    assert!(matches!(refused, Err(Error::ClosureChangesItsKey { .. })), "{refused:?}");
    // It leaves no trace: the next closure is called once.
    times.set(0);
    numbers
        .upsert(7, |value| {
            value.unwrap()
                + u64::from({
                    called(&times);
                    times.get()
                })
        })
        .unwrap();
    assert_eq!((times.get(), numbers.get(7)), (1, Some(2)));
}

#[test]
fn a_transaction_that_writes_past_itself_for_ever_is_refused() {
    let index = VersionedIndex::<String, u64>::new().unwrap();
    let times = Cell::new(0);
    let refused = index.transact(|transaction| {
        called(&times);
        let all = transaction.range("a".."z").len() as u64;
        index.insert("b", all)?;
        transaction.insert("c", 1);
        Ok::<_, Error>(())
    });
    assert!(matches!(refused, Err(Error::ClosureChangesItsKey { .. })), "{refused:?}");
    assert_eq!((times.get() >= 128, index.get("c")), (true, None));
    // Other keys may be written past it.
    let written = index.transact(|transaction| {
        transaction.get("c");
        transaction.insert("c", 1);
        index.insert("d", 1)?;
        Ok::<_, Error>(())
    });
    assert_eq!((written, index.get("c")), (Ok(()), Some(1)));
}

#[test]
fn other_threads_may_write_a_key_any_number_of_times() {
    let index = VersionedIndex::<u64, u64>::new().unwrap();
    let rounds = if cfg!(miri) { 150 } else { 1000 };
    let mut times = 0;
    let before = index.upsert(7, |value| {
        times += 1;
        if times < rounds {
            // Another key by this thread, the closure's own one by another.
            index.insert(8, 0).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| index.insert(7, times).unwrap()).join().unwrap();
            });
        }
        value.map_or(0, |value| value + 10_000)
    });
    assert_eq!((before, index.get(7)), (Ok(Some(rounds - 1)), Some(10_000 + rounds - 1)));
}

#[test]
fn a_value_that_is_removed_and_pruned_meanwhile_is_not_updated() {
    let index = VersionedIndex::<u64, u64>::try_from_iter([(7, 5)]).unwrap();
    let mut seen = Vec::new();
    let before = index.upsert(7, |value| {
        seen.push(value);
        index.remove(7).unwrap();
        index.prune().unwrap();
        value.unwrap_or(0) + 1
    });
    assert_eq!((before, index.get(7), seen), (Ok(None), Some(1), vec![Some(5), None]));
}

#[test]
fn entries_are_removed_and_pruned_page_by_page() {
    let index = VersionedIndex::<u64, u64>::try_from_iter((0..2000).map(|key| (key, key % 5))).unwrap();
    let kept = |key: &u64| key.is_multiple_of(5);
    assert_eq!(index.retain(|_, value| value == 0), Ok(1600));
    assert!(index.snapshot().keys().eq((0..2000).filter(kept)));
    let pruned = index.prune().unwrap();
    assert_eq!((pruned.keys, pruned.versions, index.len()), (1600, 3200, 400));
    let mut batch = latchless::versions::WriteBatch::new();
    batch.remove_range(100..=200).insert(150, 1);
    index.commit(batch).unwrap();
    assert!(
        index
            .snapshot()
            .keys()
            .eq((0..2000).filter(|key| kept(key) && !(100..=200).contains(key) || *key == 150))
    );
    assert_eq!(index.prune().unwrap().keys, 20);
}
