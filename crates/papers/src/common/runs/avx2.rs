//! Runs by AVX2: 32 bytes a vector.

use crate::common::runs::vector::Vectors;
use core::arch::asm;
use core::arch::x86_64::*;
use latchless_core::base::key::Bits;
use latchless_core::search::{Avx2, bits, greater, splat};
use latchless_core::sync::BitsWord;

impl Vectors for Avx2 {
    type Vector = __m256i;
    /// Lanes of ones and lanes of zeros.
    type Mask = __m256i;
    const BYTES: usize = 32;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load<B: Bits>(words: &[B::Word]) -> __m256i {
        // An interpreter reads no assembly.
        if cfg!(miri) {
            let lane = |at: usize| words[at].load_relaxed().to_u64();
            return match B::BYTES {
                4 => {
                    let pair = |at: usize| (lane(at) | lane(at + 1) << 32) as i64;
                    _mm256_set_epi64x(pair(6), pair(4), pair(2), pair(0))
                }
                _ => _mm256_set_epi64x(lane(3) as i64, lane(2) as i64, lane(1) as i64, lane(0) as i64),
            };
        }
        let vector;
        // SAFETY: reads the 32 bytes of the words, which fill a vector by the trait's contract, and nothing
        // else. The words are atomics of the lanes' width, aligned to it; the load represents a relaxed
        // load of each of them.
        unsafe {
            asm!("vmovdqu {v}, ymmword ptr [{at}]", v = lateout(ymm_reg) vector, at = in(reg) words.as_ptr(),
                options(readonly, nostack, preserves_flags));
        }
        vector
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn splat<B: Bits>(key: B) -> __m256i {
        splat(key)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn greater<B: Bits>(lanes: __m256i, key: __m256i) -> __m256i {
        greater::<B>(lanes, key)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn either(one: __m256i, other: __m256i) -> __m256i {
        _mm256_or_si256(one, other)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn bits<B: Bits>(mask: __m256i) -> u32 {
        bits::<B>(mask)
    }
}
