//! Lanes of every form, compared with counting.

use super::*;
use crate::common::operation::{Operation, Run, Search};
use crate::common::walk::{Aim, Rounds, Walks};
use latchless_core::mem::touch::{Branching, NoTrace};
use latchless_core::search::{Dispatch, Kernel};
use latchless_core::testing::{Rng, sample};

fn options(skip: usize, lanes: Option<usize>, top_lane_bytes: usize) -> LaneOptions {
    LaneOptions {
        skip,
        lanes,
        top_lane_bytes,
        guess: top_lane_bytes == 64 || lanes == Some(3),
        huge_pages: false,
    }
}

fn forms() -> impl Iterator<Item = LaneOptions> {
    let skips = [2, 3, 5, 8, 31].into_iter();
    skips.flat_map(|skip| {
        [(None, 64), (None, 1 << 14), (Some(1), 0), (Some(3), 0), (Some(9), 0)]
            .map(|(lanes, bytes)| options(skip, lanes, bytes))
    })
}

fn lanes_of<B: Bits>(keys: &[B], options: &LaneOptions) -> Lanes<B> {
    // Every second time in a row.
    let step = 1 + (keys.len() / 2 % 2) as u32;
    let entries = keys.iter().enumerate().map(|(at, &key)| (key, at as u32 * step + 100));
    let lanes = Lanes::build(keys.len(), entries, options).unwrap();
    assert_eq!(lanes.flaw(), None);
    assert_eq!(lanes.bytes(), Lanes::<B>::bytes_for(keys.len(), options));
    lanes
}

struct Find<'a, B: Bits>(&'a Lanes<B>, B, B);

impl<B: Bits> Operation for Find<'_, B> {
    type Output = [Option<usize>; 5];

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        let Self(lanes, low, high) = self;
        let [first, second] = Lanes::last_up_to_each::<S, NoTrace, 2>([lanes, lanes], [low, high], |_| ());
        let mut run = None;
        if let Some(at) = first {
            run = Some(lanes.run_up_to::<S, NoTrace>(at, high));
        }
        assert_eq!(lanes.last_up_to::<S, Branching>(low), first, "key by key");
        if let Some(at) = first {
            assert_eq!(Some(lanes.run_up_to::<S, Branching>(at, high)), run, "key by key");
        }
        let (walk, keys, mut walks) = (lanes.walk::<S>(), [low, high], Walks::default());
        let walked = walks.lead(&walk, Rounds::Unfinished, 2, |at| (keys[at], Aim::Look));
        assert_eq!(walked[1], Some(second), "step by step");
        [first, second, run, lanes.last_up_to::<S, NoTrace>(low), walked[0].expect("lanes stand still")]
    }
}

fn kernels() -> impl Iterator<Item = Dispatch> {
    Kernel::ALL.into_iter().filter_map(|kernel| Dispatch::of(kernel).ok())
}

fn every_search<B: Bits>(keys: &[B]) {
    let all: Vec<LaneOptions> = forms().collect();
    for options in all.into_iter().step_by(sample(6)) {
        let lanes = lanes_of(keys, &options);
        let probes = |step: usize| keys.iter().copied().step_by(step).chain([B::MIN, B::MAX]);
        for low in probes(3).chain(probes(7).map(|key| B::truncate(key.to_u64() ^ 1))) {
            for high in probes(11).filter(|&high| high >= low) {
                let expected = |key: B| keys.iter().filter(|&&other| other <= key).count().checked_sub(1);
                for kernel in kernels() {
                    let [first, second, run, alone, walked] = kernel.run(Find(&lanes, low, high));
                    assert_eq!([first, alone, walked], [expected(low); 3], "{low:?} {options:?}");
                    assert_eq!(second, expected(high), "{high:?} {options:?}");
                    assert_eq!(run, first.and(expected(high)), "from {low:?} to {high:?} {options:?}");
                }
            }
        }
    }
}

/// Numbers of keys about the lengths of vectors, lanes and skips.
const LENGTHS: &[u32] = if cfg!(miri) { &[0, 1, 11] } else { &[0, 1, 2, 4, 5, 6, 26, 130, 400] };

#[test]
fn searches_end_at_the_last_key_up_to_theirs() {
    LENGTHS.iter().for_each(|&len| every_search(&(0..len).map(|i| i * 3 + 7).collect::<Vec<u32>>()));
}

#[test]
fn searches_of_wide_keys_end_at_the_last_one_up_to_theirs() {
    let keys = |len: u32| (0..u64::from(len)).map(|i| (i * i + 1) << 32 | 5).collect::<Vec<u64>>();
    LENGTHS.iter().for_each(|&len| every_search(&keys(len)));
}

#[test]
fn the_smallest_and_the_largest_key_are_found() {
    every_search(&[0u32, 1, 2, u32::MAX - 1, u32::MAX]);
    every_search(&[0u64, u64::MAX]);
}

#[test]
fn positions_have_the_keys_and_references_that_they_were_built_with() {
    for (options, len) in forms().zip((330..335).cycle()) {
        let keys: Vec<u32> = (0..len).map(|i| i * 2).collect();
        let step = 1 + len / 2 % 2;
        let lanes = lanes_of(&keys, &options);
        assert_eq!(lanes.len(), keys.len());
        let is_right = |at: usize| lanes.key(at) == keys[at] && lanes.reference(at) == at as u32 * step + 100;
        assert!((0..keys.len()).all(is_right));
    }
}

#[test]
fn the_number_of_lanes_is_the_one_given_or_fits_the_cache() {
    let keys: Vec<u32> = (0..if cfg!(miri) { 2_000 } else { 100_000 }).collect();
    assert_eq!(lanes_of(&keys, &options(5, Some(3), 0)).lanes(), 3);
    assert_eq!(lanes_of(&keys, &options(5, Some(32), 0)).lanes(), if cfg!(miri) { 5 } else { 8 });
    if !cfg!(miri) {
        // 20,000, 4,000 keys: the second takes 16,000 bytes.
        assert_eq!(lanes_of(&keys, &options(5, None, 1 << 14)).lanes(), 2);
    }
}

/// Ten thousand keys in one place, few elsewhere: most stretches are empty, one has nearly all.
#[test]
fn a_guess_errs_where_keys_crowd_and_searches_do_not() {
    let crowd = if cfg!(miri) { 60 } else { 10_000 };
    let keys: Vec<u64> = (0..40).map(|i| i << 50).chain((1 << 58) + 1..(1 << 58) + crowd).collect();
    for options in [options(2, None, 64), options(5, Some(3), 0)] {
        let lanes = lanes_of(&keys, &options);
        assert!(lanes.guess_bytes() > 0);
        for (at, &key) in keys.iter().enumerate().step_by(if cfg!(miri) { 17 } else { 3 }) {
            for kernel in kernels() {
                let [own, behind, ..] = kernel.run(Find(&lanes, key, key.max(keys[0] + 1)));
                assert_eq!((own, behind), (Some(at), Some(at)), "{key} {options:?}");
            }
        }
        assert_eq!(Dispatch::best().run(Find(&lanes, u64::MAX, u64::MAX))[0], Some(keys.len() - 1));
    }
}

#[test]
fn searches_end_before_what_was_passed_over() {
    let keys: Vec<u32> = (0..200).map(|i| i * 10).collect();
    for options in forms() {
        let lanes = lanes_of(&keys, &options);
        let mut gone = [false; 200];
        for (first, last) in [(25, 25), (24, 24), (50, 62), (0, 3), (199, 199), (61, 70)] {
            lanes.pass_over(first..=last);
            gone[first..=last].fill(true);
            for kernel in kernels() {
                for key in (0..2000).step_by(7) {
                    let [at, ..] = kernel.run(Find(&lanes, key, key));
                    let before = (key / 10) as usize;
                    // Never after the key; and at the key's own place if it is present.
                    assert!(at.is_none_or(|at| at <= before), "{key} ended at {at:?}, {options:?}");
                    assert!(gone[before] || at == Some(before), "{key} ended at {at:?}, {options:?}");
                }
            }
        }
        let lands = |key: u32| Dispatch::best().run(Find(&lanes, key, key))[0];
        // An entry that left later than its neighbours to the left has overwritten them.
        assert_eq!((lands(555), lands(705), lands(715)), (Some(49), Some(60), Some(71)), "{options:?}");
    }
}

/// One thread has read the key with which it overwrites, and writes it after others have passed over more.
#[test]
fn what_is_passed_over_late_does_not_become_smaller() {
    let keys: Vec<u32> = (0..60).map(|i| i * 10).collect();
    for options in forms() {
        let lanes = lanes_of(&keys, &options);
        let next = lanes.key(20);
        lanes.pass_over(20..=30);
        lanes.pass_over(3..=30);
        lanes.raise(8..=19, next);
        assert_eq!(lanes.flaw(), None, "{options:?}");
        assert_eq!((lanes.key(8), lanes.key(19)), (310, 310), "{options:?}");
    }
}

#[test]
fn keys_ascend_when_threads_have_passed_over_them_side_by_side() {
    let keys: Vec<u32> = (0..40).map(|i| i * 10).collect();
    for round in 0..if cfg!(miri) { 2 } else { 500 } {
        let lanes = lanes_of(&keys, &options(2, None, 16));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let lanes = &lanes;
                scope.spawn(move || {
                    let mut random = Rng(round * 3 + thread);
                    for _ in 0..20 {
                        let first = random.below(38) as usize;
                        lanes.pass_over(first..=first + random.below(39 - first as u64) as usize);
                    }
                });
            }
        });
        assert_eq!(lanes.flaw(), None, "round {round}");
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "5 at 2 is out of order")]
fn lanes_over_keys_that_do_not_ascend_are_noticed() {
    let entries = [(3u32, 0), (7, 1), (5, 2)];
    let _ = Lanes::build(3, entries.into_iter(), &options(2, None, 64));
}
