//! Batches: mixed requests and many lookups at once, against one by one.

use crate::common::{Rng, every_variant, scaled};
use latchless::Error;
use latchless::base::request::{Reply, Request};
use std::collections::BTreeMap;

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
