//! Lines by NEON: half a line in two vectors.

use crate::node::lines::by_functions::lines_by_functions;
use crate::node::lines::{Lines, keys_in_line};
use core::arch::aarch64::*;
use core::arch::asm;
use core::mem::MaybeUninit;
use latchless_core::base::key::Bits;
use latchless_core::search::{Neon, bits, greater, splat};
use latchless_core::sync::{Line, Word};

/// Four words, or what compares made of their lanes.
type Half = [uint64x2_t; 2];

/// Four words by one instruction.
#[inline]
#[target_feature(enable = "neon")]
fn four_words(line: &Line, first: usize) -> Half {
    let words: &[Word; 4] = line[first..first + 4].try_into().expect("four words");
    // An interpreter reads no assembly.
    if cfg!(miri) {
        let [a, b, c, d] = words.each_ref().map(Word::load_relaxed);
        return [vcombine_u64(vcreate_u64(a), vcreate_u64(b)), vcombine_u64(vcreate_u64(c), vcreate_u64(d))];
    }
    let (low, high);
    // SAFETY: reads the 32 bytes of the four words and nothing else. The words are atomics, aligned
    // to eight bytes; the load stands for a relaxed load of each of them.
    unsafe {
        asm!("ldp {low:q}, {high:q}, [{at}]", low = lateout(vreg) low, high = lateout(vreg) high,
            at = in(reg) words, options(readonly, nostack, preserves_flags));
    }
    [low, high]
}

/// How many lanes of these are ones; the others are zeros.
#[inline]
#[target_feature(enable = "neon")]
fn count<B: Bits>([low, high]: Half) -> usize {
    // A lane of ones is -1.
    match B::BYTES {
        4 => {
            let sums = vaddq_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
            vaddvq_u32(sums).wrapping_neg() as usize
        }
        _ => vaddvq_u64(vaddq_u64(low, high)).wrapping_neg() as usize,
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn hints_up_to(header: &Line, hint: u16) -> usize {
    let ([low, high], own) = (four_words(header, 4), vdupq_n_u16(hint));
    let low = vcleq_u16(vreinterpretq_u16_u64(low), own);
    let high = vcleq_u16(vreinterpretq_u16_u64(high), own);
    // The first two lanes are no hints.
    let low = vreinterpretq_u16_u32(vsetq_lane_u32::<0>(0, vreinterpretq_u32_u16(low)));
    // A lane of ones is -1.
    usize::from(vaddvq_u16(vaddq_u16(low, high)).wrapping_neg())
}

#[inline]
#[target_feature(enable = "neon")]
fn keys_equal<B: Bits>(block: &Line, key: B) -> u32 {
    let ([low, high], own) = (four_words(block, 0), splat(key));
    bits::<B>([equal::<B>(low, own), equal::<B>(high, own)])
}

/// A lane of ones where the lanes are equal, and of zeros elsewhere.
#[inline]
#[target_feature(enable = "neon")]
fn equal<B: Bits>(left: uint64x2_t, right: uint64x2_t) -> uint64x2_t {
    match B::BYTES {
        4 => vreinterpretq_u64_u32(vceqq_u32(vreinterpretq_u32_u64(left), vreinterpretq_u32_u64(right))),
        _ => vceqq_u64(left, right),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
    let ([low, high], own) = (four_words(block, 0), splat(key));
    let larger = count::<B>([greater::<B>(low, own), greater::<B>(high, own)]);
    if B::BYTES == 4 {
        return 8 - larger;
    }
    4 - larger + usize::from(block[4].load_relaxed() <= key.to_u64())
}

#[inline]
#[target_feature(enable = "neon")]
fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]) {
    let to = &mut to[..keys_in_line::<B>()];
    let [low, high] = four_words(line, first);
    // SAFETY: the slice was just cut to 32 bytes; the stores need no alignment beyond that of a byte.
    unsafe {
        vst1q_u8(to.as_mut_ptr().cast(), vreinterpretq_u8_u64(low));
        vst1q_u8(to.as_mut_ptr().cast::<u8>().add(16), vreinterpretq_u8_u64(high));
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn keys_between<B: Bits>(block: &Line, least: B, most: B) -> u32 {
    let ([low, high], least, most) = (four_words(block, 0), splat(least), splat(most));
    let outside = [
        vorrq_u64(greater::<B>(least, low), greater::<B>(low, most)),
        vorrq_u64(greater::<B>(least, high), greater::<B>(high, most)),
    ];
    bits::<B>(outside) ^ ((1 << keys_in_line::<B>()) - 1)
}

#[inline]
#[target_feature(enable = "neon")]
fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
    let ([low, high], own) = (four_words(block, 0), splat(key));
    bits::<B>([greater::<B>(own, low), greater::<B>(own, high)])
}

type Sums = uint64x2_t;

#[inline]
#[target_feature(enable = "neon")]
fn no_sums() -> Sums {
    vdupq_n_u64(0)
}

#[inline]
#[target_feature(enable = "neon")]
fn add_values<B: Bits>(block: &Line, places: u32, sums: Sums) -> Sums {
    let [low, high] = four_words(block, 4);
    // A lane whose own bit is among the places becomes ones, and keeps its value.
    if B::BYTES == 4 {
        let places = vdupq_n_u32(places);
        let first = vcombine_u32(vcreate_u32(0x0000_0002_0000_0001), vcreate_u32(0x0000_0008_0000_0004));
        let low = vandq_u32(vreinterpretq_u32_u64(low), vtstq_u32(places, first));
        let high = vandq_u32(vreinterpretq_u32_u64(high), vtstq_u32(places, vshlq_n_u32::<4>(first)));
        return vpadalq_u32(vpadalq_u32(sums, low), high);
    }
    let places = vdupq_n_u64(u64::from(places));
    let first = vcombine_u64(vcreate_u64(1), vcreate_u64(2));
    let low = vandq_u64(low, vtstq_u64(places, first));
    let high = vandq_u64(high, vtstq_u64(places, vshlq_n_u64::<2>(first)));
    vaddq_u64(sums, vaddq_u64(low, high))
}

#[inline]
#[target_feature(enable = "neon")]
fn total(sums: Sums) -> u64 {
    vaddvq_u64(sums)
}

lines_by_functions!(Neon);
