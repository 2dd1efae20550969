//! Half a line of a node: four words that other threads may write, loaded once and compared in registers.
//!
//! The words of this trait are what searches in single lines are made of, as those of
//! [`InstructionSet`](super::InstructionSet) are what searches in long runs are made of.

use super::scalar::Scalar;
use crate::base::key::Bits;
use crate::sync::Word;

/// Lanes of this width in half a line.
#[inline(always)]
pub const fn lanes_in_half<B: Bits>() -> usize {
    32 / B::BYTES
}

/// What a kernel must know to search lines. Lanes are numbered from the front, and one bit each says which.
///
/// # Safety
/// The functions may run only on a processor that has what the kernel needs; the scalar kernel needs nothing.
pub trait HalfLine: Copy + Send + Sync + 'static {
    /// Four words that were loaded.
    type Half: Copy;
    /// Sums modulo 2^64 that are still to be added up.
    type Sums: Copy;

    /// These words, each of them whole, by relaxed loads or by what represents as many.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn half(words: &[Word; 4]) -> Self::Half;

    /// Writes the lanes to the front of `to`.
    ///
    /// # Panics
    /// When that is too short.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn store<B: Bits>(half: Self::Half, to: &mut [B]);

    /// Which lanes are `key`.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn equal<B: Bits>(half: Self::Half, key: B) -> u32;

    /// Which lanes are at most `key`.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn up_to<B: Bits>(half: Self::Half, key: B) -> u32;

    /// Which lanes are one of `low..=high`.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn between<B: Bits>(half: Self::Half, low: B, high: B) -> u32;

    /// How many of the sixteen lanes of 16 bits, without the first two, are at most `hint`.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn short_lanes_up_to(half: Self::Half, hint: u16) -> usize;

    /// Sums of nothing.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn zero_sums() -> Self::Sums;

    /// Adds the lanes of these places to the sums.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn add<B: Bits>(half: Self::Half, places: u32, sums: Self::Sums) -> Self::Sums;

    /// All sums added up.
    ///
    /// # Safety
    /// As the trait's.
    unsafe fn add_up(sums: Self::Sums) -> u64;
}

/// Lane `at` of four words.
#[inline(always)]
fn lane<B: Bits>(half: &[u64; 4], at: usize) -> B {
    let per_word = 8 / B::BYTES;
    B::truncate(half[at / per_word] >> (at % per_word * B::BYTES * 8))
}

/// One bit for each lane of which that holds.
#[inline(always)]
fn which<B: Bits>(half: &[u64; 4], holds: impl Fn(B) -> bool) -> u32 {
    (0..lanes_in_half::<B>()).fold(0, |bits, at| bits | u32::from(holds(lane(half, at))) << at)
}

impl HalfLine for Scalar {
    type Half = [u64; 4];
    type Sums = u64;

    #[inline(always)]
    unsafe fn half(words: &[Word; 4]) -> [u64; 4] {
        words.each_ref().map(Word::load_relaxed)
    }

    #[inline(always)]
    unsafe fn store<B: Bits>(half: [u64; 4], to: &mut [B]) {
        for (at, to) in to[..lanes_in_half::<B>()].iter_mut().enumerate() {
            *to = lane(&half, at);
        }
    }

    #[inline(always)]
    unsafe fn equal<B: Bits>(half: [u64; 4], key: B) -> u32 {
        which(&half, |lane: B| lane == key)
    }

    #[inline(always)]
    unsafe fn up_to<B: Bits>(half: [u64; 4], key: B) -> u32 {
        which(&half, |lane: B| lane <= key)
    }

    #[inline(always)]
    unsafe fn between<B: Bits>(half: [u64; 4], low: B, high: B) -> u32 {
        which(&half, |lane: B| (low <= lane) & (lane <= high))
    }

    #[inline(always)]
    unsafe fn short_lanes_up_to(half: [u64; 4], hint: u16) -> usize {
        (2..16).map(|at| usize::from((half[at / 4] >> (at % 4 * 16)) as u16 <= hint)).sum()
    }

    #[inline(always)]
    unsafe fn zero_sums() -> u64 {
        0
    }

    #[inline(always)]
    unsafe fn add<B: Bits>(half: [u64; 4], places: u32, sums: u64) -> u64 {
        (0..lanes_in_half::<B>()).fold(sums, |sum, at| {
            let chosen = 0u64.wrapping_sub(u64::from(places >> at & 1));
            sum.wrapping_add(lane::<B>(&half, at).to_u64() & chosen)
        })
    }

    #[inline(always)]
    unsafe fn add_up(sums: u64) -> u64 {
        sums
    }
}
