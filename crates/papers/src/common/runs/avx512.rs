//! Runs by AVX-512: 64 bytes a vector, compared unsigned into masks.

use crate::common::runs::avx2::runs_by_functions;
use crate::common::runs::{Runs, count_up_to, step_up_to};
use core::arch::asm;
use core::arch::x86_64::*;
use latchless_core::base::key::Bits;
use latchless_core::search::Avx512;

/// Lanes in a vector.
const fn lanes<B: Bits>() -> usize {
    64 / B::BYTES
}

/// A vector of the words from `at` on, by one instruction.
///
/// # Panics
/// When they don't all lie in the array.
#[inline]
#[target_feature(enable = "avx512f")]
fn vector<B: Bits>(words: &[B::Word], at: usize) -> __m512i {
    let words = &words[at..at + lanes::<B>()];
    let vector;
    // SAFETY: reads the 64 bytes of the slice's words and nothing else. The words are atomics of the
    // lanes' width, aligned to it; the load stands for a relaxed load of each of them.
    unsafe {
        asm!("vmovdqu64 {v}, zmmword ptr [{at}]", v = lateout(zmm_reg) vector, at = in(reg) words.as_ptr(),
            options(readonly, nostack, preserves_flags));
    }
    vector
}

/// The key in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn splat<B: Bits>(key: B) -> __m512i {
    match B::BYTES {
        4 => _mm512_set1_epi32(key.to_u64() as i32),
        _ => _mm512_set1_epi64(key.to_u64() as i64),
    }
}

/// One bit a lane: whether it is greater than the key.
#[inline]
#[target_feature(enable = "avx512f")]
fn greater<B: Bits>(lanes: __m512i, key: __m512i) -> u32 {
    match B::BYTES {
        4 => u32::from(_mm512_cmpgt_epu32_mask(lanes, key)),
        _ => u32::from(_mm512_cmpgt_epu64_mask(lanes, key)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
    let (mut at, end, own) = (at, at + count, splat(key));
    let mut found = 0;
    while at < end && at + lanes::<B>() <= words.len() {
        let counted = (end - at).min(lanes::<B>());
        let up_to = !greater::<B>(vector::<B>(words, at), own) & ((1 << counted) - 1);
        found += up_to.count_ones() as usize;
        at += counted;
    }
    found + count_up_to(&words[at..end], key)
}

#[inline]
#[target_feature(enable = "avx512f,bmi1")]
fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
    let (mut at, own) = (0, splat(key));
    // Four vectors a turn: a branch for each would be as dear as the compare.
    while at + 4 * lanes::<B>() <= words.len() {
        let larger = greater::<B>(vector::<B>(words, at), own)
            | greater::<B>(vector::<B>(words, at + lanes::<B>()), own)
            | greater::<B>(vector::<B>(words, at + 2 * lanes::<B>()), own)
            | greater::<B>(vector::<B>(words, at + 3 * lanes::<B>()), own);
        if larger != 0 {
            break;
        }
        at += 4 * lanes::<B>();
    }
    while at + lanes::<B>() <= words.len() {
        let larger = greater::<B>(vector::<B>(words, at), own);
        if larger != 0 {
            return at + larger.trailing_zeros() as usize;
        }
        at += lanes::<B>();
    }
    at + step_up_to(&words[at..], key)
}

runs_by_functions!(Avx512);
