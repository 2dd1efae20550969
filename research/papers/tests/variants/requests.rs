//! Batches: mixed requests and many lookups at once, compared with one by one.

use crate::common::{Rng, every_variant, scaled};
use latchless::Error;
use latchless_core::base::request::{Reply, Request};
use std::collections::BTreeMap;
use std::ops::Bound;

#[test]
fn mixed_requests_are_served_in_their_order() {
    for (name, mut index) in every_variant::<u64>() {
        let mut rng = Rng(23);
        let mut model = BTreeMap::new();
        let (mut requests, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..scaled(2000) {
            let key = rng.below(500);
            let (request, reply) = match rng.below(4) {
                0 => (Request::Get(key), Reply::Got(model.get(&key).copied())),
                1 => (Request::Remove(key), Reply::Removed(model.remove(&key))),
                2 => {
                    let limit = 1 + rng.below(20) as usize;
                    let found = model.range(key..).take(limit).map(|(&k, &v)| (k, v)).collect();
                    (Request::Scan { from: key, limit }, Reply::Scanned(found))
                }
                _ => (Request::Insert(key, !key), Reply::Inserted(model.insert(key, !key))),
            };
            requests.push(request);
            expected.push(reply);
        }
        let mut replies = Vec::new();
        index.execute(&requests, &mut replies);
        assert_eq!(replies, expected, "{name}");
        replies.clear();
        index.execute(&[Request::Scan { from: 0, limit: 0 }, Request::Get(0)], &mut replies);
        assert_eq!(
            replies[0],
            Reply::Refused(Error::EmptyBuffer),
            "{name}: every request gets its own reply"
        );
        assert_eq!(replies[1], Reply::Got(model.get(&0).copied()));
    }
}

#[test]
fn a_scan_without_a_limit_returns_what_is_there() {
    for (name, mut index) in every_variant::<u64>() {
        let entries: Vec<(u64, u64)> = (0..scaled(3000) as u64).map(|key| (key, !key)).collect();
        let scans = [usize::MAX, usize::MAX / 2].map(|limit| Request::Scan { from: 1, limit });
        let mut replies = Vec::new();
        index.execute(&scans, &mut replies);
        entries.iter().for_each(|&(key, value)| assert_eq!(index.insert(key, value), Ok(None), "{name}"));
        index.execute(&scans, &mut replies);
        if let Some(shared) = index.as_concurrent() {
            shared.execute_shared(&scans, &mut replies);
        }
        let all = Reply::Scanned(entries[1..].to_vec());
        let (empty, full) = replies.split_at(scans.len());
        assert!(empty.iter().all(|reply| *reply == Reply::Scanned(Vec::new())), "{name}");
        assert!(full.iter().all(|reply| *reply == all), "{name}");
        replies.iter().for_each(|reply| {
            let Reply::Scanned(found) = reply else { unreachable!("compared above") };
            assert!(found.capacity() <= 2 * entries.len(), "{name}: room for what is found");
        });
    }
}

#[test]
fn many_lookups_equal_single_ones() {
    for (name, mut index) in every_variant::<u32>() {
        for key in 0..scaled(3000) as u32 {
            index.insert(key * 2, key).unwrap();
        }
        let keys: Vec<u32> = (0..scaled(7000) as u32).rev().collect();
        let mut answers = vec![Some(77); keys.len()];
        index.get_many(&keys, &mut answers).unwrap();
        for (&key, &answer) in keys.iter().zip(&answers) {
            assert_eq!(answer, index.get(key), "{name}: {key}");
        }
        index.get_many(&[], &mut []).unwrap();
    }
}

#[test]
fn many_updates_equal_single_ones() {
    for (name, mut index) in every_variant::<u64>() {
        let mut rng = Rng(29);
        let mut model = BTreeMap::new();
        for _ in 0..if cfg!(miri) { 2 } else { 10 } {
            let n = scaled(500);
            let entries: Vec<(u64, u64)> = (0..n).map(|_| (rng.below(400), rng.next())).collect();
            let expected: Vec<_> = entries.iter().map(|&(key, value)| model.insert(key, value)).collect();
            let mut replaced = vec![Some(77); n];
            index.insert_many(&entries, &mut replaced).unwrap();
            assert_eq!(replaced, expected, "{name}: an answer an entry, the last of equal keys stays");
            let keys: Vec<u64> = (0..n / 2).map(|_| rng.below(400)).collect();
            let expected: Vec<_> = keys.iter().map(|key| model.remove(key)).collect();
            let mut removed = vec![Some(77); keys.len()];
            index.remove_many(&keys, &mut removed).unwrap();
            assert_eq!(removed, expected, "{name}");
        }
        let (mut found, middle) = (Vec::new(), (Bound::Included(100), Bound::Excluded(300)));
        let limit = model.len() / 4;
        let mut see =
            |keys: &[u64], values: &[u64]| found.extend(keys.iter().copied().zip(values.iter().copied()));
        let seen = index.for_each_chunk(middle, limit, &mut see).unwrap();
        let expected: Vec<_> = model.range(middle).take(limit).map(|(&key, &value)| (key, value)).collect();
        assert_eq!((seen, &found), (expected.len(), &expected), "{name}");
        let sum = index.sum(middle, limit).unwrap();
        let lanes = expected.iter().fold(0u64, |sum, (_, value)| sum.wrapping_add(*value));
        assert_eq!((sum.entries, sum.total), (expected.len(), lanes), "{name}");
        let unequal = Err(Error::UnequalBuffers { left: 1, right: 0 });
        assert_eq!(index.insert_many(&[(0, 0)], &mut []), unequal);
        assert_eq!(index.remove_many(&[0], &mut []), unequal);
    }
}
