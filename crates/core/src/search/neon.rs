//! NEON: vectors of 32 bytes, which are two registers: 8 `u32` or 4 `u64` lanes.

use super::half_line::{HalfLine, lanes_in_half};
use super::present::InstructionSet;
use crate::base::key::Bits;
use crate::sync::{BitsWord, Word};
use core::arch::aarch64::*;
use core::arch::asm;
use core::mem::MaybeUninit;

/// The NEON kernel.
#[derive(Debug, Clone, Copy)]
pub struct Neon;

/// Two registers.
type Pair = [uint64x2_t; 2];

// SAFETY: `load` loads one vector, `load_few` reads `lanes` lanes one by one. No load needs alignment
// beyond that of a lane.
unsafe impl InstructionSet for Neon {
    type Vector = Pair;
    /// Lanes of ones and lanes of zeros.
    type Mask = Pair;
    const VECTOR_BYTES: usize = 32;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn splat<B: Bits>(key: B) -> Pair {
        [match B::BYTES {
            4 => vreinterpretq_u64_u32(vdupq_n_u32(key.to_u64() as u32)),
            _ => vdupq_n_u64(key.to_u64()),
        }; 2]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load<B: Bits>(at: *const B) -> Pair {
        // SAFETY: the caller vouches for a readable vector; loads of bytes need no alignment.
        unsafe {
            let (low, high) = (vld1q_u8(at.cast()), vld1q_u8(at.cast::<u8>().add(16)));
            [vreinterpretq_u64_u8(low), vreinterpretq_u64_u8(high)]
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load_few<B: Bits>(at: *const B, lanes: usize) -> Pair {
        let mut few = [B::MIN; 8];
        for (lane, few) in few.iter_mut().enumerate().take(lanes) {
            // SAFETY: the caller vouches for `lanes` readable lanes.
            *few = unsafe { *at.add(lane) };
        }
        // SAFETY: eight lanes of any width fill a vector.
        unsafe { <Self as InstructionSet>::load(few.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load_words<B: Bits>(words: &[B::Word]) -> Pair {
        debug_assert!(words.len() >= 32 / B::BYTES);
        // Miri can't run assembly.
        if cfg!(miri) {
            let lane = |at: usize| words[at].load_relaxed().to_u64();
            return pair(core::array::from_fn(|at| match B::BYTES {
                4 => lane(2 * at) | lane(2 * at + 1) << 32,
                _ => lane(at),
            }));
        }
        let (low, high);
        // SAFETY: reads the 32 bytes of the words, which fill a vector by the trait's contract, and nothing
        // else. The words are atomics of the lanes' width, aligned to it; the loads represent relaxed loads
        // of each of them. `ldp` reads each aligned half of a register whole, `ld1` each aligned lane.
        unsafe {
            match B::BYTES {
                4 => asm!("ld1 {{{low:v}.4s}}, [{at}]", "ld1 {{{high:v}.4s}}, [{behind}]",
                    low = out(vreg) low, high = lateout(vreg) high, at = in(reg) words.as_ptr(),
                    behind = in(reg) words[4..].as_ptr(), options(readonly, nostack, preserves_flags)),
                _ => asm!("ldp {low:q}, {high:q}, [{at}]",
                    low = lateout(vreg) low, high = lateout(vreg) high, at = in(reg) words.as_ptr(),
                    options(readonly, nostack, preserves_flags)),
            }
        }
        [low, high]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn greater<B: Bits>(left: Pair, right: Pair) -> Pair {
        [greater::<B>(left[0], right[0]), greater::<B>(left[1], right[1])]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn either(one: Pair, other: Pair) -> Pair {
        [vorrq_u64(one[0], other[0]), vorrq_u64(one[1], other[1])]
    }

    /// NEON has no instruction that does this, so each lane is reduced to one bit, and the bits are added
    /// up.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn bits<B: Bits>([low, high]: Pair) -> u32 {
        if B::BYTES == 4 {
            let lanes = vuzp1q_u16(vreinterpretq_u16_u64(low), vreinterpretq_u16_u64(high));
            let own = vcombine_u16(vcreate_u16(0x0008_0004_0002_0001), vcreate_u16(0x0080_0040_0020_0010));
            return u32::from(vaddvq_u16(vandq_u16(lanes, own)));
        }
        let lanes = vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
        let own = vcombine_u32(vcreate_u32(0x0000_0002_0000_0001), vcreate_u32(0x0000_0008_0000_0004));
        vaddvq_u32(vandq_u32(lanes, own))
    }
}

/// Four words in two registers.
#[inline]
#[target_feature(enable = "neon")]
fn pair([a, b, c, d]: [u64; 4]) -> Pair {
    [vcombine_u64(vcreate_u64(a), vcreate_u64(b)), vcombine_u64(vcreate_u64(c), vcreate_u64(d))]
}

/// A lane of ones where `left` is greater than `right`, unsigned, and of zeros elsewhere.
#[inline]
#[target_feature(enable = "neon")]
fn greater<B: Bits>(left: uint64x2_t, right: uint64x2_t) -> uint64x2_t {
    match B::BYTES {
        4 => vreinterpretq_u64_u32(vcgtq_u32(vreinterpretq_u32_u64(left), vreinterpretq_u32_u64(right))),
        _ => vcgtq_u64(left, right),
    }
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

/// Returns the bits of all lanes.
const fn all<B: Bits>() -> u32 {
    (1 << lanes_in_half::<B>()) - 1
}

// SAFETY: `store` writes one vector, which is half a line.
unsafe impl HalfLine for Neon {
    type Half = Pair;
    type Sums = uint64x2_t;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn half(words: &[Word; 4]) -> Pair {
        // Miri can't run assembly.
        if cfg!(miri) {
            return pair(words.each_ref().map(Word::load_relaxed));
        }
        let (low, high);
        // SAFETY: reads the 32 bytes of the four words and nothing else. The words are atomics, aligned
        // to eight bytes; the load represents a relaxed load of each of them.
        unsafe {
            asm!("ldp {low:q}, {high:q}, [{at}]", low = lateout(vreg) low, high = lateout(vreg) high,
                at = in(reg) words, options(readonly, nostack, preserves_flags));
        }
        [low, high]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn store<B: Bits>([low, high]: Pair, to: &mut [MaybeUninit<B>]) {
        let to = &mut to[..lanes_in_half::<B>()];
        // SAFETY: the slice was just cut to 32 bytes; the stores need no alignment beyond that of a byte.
        unsafe {
            vst1q_u8(to.as_mut_ptr().cast(), vreinterpretq_u8_u64(low));
            vst1q_u8(to.as_mut_ptr().cast::<u8>().add(16), vreinterpretq_u8_u64(high));
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load<B: Bits>(from: &[B]) -> Pair {
        let from = &from[..lanes_in_half::<B>()];
        // SAFETY: the slice was just cut to 32 bytes.
        unsafe { <Self as InstructionSet>::load(from.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn set(words: &[Word; 4], [low, high]: Pair) {
        let lanes = [
            vgetq_lane_u64::<0>(low),
            vgetq_lane_u64::<1>(low),
            vgetq_lane_u64::<0>(high),
            vgetq_lane_u64::<1>(high),
        ];
        words.iter().zip(lanes).for_each(|(word, lane)| word.store_relaxed(lane));
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn below<B: Bits>(half: Pair, key: B) -> u32 {
        // SAFETY: the processor has NEON, by the trait's contract.
        unsafe { Self::bits::<B>(Self::greater::<B>(Self::splat(key), half)) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn equal<B: Bits>([low, high]: Pair, key: B) -> u32 {
        // SAFETY: the processor has NEON, by the trait's contract.
        unsafe {
            let [own, _] = Self::splat(key);
            Self::bits::<B>([equal::<B>(low, own), equal::<B>(high, own)])
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn up_to<B: Bits>(half: Pair, key: B) -> u32 {
        // SAFETY: as above.
        unsafe { Self::bits::<B>(Self::greater::<B>(half, Self::splat(key))) ^ all::<B>() }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn between<B: Bits>(half: Pair, low: B, high: B) -> u32 {
        // SAFETY: as above.
        unsafe {
            let (below, above) =
                (Self::greater::<B>(Self::splat(low), half), Self::greater::<B>(half, Self::splat(high)));
            Self::bits::<B>(Self::either(below, above)) ^ all::<B>()
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn short_lanes_up_to([low, high]: Pair, hint: u16) -> usize {
        let own = vdupq_n_u16(hint);
        let low = vcleq_u16(vreinterpretq_u16_u64(low), own);
        let high = vcleq_u16(vreinterpretq_u16_u64(high), own);
        // The first two lanes aren't hints.
        let low = vreinterpretq_u16_u32(vsetq_lane_u32::<0>(0, vreinterpretq_u32_u16(low)));
        // A lane of ones is -1.
        usize::from(vaddvq_u16(vaddq_u16(low, high)).wrapping_neg())
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn bytes_equal(half: Pair, byte: u8) -> u32 {
        // Each byte's bit among those of eight bytes.
        let own = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
        let bits = half.map(|words| {
            let equal = vandq_u8(vceqq_u8(vreinterpretq_u8_u64(words), vdupq_n_u8(byte)), own);
            u32::from(vaddv_u8(vget_low_u8(equal))) | u32::from(vaddv_u8(vget_high_u8(equal))) << 8
        });
        bits[0] | bits[1] << 16
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn zero_sums() -> uint64x2_t {
        vdupq_n_u64(0)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn add<B: Bits>([low, high]: Pair, places: u32, sums: uint64x2_t) -> uint64x2_t {
        // A lane whose bit is among the places becomes ones, and keeps its value.
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
    unsafe fn add_up(sums: uint64x2_t) -> u64 {
        vaddvq_u64(sums)
    }
}
