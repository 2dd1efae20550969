//! Runs by AVX2: 32 bytes a vector.

use crate::common::runs::{Runs, count_up_to, step_up_to};
use core::arch::asm;
use core::arch::x86_64::*;
use latchless_core::base::key::Bits;
use latchless_core::search::Avx2;
use latchless_core::search::{greater, splat};
use latchless_core::sync::LaneWord;

/// Lanes in a vector.
const fn lanes<B: Bits>() -> usize {
    32 / B::BYTES
}

/// A vector of the words from `at` on, by one instruction.
///
/// # Panics
/// When they don't all lie in the array.
#[inline]
#[target_feature(enable = "avx2")]
fn vector<B: Bits>(words: &[B::Word], at: usize) -> __m256i {
    let words = &words[at..at + lanes::<B>()];
    // An interpreter reads no assembly.
    if cfg!(miri) {
        let lane = |at: usize| words[at].peek().to_u64();
        return match B::BYTES {
            4 => {
                let pair = |at: usize| (lane(at) | lane(at + 1) << 32) as i64;
                _mm256_set_epi64x(pair(6), pair(4), pair(2), pair(0))
            }
            _ => _mm256_set_epi64x(lane(3) as i64, lane(2) as i64, lane(1) as i64, lane(0) as i64),
        };
    }
    let vector;
    // SAFETY: reads the 32 bytes of the slice's words and nothing else. The words are atomics of the
    // lanes' width, aligned to it; the load stands for a relaxed load of each of them.
    unsafe {
        asm!("vmovdqu {v}, ymmword ptr [{at}]", v = lateout(ymm_reg) vector, at = in(reg) words.as_ptr(),
            options(readonly, nostack, preserves_flags));
    }
    vector
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
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
#[target_feature(enable = "avx2,bmi1")]
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

/// Makes the functions of the same names, of the file that says this, a vector kernel's [`Runs`].
macro_rules! runs_by_functions {
    ($kernel:ty) => {
        impl Runs for $kernel {
            #[inline(always)]
            fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
                // SAFETY: a vector kernel comes to an operation through `Dispatch` alone, which is made only
                // of kernels that this processor has.
                unsafe { group_up_to(words, at, count, key) }
            }

            #[inline(always)]
            fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
                // SAFETY: as above.
                unsafe { run_up_to(words, key) }
            }
        }
    };
}
pub(super) use runs_by_functions;

runs_by_functions!(Avx2);
