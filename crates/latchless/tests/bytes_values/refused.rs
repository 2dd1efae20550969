//! Memory: a refused operation changes nothing, and removed values are freed.

use super::{Numbered, bytes, empty, key_of, length, options};
use latchless::Error;
use latchless::bytes::ByteStrings;
use latchless::index::Options;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;

/// Byte strings under a memory limit: a refused one changes nothing, and one that fits is stored.
#[test]
fn refused_memory_leaves_values_as_they_were() {
    let mut refusals = 0;
    for limit in (1..if cfg!(miri) { 6 } else { 60 }).map(|lines| 2048 * lines) {
        let options = Options { limit_bytes: Some(limit), ..options() };
        let Ok(index) = ByteStrings::<Vec<u8>, Vec<u8>>::with_options(options) else { continue };
        let (mut model, mut random) = (BTreeMap::new(), Rng(limit as u64));
        for _ in 0..if cfg!(miri) { 40 } else { 400 } {
            let (key, value) = (key_of(random.below(60)), bytes(random.next(), length(random.next())));
            match index.insert(&key, &value) {
                Ok(before) => assert_eq!(before, model.insert(key, value)),
                Err(Error::MemoryLimit { limit_bytes, .. }) => {
                    assert_eq!(limit_bytes, limit);
                    refusals += 1;
                    assert_eq!(index.get(&key), model.get(&key).cloned());
                    let expected = model.get(&key).cloned();
                    match index.try_replace(&key, &value) {
                        Ok(before) => {
                            assert_eq!(before, expected);
                            model.entry(key).and_modify(|own| *own = value);
                        }
                        Err(error) => assert!(matches!(error, Error::MemoryLimit { .. }), "{error}"),
                    }
                }
                Err(error) => panic!("{error}"),
            }
            assert!(index.live_bytes() <= limit, "{} of {limit} bytes", index.live_bytes());
        }
        index.check_invariants().unwrap();
        assert!(index.iter().eq(model));
    }
    assert!(refusals > 0);
}

/// An index that is filled and emptied keeps nothing.
fn nothing_stays<V: Numbered>() {
    let (index, mut random) = (empty::<V>(), Rng(5));
    let at_first = index.live_bytes();
    let (fills, keys) = if cfg!(miri) { (3, 12) } else { (60, 200) };
    let mut settled = 0;
    for fill in 0..fills {
        for number in 0..keys {
            let value = V::of(random.next(), length(number + fill));
            index.insert(&key_of(number), value.lend()).unwrap();
        }
        for number in 0..keys / 2 {
            index.insert(&key_of(number), V::of(fill, length(number)).lend()).unwrap();
            _ = index.try_insert(&key_of(number), V::of(fill, 5_000));
            _ = index.try_compare_exchange(&key_of(number), V::of(1, 1).lend(), V::of(1, 4_000).lend());
        }
        index.check_invariants().unwrap();
        match fill % 3 {
            0 => (0..keys).for_each(|number| drop(index.remove(&key_of(number)))),
            1 => while index.pop_first().is_some() {},
            _ => _ = index.remove_range::<Vec<u8>>(..).unwrap(),
        }
        index.check_invariants().unwrap();
        let stays = if cfg!(latchless_small_nodes) { 128 << 10 } else { 0 };
        assert!(index.live_bytes() <= at_first + stays, "fill {fill}: {} bytes", index.live_bytes());
        match fill {
            0..20 => settled = settled.max(index.memory_bytes()),
            _ => assert!(index.memory_bytes() <= settled + settled / 4, "fill {fill}"),
        }
    }
}

#[test]
fn byte_strings_that_were_removed_take_nothing() {
    nothing_stays::<Vec<u8>>();
}

#[test]
fn values_of_eight_words_that_were_removed_take_nothing() {
    nothing_stays::<[u64; 8]>();
}
