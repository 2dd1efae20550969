//! Runs by vectors, written once over the few words that an instruction set must know.

use crate::common::runs::{Runs, count_up_to, step_up_to};
use latchless_core::base::key::Bits;

/// What an instruction set must know to search runs.
///
/// # Safety
/// The functions may run only on a processor that has the instruction set.
pub(super) trait Vectors: Copy {
    /// A register, or several, full of lanes.
    type Vector: Copy;
    /// What a compare makes of a vector's lanes, in the form that the instruction set has them in.
    type Mask: Copy;
    /// Bytes in a vector.
    const BYTES: usize;

    /// These words, which fill a vector, each of them whole.
    ///
    /// # Safety
    /// As the trait's, and there are as many words as a vector has lanes.
    unsafe fn load<B: Bits>(words: &[B::Word]) -> Self::Vector;

    /// The key in every lane.
    unsafe fn splat<B: Bits>(key: B) -> Self::Vector;

    /// The lanes that are greater than the key.
    unsafe fn greater<B: Bits>(lanes: Self::Vector, key: Self::Vector) -> Self::Mask;

    /// The lanes of either mask.
    unsafe fn either(one: Self::Mask, other: Self::Mask) -> Self::Mask;

    /// One bit a lane.
    unsafe fn bits<B: Bits>(mask: Self::Mask) -> u32;
}

/// Lanes in a vector.
const fn lanes<V: Vectors, B: Bits>() -> usize {
    V::BYTES / B::BYTES
}

/// Which of these words are greater than the key.
///
/// # Safety
/// The processor has the instruction set, and there are as many words as a vector has lanes.
#[inline(always)]
unsafe fn greater<V: Vectors, B: Bits>(words: &[B::Word], key: V::Vector) -> V::Mask {
    // SAFETY: both by this function's contract.
    unsafe { V::greater::<B>(V::load::<B>(words), key) }
}

/// [`Runs::group_up_to`].
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn group_up_to<V: Vectors, B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
    let (mut at, end, lanes) = (at, at + count, lanes::<V, B>());
    let mut found = 0;
    // SAFETY: the processor has the instruction set, by this function's contract.
    let own = unsafe { V::splat(key) };
    while at < end
        && let Some(vector) = words.get(at..at + lanes)
    {
        let counted = (end - at).min(lanes);
        // SAFETY: as above; there are as many words as a vector has lanes.
        let larger = unsafe { V::bits::<B>(greater::<V, B>(vector, own)) };
        found += (!larger & ((1 << counted) - 1)).count_ones() as usize;
        at += counted;
    }
    found + count_up_to(&words[at..end], key)
}

/// [`Runs::run_up_to`].
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn run_up_to<V: Vectors, B: Bits>(words: &[B::Word], key: B) -> usize {
    let (mut at, lanes) = (0, lanes::<V, B>());
    // SAFETY: the processor has the instruction set, by this function's contract.
    let own = unsafe { V::splat(key) };
    // Four vectors a turn: a branch for each would be as dear as the compare.
    while let Some(turn) = words.get(at..at + 4 * lanes) {
        let (left, right) = turn.split_at(2 * lanes);
        let ((first, second), (third, last)) = (left.split_at(lanes), right.split_at(lanes));
        // SAFETY: as above; each of these is as long as a vector.
        let larger = unsafe {
            let left = V::either(greater::<V, B>(first, own), greater::<V, B>(second, own));
            let right = V::either(greater::<V, B>(third, own), greater::<V, B>(last, own));
            V::bits::<B>(V::either(left, right))
        };
        if larger != 0 {
            break;
        }
        at += 4 * lanes;
    }
    while let Some(vector) = words.get(at..at + lanes) {
        // SAFETY: as above.
        let larger = unsafe { V::bits::<B>(greater::<V, B>(vector, own)) };
        if larger != 0 {
            return at + larger.trailing_zeros() as usize;
        }
        at += lanes;
    }
    at + step_up_to(&words[at..], key)
}

impl<V: Vectors> Runs for V {
    #[inline(always)]
    fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
        // SAFETY: a vector kernel comes to an operation through `Dispatch` alone, which is made only of
        // kernels that this processor has.
        unsafe { group_up_to::<V, B>(words, at, count, key) }
    }

    #[inline(always)]
    fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
        // SAFETY: as above.
        unsafe { run_up_to::<V, B>(words, key) }
    }
}
