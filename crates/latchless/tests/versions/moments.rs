//! Many threads: each snapshot is of one moment.

use latchless::versions::VersionedIndex;
use latchless::versions::WriteBatch;
use latchless_core::testing::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ACCOUNTS: u64 = 64;
const TRANSFERS: u64 = if cfg!(miri) { 20 } else { 4000 };

/// Runs readers until the writers have ended.
fn beside(writers: &[&(dyn Fn(u64) + Sync)], readers: &[&(dyn Fn() + Sync)]) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for read in readers {
            let done = &done;
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    read();
                }
            });
        }
        let writers: Vec<_> =
            writers.iter().enumerate().map(|(at, write)| scope.spawn(move || write(at as u64))).collect();
        let ended: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
}

#[test]
fn money_that_is_moved_in_batches_is_always_all_there() {
    let accounts = VersionedIndex::<u64, u64>::try_from_iter((0..ACCOUNTS).map(|key| (key, 100))).unwrap();
    let transfer = |seed| {
        let mut rng = Rng(seed + 1);
        for _ in 0..TRANSFERS {
            let (from, to, sum) = (rng.next() % ACCOUNTS, rng.next() % ACCOUNTS, rng.next() % 10);
            accounts
                .transact(|transaction| {
                    // An account without money isn't there.
                    let money = transaction.get(from).unwrap_or(0);
                    let sum = sum.min(money);
                    match money - sum {
                        0 => transaction.remove(from),
                        left => transaction.insert(from, left),
                    };
                    if sum > 0 {
                        let before = transaction.get(to).unwrap_or(0);
                        transaction.insert(to, before + sum);
                    }
                    Ok::<_, latchless::Error>(())
                })
                .unwrap();
        }
    };
    let by_range = || {
        let snapshot = accounts.snapshot();
        assert_eq!(snapshot.values().sum::<u64>(), 100 * ACCOUNTS);
        assert_eq!(snapshot.iter().rev().map(|(_, money)| money).sum::<u64>(), 100 * ACCOUNTS);
    };
    let by_keys = || {
        let (snapshot, keys) = (accounts.snapshot(), Vec::from_iter(0..ACCOUNTS));
        let mut answers = vec![None; keys.len()];
        snapshot.get_many(&keys, &mut answers).unwrap();
        assert_eq!(answers.iter().flatten().sum::<u64>(), 100 * ACCOUNTS);
        assert_eq!(keys.iter().filter_map(|&key| snapshot.get(key)).sum::<u64>(), 100 * ACCOUNTS);
        accounts.prune().unwrap();
    };
    beside(&[&transfer, &transfer], &[&by_range, &by_keys]);
    accounts.prune().unwrap();
    assert_eq!(accounts.len(), accounts.snapshot().count(..));
    accounts.check_invariants().unwrap();
}

#[test]
fn batches_of_strings_are_seen_whole() {
    let index = Arc::new(VersionedIndex::<String, u64>::new().unwrap());
    let keys: Vec<String> = (0..40).map(|number| format!("key {number}")).collect();
    let write = |seed| {
        for step in 0..TRANSFERS / 4 {
            let mut batch = WriteBatch::<String, u64>::new();
            for key in &keys {
                if (step + seed) % 5 == 0 {
                    batch.remove(key);
                } else {
                    batch.insert(key, step);
                }
            }
            index.commit(batch).unwrap();
        }
    };
    let read = || {
        let snapshot = index.snapshot_owned();
        let entries: Vec<_> = snapshot.iter().collect();
        assert!(entries.is_empty() || entries.len() == keys.len());
        assert!(entries.windows(2).all(|pair| pair[0].1 == pair[1].1));
        assert!(snapshot.clone().iter().eq(entries));
        let newest = snapshot.index().get(&keys[7]);
        assert!(newest.is_none_or(|step| step < TRANSFERS / 4));
    };
    beside(&[&write, &write], &[&read, &read]);
}

#[test]
fn counters_by_closures_lose_nothing_beside_batches_that_remove_them() {
    let counts = VersionedIndex::<u64, u64>::new().unwrap();
    let count = |_| {
        for step in 0..TRANSFERS {
            counts.upsert(step % 4, |count| count.unwrap_or(0) + 1).unwrap();
        }
    };
    let prune = || {
        counts.prune().unwrap();
    };
    beside(&[&count, &count], &[&prune]);
    assert_eq!(counts.snapshot().values().sum::<u64>(), 2 * TRANSFERS);
}

#[test]
fn an_entry_that_is_refreshed_while_expired_ones_are_removed_stays() {
    let index = VersionedIndex::<u64, u64>::try_from_iter((0..1000).map(|key| (key, 0))).unwrap();
    let removed = index
        .retain(|key, time| {
            if key % 10 == 0 {
                index.insert(key, 7).unwrap();
            }
            time > 0
        })
        .unwrap();
    assert_eq!((removed, index.len()), (900, 100));
    assert!(index.snapshot().iter().eq((0..1000).step_by(10).map(|key| (key, 7))));
    let (newest, all) = (index.newest(), index.retain(|_, _| true));
    assert_eq!((index.newest(), all), (newest, Ok(0)), "no commit where nothing is removed");
}
