//! Every kernel of this processor against a search lane by lane.

use super::keys_in_line;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::key::Bits;
use latchless_core::search::{Dispatch, Kernel};
use latchless_core::sync::{Line, Word};
use latchless_core::testing::{Rng, sample};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn kernels() -> Vec<Dispatch> {
    Kernel::ALL.into_iter().filter_map(|kernel| Dispatch::of(kernel).ok()).collect()
}

/// Returns a line of these words.
fn line(words: [u64; 8]) -> Line {
    words.map(Word::new)
}

/// Returns the lanes of these words, low lanes first.
fn lanes<B: Bits>(words: &[u64]) -> Vec<B> {
    let each = |word: &u64| match B::BYTES {
        4 => vec![B::truncate(*word & 0xFFFF_FFFF), B::truncate(*word >> 32)],
        _ => vec![B::truncate(*word)],
    };
    words.iter().flat_map(each).collect()
}

/// The ends of the domain, both sides of its middle, where a signed order has its ends, and lanes that
/// differ in one half only.
const TELLING: [u64; 12] = [
    0,
    1,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0x8000_0000_8000_0000,
    0xFFFF_FFFF_FFFF_FFFE,
    u64::MAX,
];

/// Returns words of a single repeated lane, words of the lanes above, and random words: few different ones
/// in every second line, so that some lanes are equal.
fn lines() -> Vec<[u64; 8]> {
    let mut lines: Vec<[u64; 8]> = TELLING.into_iter().step_by(sample(4)).map(|word| [word; 8]).collect();
    let mut state = Rng(88_172_645_463_325_252);
    for round in 0..if cfg!(miri) { 3 } else { 300 } {
        lines.push(core::array::from_fn(|_| match round % 3 {
            0 => state.next(),
            1 => state.next() & 0x8000_0003_8000_0003,
            _ => {
                let (low, high) = (state.next() as usize, state.next() as usize);
                let (low, high) = (TELLING[low % TELLING.len()], TELLING[high % TELLING.len()]);
                if round % 2 == 0 { low } else { low & 0xFFFF_FFFF | high << 32 }
            }
        }));
    }
    lines
}

/// Returns the lanes above, and those of the line with their neighbours. Miri takes some of them.
fn keys<B: Bits>(words: &[u64; 8]) -> Vec<B> {
    let own = lanes::<B>(words).into_iter().map(B::to_u64);
    let near = own.flat_map(|lane| [lane.wrapping_sub(1), lane, lane.wrapping_add(1)]);
    let mut keys: Vec<B> = TELLING.into_iter().chain(near).map(B::truncate).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().step_by(sample(5)).collect()
}

/// Returns one bit for each lane that satisfies `holds`.
fn bits<B: Bits>(lanes: &[B], holds: impl Fn(B) -> bool) -> u32 {
    lanes.iter().enumerate().fold(0, |bits, (at, &lane)| bits | u32::from(holds(lane)) << at)
}

struct Hints<'a>(&'a Line, u16);

impl Operation for Hints<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        S::hints_up_to(self.0, self.1)
    }
}

#[test]
fn hints_are_counted_and_what_is_before_them_is_not() {
    let kernels = kernels();
    for words in lines() {
        let header = line(words);
        let lanes: Vec<u16> =
            words[4..].iter().flat_map(|word| [0, 16, 32, 48].map(|shift| (word >> shift) as u16)).collect();
        let near = lanes.iter().flat_map(|lane| [lane.wrapping_sub(1), *lane, lane.wrapping_add(1)]);
        let telling = [0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF];
        for hint in near.chain(telling).step_by(sample(7)) {
            let expected = lanes[2..].iter().filter(|&&lane| lane <= hint).count();
            for kernel in &kernels {
                let found = kernel.run(Hints(&header, hint));
                assert_eq!(found, expected, "{hint:#x} among {lanes:x?} by {}", kernel.kernel());
            }
        }
    }
}

/// The comparisons of a block with a key.
struct Compared<'a, B>(&'a Line, B);

impl<B: Bits> Operation for Compared<'_, B> {
    type Output = (u32, u32, usize);

    #[inline(always)]
    fn run<S: Search>(self) -> (u32, u32, usize) {
        let (block, key) = (self.0, self.1);
        (S::keys_equal(block, key), S::keys_below(block, key), S::separators_up_to(block, key))
    }
}

struct Between<'a, B>(&'a Line, B, B);

impl<B: Bits> Operation for Between<'_, B> {
    type Output = u32;

    #[inline(always)]
    fn run<S: Search>(self) -> u32 {
        S::keys_between(self.0, self.1, self.2)
    }
}

fn every_key_is_compared<B: Bits>() {
    let kernels = kernels();
    for words in lines() {
        let (block, keys) = (line(words), keys::<B>(&words));
        let stored = lanes::<B>(&words[..4]);
        let separators = lanes::<B>(&words[..if B::BYTES == 8 { 5 } else { 4 }]);
        for (at, &key) in keys.iter().enumerate() {
            let (equal, below) = (bits(&stored, |lane| lane == key), bits(&stored, |lane| lane < key));
            let up_to = separators.iter().filter(|&&lane| lane <= key).count();
            // An upper end that is as large, one that is larger, and one that is smaller.
            let ends = [key, keys[(at + 3).min(keys.len() - 1)], keys[at / 2]];
            for kernel in &kernels {
                let found = kernel.run(Compared(&block, key));
                assert_eq!(found, (equal, below, up_to), "{key:x?} in {words:x?} by {}", kernel.kernel());
                for end in ends {
                    let between = bits(&stored, |lane| (key..=end).contains(&lane));
                    let found = kernel.run(Between(&block, key, end));
                    assert_eq!(found, between, "{key:x?}..={end:x?} in {words:x?} by {}", kernel.kernel());
                }
            }
        }
    }
}

#[test]
fn every_key_of_32_and_of_64_bits_is_compared() {
    every_key_is_compared::<u32>();
    every_key_is_compared::<u64>();
}

struct Copied<'a, B>(&'a Line, usize, &'a mut [B]);

impl<B: Bits> Operation for Copied<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        S::copy_half(self.0, self.1, self.2);
    }
}

fn half_a_line_is_copied_and_no_more<B: Bits>() {
    let (words, len) = (core::array::from_fn(|at| 0x0123_4567_89AB_CDEF << at), keys_in_line::<B>());
    let block = line(words);
    for kernel in kernels() {
        for first in (0..=4).step_by(sample(2)) {
            // Wherever the copy begins, aligned or not.
            for start in (0..3).step_by(sample(2)) {
                let mut room = vec![B::MAX; start + len + 2];
                kernel.run(Copied(&block, first, &mut room[start..]));
                let (before, copied) = room.split_at(start);
                assert_eq!(copied[..len], lanes::<B>(&words[first..first + 4]), "by {}", kernel.kernel());
                assert!(
                    before.iter().chain(&copied[len..]).all(|&lane| lane == B::MAX),
                    "by {}",
                    kernel.kernel()
                );
            }
        }
        // A panic takes Miri seconds.
        let outside = [(0, len - 1), (4, 0), (5, len)].into_iter().step_by(sample(3));
        for (first, room) in outside.filter(|_| !cfg!(miri) || B::BYTES == 8) {
            let mut room = vec![B::MAX; room];
            let refused = catch_unwind(AssertUnwindSafe(|| kernel.run(Copied(&block, first, &mut room))));
            assert!(refused.is_err(), "{} copied from {first} to {} places", kernel.kernel(), room.len());
        }
    }
}

#[test]
fn half_a_line_is_copied_and_no_more_of_32_and_of_64_bits() {
    half_a_line_is_copied_and_no_more::<u32>();
    half_a_line_is_copied_and_no_more::<u64>();
}

struct Set<'a, B>(&'a Line, usize, &'a [B]);

impl<B: Bits> Operation for Set<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        S::set_half(self.0, self.1, self.2);
    }
}

fn half_a_line_is_set_and_no_more<B: Bits>() {
    let words: [u64; 8] = core::array::from_fn(|at| 0x0123_4567_89AB_CDEF << at);
    let (from, len) = (lanes::<B>(&words.map(|word| !word)), keys_in_line::<B>());
    for kernel in kernels() {
        for first in (0..=4).step_by(sample(2)) {
            for start in (0..3).step_by(sample(2)) {
                let block = line(words);
                kernel.run(Set(&block, first, &from[start..]));
                let found = lanes::<B>(&block.each_ref().map(Word::load_relaxed));
                let mut expected = lanes::<B>(&words);
                let at = first * 8 / B::BYTES;
                expected[at..at + len].copy_from_slice(&from[start..start + len]);
                assert_eq!(found, expected, "from {first} on by {}", kernel.kernel());
            }
        }
        if cfg!(miri) && B::BYTES < 8 {
            continue;
        }
        let block = line(words);
        let refused = catch_unwind(AssertUnwindSafe(|| kernel.run(Set(&block, 0, &from[..len - 1]))));
        assert!(refused.is_err(), "{} set half a line to less", kernel.kernel());
    }
}

#[test]
fn half_a_line_is_set_and_no_more_of_32_and_of_64_bits() {
    half_a_line_is_set_and_no_more::<u32>();
    half_a_line_is_set_and_no_more::<u64>();
}

/// Inserts an entry at a place of a block, or removes the one that is there.
struct Changed<'a, B>(&'a Line, usize, Option<(B, B)>);

impl<B: Bits> Operation for Changed<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        match self.2 {
            Some(entry) => S::put_at(self.0, self.1, entry),
            None => S::take_out::<B>(self.0, self.1),
        }
    }
}

fn entries_come_and_go<B: Bits>() {
    let width = keys_in_line::<B>();
    for (round, words) in lines().into_iter().enumerate().step_by(sample(2)) {
        let (keys, values) = (lanes::<B>(&words[..4]), lanes::<B>(&words[4..]));
        let entries: Vec<(B, B)> = keys.into_iter().zip(values).collect();
        let (count, entry) = (round % width, (B::truncate(TELLING[round % 12]), B::truncate(round as u64)));
        // A block with room gets one more in each of its places, and each entry of a block is removed once.
        let put = (0..=count).map(|at| (at, count, Some(entry)));
        for (at, count, entry) in put.chain((0..=count).map(|at| (at, count + 1, None))) {
            let mut expected = entries[..count].to_vec();
            match entry {
                Some(entry) => expected.insert(at, entry),
                None => drop(expected.remove(at)),
            }
            for kernel in kernels() {
                let block = line(words);
                kernel.run(Changed(&block, at, entry));
                let words = block.each_ref().map(Word::load_relaxed);
                let (keys, values) = (lanes::<B>(&words[..4]), lanes::<B>(&words[4..]));
                let found: Vec<_> = keys.into_iter().zip(values).take(expected.len()).collect();
                assert_eq!(found, expected, "{entry:x?} at {at} of {count} by {}", kernel.kernel());
            }
        }
    }
}

#[test]
fn entries_of_32_and_of_64_bits_come_and_go() {
    entries_come_and_go::<u32>();
    entries_come_and_go::<u64>();
}

/// Adds the values at these places of a block to those of the blocks before.
struct Summed<'a, B: Bits>(&'a [(Line, u32)], core::marker::PhantomData<B>);

impl<B: Bits> Operation for Summed<'_, B> {
    type Output = u64;

    #[inline(always)]
    fn run<S: Search>(self) -> u64 {
        let mut sums = S::no_sums();
        for (block, places) in self.0 {
            sums = S::add_values::<B>(block, *places, sums);
        }
        S::total(sums)
    }
}

fn values_are_added_up<B: Bits>() {
    let (kernels, all) = (kernels(), 1u32 << keys_in_line::<B>());
    let same = |blocks: &[(Line, u32)], expected: u64| {
        for kernel in &kernels {
            let found = kernel.run(Summed::<B>(blocks, core::marker::PhantomData));
            assert_eq!(found, expected, "{blocks:x?} by {}", kernel.kernel());
        }
    };
    same(&[], 0);
    let (mut blocks, mut total) = (Vec::new(), 0u64);
    for (at, words) in lines().into_iter().enumerate() {
        let values = lanes::<B>(&words[4..]);
        for places in (0..all).step_by(sample(37)) {
            let chosen = values.iter().enumerate().filter(|(place, _)| places >> place & 1 == 1);
            let sum = chosen.fold(0u64, |sum, (_, value)| sum.wrapping_add(value.to_u64()));
            same(&[(line(words), places)], sum);
            // Many blocks, some places of each: sums are modulo 2^64 and exceed a lane's width.
            if places as usize == (at * 7 + 3) % all as usize {
                blocks.push((line(words), places));
                total = total.wrapping_add(sum);
                same(&blocks, total);
            }
        }
    }
}

#[test]
fn values_of_32_and_of_64_bits_are_added_up() {
    values_are_added_up::<u32>();
    values_are_added_up::<u64>();
}

struct Bytes<'a>(&'a Line, u8);

impl Operation for Bytes<'_> {
    type Output = [u32; 2];

    #[inline(always)]
    fn run<S: Search>(self) -> [u32; 2] {
        let (halves, _) = self.0.as_chunks::<4>();
        [S::which_bytes(&halves[0], self.1), S::which_bytes(&halves[1], self.1)]
    }
}

#[test]
fn bytes_are_found_and_none_beside_them() {
    let kernels = kernels();
    for words in lines() {
        let (block, bytes) = (line(words), words.map(u64::to_le_bytes));
        let near = bytes.as_flattened().iter().flat_map(|byte| [byte.wrapping_sub(1), *byte, byte ^ 0x80]);
        for byte in near.chain([0, 1, 0x7F, 0x80, 0xFF]).step_by(sample(17)) {
            let is_equal = bytes.as_flattened().iter().map(|&other| u64::from(other == byte));
            let expected = is_equal.enumerate().fold(0, |bits, (at, is_equal)| bits | is_equal << at);
            for kernel in &kernels {
                let [low, high] = kernel.run(Bytes(&block, byte)).map(u64::from);
                assert_eq!(low | high << 32, expected, "{byte:#x} in {words:x?} by {}", kernel.kernel());
            }
        }
    }
}

struct BitsAt(u64, u64);

impl Operation for BitsAt {
    type Output = u64;

    #[inline(always)]
    fn run<S: Search>(self) -> u64 {
        S::bits_at(self.0, self.1)
    }
}

#[test]
fn every_kernel_brings_the_same_bits_together() {
    let mut state = Rng(0xD6E8_FEB8_6659_FD93);
    for round in 0..if cfg!(miri) { 20 } else { 1000 } {
        let word = state.next();
        let places = [0, u64::MAX, 1 << 63 | 1, state.next() & state.next() & state.next()][round % 4];
        let of_each = (0..64).filter(|at| places >> at & 1 != 0).enumerate();
        let expected = of_each.fold(0, |bits, (to, from)| bits | (word >> from & 1) << to);
        for kernel in kernels() {
            assert_eq!(kernel.run(BitsAt(word, places)), expected, "{kernel:?}: {word:#x} at {places:#x}");
        }
    }
}
