//! Entries that expire while others refresh them: an entry is removed only if the condition saw it.

use super::{Kind, empty, over_every_kind};
use crate::common::scaled;
use latchless::Index;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

over_every_kind!(no_fresh_lease_is_removed_beside_refreshes);

/// An entry and its time of expiry.
#[derive(Debug, PartialEq)]
pub struct Lease {
    expires: u64,
    _name: String,
}

impl Lease {
    fn until(expires: u64) -> Arc<Self> {
        Arc::new(Self { expires, _name: expires.to_string() })
    }
}

/// One thread expires leases while another one refreshes them, and sees each lease that it refreshed until
/// it has expired. `expire` removes the key's lease if it has expired at the given time.
fn fresh_leases_that_vanish<K: Kind>(
    expire: impl Fn(&Index<K, Arc<Lease>>, K::Probe<'_>, u64) + Sync,
) -> usize {
    let index = empty::<K, Arc<Lease>>();
    let clock = AtomicU64::new(1);
    let steps = scaled(3_000);
    let keys = [0, 1, 2, 3].map(K::key);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            while clock.load(Ordering::Acquire) <= steps as u64 {
                keys.iter().for_each(|key| expire(&index, key.probe(), clock.load(Ordering::Acquire)));
            }
        });
        let mut vanished = 0;
        for step in 0..steps as u64 {
            let key = &keys[step as usize % 4];
            // Fresh: it expires later than any time that the collector knows of by now.
            index.insert(key.probe(), Lease::until(step + 2)).unwrap();
            std::thread::yield_now();
            vanished += usize::from(!index.contains_key(key.probe()));
            clock.store(step + 2, Ordering::Release);
        }
        clock.store(u64::MAX, Ordering::Release);
        collector.join().unwrap();
        vanished
    })
}

fn no_fresh_lease_is_removed_beside_refreshes<K: Kind>() {
    let vanished = fresh_leases_that_vanish::<K>(|index, key, now| {
        index.remove_if(key, |lease| lease.expires < now);
    });
    assert_eq!(vanished, 0);
    let vanished = fresh_leases_that_vanish::<K>(|index, key, now| {
        if let Some(lease) = index.get(key).filter(|lease| lease.expires < now) {
            // Another one is there now, or none.
            let _ = index.compare_remove(key, &lease);
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
    let expire = |index: &Index<u64, Arc<Lease>>, key, now| {
        if index.get(key).is_some_and(|lease| lease.expires < now) {
            std::thread::yield_now();
            index.remove(key);
        }
    };
    // On a busy machine the schedule may show nothing for long.
    assert!((0..200).any(|_| fresh_leases_that_vanish::<u64>(expire) > 0), "the test sees nothing");
}
