//! NEON: vectors of 16 bytes, 4 `u32` or 2 `u64` lanes.

use super::vector::InstructionSet;
use crate::base::key::Bits;
use core::arch::aarch64::*;

/// The NEON kernel.
#[derive(Debug, Clone, Copy)]
pub struct Neon;

// SAFETY: `count` loads one vector from `at` on, `count_few` reads `lanes` lanes one by
// one. No load needs alignment beyond that of a lane.
unsafe impl InstructionSet for Neon {
    type Vector = uint64x2_t;
    const VECTOR_BYTES: usize = 16;

    #[inline(always)]
    unsafe fn splat<B: Bits>(key: B) -> uint64x2_t {
        // SAFETY: the processor has NEON, by the trait's contract.
        unsafe { splat(key) }
    }

    #[inline(always)]
    unsafe fn count<B: Bits>(at: *const B, key: uint64x2_t) -> usize {
        // A lane that is smaller than the key compares to all ones; one bit of each is summed.
        // SAFETY: the caller vouches for the processor and for a readable vector.
        unsafe {
            match B::BYTES {
                4 => {
                    let below = vcltq_u32(vld1q_u32(at.cast()), vreinterpretq_u32_u64(key));
                    vaddvq_u32(vshrq_n_u32::<31>(below)) as usize
                }
                _ => {
                    let below = vcltq_u64(vld1q_u64(at.cast()), key);
                    vaddvq_u64(vshrq_n_u64::<63>(below)) as usize
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn count_few<B: Bits>(at: *const B, lanes: usize, key: uint64x2_t) -> usize {
        // SAFETY: the caller vouches for the processor and for `lanes` readable lanes.
        unsafe {
            let key = match B::BYTES {
                4 => u64::from(vgetq_lane_u32::<0>(vreinterpretq_u32_u64(key))),
                _ => vgetq_lane_u64::<0>(key),
            };
            let mut counted = 0;
            for i in 0..lanes {
                counted += usize::from((*at.add(i)).to_u64() < key);
            }
            counted
        }
    }
}

/// The key in every lane.
///
/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
pub fn splat<B: Bits>(key: B) -> uint64x2_t {
    match B::BYTES {
        4 => vreinterpretq_u64_u32(vdupq_n_u32(key.to_u64() as u32)),
        _ => vdupq_n_u64(key.to_u64()),
    }
}

/// A lane of ones where `left` is greater than `right`, unsigned, and of zeros elsewhere.
///
/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
pub fn greater<B: Bits>(left: uint64x2_t, right: uint64x2_t) -> uint64x2_t {
    match B::BYTES {
        4 => vreinterpretq_u64_u32(vcgtq_u32(vreinterpretq_u32_u64(left), vreinterpretq_u32_u64(right))),
        _ => vcgtq_u64(left, right),
    }
}

/// One bit a lane of two vectors, whose lanes are all ones or all zeros: NEON has no instruction that does
/// this, so each lane is cut down to its own bit, and the bits are added up.
///
/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
pub fn bits<B: Bits>([low, high]: [uint64x2_t; 2]) -> u32 {
    if B::BYTES == 4 {
        let lanes = vuzp1q_u16(vreinterpretq_u16_u64(low), vreinterpretq_u16_u64(high));
        let own = vcombine_u16(vcreate_u16(0x0008_0004_0002_0001), vcreate_u16(0x0080_0040_0020_0010));
        return u32::from(vaddvq_u16(vandq_u16(lanes, own)));
    }
    let lanes = vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
    let own = vcombine_u32(vcreate_u32(0x0000_0002_0000_0001), vcreate_u32(0x0000_0008_0000_0004));
    vaddvq_u32(vandq_u32(lanes, own))
}
