//! Values that identify their key and its generation. Each key has one writer, which records its progress
//! before and after every change; so a reader knows which generations it may see, and a torn, a foreign or a
//! stale value is detected (the scheme of LevelDB's skip-list test).

use crate::broken::{Flaw, finds};
use crate::history::Edit;
use crate::subject::{Subject, on_every_subject, scaled, walk};
use latchless::Direction;
use latchless_core::testing::Rng;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The progress of a key's writer: a generation begins before the change of the index, and is done after it.
#[derive(Default)]
struct Progress {
    begun: AtomicU64,
    done: AtomicU64,
}

/// Returns whether the key is absent in this generation: in every eighth.
fn is_gone(generation: u64) -> bool {
    generation.is_multiple_of(8)
}

/// Returns a value whose halves both depend on key and generation.
fn stamp(key: u64, generation: u64) -> u64 {
    let low = key << 8 | generation & 0xFF;
    (low.wrapping_mul(0x9E37) & 0xFFFF) << 16 | low & 0xFFFF
}

/// Checks that a value of `key` is of a generation that was current meanwhile.
fn assert_fits(key: u64, seen: Option<u64>, earliest: u64, latest: u64) {
    let fits = |generation| match seen {
        None => is_gone(generation),
        Some(value) => !is_gone(generation) && value == stamp(key, generation),
    };
    assert!(
        (earliest..=latest).any(fits),
        "key {key}: {seen:x?} is of no generation in {earliest}..={latest}"
    );
}

fn stamped_values(subject: &dyn Subject, keys: u64, writers: u64, generations: u64) {
    let progress: Vec<Progress> = (0..keys).map(|_| Progress::default()).collect();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let (progress, over) = (&progress, &over);
            scope.spawn(move || {
                let mut rng = Rng(reader);
                while !over.load(Ordering::Acquire) {
                    for _ in 0..8 {
                        read_one(subject, progress, rng.below(keys));
                    }
                    read_range(subject, progress, rng.below(keys), 1 + rng.below(40));
                }
            });
        }
        let write = |writer| {
            let progress = &progress;
            move || {
                for generation in 1..=generations {
                    (writer..keys).step_by(writers as usize).for_each(|key| {
                        write_one(subject, &progress[key as usize], key, generation);
                    });
                }
            }
        };
        let writers: Vec<_> = (0..writers).map(|writer| scope.spawn(write(writer))).collect();
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        over.store(true, Ordering::Release);
        ended.into_iter().for_each(|writer| writer.expect("no writer is told wrong"));
    });
    let left = (0..keys).filter(|_| !is_gone(generations)).map(|key| (key, stamp(key, generations)));
    subject.settle(&left.collect::<Vec<_>>());
}

fn write_one(subject: &dyn Subject, progress: &Progress, key: u64, generation: u64) {
    progress.begun.store(generation, Ordering::SeqCst);
    let was = match generation {
        generation if is_gone(generation) => subject.take(key),
        generation if generation % 3 == 0 && !is_gone(generation - 1) => {
            let (expected, value) = (stamp(key, generation - 1), stamp(key, generation));
            let swap = Edit::Swap { expected, value };
            subject.edit(key, if subject.offers(swap) { swap } else { Edit::Put(value) })
        }
        generation => subject.put(key, stamp(key, generation)),
    };
    progress.done.store(generation, Ordering::SeqCst);
    assert_fits(key, was, generation - 1, generation - 1);
}

fn read_one(subject: &dyn Subject, progress: &[Progress], key: u64) {
    let earliest = progress[key as usize].done.load(Ordering::SeqCst);
    let seen = subject.look(key);
    assert_fits(key, seen, earliest, progress[key as usize].begun.load(Ordering::SeqCst));
}

/// A scan is a read of each of its keys.
fn read_range(subject: &dyn Subject, progress: &[Progress], low: u64, len: u64) {
    let high = (low + len).min(progress.len() as u64) - 1;
    let keys = low as usize..=high as usize;
    let earliest: Vec<u64> =
        progress[keys.clone()].iter().map(|progress| progress.done.load(Ordering::SeqCst)).collect();
    let mut seen = vec![None; earliest.len()];
    walk(subject.index(), low, high, Direction::Forward, 16, |key, value| {
        assert!(seen[(key - low) as usize].replace(value).is_none(), "key {key} was seen twice");
    });
    for (key, (seen, earliest)) in keys.zip(seen.into_iter().zip(earliest)) {
        assert_fits(key as u64, seen, earliest, progress[key].begun.load(Ordering::SeqCst));
    }
}

#[test]
fn no_reader_sees_a_torn_foreign_or_stale_value() {
    on_every_subject(|subject| {
        stamped_values(subject, scaled(1000, 66).min(1000) as u64, 2, scaled(300, 2) as u64);
    });
}

#[test]
fn no_reader_of_a_hot_leaf_sees_a_torn_foreign_or_stale_value() {
    on_every_subject(|subject| stamped_values(subject, 10, 2, scaled(30_000, 8) as u64));
}

#[test]
#[cfg_attr(miri, ignore = "needs many schedules")]
fn torn_and_stale_values_are_found() {
    let test = |subject: &dyn Subject| stamped_values(subject, 10, 2, 100);
    assert!(!finds(Flaw::None, test));
    for flaw in [Flaw::TornValue, Flaw::StaleGet, Flaw::GapInReplace] {
        assert!(finds(flaw, test), "{flaw:?} wasn't found");
    }
}
