//! Batches against single operations.

use crate::common::{Rng, scaled, tens, tiny};
use latchless::index::Group;
use latchless::{Error, Index, Reply, Request};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Group sizes at both ends and between.
fn groups() -> Vec<Group> {
    let sizes = [1, 2, 5, 32, 64, 1000];
    sizes.into_iter().filter_map(NonZeroUsize::new).map(Group::Of).chain([Group::Auto]).collect()
}

#[test]
fn answers_come_in_the_order_of_the_keys() {
    let index = tens(3000, 3);
    let mut rng = Rng(1);
    for len in [0, 1, 2, 31, 32, 33, 63, 64, 65, 1000] {
        let keys: Vec<u64> = (0..len).map(|_| rng.below(3100)).collect();
        let expected: Vec<_> = keys.iter().map(|&key| index.get(key)).collect();
        assert_eq!(index.get_all(&keys), expected);
        for group in groups() {
            let mut answers = vec![Some(7); len];
            index.get_many_with(group, &keys, &mut answers).unwrap();
            assert_eq!(answers, expected, "{group:?}");
        }
    }
}

#[test]
fn equal_keys_are_served_in_their_order() {
    for group in groups() {
        let (index, mut model, mut rng) = (Index::<u64, u64>::new().unwrap(), BTreeMap::new(), Rng(2));
        for _ in 0..20 {
            let n = scaled(300);
            let entries: Vec<(u64, u64)> = (0..n).map(|_| (rng.below(90), rng.next())).collect();
            let expected: Vec<_> = entries.iter().map(|&(key, value)| model.insert(key, value)).collect();
            let mut replaced = vec![Some(7); n];
            index.insert_many_with(group, &entries, &mut replaced).unwrap();
            assert_eq!(replaced, expected);
            let keys: Vec<u64> = (0..n / 3).map(|_| rng.below(90)).collect();
            let expected: Vec<_> = keys.iter().map(|key| model.remove(key)).collect();
            let mut removed = vec![Some(7); keys.len()];
            index.remove_many_with(group, &keys, &mut removed).unwrap();
            assert_eq!(removed, expected);
        }
        assert!(index.iter().eq(model));
        index.check_invariants().unwrap();
    }
}

#[test]
fn mixed_requests_see_what_was_before_them() {
    for group in groups() {
        let (index, mut model, mut rng) = (Index::<u64, u64>::new().unwrap(), BTreeMap::new(), Rng(3));
        let (mut requests, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..scaled(3000) {
            let key = rng.below(400);
            let (request, reply) = match rng.below(8) {
                0..3 => (Request::Get(key), Reply::Got(model.get(&key).copied())),
                3 => (Request::Remove(key), Reply::Removed(model.remove(&key))),
                4 => {
                    let limit = rng.below(150) as usize;
                    let found: Vec<_> =
                        model.range(key..).take(limit).map(|(&key, &value)| (key, value)).collect();
                    let reply =
                        if limit == 0 { Reply::Refused(Error::EmptyBuffer) } else { Reply::Scanned(found) };
                    (Request::Scan { from: key, limit }, reply)
                }
                _ => (Request::Insert(key, !key), Reply::Inserted(model.insert(key, !key))),
            };
            requests.push(request);
            expected.push(reply);
        }
        let mut replies = vec![Reply::Got(None)];
        index.execute_with(group, &requests, &mut replies);
        assert_eq!(replies.remove(0), Reply::Got(None), "what stood in the vector stays");
        assert_eq!(replies, expected, "{group:?}");
    }
}

#[test]
fn buffers_of_unequal_length_are_refused() {
    let index = tens(10, 1);
    let unequal = Error::UnequalBuffers { left: 2, right: 1 };
    assert_eq!(index.get_many(&[1, 2], &mut [None]), Err(unequal.clone()));
    assert_eq!(index.remove_many(&[1, 2], &mut [None]), Err(unequal.clone()));
    let incomplete = index.insert_many(&[(1, 0), (2, 0)], &mut [None]).unwrap_err();
    assert_eq!((incomplete.error, incomplete.refused), (unequal, vec![0, 1]));
    assert!(index.iter().eq((0..10).map(|key| (key, 10 * key))), "and nothing was done");
}

#[test]
fn a_batch_that_runs_out_of_memory_says_exactly_what_was_done() {
    for shared in [true, false] {
        let mut index = tiny();
        let mut rng = Rng(4);
        let mut model = BTreeMap::new();
        let mut refusals = 0;
        for _ in 0..40 {
            let entries: Vec<(u64, u64)> = (0..200).map(|_| (rng.below(6000), rng.next())).collect();
            let mut replaced = vec![Some(7); entries.len()];
            let done = if shared {
                index.insert_many(&entries, &mut replaced)
            } else {
                index.exclusive().insert_many(&entries, &mut replaced)
            };
            let refused = done.err().map_or(Vec::new(), |incomplete| {
                assert!(matches!(incomplete.error, Error::MemoryLimit { .. }), "{incomplete}");
                incomplete.refused
            });
            assert!(refused.is_sorted_by(|a, b| a < b));
            refusals += refused.len();
            for (at, &(key, value)) in entries.iter().enumerate() {
                if refused.binary_search(&at).is_ok() {
                    assert_eq!(replaced[at], None);
                    assert!(!model.contains_key(&key), "a present key needs no memory");
                } else {
                    assert_eq!(replaced[at], model.insert(key, value));
                }
            }
            index.check_invariants().unwrap();
            assert!(index.iter().eq(model.clone()));
        }
        let many = if cfg!(latchless_small_nodes) { 50 } else { 500 };
        assert!(refusals > 1000 && model.len() > many, "{refusals} refused, {} in", model.len());
    }
}

#[test]
fn a_large_batch_goes_in_as_its_entries_would_one_by_one() {
    let n = if cfg!(miri) { 300 } else { 40_000 };
    for shared in [true, false] {
        let (mut index, mut model, mut rng) = (Index::<u64, u64>::new().unwrap(), BTreeMap::new(), Rng(5));
        for round in 0..3 {
            let mut entries: Vec<(u64, u64)> = (0..n).map(|_| (rng.below(n / 2), rng.next())).collect();
            if round == 1 {
                entries.sort_by_key(|entry| entry.0);
            }
            let expected: Vec<_> = entries.iter().map(|&(key, value)| model.insert(key, value)).collect();
            let mut replaced = vec![Some(7); entries.len()];
            if shared {
                index.insert_many(&entries, &mut replaced).unwrap();
            } else {
                index.exclusive().insert_many(&entries, &mut replaced).unwrap();
            }
            assert_eq!(replaced, expected);
        }
        let (keys, values): (Vec<u64>, Vec<u64>) = (0..n).map(|_| (rng.below(n), rng.next())).unzip();
        let before = model.len();
        model.extend(keys.iter().copied().zip(values.iter().copied()));
        assert_eq!(index.insert_columns(&keys, &values), Ok(model.len() - before));
        assert!(index.iter().eq(model));
        index.check_invariants().unwrap();
    }
}

#[test]
fn a_large_batch_that_runs_out_of_memory_names_the_refused_in_order() {
    let mut rng = Rng(6);
    let entries: Vec<(u64, u64)> = (0..20_000).map(|at| (rng.below(15_000), at)).collect();
    let (keys, values): (Vec<u64>, Vec<u64>) = entries.iter().copied().unzip();
    for columns in [false, true] {
        let (index, mut replaced) = (tiny(), vec![Some(7); entries.len()]);
        let refused = if columns {
            index.insert_columns(&keys, &values).unwrap_err().refused
        } else {
            index.insert_many(&entries, &mut replaced).unwrap_err().refused
        };
        assert!(refused.is_sorted_by(|a, b| a < b));
        let mut model = BTreeMap::new();
        for (at, &(key, value)) in entries.iter().enumerate() {
            let expected = if refused.binary_search(&at).is_ok() { None } else { model.insert(key, value) };
            assert!(columns || replaced[at] == expected, "{at}");
        }
        assert!(index.iter().eq(model));
        index.check_invariants().unwrap();
    }
}
