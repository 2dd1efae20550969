//! Questions while others insert and remove.

use latchless::intervals::IntervalIndex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const GROUPS: u32 = 3;
const STAYS: u64 = if cfg!(miri) { 40 } else { 2_000 };
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 10 };

/// The interval of an id: lengths of several lanes, in each group.
fn interval(id: u64) -> (u32, std::ops::Range<i64>, u64) {
    let first = (id * 37 % 5_000) as i64 - 2_500;
    ((id % u64::from(GROUPS)) as u32, first..first + (1 << (id % 11)), id)
}

#[test]
fn intervals_that_stay_are_seen_once_while_others_come_and_go() {
    let index = IntervalIndex::<u32, i64>::new().unwrap();
    let stays: Vec<_> = (0..STAYS).map(interval).collect();
    assert_eq!(index.insert_many(&stays), Ok(stays.len()));
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let writers: Vec<_> = (1..3)
            .map(|thread| {
                let index = &index;
                threads.spawn(move || {
                    for round in 0..ROUNDS {
                        let ids = (0..STAYS).map(|at| STAYS * (thread * ROUNDS + round + 1) + at);
                        let passing: Vec<_> = ids.map(interval).collect();
                        assert_eq!(index.insert_many(&passing), Ok(passing.len()));
                        let own = &passing[round as usize];
                        assert!(index.overlaps(&own.0, own.1.clone()).iter().any(|(_, id)| *id == own.2));
                        assert_eq!(index.remove_many(&passing), passing.len());
                    }
                })
            })
            .collect();
        threads.spawn(|| {
            while !done.load(Relaxed) {
                let asked: Vec<_> =
                    stays.iter().step_by(7).map(|(group, range, _)| (*group, range.clone())).collect();
                // A small batch is answered by the tree, a large one by a copy.
                for asked in [&asked[..2], &asked] {
                    let found = index.overlaps_many(asked).unwrap();
                    for (at, (group, range)) in asked.iter().enumerate() {
                        let mut seen = found.of(at).to_vec();
                        seen.dedup();
                        assert_eq!(seen, found.of(at), "one is there twice");
                        let staying = stays.iter().filter(|(its, other, _)| {
                            its == group && other.start < range.end && range.start < other.end
                        });
                        assert!(staying.clone().all(|(.., id)| seen.binary_search(id).is_ok()));
                        let staying = staying.count();
                        assert_eq!(seen.iter().filter(|&&id| id < STAYS).count(), staying);
                    }
                }
            }
        });
        let ended: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Relaxed);
        ended.into_iter().for_each(Result::unwrap);
    });
    assert_eq!(index.len(), stays.len());
    index.check_invariants().unwrap();
}
