//! Searching single cache lines that may be written meanwhile: hints, leaf blocks, inner blocks.
//!
//! A line is read as words, each of them whole, by relaxed loads. The vector kernels load many words
//! with one instruction, which stands for as many relaxed loads; that instruction is written in
//! assembly, because the language knows no vector of atomics, and it is all that is: comparing is
//! done by intrinsics, in registers. The scalar twin is plain relaxed loads and serves interpreters,
//! race detectors and processors that have none of AVX2, AVX-512 and NEON. Half a line is written in the same
//! ways, as so many relaxed stores.
//!
//! What a search answers for a line that is being written is one of the numbers that it may answer
//! at all; readers find out by the node's version.
//!
//! # The lines
//! - *Header*: words 4 to 7 are sixteen 16-bit lanes, low lanes first. Lanes 2 to 15 are hints, in
//!   ascending order.
//! - *Leaf block*: words 0 to 3 are keys, words 4 to 7 values: four of 64 bits or eight of 32.
//! - *Inner block*: 64 bits: words 0 to 4 are five separators, words 5 to 7 their children, two to a
//!   word. 32 bits: words 0 to 3 are eight separators, words 4 to 7 eight children.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod by_functions;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
mod tests;

use super::set_lane;
use core::mem::MaybeUninit;
use latchless_core::base::key::Bits;
use latchless_core::search::Scalar;
use latchless_core::sync::{Line, Word};

/// Keys (and values) in a leaf block.
#[inline(always)]
pub const fn keys_in_line<B: Bits>() -> usize {
    32 / B::BYTES
}

/// Children in an inner block.
#[inline(always)]
pub const fn children_in_line<B: Bits>() -> usize {
    if B::BYTES == 8 { 5 } else { 8 }
}

/// What hinted nodes ask of their lines.
pub trait Lines {
    /// Sums modulo 2^64 that are still to be added up: a vector of them.
    type Sums: Copy;

    /// How many of a header's fourteen hints are at most `hint`.
    fn hints_up_to(header: &Line, hint: u16) -> usize;

    /// One bit for each key place of a leaf block: whether it holds `key`.
    fn keys_equal<B: Bits>(block: &Line, key: B) -> u32;

    /// How many of the separators of an inner block are at most `key`.
    fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize;

    /// Copies the lanes of the four words from `first` on to the front of `to`.
    ///
    /// # Panics
    /// When that is shorter than half a line, or the words don't lie in the line.
    #[inline(always)]
    fn copy_half<B: Bits>(line: &Line, first: usize, to: &mut [B]) {
        // SAFETY: lanes are laid out alike whether they have been written or not, and nothing but lanes is
        // written to these: they stay what they are.
        let to = unsafe { &mut *(core::ptr::from_mut(to) as *mut [MaybeUninit<B>]) };
        Self::copy_half_to(line, first, to);
    }

    /// As [`Lines::copy_half`], to lanes of which nothing needs to be there. All of half a line are there then.
    fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]);

    /// Sets the lanes of the four words from `first` on to those at the front of `from`. For the holder of the
    /// latch.
    ///
    /// # Panics
    /// As [`Lines::copy_half`].
    #[inline(always)]
    fn set_half<B: Bits>(line: &Line, first: usize, from: &[B]) {
        let (words, per_word) = (&line[first..first + 4], 8 / B::BYTES);
        for (word, lanes) in words.iter().zip(from[..keys_in_line::<B>()].chunks_exact(per_word)) {
            let high = if B::BYTES == 8 { 0 } else { lanes[per_word - 1].to_u64() << 32 };
            word.store_relaxed(lanes[0].to_u64() | high);
        }
    }

    /// One bit for each key place of a leaf block: whether its key is one of `low..=high`.
    fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32;

    /// One bit for each key place of a leaf block: whether its key is smaller than `key`.
    fn keys_below<B: Bits>(block: &Line, key: B) -> u32;

    /// Puts an entry at a place of a leaf block that has this many entries and room for one more. Those from
    /// there on move one place up. What is in the places after them isn't sure then. For the holder of the
    /// latch.
    #[inline(always)]
    fn put_at<B: Bits>(block: &Line, (at, count): (usize, usize), (key, value): (B, B)) {
        let width = keys_in_line::<B>();
        for to in (at + 1..=count).rev() {
            set_lane::<B>(block, to, lane(block, to - 1));
            set_lane::<B>(block, width + to, lane(block, width + to - 1));
        }
        set_lane(block, at, key);
        set_lane(block, width + at, value);
    }

    /// Takes out the entry at a place of a leaf block that has this many entries. Those after it move one
    /// place down. For the holder of the latch.
    #[inline(always)]
    fn take_out<B: Bits>(block: &Line, (at, count): (usize, usize)) {
        let width = keys_in_line::<B>();
        for to in at..count - 1 {
            set_lane::<B>(block, to, lane(block, to + 1));
            set_lane::<B>(block, width + to, lane(block, width + to + 1));
        }
    }

    /// Sums of nothing.
    fn no_sums() -> Self::Sums;

    /// Adds to the sums the values at these places of a leaf block, one bit each.
    fn add_values<B: Bits>(block: &Line, places: u32, sums: Self::Sums) -> Self::Sums;

    /// All sums added up.
    fn total(sums: Self::Sums) -> u64;
}

/// Lane `at` of words that hold lanes of this width.
#[inline(always)]
fn lane<B: Bits>(line: &[Word], at: usize) -> B {
    let per_word = 8 / B::BYTES;
    B::truncate(line[at / per_word].load_relaxed() >> (at % per_word * B::BYTES * 8))
}

impl Lines for Scalar {
    type Sums = u64;

    #[inline(always)]
    fn hints_up_to(header: &Line, hint: u16) -> usize {
        let (mut count, mut skip) = (0, 2);
        for word in &header[4..8] {
            let lanes = word.load_relaxed();
            for lane in skip..4 {
                count += usize::from((lanes >> (16 * lane)) as u16 <= hint);
            }
            skip = 0;
        }
        count
    }

    #[inline(always)]
    fn keys_equal<B: Bits>(line: &Line, key: B) -> u32 {
        (0..keys_in_line::<B>()).fold(0, |bits, at| bits | u32::from(lane::<B>(line, at) == key) << at)
    }

    #[inline(always)]
    fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
        (0..children_in_line::<B>()).map(|at| usize::from(lane::<B>(block, at) <= key)).sum()
    }

    #[inline(always)]
    fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]) {
        for (at, to) in to[..keys_in_line::<B>()].iter_mut().enumerate() {
            to.write(lane(&line[first..first + 4], at));
        }
    }

    #[inline(always)]
    fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32 {
        (0..keys_in_line::<B>()).fold(0, |bits, at| {
            let key: B = lane(block, at);
            bits | u32::from((low <= key) & (key <= high)) << at
        })
    }

    #[inline(always)]
    fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
        (0..keys_in_line::<B>()).fold(0, |bits, at| bits | u32::from(lane::<B>(block, at) < key) << at)
    }

    #[inline(always)]
    fn no_sums() -> u64 {
        0
    }

    #[inline(always)]
    fn add_values<B: Bits>(block: &Line, places: u32, sums: u64) -> u64 {
        (0..keys_in_line::<B>()).fold(sums, |sum, at| {
            let value = lane::<B>(&block[4..], at).to_u64();
            sum.wrapping_add(value & 0u64.wrapping_sub(u64::from(places >> at & 1)))
        })
    }

    #[inline(always)]
    fn total(sums: u64) -> u64 {
        sums
    }
}
