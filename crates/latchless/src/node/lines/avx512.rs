//! Lines by AVX-512: a whole line a vector, compared unsigned into masks.

use crate::node::lines::Lines;
use crate::node::lines::avx2::{copy_half_to, four_words, set_four_words, set_half};
use crate::node::lines::by_functions::lines_by_functions;
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use latchless_core::base::key::Bits;
use latchless_core::search::{Avx512, splat};
use latchless_core::sync::Line;

/// A whole line by one instruction.
#[inline]
#[target_feature(enable = "avx512f")]
fn eight_words(line: &Line) -> __m512i {
    let vector;
    // SAFETY: reads the 64 bytes of the line and nothing else. Its words are atomics, aligned to
    // eight bytes; the load stands for a relaxed load of each of them.
    unsafe {
        asm!("vmovdqu64 {v}, zmmword ptr [{at}]", v = lateout(zmm_reg) vector, at = in(reg) line,
            options(readonly, nostack, preserves_flags));
    }
    vector
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx2,popcnt")]
fn hints_up_to(header: &Line, hint: u16) -> usize {
    let up_to = _mm256_cmple_epu16_mask(four_words(header, 4), _mm256_set1_epi16(hint as i16));
    // The first two lanes are no hints.
    (u32::from(up_to) >> 2).count_ones() as usize
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn keys_equal<B: Bits>(block: &Line, key: B) -> u32 {
    let (keys, own) = (four_words(block, 0), splat(key));
    match B::BYTES {
        4 => u32::from(_mm256_cmpeq_epi32_mask(keys, own)),
        _ => u32::from(_mm256_cmpeq_epi64_mask(keys, own)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2,popcnt")]
fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
    let up_to = match B::BYTES {
        4 => u32::from(_mm256_cmple_epu32_mask(four_words(block, 0), splat(key))),
        // The last three words are children.
        _ => {
            u32::from(_mm512_cmple_epu64_mask(eight_words(block), _mm512_set1_epi64(key.to_u64() as i64)))
                & 31
        }
    };
    up_to.count_ones() as usize
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32 {
    let (keys, low, high) = (four_words(block, 0), splat(low), splat(high));
    u32::from(match B::BYTES {
        4 => _mm256_cmple_epu32_mask(low, keys) & _mm256_cmple_epu32_mask(keys, high),
        _ => _mm256_cmple_epu64_mask(low, keys) & _mm256_cmple_epu64_mask(keys, high),
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
    let (keys, own) = (four_words(block, 0), splat(key));
    u32::from(match B::BYTES {
        4 => _mm256_cmplt_epu32_mask(keys, own),
        _ => _mm256_cmplt_epu64_mask(keys, own),
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn put_at<B: Bits>(block: &Line, at: usize, (key, value): (B, B)) {
    // The lanes of the half in their order, in all places but this one.
    let others = !(1u8 << at);
    for (first, new) in [(0, key), (4, value)] {
        let (half, new) = (four_words(block, first), splat(new));
        set_four_words(
            block,
            first,
            match B::BYTES {
                4 => _mm256_mask_expand_epi32(new, others, half),
                _ => _mm256_mask_expand_epi64(new, others, half),
            },
        );
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn take_out<B: Bits>(block: &Line, at: usize) {
    let others = !(1u8 << at);
    for first in [0, 4] {
        let half = four_words(block, first);
        set_four_words(
            block,
            first,
            match B::BYTES {
                4 => _mm256_mask_compress_epi32(half, others, half),
                _ => _mm256_mask_compress_epi64(half, others, half),
            },
        );
    }
}

type Sums = __m512i;

#[inline]
#[target_feature(enable = "avx512f")]
fn no_sums() -> Sums {
    _mm512_setzero_si512()
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn add_values<B: Bits>(block: &Line, places: u32, sums: Sums) -> Sums {
    let values = four_words(block, 4);
    let values = if B::BYTES == 4 { _mm512_cvtepu32_epi64(values) } else { _mm512_zextsi256_si512(values) };
    _mm512_mask_add_epi64(sums, places as u8, sums, values)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn total(sums: Sums) -> u64 {
    _mm512_reduce_add_epi64(sums) as u64
}

lines_by_functions!(Avx512, changes);
