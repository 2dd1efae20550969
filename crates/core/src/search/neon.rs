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
        unsafe {
            match B::BYTES {
                4 => vreinterpretq_u64_u32(vdupq_n_u32(key.to_u64() as u32)),
                _ => vdupq_n_u64(key.to_u64()),
            }
        }
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
