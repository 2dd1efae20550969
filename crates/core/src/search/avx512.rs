//! AVX-512: vectors of 64 bytes, 16 `u32` or 8 `u64` lanes, compared unsigned into masks.

use super::avx2::Avx2;
use super::half_line::HalfLine;
use super::present::InstructionSet;
use crate::base::key::Bits;
use crate::sync::Word;
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The AVX-512 kernel.
#[derive(Debug, Clone, Copy)]
pub struct Avx512;

// SAFETY: `load` loads one vector, `load_few` masks every lane after `lanes` out of its load. No load needs
// alignment.
unsafe impl InstructionSet for Avx512 {
    type Vector = __m512i;
    /// One bit per lane.
    type Mask = u32;
    const VECTOR_BYTES: usize = 64;

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
    unsafe fn load<B: Bits>(at: *const B) -> __m512i {
        // SAFETY: the caller vouches for a readable vector.
        unsafe { _mm512_loadu_si512(at.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load_few<B: Bits>(at: *const B, lanes: usize) -> __m512i {
        let mask = (1u32 << lanes) - 1;
        // SAFETY: the caller vouches for `lanes` readable lanes; a masked load doesn't touch the others.
        unsafe {
            match B::BYTES {
                4 => _mm512_maskz_loadu_epi32(mask as __mmask16, at.cast()),
                _ => _mm512_maskz_loadu_epi64(mask as __mmask8, at.cast()),
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load_words<B: Bits>(words: &[B::Word]) -> __m512i {
        debug_assert!(words.len() >= 64 / B::BYTES);
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
    unsafe fn greater<B: Bits>(left: __m512i, right: __m512i) -> u32 {
        match B::BYTES {
            4 => u32::from(_mm512_cmpgt_epu32_mask(left, right)),
            _ => u32::from(_mm512_cmpgt_epu64_mask(left, right)),
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

/// The vectors of half a line are AVX2's; they are compared unsigned.
// SAFETY: `store` writes one vector, which is half a line.
unsafe impl HalfLine for Avx512 {
    type Half = __m256i;
    type Sums = __m512i;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn half(words: &[Word; 4]) -> __m256i {
        // SAFETY: a processor with AVX-512 has AVX2.
        unsafe { Avx2::half(words) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store<B: Bits>(half: __m256i, to: &mut [MaybeUninit<B>]) {
        // SAFETY: as above.
        unsafe { Avx2::store(half, to) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load<B: Bits>(from: &[B]) -> __m256i {
        // SAFETY: as above.
        unsafe { <Avx2 as HalfLine>::load(from) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn set(words: &[Word; 4], half: __m256i) {
        // SAFETY: as above.
        unsafe { Avx2::set(words, half) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn insert<B: Bits>(half: __m256i, at: usize, lane: B) -> __m256i {
        // SAFETY: as above.
        let lane = unsafe { Avx2::splat(lane) };
        // The lane numbers, except at the inserted place.
        match B::BYTES {
            4 => _mm256_mask_expand_epi32(lane, !(1 << at), half),
            _ => _mm256_mask_expand_epi64(lane, !(1 << at), half),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn remove<B: Bits>(half: __m256i, at: usize) -> __m256i {
        match B::BYTES {
            4 => _mm256_mask_compress_epi32(half, !(1 << at), half),
            _ => _mm256_mask_compress_epi64(half, !(1 << at), half),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn below<B: Bits>(half: __m256i, key: B) -> u32 {
        match B::BYTES {
            4 => u32::from(_mm256_cmplt_epu32_mask(half, _mm256_set1_epi32(key.to_u64() as i32))),
            _ => u32::from(_mm256_cmplt_epu64_mask(half, _mm256_set1_epi64x(key.to_u64() as i64))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn equal<B: Bits>(half: __m256i, key: B) -> u32 {
        match B::BYTES {
            4 => u32::from(_mm256_cmpeq_epi32_mask(half, _mm256_set1_epi32(key.to_u64() as i32))),
            _ => u32::from(_mm256_cmpeq_epi64_mask(half, _mm256_set1_epi64x(key.to_u64() as i64))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn up_to<B: Bits>(half: __m256i, key: B) -> u32 {
        match B::BYTES {
            4 => u32::from(_mm256_cmple_epu32_mask(half, _mm256_set1_epi32(key.to_u64() as i32))),
            _ => u32::from(_mm256_cmple_epu64_mask(half, _mm256_set1_epi64x(key.to_u64() as i64))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn between<B: Bits>(half: __m256i, low: B, high: B) -> u32 {
        // SAFETY: a processor with AVX-512 has AVX2.
        let (low, high) = unsafe { (Avx2::splat(low), Avx2::splat(high)) };
        u32::from(match B::BYTES {
            4 => _mm256_cmple_epu32_mask(low, half) & _mm256_cmple_epu32_mask(half, high),
            _ => _mm256_cmple_epu64_mask(low, half) & _mm256_cmple_epu64_mask(half, high),
        })
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx2,popcnt")]
    unsafe fn short_lanes_up_to(half: __m256i, hint: u16) -> usize {
        let up_to = _mm256_cmple_epu16_mask(half, _mm256_set1_epi16(hint as i16));
        // The first two lanes aren't hints.
        (u32::from(up_to) >> 2).count_ones() as usize
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    unsafe fn extract(word: u64, places: u64) -> u64 {
        // SAFETY: as above.
        unsafe { Avx2::extract(word, places) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn bytes_equal(half: __m256i, byte: u8) -> u32 {
        // SAFETY: as above.
        unsafe { Avx2::bytes_equal(half, byte) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn zero_sums() -> __m512i {
        _mm512_setzero_si512()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    unsafe fn add<B: Bits>(half: __m256i, places: u32, sums: __m512i) -> __m512i {
        let values = if B::BYTES == 4 { _mm512_cvtepu32_epi64(half) } else { _mm512_zextsi256_si512(half) };
        _mm512_mask_add_epi64(sums, places as u8, sums, values)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn add_up(sums: __m512i) -> u64 {
        _mm512_reduce_add_epi64(sums) as u64
    }
}
