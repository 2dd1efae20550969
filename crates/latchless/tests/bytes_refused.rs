//! Every single allocation of an operation on byte strings is refused in turn: the index is in a documented
//! state, consistent, and without leaks, and the operation succeeds when it is repeated.

use latchless::bytes::ByteStrings;
use latchless::index::Options;
use latchless::{Error, FillFactor, Index};
use latchless_core::mem::refusal::refusing;
use std::collections::BTreeMap;
use std::sync::Arc;

type Bytes = ByteStrings<Vec<u8>, u64>;
type Model = BTreeMap<Vec<u8>, u64>;

const KEYS: u64 = if cfg!(miri) { 30 } else { 200 };

fn options() -> Options {
    Options { huge_pages: false, ..Options::default() }
}

fn empty() -> Bytes {
    Bytes::with_options(options()).expect("a leaf finds room")
}

/// The kinds of keys: short, stored outside of nodes, or such that separators are long as well.
const KINDS: [fn(u64) -> Vec<u8>; 3] = [
    |number| spread(number).to_vec(),
    |number| [&spread(number)[..], &[b'l'; 700]].concat(),
    |number| [&[b's'; 300][..], &spread(number)].concat(),
];

fn spread(number: u64) -> [u8; 8] {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()
}

fn is_as_in(index: &Bytes, model: &Model) {
    index.check_invariants().unwrap();
    assert_eq!(index.len(), model.len());
    assert!(index.iter().eq(model.iter().map(|(key, &value)| (key.clone(), value))));
}

/// Repeats `work`, with its first allocation refused, its second, and so on, until it succeeds. `refused`
/// checks the state after each refusal. Returns the number of refusals.
fn with_each_allocation_refused(
    mut work: impl FnMut() -> Result<(), Error>,
    mut refused: impl FnMut(),
) -> usize {
    for count in 0.. {
        let (outcome, was_refused) = refusing(count, &mut work);
        match outcome {
            // An optional allocation may have been refused: a larger prediction table.
            Ok(()) => return count,
            Err(Error::OutOfMemory { .. }) => assert!(was_refused, "nothing else refuses memory"),
            Err(error) => panic!("{error}"),
        }
        refused();
    }
    unreachable!("no work allocates for ever")
}

/// Values of several words, and byte strings in their leaf and outside: inserted and replaced.
#[test]
fn byte_strings_succeed_when_they_are_repeated() {
    let index = ByteStrings::<Vec<u8>, Vec<u8>>::with_options(options()).unwrap();
    let (mut model, mut refusals) = (BTreeMap::new(), 0);
    for number in 0..KEYS {
        let key = KINDS[number as usize / 2 % 3](number / 2);
        let value = vec![number as u8; [10, 3000, 200, 150, 20, 300, 100][number as usize % 7]];
        let before = model.get(&key).cloned();
        let insert = || index.insert(&key, &value).map(|replaced| assert_eq!(replaced, before));
        refusals += with_each_allocation_refused(insert, || {
            index.check_invariants().unwrap();
            assert_eq!(index.get(&key), before, "what was refused isn't there");
        });
        model.insert(key, value);
        assert!(index.iter().eq(model.clone()));
    }
    let other = ByteStrings::<Vec<u8>, Vec<u8>>::with_options(options()).unwrap();
    model.iter().for_each(|(key, value)| assert_eq!(other.insert(key, value).unwrap(), None));
    while index.pop_last().is_some() {}
    while other.pop_last().is_some() {}
    index.check_invariants().unwrap();
    assert_eq!(index.live_bytes(), other.live_bytes(), "what was put aside went back");
    assert!(refusals as u64 > KEYS / 4, "{refusals} refusals");
    let entries = model.iter().map(|(key, value)| (key.clone(), value.clone()));
    let mut loaded = ByteStrings::<Vec<u8>, Vec<u8>>::with_options(options()).unwrap();
    for count in 0.. {
        let (outcome, _) = refusing(count, || loaded.bulk_load(entries.clone(), FillFactor::FULL));
        if outcome.is_ok() {
            assert!(count > 3, "{count} refusals");
            break;
        }
        assert_eq!(loaded.len(), 0);
        loaded.check_invariants().unwrap();
    }
    assert!(loaded.iter().eq(model));
}

#[test]
fn inserts_succeed_when_they_are_repeated() {
    for key_of in KINDS {
        let (index, mut model) = (empty(), Model::new());
        let mut refusals = 0;
        for number in 0..KEYS {
            let key = key_of(number);
            let insert = || index.insert(&key, number).map(|before| assert_eq!(before, None));
            refusals += with_each_allocation_refused(insert, || {
                assert_eq!(index.get(&key), None, "what was refused isn't there");
                is_as_in(&index, &model);
            });
            model.insert(key, number);
        }
        let other = empty();
        (0..KEYS).for_each(|number| assert_eq!(other.insert(&key_of(number), number).unwrap(), None));
        assert_eq!(index.live_bytes(), other.live_bytes(), "what was put aside went back");
        is_as_in(&index, &model);
        assert!(refusals as u64 > KEYS / 20, "{refusals} refusals");
    }
}

#[test]
fn batches_say_which_keys_were_refused() {
    for key_of in KINDS {
        let (index, mut model) = (empty(), Model::new());
        let mut refusals = 0;
        for batch in 0..40 {
            // More of them if entries are so small that leaves are rarely split.
            if batch >= 3 && refusals > 5 {
                break;
            }
            let entries: Vec<_> =
                (batch * 50..(batch + 1) * 50).map(|number| (key_of(number), number)).collect();
            for count in 0.. {
                let mut replaced = vec![None; entries.len()];
                let (outcome, was_refused) = refusing(count, || index.insert_many(&entries, &mut replaced));
                let refused = outcome.map_or_else(|incomplete| incomplete.refused, |()| Vec::new());
                assert!(was_refused || refused.is_empty());
                assert!(refused.len() <= 1, "one allocation was refused, not {refused:?}");
                refusals += refused.len();
                let done = (0..entries.len()).filter(|at| !refused.contains(at));
                for (key, value) in done.map(|at| entries[at].clone()) {
                    model.insert(key, value);
                }
                is_as_in(&index, &model);
                if !was_refused {
                    break;
                }
                // The next refusal should meet absent keys.
                entries.iter().for_each(|(key, _)| assert_eq!(index.remove(key), model.remove(key)));
            }
        }
        assert!(refusals > 5, "{refusals} refusals");
    }
}

#[test]
fn loads_that_are_refused_leave_nothing() {
    for key_of in KINDS {
        let model: Model = (0..KEYS).map(|number| (key_of(number), number)).collect();
        let mut index = empty();
        let (at_first, mut refusals) = ((index.live_bytes(), index.memory_bytes()), 0);
        for count in 0.. {
            let entries = model.iter().map(|(key, &value)| (key, value));
            let (outcome, was_refused) = refusing(count, || index.bulk_load(entries, FillFactor::FULL));
            match outcome {
                // A long piece of memory may have been refused, and a shorter one granted.
                Ok(()) => is_as_in(&index, &model),
                Err(error) => {
                    assert!(was_refused && matches!(error, Error::OutOfMemory { .. }), "{error}");
                    is_as_in(&index, &Model::new());
                    assert_eq!((index.live_bytes(), index.memory_bytes()), at_first);
                    refusals += 1;
                }
            }
            if !was_refused {
                break;
            }
            index.clear();
        }
        assert!(refusals > 5, "{refusals} refusals");
        assert_eq!(index.len(), model.len());
    }
}

#[test]
fn removals_are_never_refused() {
    for key_of in KINDS {
        // The first allocation of each removal, or the second, third, …: merges are abandoned, keys are
        // removed.
        for count in 0..4 {
            let (index, mut model) = (empty(), Model::new());
            for number in 0..KEYS {
                index.insert(&key_of(number), number).unwrap();
                model.insert(key_of(number), number);
            }
            let mut refusals = 0;
            for number in 0..KEYS {
                let key = key_of(number);
                let (removed, was_refused) = refusing(count, || index.remove(&key));
                assert_eq!(removed, model.remove(&key));
                refusals += usize::from(was_refused);
                if number % 16 == 0 {
                    is_as_in(&index, &model);
                }
            }
            is_as_in(&index, &model);
            assert!(refusals > 0 || count > 2, "merges want memory for strings");
            // Nodes that weren't merged are reused, and merged when they are emptied again.
            (0..KEYS).for_each(|number| assert_eq!(index.insert(&key_of(number), number).unwrap(), None));
            index.check_invariants().unwrap();
        }
    }
}

#[test]
fn lookups_answer_without_the_table_that_was_refused() {
    let keys: u64 = match () {
        () if cfg!(latchless_small_nodes) => 300,
        () if cfg!(miri) => return,
        () => 42_000,
    };
    // Many keys share a prefix and come at random, so their leaves are found by hashes, not by positions.
    let key = |number: u64| [&spread(number % (keys / 100))[..], &spread(number)].concat();
    for count in 0..3 {
        let index = empty();
        (0..keys).for_each(|number| assert_eq!(index.insert(&key(number), number).unwrap(), None));
        let look = || {
            (0..2 * keys).for_each(|number| assert_eq!(index.get(&key(number % keys)), Some(number % keys)))
        };
        let ((), was_refused) = refusing(count, look);
        assert!(was_refused || count > 0, "lookups make a table");
        index.check_invariants().unwrap();
        look();
    }
}

#[test]
fn boxed_values_that_are_refused_are_dropped() {
    for key_of in KINDS {
        let value = Arc::new(());
        let index = Index::<Vec<u8>, Arc<()>>::with_options(options()).expect("a leaf finds room");
        let mut refusals = 0;
        for number in 0..KEYS {
            let key = key_of(number);
            let insert = || index.insert(&key, Arc::clone(&value)).map(|before| assert!(before.is_none()));
            refusals += with_each_allocation_refused(insert, || {
                assert!(!index.contains_key(&key));
                assert_eq!(index.len() as u64, number);
                index.check_invariants().unwrap();
            });
            assert!(index.get_with(&key, |own| Arc::ptr_eq(own, &value)).is_some_and(|same| same));
        }
        assert!(refusals as u64 > KEYS / 20, "{refusals} refusals");
        // Each flush drops some retired values.
        let mut flushes = 0..10_000;
        let is_dropped = flushes.any(|_| {
            index.flush();
            Arc::strong_count(&value) == 1 + KEYS as usize
        });
        assert!(is_dropped, "{} values are left", Arc::strong_count(&value));
    }
}
