//! Entries that expire while others refresh them: an entry is removed only if the condition saw it.

use super::kinds::{Kind, Of, Wide, empty, key, over_every_kind};
use crate::common::scaled;
use latchless::index::CompareExchangeError;
use std::sync::atomic::{AtomicU64, Ordering};

over_every_kind!(no_fresh_lease_is_removed_beside_refreshes, comparing_is_by_identity);

/// An entry and its time of expiry.
#[derive(Debug)]
struct Lease {
    expires: u64,
    _name: String,
}

impl Lease {
    fn until(expires: u64) -> Self {
        Self { expires, _name: expires.to_string() }
    }
}

/// One thread expires leases while another one refreshes them, and sees each lease that it refreshed until
/// it has expired. `expire` removes the key's lease if it has expired at the given time.
fn fresh_leases_that_vanish<K: Kind>(expire: impl Fn(&Of<K, Lease>, K::Arg<'_>, u64) + Sync) -> usize {
    let index = empty::<K, Lease>();
    let clock = AtomicU64::new(1);
    let steps = scaled(3_000);
    let keys = [0, 1, 2, 3].map(K::key);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            while clock.load(Ordering::Acquire) <= steps as u64 {
                keys.iter().for_each(|key| expire(&index, K::arg(key), clock.load(Ordering::Acquire)));
            }
        });
        let mut vanished = 0;
        for step in 0..steps as u64 {
            let key = &keys[step as usize % 4];
            // Fresh: it expires later than any time that the collector knows of by now.
            index.insert(K::arg(key), Lease::until(step + 2), &index.pin()).unwrap();
            std::thread::yield_now();
            vanished += usize::from(!index.contains_key(K::arg(key)));
            clock.store(step + 2, Ordering::Release);
        }
        clock.store(u64::MAX, Ordering::Release);
        collector.join().unwrap();
        vanished
    })
}

fn no_fresh_lease_is_removed_beside_refreshes<K: Kind>() {
    let vanished = fresh_leases_that_vanish::<K>(|index, key, now| {
        index.remove_if(key, |lease| lease.expires < now, &index.pin());
    });
    assert_eq!(vanished, 0);
    let vanished = fresh_leases_that_vanish::<K>(|index, key, now| {
        let pin = index.pin();
        if let Some(lease) = index.get(key, &pin).filter(|lease| lease.expires < now) {
            // Another one is there now, or none.
            let _ = index.compare_remove(key, lease, &pin);
        }
    });
    assert_eq!(vanished, 0);
    let vanished = fresh_leases_that_vanish::<K>(|index, _, now| {
        index.retain(|_, lease| lease.expires >= now);
    });
    assert_eq!(vanished, 0);
}

#[test]
#[cfg_attr(miri, ignore = "takes many tries")]
fn expiring_by_get_and_remove_is_found_out() {
    let expire = |index: &Of<Wide, Lease>, key, now| {
        let pin = index.pin();
        if index.get(key, &pin).is_some_and(|lease| lease.expires < now) {
            std::thread::yield_now();
            index.remove(key, &pin);
        }
    };
    // On a busy machine the schedule may show nothing for long.
    assert!((0..200).any(|_| fresh_leases_that_vanish::<Wide>(expire) > 0), "the test sees nothing");
}

fn comparing_is_by_identity<K: Kind>() {
    let index = empty::<K, String>();
    let pin = index.pin();
    let key = &K::key(1);
    let one = K::arg(key);
    index.insert(one, "a".to_owned(), &pin).unwrap();
    let seen = index.get(one, &pin).unwrap();
    let equal = seen.clone();
    assert_eq!(index.compare_remove(one, &equal, &pin), Err(Some(seen)));
    assert_eq!(index.compare_remove(key!(K, 2), seen, &pin), Err(None));
    let other = index.compare_exchange(one, &equal, "b".to_owned(), &pin);
    assert_eq!(other, Err(CompareExchangeError::Other(Some(seen))));
    assert_eq!(index.compare_exchange(one, seen, "b".to_owned(), &pin), Ok(seen));
    assert!(index.compare_exchange(one, seen, "c".to_owned(), &pin).is_err());
    let now = index.get(one, &pin).unwrap();
    assert_eq!((now.as_str(), seen.as_str()), ("b", "a"));
    assert_eq!(index.compare_remove(one, now, &pin), Ok(now));
    assert!(index.is_empty());
}
