//! AVX2: vectors of 32 bytes, 8 `u32` or 4 `u64` lanes.

use super::half_line::{HalfLine, lanes_in_half};
use super::present::InstructionSet;
use crate::base::key::Bits;
use crate::sync::{BitsWord, Word};
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The AVX2 kernel.
#[derive(Debug, Clone, Copy)]
pub struct Avx2;

// SAFETY: `load` loads one vector, `load_few` masks every lane after `lanes` out of its load. No load needs
// alignment.
unsafe impl InstructionSet for Avx2 {
    type Vector = __m256i;
    /// Lanes of ones and lanes of zeros.
    type Mask = __m256i;
    const VECTOR_BYTES: usize = 32;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn splat<B: Bits>(key: B) -> __m256i {
        match B::BYTES {
            4 => _mm256_set1_epi32(key.to_u64() as i32),
            _ => _mm256_set1_epi64x(key.to_u64() as i64),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load<B: Bits>(at: *const B) -> __m256i {
        // SAFETY: the caller vouches for a readable vector.
        unsafe { _mm256_loadu_si256(at.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_few<B: Bits>(at: *const B, lanes: usize) -> __m256i {
        // SAFETY: the caller vouches for `lanes` readable lanes; a masked load doesn't touch the others.
        unsafe {
            match B::BYTES {
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
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_words<B: Bits>(words: &[B::Word]) -> __m256i {
        debug_assert!(words.len() >= 32 / B::BYTES);
        // Miri can't run assembly.
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
        // SAFETY: the words fill a vector, by the trait's contract. They are atomics of the lanes' width,
        // aligned to it.
        unsafe { load_atomics(words.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn greater<B: Bits>(left: __m256i, right: __m256i) -> __m256i {
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

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn either(one: __m256i, other: __m256i) -> __m256i {
        _mm256_or_si256(one, other)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn bits<B: Bits>(mask: __m256i) -> u32 {
        let bits = match B::BYTES {
            4 => _mm256_movemask_ps(_mm256_castsi256_ps(mask)),
            _ => _mm256_movemask_pd(_mm256_castsi256_pd(mask)),
        };
        bits as u32
    }
}

/// Loads the 32 bytes at `at`, by an instruction that represents a relaxed load of each of the atomics
/// there: the language has no vector of atomics.
///
/// # Safety
/// The processor has AVX2, and the bytes are atomics, each aligned to its width.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn load_atomics(at: *const __m256i) -> __m256i {
    let vector;
    // SAFETY: reads the 32 bytes and nothing else.
    unsafe {
        asm!("vmovdqu {v}, ymmword ptr [{at}]", v = lateout(ymm_reg) vector, at = in(reg) at,
            options(readonly, nostack, preserves_flags));
    }
    vector
}

/// Returns the bits of all lanes.
const fn all<B: Bits>() -> u32 {
    (1 << lanes_in_half::<B>()) - 1
}

/// Returns, for each of the eight 32-bit words of half a line, the number of its lane.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers<B: Bits>() -> __m256i {
    match B::BYTES {
        4 => _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _ => _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3),
    }
}

/// Moves the chosen lanes of half a line up by one lane (`by`: -1) or down (1); all bits of a chosen lane
/// are set.
#[inline]
#[target_feature(enable = "avx2")]
fn moved<B: Bits>(half: __m256i, chosen: __m256i, by: i32) -> __m256i {
    let words = _mm256_set1_epi32(by * (B::BYTES / 4) as i32);
    let own = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_permutevar8x32_epi32(half, _mm256_add_epi32(own, _mm256_and_si256(words, chosen)))
}

// SAFETY: `store` writes one vector, which is half a line.
unsafe impl HalfLine for Avx2 {
    type Half = __m256i;
    type Sums = __m256i;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn half(words: &[Word; 4]) -> __m256i {
        // Miri can't run assembly.
        if cfg!(miri) {
            let [a, b, c, d] = words.each_ref().map(|word| word.load_relaxed() as i64);
            return _mm256_set_epi64x(d, c, b, a);
        }
        // SAFETY: four atomics of eight bytes, aligned to that.
        unsafe { load_atomics(words.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store<B: Bits>(half: __m256i, to: &mut [MaybeUninit<B>]) {
        let to = &mut to[..lanes_in_half::<B>()];
        // SAFETY: the slice was just cut to 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), half) };
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load<B: Bits>(from: &[B]) -> __m256i {
        let from = &from[..lanes_in_half::<B>()];
        // SAFETY: the slice was just cut to 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn set(words: &[Word; 4], half: __m256i) {
        // Miri can't run assembly.
        if cfg!(miri) {
            let lanes = [
                _mm256_extract_epi64::<0>(half),
                _mm256_extract_epi64::<1>(half),
                _mm256_extract_epi64::<2>(half),
                _mm256_extract_epi64::<3>(half),
            ];
            return words.iter().zip(lanes).for_each(|(word, lane)| word.store_relaxed(lane as u64));
        }
        // SAFETY: writes the 32 bytes of the four words and nothing else. The words are atomics, aligned to
        // eight bytes, that may be written through a shared reference; the store represents a relaxed store
        // to each of them.
        unsafe {
            asm!("vmovdqu ymmword ptr [{at}], {v}", v = in(ymm_reg) half, at = in(reg) words,
                options(nostack, preserves_flags));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn insert<B: Bits>(half: __m256i, at: usize, lane: B) -> __m256i {
        let (numbers, at) = (numbers::<B>(), _mm256_set1_epi32(at as i32));
        let (own, later) = (_mm256_cmpeq_epi32(numbers, at), _mm256_cmpgt_epi32(numbers, at));
        // SAFETY: the processor has AVX2, by the trait's contract.
        let lane = unsafe { Self::splat(lane) };
        _mm256_blendv_epi8(moved::<B>(half, later, -1), lane, own)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn remove<B: Bits>(half: __m256i, at: usize) -> __m256i {
        let (numbers, before) = (numbers::<B>(), _mm256_set1_epi32(at as i32 - 1));
        let last = _mm256_set1_epi32(lanes_in_half::<B>() as i32 - 1);
        // From this one on, except the last, which has none after it.
        let chosen = _mm256_and_si256(_mm256_cmpgt_epi32(numbers, before), _mm256_cmpgt_epi32(last, numbers));
        moved::<B>(half, chosen, 1)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn below<B: Bits>(half: __m256i, key: B) -> u32 {
        // SAFETY: the processor has AVX2, by the trait's contract.
        unsafe { Self::bits::<B>(Self::greater::<B>(Self::splat(key), half)) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn equal<B: Bits>(half: __m256i, key: B) -> u32 {
        // SAFETY: the processor has AVX2, by the trait's contract.
        unsafe {
            let key = Self::splat(key);
            Self::bits::<B>(match B::BYTES {
                4 => _mm256_cmpeq_epi32(half, key),
                _ => _mm256_cmpeq_epi64(half, key),
            })
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn up_to<B: Bits>(half: __m256i, key: B) -> u32 {
        // SAFETY: as above.
        unsafe { Self::bits::<B>(Self::greater::<B>(half, Self::splat(key))) ^ all::<B>() }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn between<B: Bits>(half: __m256i, low: B, high: B) -> u32 {
        // SAFETY: as above.
        unsafe {
            let (below, above) =
                (Self::greater::<B>(Self::splat(low), half), Self::greater::<B>(half, Self::splat(high)));
            Self::bits::<B>(Self::either(below, above)) ^ all::<B>()
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn short_lanes_up_to(half: __m256i, hint: u16) -> usize {
        let up_to = _mm256_cmpeq_epi16(_mm256_min_epu16(half, _mm256_set1_epi16(hint as i16)), half);
        // Two bits per lane, and the first two lanes aren't hints.
        (_mm256_movemask_epi8(up_to) as u32 >> 4).count_ones() as usize / 2
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    unsafe fn extract(word: u64, places: u64) -> u64 {
        _pext_u64(word, places)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn bytes_equal(half: __m256i, byte: u8) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))) as u32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn zero_sums() -> __m256i {
        _mm256_setzero_si256()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn add<B: Bits>(half: __m256i, places: u32, sums: __m256i) -> __m256i {
        let each = _mm256_set1_epi32(places as i32);
        // Each lane's bit is shifted to its sign, which fills the lane.
        if B::BYTES == 4 {
            let places = _mm256_sllv_epi32(each, _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24));
            let chosen = _mm256_and_si256(half, _mm256_srai_epi32::<31>(places));
            let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(chosen));
            let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(chosen));
            return _mm256_add_epi64(sums, _mm256_add_epi64(low, high));
        }
        let places = _mm256_sllv_epi64(each, _mm256_setr_epi64x(63, 62, 61, 60));
        let chosen = _mm256_and_si256(half, _mm256_cmpgt_epi64(_mm256_setzero_si256(), places));
        _mm256_add_epi64(sums, chosen)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn add_up(sums: __m256i) -> u64 {
        let pair = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        (_mm_cvtsi128_si64(pair) as u64).wrapping_add(_mm_extract_epi64::<1>(pair) as u64)
    }
}
