//! Runs by NEON: 32 bytes a vector, which is two registers.

use crate::common::runs::vector::Vectors;
use core::arch::aarch64::*;
use core::arch::asm;
use latchless_core::base::key::Bits;
use latchless_core::search::{Neon, bits, greater, splat};
use latchless_core::sync::BitsWord;

impl Vectors for Neon {
    type Vector = [uint64x2_t; 2];
    /// Lanes of ones and lanes of zeros.
    type Mask = [uint64x2_t; 2];
    const BYTES: usize = 32;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load<B: Bits>(words: &[B::Word]) -> [uint64x2_t; 2] {
        // An interpreter reads no assembly.
        if cfg!(miri) {
            let mut pairs = [0; 4];
            for (at, pair) in pairs.iter_mut().enumerate() {
                *pair = match B::BYTES {
                    4 => {
                        words[2 * at].load_relaxed().to_u64()
                            | words[2 * at + 1].load_relaxed().to_u64() << 32
                    }
                    _ => words[at].load_relaxed().to_u64(),
                };
            }
            let [a, b, c, d] = pairs;
            return [
                vcombine_u64(vcreate_u64(a), vcreate_u64(b)),
                vcombine_u64(vcreate_u64(c), vcreate_u64(d)),
            ];
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
    unsafe fn splat<B: Bits>(key: B) -> [uint64x2_t; 2] {
        [splat(key); 2]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn greater<B: Bits>(lanes: [uint64x2_t; 2], key: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
        [greater::<B>(lanes[0], key[0]), greater::<B>(lanes[1], key[1])]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn either(one: [uint64x2_t; 2], other: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
        [vorrq_u64(one[0], other[0]), vorrq_u64(one[1], other[1])]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn bits<B: Bits>(mask: [uint64x2_t; 2]) -> u32 {
        bits::<B>(mask)
    }
}
