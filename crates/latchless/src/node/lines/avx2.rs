//! Lines by AVX2: half a line a vector.

use crate::node::lines::by_functions::lines_by_functions;
use crate::node::lines::{Lines, keys_in_line};
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use latchless_core::base::key::Bits;
use latchless_core::search::{Avx2, bits, greater, splat};
use latchless_core::sync::{Line, Word};

/// Four words by one instruction.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn four_words(line: &Line, first: usize) -> __m256i {
    let words: &[Word; 4] = line[first..first + 4].try_into().expect("four words");
    // An interpreter reads no assembly.
    if cfg!(miri) {
        let [a, b, c, d] = words.each_ref().map(|word| word.load_relaxed() as i64);
        return _mm256_set_epi64x(d, c, b, a);
    }
    let vector;
    // SAFETY: reads the 32 bytes of the four words and nothing else. The words are atomics, aligned
    // to eight bytes; the load stands for a relaxed load of each of them.
    unsafe {
        asm!("vmovdqu {v}, ymmword ptr [{at}]", v = lateout(ymm_reg) vector, at = in(reg) words,
            options(readonly, nostack, preserves_flags));
    }
    vector
}

/// Sets four words by one instruction.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set_four_words(line: &Line, first: usize, to: __m256i) {
    let words: &[Word; 4] = line[first..first + 4].try_into().expect("four words");
    // An interpreter reads no assembly.
    if cfg!(miri) {
        let lanes: [u64; 4] = [
            _mm256_extract_epi64::<0>(to) as u64,
            _mm256_extract_epi64::<1>(to) as u64,
            _mm256_extract_epi64::<2>(to) as u64,
            _mm256_extract_epi64::<3>(to) as u64,
        ];
        return words.iter().zip(lanes).for_each(|(word, lane)| word.store_relaxed(lane));
    }
    // SAFETY: writes the 32 bytes of the four words and nothing else. The words are atomics, aligned to eight
    // bytes, that may be written through a shared reference; the store stands for a relaxed store to each of
    // them.
    unsafe {
        asm!("vmovdqu ymmword ptr [{at}], {v}", v = in(ymm_reg) to, at = in(reg) words,
            options(nostack, preserves_flags));
    }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn hints_up_to(header: &Line, hint: u16) -> usize {
    let (hints, own) = (four_words(header, 4), _mm256_set1_epi16(hint as i16));
    let up_to = _mm256_cmpeq_epi16(_mm256_min_epu16(hints, own), hints);
    // Two bits a lane, and the first two lanes are no hints.
    (_mm256_movemask_epi8(up_to) as u32 >> 4).count_ones() as usize / 2
}

#[inline]
#[target_feature(enable = "avx2")]
fn keys_equal<B: Bits>(block: &Line, key: B) -> u32 {
    let (keys, own) = (four_words(block, 0), splat(key));
    bits::<B>(match B::BYTES {
        4 => _mm256_cmpeq_epi32(keys, own),
        _ => _mm256_cmpeq_epi64(keys, own),
    })
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
    let own = splat(key);
    if B::BYTES == 4 {
        return 8 - bits::<B>(greater::<B>(four_words(block, 0), own)).count_ones() as usize;
    }
    let first = usize::from(block[0].load_relaxed() <= key.to_u64());
    first + 4 - bits::<B>(greater::<B>(four_words(block, 1), own)).count_ones() as usize
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]) {
    let to = &mut to[..keys_in_line::<B>()];
    // SAFETY: the slice was just cut to 32 bytes; the store needs no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), four_words(line, first)) };
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn set_half<B: Bits>(line: &Line, first: usize, from: &[B]) {
    let from = &from[..keys_in_line::<B>()];
    // SAFETY: the slice was just cut to 32 bytes; the load needs no alignment.
    set_four_words(line, first, unsafe { _mm256_loadu_si256(from.as_ptr().cast()) });
}

#[inline]
#[target_feature(enable = "avx2")]
fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32 {
    let keys = four_words(block, 0);
    let outside = _mm256_or_si256(greater::<B>(splat(low), keys), greater::<B>(keys, splat(high)));
    bits::<B>(outside) ^ ((1 << keys_in_line::<B>()) - 1)
}

#[inline]
#[target_feature(enable = "avx2")]
fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
    bits::<B>(greater::<B>(splat(key), four_words(block, 0)))
}

/// For each of the eight words of 32 bits of half a line, which lane it is of.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers<B: Bits>() -> __m256i {
    match B::BYTES {
        4 => _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _ => _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3),
    }
}

/// Moves the chosen lanes of half a line one lane up (`by`: -1) or down (1); all bits of a chosen lane are set.
#[inline]
#[target_feature(enable = "avx2")]
fn moved<B: Bits>(half: __m256i, chosen: __m256i, by: i32) -> __m256i {
    let words = _mm256_set1_epi32(by * (B::BYTES / 4) as i32);
    let own = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_permutevar8x32_epi32(half, _mm256_add_epi32(own, _mm256_and_si256(words, chosen)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn put_at<B: Bits>(block: &Line, at: usize, (key, value): (B, B)) {
    let (numbers, at) = (numbers::<B>(), _mm256_set1_epi32(at as i32));
    let (own, later) = (_mm256_cmpeq_epi32(numbers, at), _mm256_cmpgt_epi32(numbers, at));
    for (first, new) in [(0, key), (4, value)] {
        let others = moved::<B>(four_words(block, first), later, -1);
        set_four_words(block, first, _mm256_blendv_epi8(others, splat(new), own));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn take_out<B: Bits>(block: &Line, at: usize) {
    let (numbers, before) = (numbers::<B>(), _mm256_set1_epi32(at as i32 - 1));
    let last = _mm256_set1_epi32(keys_in_line::<B>() as i32 - 1);
    // From this one on, but the last, which has none after it.
    let chosen = _mm256_and_si256(_mm256_cmpgt_epi32(numbers, before), _mm256_cmpgt_epi32(last, numbers));
    for first in [0, 4] {
        set_four_words(block, first, moved::<B>(four_words(block, first), chosen, 1));
    }
}

type Sums = __m256i;

#[inline]
#[target_feature(enable = "avx2")]
fn no_sums() -> Sums {
    _mm256_setzero_si256()
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_values<B: Bits>(block: &Line, places: u32, sums: Sums) -> Sums {
    let (values, each) = (four_words(block, 4), _mm256_set1_epi32(places as i32));
    // Each lane's own bit comes to stand as its sign, which fills the lane.
    if B::BYTES == 4 {
        let places = _mm256_sllv_epi32(each, _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24));
        let chosen = _mm256_and_si256(values, _mm256_srai_epi32::<31>(places));
        let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(chosen));
        let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(chosen));
        return _mm256_add_epi64(sums, _mm256_add_epi64(low, high));
    }
    let places = _mm256_sllv_epi64(each, _mm256_setr_epi64x(63, 62, 61, 60));
    let chosen = _mm256_and_si256(values, _mm256_cmpgt_epi64(_mm256_setzero_si256(), places));
    _mm256_add_epi64(sums, chosen)
}

#[inline]
#[target_feature(enable = "avx2")]
fn total(sums: Sums) -> u64 {
    let pair = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    (_mm_cvtsi128_si64(pair) as u64).wrapping_add(_mm_extract_epi64::<1>(pair) as u64)
}

lines_by_functions!(Avx2, changes);
