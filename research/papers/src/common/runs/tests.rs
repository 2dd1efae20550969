//! Every kernel that this processor supports, compared with a search word by word.

use super::*;
use crate::common::operation::{Operation, Run as _, Search};
use latchless_core::search::{Dispatch, Kernel};
use latchless_core::sync::BitsWord;
use latchless_core::testing::sample;
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Group<'a, B: Bits>(&'a [B::Word], usize, usize, B);

impl<B: Bits> Operation for Group<'_, B> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        S::group_up_to(self.0, self.1, self.2, self.3)
    }
}

struct Run<'a, B: Bits>(&'a [B::Word], B);

impl<B: Bits> Operation for Run<'_, B> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        S::run_up_to(self.0, self.1)
    }
}

fn kernels() -> impl Iterator<Item = Dispatch> {
    Kernel::ALL.into_iter().filter_map(|kernel| Dispatch::of(kernel).ok())
}

fn words<B: Bits>(lanes: impl IntoIterator<Item = u64>) -> Vec<B::Word> {
    let word = |lane| {
        let word = B::Word::default();
        word.store_relaxed(B::truncate(lane));
        word
    };
    lanes.into_iter().map(word).collect()
}

/// Lanes that ascend by 3, every fourth twice, the last one the largest there is.
fn ascending<B: Bits>(len: usize) -> Vec<B::Word> {
    let lane = |at| match at + 1 == len {
        true => u64::MAX,
        false => (at - usize::from(at % 4 == 3)) as u64 * 3 + 1,
    };
    words::<B>((0..len).map(lane))
}

/// Lanes from the smallest to the largest, so that a signed order would show.
fn spread<B: Bits>(len: usize) -> Vec<B::Word> {
    let step = B::MAX.to_u64() / (len as u64).saturating_sub(1).max(1);
    words::<B>((0..len as u64).map(|at| at * step))
}

/// Lanes and their neighbours, the ends of the domain, and both sides of its middle.
fn keys<B: Bits>(words: &[B::Word]) -> Vec<B> {
    let middle = 1 << (8 * B::BYTES - 1);
    let near = words.iter().map(|word| word.load_relaxed().to_u64());
    let near = near.flat_map(|lane| [lane.wrapping_sub(1), lane, lane.wrapping_add(1)]);
    let mut keys: Vec<B> = near.map(B::truncate).collect();
    keys.sort_unstable();
    keys.dedup();
    // Long runs, and interpreters, check only some of them.
    let step = if cfg!(miri) || words.len() > 40 { 7 } else { 1 };
    let ends = [B::MIN, B::truncate(middle - 1), B::truncate(middle), B::MAX];
    keys.into_iter().step_by(step).chain(ends).collect()
}

fn every_length_and_key<B: Bits>(lanes: fn(usize) -> Vec<B::Word>) {
    let short = (0..if cfg!(miri) { 20 } else { 90 }).step_by(sample(3));
    for len in short.chain([if cfg!(miri) { 40 } else { 300 }]) {
        let words = lanes(len);
        for key in keys::<B>(&words) {
            let expected = words.iter().filter(|word| word.load_relaxed() <= key).count();
            for kernel in kernels() {
                let found = kernel.run(Run::<B>(&words, key));
                assert_eq!(found, expected, "{key:?} along {len} by {kernel:?}");
            }
        }
    }
}

#[test]
fn runs_end_at_the_first_larger_word() {
    every_length_and_key::<u32>(ascending::<u32>);
    every_length_and_key::<u32>(spread::<u32>);
    every_length_and_key::<u64>(ascending::<u64>);
    every_length_and_key::<u64>(spread::<u64>);
}

/// Also where the words after it are small again, as they can be while they are written.
fn one_larger_word_ends_a_run<B: Bits>() {
    let len = 256 / B::BYTES + 3;
    for larger in (0..len).step_by(sample(5)) {
        let words = words::<B>((0..len).map(|at| if at == larger { u64::MAX } else { 7 }));
        for kernel in kernels() {
            assert_eq!(kernel.run(Run::<B>(&words, B::truncate(7))), larger, "of {len} by {kernel:?}");
        }
    }
}

#[test]
fn one_larger_word_ends_a_run_wherever_it_is() {
    one_larger_word_ends_a_run::<u32>();
    one_larger_word_ends_a_run::<u64>();
}

fn every_group<B: Bits>(lanes: fn(usize) -> Vec<B::Word>) {
    let len = if cfg!(miri) { 12 } else { 40 };
    let words = lanes(len);
    let keys = keys::<B>(&words);
    for at in (0..=len).step_by(sample(3)) {
        for count in 0..=(len - at).min(20) {
            let group = &words[at..at + count];
            for &key in keys.iter().step_by(3) {
                let expected = group.iter().filter(|word| word.load_relaxed() <= key).count();
                for kernel in kernels() {
                    let found = kernel.run(Group::<B>(&words, at, count, key));
                    assert_eq!(found, expected, "{key:?} in {count} from {at} of {len} by {kernel:?}");
                }
            }
        }
    }
}

#[test]
fn groups_are_counted_wherever_they_stand() {
    every_group::<u32>(ascending::<u32>);
    every_group::<u32>(spread::<u32>);
    every_group::<u64>(ascending::<u64>);
    every_group::<u64>(spread::<u64>);
}

fn groups_outside_of_the_array_are_refused<B: Bits>() {
    // Panics take Miri seconds.
    for len in [16, 0, 3, 33].into_iter().step_by(sample(4)) {
        let words = ascending::<B>(len);
        let outside = [(0, len + 1), (len, 1), (len + 1, 1), (len / 2, len + 20)];
        for (at, count) in outside.into_iter().step_by(sample(2)) {
            for kernel in kernels() {
                let group = Group::<B>(&words, at, count, B::MAX);
                let found = catch_unwind(AssertUnwindSafe(|| kernel.run(group)));
                assert!(found.is_err(), "{count} from {at} of {len} by {kernel:?}");
            }
        }
    }
}

#[test]
fn groups_outside_of_the_array_are_refused_by_every_kernel() {
    groups_outside_of_the_array_are_refused::<u32>();
    groups_outside_of_the_array_are_refused::<u64>();
}
