//! One body, every variant, compared with `BTreeMap`.

use crate::common::{Rng, every_variant, orders, same, same_ranges, scaled, some_variants};
use latchless::FillFactor;
use std::collections::BTreeMap;

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn every_order_in_and_every_order_out() {
    let n = scaled(2000) as u64;
    for (name, mut index) in every_variant::<u64>() {
        for (arriving, keys) in orders(n) {
            for (leaving, gone) in orders(n) {
                // All pairs of orders would take minutes; each is combined with three others.
                if (arriving.len() + leaving.len()) % 2 == 1 {
                    continue;
                }
                let name = format!("{name}, {arriving} then {leaving}");
                for (i, &key) in keys.iter().enumerate() {
                    assert_eq!(index.insert(key * 3, i as u64).unwrap(), None, "{name}");
                    assert_eq!(index.insert(key * 3, key).unwrap(), Some(i as u64), "{name}");
                }
                let mut model: BTreeMap<u64, u64> = keys.iter().map(|&key| (key * 3, key)).collect();
                same(&name, &*index, &model, 0);
                for (i, &key) in gone.iter().enumerate() {
                    assert_eq!(index.get(key * 3), Some(key), "{name}");
                    assert_eq!(index.remove(key * 3), model.remove(&(key * 3)), "{name}");
                    assert_eq!(index.remove(key * 3 + 1), None, "{name}");
                    if i == gone.len() / 2 || i + 20 == gone.len() {
                        same(&name, &*index, &model, 0);
                    }
                }
                same(&name, &*index, &model, 0);
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn random_histories_with_a_look_at_every_invariant() {
    for (name, mut index) in every_variant::<u64>() {
        let (mut model, mut rng) = (BTreeMap::new(), Rng(11));
        // A small key space, so that nodes fill, empty, merge and split again.
        for (space, steps) in [(60, 1500), (1000, 3000), (u64::MAX, 1500)] {
            for step in 0..scaled(steps) {
                let key = rng.below(space);
                // Phases of growing and of shrinking.
                if rng.below(10) < if step / 300 % 2 == 0 { 7 } else { 3 } {
                    let value = rng.next();
                    assert_eq!(index.insert(key, value).unwrap(), model.insert(key, value), "{name}");
                } else {
                    assert_eq!(index.remove(key), model.remove(&key), "{name}");
                }
                let probe = rng.below(space);
                assert_eq!(index.get(probe), model.get(&probe).copied(), "{name}");
                index.check_invariants().unwrap_or_else(|broken| panic!("{name}, step {step}: {broken}"));
            }
            same(&name, &*index, &model, 0);
            same_ranges(&name, &*index, &model, &mut rng, space.min(2000));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn bulk_loads_of_every_size_and_fill_then_updates() {
    let most = scaled(700);
    for fill in [1.0, 0.9, 0.6, 0.01] {
        let fill = FillFactor::new(fill).unwrap();
        for (name, mut index) in every_variant::<u64>() {
            for n in (0..40).chain((40..most).step_by(47)) {
                let entries: Vec<(u64, u64)> = (0..n as u64).map(|i| (i * 2 + 1, i)).collect();
                index.bulk_load(&entries, fill).unwrap();
                let mut model: BTreeMap<u64, u64> = entries.iter().copied().collect();
                let name = format!("{name}, {n} at {}", fill.share());
                same(&name, &*index, &model, 0);
                let mut rng = Rng(n as u64);
                for _ in 0..n.min(100) {
                    let key = rng.below(2 * n as u64 + 2);
                    assert_eq!(index.insert(key, key).unwrap(), model.insert(key, key), "{name}");
                    let key = rng.below(2 * n as u64 + 2);
                    assert_eq!(index.remove(key), model.remove(&key), "{name}");
                }
                same(&name, &*index, &model, 0);
                for key in model.into_keys() {
                    index.remove(key).unwrap();
                }
                index.check_invariants().unwrap();
                assert!(index.is_empty());
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn narrow_lanes_behave_like_wide_ones() {
    let n = scaled(5000) as u64;
    for (name, mut index) in every_variant::<u32>() {
        let mut model = BTreeMap::new();
        let mut rng = Rng(3);
        for _ in 0..2 * n {
            let key = rng.below(n) as u32;
            if rng.below(3) > 0 {
                assert_eq!(index.insert(key, !key).unwrap(), model.insert(key, !key), "{name}");
            } else {
                assert_eq!(index.remove(key), model.remove(&key), "{name}");
            }
        }
        same(&name, &*index, &model, 0);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn signed_and_float_keys_keep_their_order() {
    for (name, mut index) in some_variants::<i64>() {
        let keys = [i64::MIN, -70, -1, 0, 1, 70, i64::MAX];
        let mut model = BTreeMap::new();
        for key in keys {
            index.insert(key, -key.max(-100)).unwrap();
            model.insert(key, -key.max(-100));
        }
        same(&name, &*index, &model, 0);
    }
    for (name, mut index) in some_variants::<f64>() {
        let keys = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        for key in keys.iter().rev() {
            index.insert(*key, *key).unwrap();
        }
        let all = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        let found =
            crate::common::paged(&*index, all, latchless_core::base::index::Direction::Forward, 3, 0.0);
        let found: Vec<u64> = found.into_iter().map(|(key, _)| f64::to_bits(key)).collect();
        assert_eq!(found, keys.map(f64::to_bits), "{name}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn the_ends_of_the_key_space_are_keys_like_any_other() {
    for (name, mut index) in every_variant::<u32>() {
        let keys = [0, 1, u32::MAX - 1, u32::MAX];
        let mut model = BTreeMap::new();
        for key in keys {
            index.insert(key, key).unwrap();
            model.insert(key, key);
        }
        same(&name, &*index, &model, 0);
        for key in keys {
            assert_eq!(index.remove(key), Some(key), "{name}");
        }
        assert!(index.is_empty());
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn deleting_everything_returns_memory_for_reuse() {
    let n = scaled(4000) as u64;
    for (name, mut index) in every_variant::<u64>() {
        let (mut held_after_first, stats) = (0, index.stats().unwrap());
        let at_first = (stats.leaves, stats.levels);
        assert!(at_first.0 <= 1 && at_first.1 <= 2, "{name}: {at_first:?}");
        for cycle in 0..6 {
            for key in 0..n {
                index.insert(key * 7919 % n, key).unwrap();
            }
            for key in 0..n {
                index.remove(key).unwrap();
            }
            index.check_invariants().unwrap();
            // The properties of an empty index.
            let stats = index.stats().unwrap();
            assert_eq!((stats.leaves, stats.levels), at_first, "{name}");
            let held = index.memory_bytes().unwrap();
            if cycle == 0 {
                held_after_first = held;
            }
            // The memory that waits in an epoch may differ somewhat between cycles.
            let most = held_after_first + held_after_first / 4;
            assert!(held <= most, "{name}, cycle {cycle}: {held} > {most}: nodes weren't used again");
        }
    }
}
