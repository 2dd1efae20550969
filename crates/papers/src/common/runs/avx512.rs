//! Runs by AVX-512: 64 bytes a vector, compared unsigned into masks.

use crate::common::runs::vector::Vectors;
use core::arch::asm;
use core::arch::x86_64::*;
use latchless_core::base::key::Bits;
use latchless_core::search::Avx512;

impl Vectors for Avx512 {
    type Vector = __m512i;
    /// One bit a lane.
    type Mask = u32;
    const BYTES: usize = 64;

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load<B: Bits>(words: &[B::Word]) -> __m512i {
        let vector;
        // SAFETY: reads the 64 bytes of the words, which fill a vector by the trait's contract, and nothing
        // else. The words are atomics of the lanes' width, aligned to it; the load represents a relaxed
        // load of each of them.
        unsafe {
            asm!("vmovdqu64 {v}, zmmword ptr [{at}]", v = lateout(zmm_reg) vector, at = in(reg) words.as_ptr(),
                options(readonly, nostack, preserves_flags));
        }
        vector
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn splat<B: Bits>(key: B) -> __m512i {
        match B::BYTES {
            4 => _mm512_set1_epi32(key.to_u64() as i32),
            _ => _mm512_set1_epi64(key.to_u64() as i64),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn greater<B: Bits>(lanes: __m512i, key: __m512i) -> u32 {
        match B::BYTES {
            4 => u32::from(_mm512_cmpgt_epu32_mask(lanes, key)),
            _ => u32::from(_mm512_cmpgt_epu64_mask(lanes, key)),
        }
    }

    #[inline(always)]
    unsafe fn either(one: u32, other: u32) -> u32 {
        one | other
    }

    #[inline(always)]
    unsafe fn bits<B: Bits>(mask: u32) -> u32 {
        mask
    }
}
