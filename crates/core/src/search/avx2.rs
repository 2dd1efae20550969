//! AVX2: vectors of 32 bytes, 8 `u32` or 4 `u64` lanes.

use super::vector::InstructionSet;
use crate::base::key::Bits;
use core::arch::x86_64::*;

/// The AVX2 kernel.
#[derive(Debug, Clone, Copy)]
pub struct Avx2;

// SAFETY: `count` loads one vector from `at` on, `count_few` masks every lane after
// `lanes` out of its load. No load needs alignment.
unsafe impl InstructionSet for Avx2 {
    type Vector = __m256i;
    const VECTOR_BYTES: usize = 32;

    #[inline(always)]
    unsafe fn splat<B: Bits>(key: B) -> __m256i {
        // SAFETY: the processor has AVX2, by the trait's contract.
        unsafe {
            let key = match B::BYTES {
                4 => _mm256_set1_epi32(key.to_u64() as i32),
                _ => _mm256_set1_epi64x(key.to_u64() as i64),
            };
            flip::<B>(key)
        }
    }

    #[inline(always)]
    unsafe fn count<B: Bits>(at: *const B, key: __m256i) -> usize {
        // SAFETY: the caller vouches for the processor and for a readable vector.
        unsafe { below::<B>(_mm256_loadu_si256(at.cast()), key) }.count_ones() as usize
    }

    #[inline(always)]
    unsafe fn count_few<B: Bits>(at: *const B, lanes: usize, key: __m256i) -> usize {
        // SAFETY: the caller vouches for the processor and for `lanes` readable lanes; a masked
        // load doesn't touch the others.
        let below = unsafe {
            let lane = match B::BYTES {
                4 => {
                    let number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                    let mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes as i32), number);
                    _mm256_maskload_epi32(at.cast(), mask)
                }
                _ => {
                    let number = _mm256_setr_epi64x(0, 1, 2, 3);
                    let mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes as i64), number);
                    _mm256_maskload_epi64(at.cast(), mask)
                }
            };
            below::<B>(lane, key)
        };
        (below & ((1 << lanes) - 1)).count_ones() as usize
    }
}

/// Moves the unsigned order onto the signed one, which is the only one that AVX2 compares by.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn flip<B: Bits>(lanes: __m256i) -> __m256i {
    // SAFETY: the processor has AVX2, by this function's contract.
    unsafe {
        let sign = match B::BYTES {
            4 => _mm256_set1_epi32(i32::MIN),
            _ => _mm256_set1_epi64x(i64::MIN),
        };
        _mm256_xor_si256(lanes, sign)
    }
}

/// One bit a lane: whether it is smaller than the (flipped) key.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn below<B: Bits>(lanes: __m256i, key: __m256i) -> u32 {
    // SAFETY: the processor has AVX2, by this function's contract.
    let bits = unsafe {
        let lanes = flip::<B>(lanes);
        match B::BYTES {
            4 => _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(key, lanes))),
            _ => _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(key, lanes))),
        }
    };
    bits as u32
}

/// The key in every lane.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub fn splat<B: Bits>(key: B) -> __m256i {
    match B::BYTES {
        4 => _mm256_set1_epi32(key.to_u64() as i32),
        _ => _mm256_set1_epi64x(key.to_u64() as i64),
    }
}

/// A lane of ones where `left` is greater than `right`, unsigned, and of zeros elsewhere.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub fn greater<B: Bits>(left: __m256i, right: __m256i) -> __m256i {
    // AVX2 compares signed: flipping the sign bits moves the unsigned order onto the signed one.
    match B::BYTES {
        4 => {
            let sign = _mm256_set1_epi32(i32::MIN);
            _mm256_cmpgt_epi32(_mm256_xor_si256(left, sign), _mm256_xor_si256(right, sign))
        }
        _ => {
            let sign = _mm256_set1_epi64x(i64::MIN);
            _mm256_cmpgt_epi64(_mm256_xor_si256(left, sign), _mm256_xor_si256(right, sign))
        }
    }
}

/// One bit a lane of a vector whose lanes are all ones or all zeros.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub fn bits<B: Bits>(lanes: __m256i) -> u32 {
    let bits = match B::BYTES {
        4 => _mm256_movemask_ps(_mm256_castsi256_ps(lanes)),
        _ => _mm256_movemask_pd(_mm256_castsi256_pd(lanes)),
    };
    bits as u32
}
