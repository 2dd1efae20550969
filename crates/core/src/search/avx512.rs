//! AVX-512: vectors of 64 bytes, 16 `u32` or 8 `u64` lanes, compared unsigned into masks.

use super::vector::InstructionSet;
use crate::base::key::Bits;
use core::arch::x86_64::*;

/// The AVX-512 kernel.
#[derive(Debug, Clone, Copy)]
pub struct Avx512;

// SAFETY: `count` loads one vector from `at` on, `count_few` masks every lane after
// `lanes` out of its load. No load needs alignment.
unsafe impl InstructionSet for Avx512 {
    type Vector = __m512i;
    const VECTOR_BYTES: usize = 64;

    #[inline(always)]
    unsafe fn splat<B: Bits>(key: B) -> __m512i {
        // SAFETY: the processor has AVX-512F, by the trait's contract.
        unsafe {
            match B::BYTES {
                4 => _mm512_set1_epi32(key.to_u64() as i32),
                _ => _mm512_set1_epi64(key.to_u64() as i64),
            }
        }
    }

    #[inline(always)]
    unsafe fn count<B: Bits>(at: *const B, key: __m512i) -> usize {
        // SAFETY: the caller vouches for the processor and for a readable vector.
        unsafe { below::<B>(_mm512_loadu_si512(at.cast()), key) }.count_ones() as usize
    }

    #[inline(always)]
    unsafe fn count_few<B: Bits>(at: *const B, lanes: usize, key: __m512i) -> usize {
        let mask = (1u32 << lanes) - 1;
        // SAFETY: the caller vouches for the processor and for `lanes` readable lanes; a masked
        // load doesn't touch the others.
        let below = unsafe {
            let lanes = match B::BYTES {
                4 => _mm512_maskz_loadu_epi32(mask as __mmask16, at.cast()),
                _ => _mm512_maskz_loadu_epi64(mask as __mmask8, at.cast()),
            };
            below::<B>(lanes, key)
        };
        (below & mask).count_ones() as usize
    }
}

/// One bit a lane: whether it is smaller than the key.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn below<B: Bits>(lanes: __m512i, key: __m512i) -> u32 {
    // SAFETY: the processor has AVX-512F, by this function's contract.
    unsafe {
        match B::BYTES {
            4 => u32::from(_mm512_cmplt_epu32_mask(lanes, key)),
            _ => u32::from(_mm512_cmplt_epu64_mask(lanes, key)),
        }
    }
}
