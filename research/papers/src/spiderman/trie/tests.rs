//! Tries compared with a `BTreeMap`: keys that share long prefixes, nodes of all kinds, memory limits,
//! walks. Then several threads, one by one and in batches.

use super::reference::To;
use super::*;
use crate::common::interleave::BatchSize;
use crate::common::walk::{Aim, Rounds, Walks};
use latchless_core::base::error::Error;
use latchless_core::mem::touch::NoTrace;
use std::collections::BTreeMap;

type Tested<B> = Trie<B, NoTrace>;

fn made<B: Bits>(limit_bytes: Option<usize>) -> Tested<B> {
    Trie::new(TrieOptions { limit_bytes, huge_pages: false, ..TrieOptions::default() }).unwrap()
}

fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Keys with few values in each byte, so that they share prefixes and nodes are of every kind.
fn drawn(state: &mut u64, spread: u64) -> u64 {
    (0..8).fold(0, |key, nth| (key << 8) | (next_random(state) % if nth == 6 { 1 + spread } else { 2 }))
}

fn same(trie: &Tested<u64>, model: &BTreeMap<u64, u64>, probe: u64) {
    trie.check_invariants().unwrap();
    assert_eq!(trie.len(), model.len());
    for key in [probe, probe ^ 1, probe ^ 1 << 17, 0, u64::MAX] {
        assert_eq!(trie.get(key), model.get(&key).copied(), "{key:x}");
        let found = |forward| trie.seek(key, forward).unwrap().1.map(|leaf| leaf.key);
        assert_eq!(found(true), model.range(key..).next().map(|entry| *entry.0), "from {key:x}");
        assert_eq!(found(false), model.range(..=key).next_back().map(|entry| *entry.0), "up to {key:x}");
    }
}

#[test]
fn histories_of_a_writer_are_a_maps() {
    for spread in [1, 3, 20, 60, 255] {
        let (trie, mut model, mut state) = (made::<u64>(None), BTreeMap::new(), spread);
        let steps = if cfg!(miri) { 60 } else { 3_000 };
        for step in 0..2 * steps {
            let (key, value) = (drawn(&mut state, spread), next_random(&mut state));
            // The first half grows, the second shrinks.
            if next_random(&mut state) % 4 < if step < steps { 3 } else { 1 } {
                assert_eq!(trie.put(key, value).unwrap(), model.insert(key, value));
            } else {
                assert_eq!(trie.take(key), model.remove(&key));
            }
            if step % 16 == 0 {
                same(&trie, &model, key);
            }
        }
        for key in model.keys().copied().collect::<Vec<_>>() {
            assert_eq!(trie.take(key), model.remove(&key));
        }
        same(&trie, &model, 0);
        assert_eq!(trie.live_bytes(), 0, "an empty trie has no nodes");
    }
}

#[test]
fn ways_lead_on_in_both_directions() {
    let trie = made::<u64>(None);
    let keys: BTreeMap<u64, u64> =
        (0..if cfg!(miri) { 40 } else { 2_000 }).map(|nth| (nth * nth * 7_919, nth)).collect();
    keys.iter().for_each(|(&key, &value)| _ = trie.put(key, value).unwrap());
    for forward in [true, false] {
        let (mut way, mut at) = trie.seek(if forward { 0 } else { u64::MAX }, forward).unwrap();
        let mut seen = Vec::new();
        while let Some(leaf) = at {
            seen.push(leaf.key);
            at = trie.advance(&mut way, forward).unwrap();
        }
        if !forward {
            seen.reverse();
        }
        assert!(seen.iter().eq(keys.keys()), "forward: {forward}");
    }
}

#[test]
fn nodes_grow_and_shrink_through_all_kinds() {
    let trie = made::<u32>(None);
    let kind = |trie: &Tested<u32>| match trie.top().to() {
        To::Inner(kind, _) => Some(kind),
        _ => None,
    };
    let kinds_at = |len: u32| match len {
        0..2 => None,
        2..5 => Some(Kind::Four),
        5..17 => Some(Kind::Sixteen),
        17..49 => Some(Kind::FortyEight),
        _ => Some(Kind::All),
    };
    for len in 1..=256 {
        trie.put((len - 1) << 24, len).unwrap();
        assert_eq!(kind(&trie), kinds_at(len), "{len} keys");
    }
    for left in (0..256u32).rev() {
        assert_eq!(trie.take(left << 24), Some(left + 1));
        // It reads all remaining keys, which takes an interpreter minutes.
        if !cfg!(miri) || left < 6 {
            trie.check_invariants().unwrap();
        }
        let shrunk = match left {
            0..2 => None,
            2..4 => Some(Kind::Four),
            4..13 => Some(Kind::Sixteen),
            13..37 => Some(Kind::FortyEight),
            _ => Some(Kind::All),
        };
        assert_eq!(kind(&trie), shrunk, "{left} keys are left");
    }
}

#[test]
fn a_memory_limit_is_kept_and_loses_nothing() {
    let limit_bytes = if cfg!(miri) { 2_000 } else { 60_000 };
    let (trie, mut model, mut state) = (made::<u64>(Some(limit_bytes)), BTreeMap::new(), 9);
    let refused = loop {
        let key = drawn(&mut state, 255);
        match trie.put(key, !key) {
            Ok(_) => model.insert(key, !key),
            Err(refused) => break refused,
        };
    };
    assert!(matches!(refused, Error::MemoryLimit { .. }), "{refused}");
    assert!(trie.held_bytes() <= limit_bytes && trie.held_bytes() + 1_100 > limit_bytes);
    same(&trie, &model, 1);
    let first = *model.keys().next().unwrap();
    assert_eq!(trie.put(first, 1), Ok(Some(!first)), "replacing needs no memory");
    for key in model.into_keys() {
        assert!(trie.take(key).is_some());
        assert!(trie.held_bytes() <= limit_bytes);
    }
    assert_eq!(trie.put(5, 5), Ok(None));
}

#[test]
fn walks_come_out_where_lookups_do() {
    let (trie, mut state) = (made::<u64>(None), 4);
    let keys: Vec<u64> = (0..if cfg!(miri) { 30 } else { 900 }).map(|_| drawn(&mut state, 99)).collect();
    let asked: Vec<u64> = keys.iter().flat_map(|&key| [key, key ^ 4, key ^ 1 << 60]).take(1_000).collect();
    let mut walks = Walks::default();
    for filled in [0, 1, keys.len()] {
        keys[..filled].iter().for_each(|&key| _ = trie.put(key, !key).unwrap());
        for rounds in [Rounds::Unfinished, Rounds::Naive] {
            let walk = trie.walk();
            let leaves = walks.lead(&walk, rounds, asked.len(), |at| (asked[at], Aim::Look));
            for (&key, leaf) in asked.iter().zip(leaves) {
                assert_eq!(trie.get_from(leaf.unwrap(), key), trie.get(key), "{key:x}");
            }
        }
    }
}

#[test]
fn threads_that_change_a_trie_lose_nothing() {
    let (trie, steps) = (made::<u32>(None), if cfg!(miri) { 60 } else { 20_000 });
    // Keys of the threads are adjacent; each thread uses its own.
    let spread = |nth: u32, thread: u32| (nth % 5) << 24 | (nth % 61) << 8 | thread;
    let work = |thread: u32| {
        let (mut model, mut state) = (BTreeMap::new(), u64::from(thread));
        for step in 0..steps {
            let key = spread(next_random(&mut state) as u32, thread);
            assert_eq!(trie.get(key), model.get(&key).copied(), "{key:x}");
            // It alternately grows and shrinks.
            if next_random(&mut state) % 4 < if step / 300 % 2 == 0 { 3 } else { 1 } {
                assert_eq!(trie.put(key, step).unwrap(), model.insert(key, step));
            } else {
                assert_eq!(trie.take(key), model.remove(&key));
            }
        }
        model
    };
    let models: Vec<_> = std::thread::scope(|threads| {
        let running: Vec<_> = (0..3).map(|thread| threads.spawn(move || work(thread))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    trie.check_invariants().unwrap();
    let all: BTreeMap<u32, u32> = models.into_iter().flatten().collect();
    assert_eq!(trie.len(), all.len());
    assert!(all.iter().all(|(&key, &value)| trie.get(key) == Some(value)));
}

/// Keys that are always there, in the places that nodes change around.
const PLACES: u64 = 16;
/// The bits of a value that are its key; the others count the inserts.
const KEY_BITS: u32 = 48;

/// The number of keys in a batch. It takes long, so that much changes during its walks.
const TOGETHER: usize = if cfg!(miri) { 8 } else { 170 };

fn steady(place: u64) -> u64 {
    (place % 4) << 40 | (place / 4) << 16
}

/// A transient key: it leaves the path of a permanent one at some byte.
fn passing(state: &mut u64) -> u64 {
    let shift = [0, 8, 24, 32][(next_random(state) % 4) as usize];
    steady(next_random(state) % PLACES) | (1 + next_random(state) % 6) << shift
}

/// Puts passing keys in and takes them out, so that nodes grow, shrink, are put between others and leave; and
/// counts upwards under every other steady key.
fn change(map: &TrieMap<u64, u64>, writer: u64, steps: u64) {
    let mut state = writer;
    for step in 1..=steps {
        let key = passing(&mut state);
        // It alternately grows and shrinks.
        if next_random(&mut state) % 4 < if step / 300 % 2 == 0 { 3 } else { 1 } {
            map.insert(key, step << KEY_BITS | key).unwrap();
        } else {
            map.remove(key);
        }
        let own = steady(2 * (next_random(&mut state) % (PLACES / 2)) + writer);
        map.insert(own, step << KEY_BITS | own).unwrap();
    }
}

/// Looks up a batch: a third of its keys is always present, a third is transient, a third is never
/// present. Counts under permanent keys only grow: `counts` has those that were seen before.
fn look(map: &TrieMap<u64, u64>, size: BatchSize, state: &mut u64, counts: &mut [u64]) {
    let places: Vec<u64> = (0..TOGETHER).map(|_| next_random(state) % PLACES).collect();
    let keys: Vec<u64> = places
        .iter()
        .flat_map(|&place| [steady(place), passing(state), steady(place) | 1 << 15 | 1 << 39])
        .collect();
    let mut answers = vec![None; keys.len()];
    map.get_many_in(&keys, &mut answers, size).unwrap();
    for ((&place, keys), answers) in places.iter().zip(keys.chunks(3)).zip(answers.chunks(3)) {
        for (&key, answer) in keys.iter().zip(answers) {
            let own = answer.is_none_or(|value| value & ((1 << KEY_BITS) - 1) == key);
            assert!(own, "under {key:x} is {answer:x?}");
        }
        assert_eq!(answers[2], None, "{:x} never was there", keys[2]);
        let count = answers[0].unwrap_or_else(|| panic!("{:x} is there throughout", keys[0])) >> KEY_BITS;
        let before = &mut counts[place as usize];
        assert!(count >= *before, "{count} under {:x}, {before} before", keys[0]);
        *before = count;
    }
}

#[test]
fn batches_beside_updates_answer_as_lookups_do() {
    let options = TrieOptions { huge_pages: false, ..TrieOptions::default() };
    let map = TrieMap::<u64, u64>::with_options(options).unwrap();
    (0..PLACES).map(steady).for_each(|key| _ = map.insert(key, key).unwrap());
    let (map, steps) = (&map, if cfg!(miri) { 40 } else { 60_000 });
    std::thread::scope(|threads| {
        let writers: Vec<_> =
            (0..2).map(|writer| threads.spawn(move || change(map, writer, steps))).collect();
        let read = |reader, size| {
            let (mut state, mut counts) = (reader, vec![0; PLACES as usize]);
            while writers.iter().any(|writer| !writer.is_finished()) {
                look(map, size, &mut state, &mut counts);
            }
            look(map, size, &mut state, &mut counts);
        };
        std::thread::scope(|readers| {
            readers.spawn(|| read(2, BatchSize::Of(BatchSize::MAX)));
            readers.spawn(|| read(3, BatchSize::Auto));
        });
    });
    map.check_invariants().unwrap();
}
