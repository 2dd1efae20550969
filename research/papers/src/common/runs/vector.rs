//! Searches of runs by vectors, written once for all instruction sets.

use super::scalar::{count_up_to, step_up_to};
use latchless_core::base::key::Bits;
use latchless_core::search::{InstructionSet, VectorOperation, lanes_in_vector};

/// Compares these words with the key; a bit is set for each greater one.
///
/// # Safety
/// The processor has the instruction set, and there are as many words as a vector has lanes.
#[inline(always)]
unsafe fn greater<I: InstructionSet, B: Bits>(words: &[B::Word], key: I::Vector) -> I::Mask {
    // SAFETY: both by this function's contract.
    unsafe { I::greater::<B>(I::load_words::<B>(words), key) }
}

/// [`Runs::group_up_to`](super::Runs::group_up_to).
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn group_up_to<I: InstructionSet, B: Bits>(
    words: &[B::Word],
    at: usize,
    count: usize,
    key: B,
) -> usize {
    let (mut at, end, lanes) = (at, at + count, lanes_in_vector::<I, B>());
    let mut found = 0;
    // SAFETY: the processor has the instruction set, by this function's contract.
    let own = unsafe { I::splat(key) };
    while at < end
        && let Some(vector) = words.get(at..at + lanes)
    {
        let counted = (end - at).min(lanes);
        // SAFETY: as above; there are as many words as a vector has lanes.
        let larger = unsafe { I::bits::<B>(greater::<I, B>(vector, own)) };
        found += (!larger & ((1 << counted) - 1)).count_ones() as usize;
        at += counted;
    }
    found + count_up_to(&words[at..end], key)
}

/// [`Runs::run_up_to`](super::Runs::run_up_to).
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn run_up_to<I: InstructionSet, B: Bits>(words: &[B::Word], key: B) -> usize {
    let (mut at, lanes) = (0, lanes_in_vector::<I, B>());
    // SAFETY: the processor has the instruction set, by this function's contract.
    let own = unsafe { I::splat(key) };
    // Four vectors per iteration: a branch for each would cost as much as the comparison.
    while let Some(turn) = words.get(at..at + 4 * lanes) {
        let (left, right) = turn.split_at(2 * lanes);
        let ((first, second), (third, last)) = (left.split_at(lanes), right.split_at(lanes));
        // SAFETY: as above; each of these is as long as a vector.
        let larger = unsafe {
            let left = I::either(greater::<I, B>(first, own), greater::<I, B>(second, own));
            let right = I::either(greater::<I, B>(third, own), greater::<I, B>(last, own));
            I::bits::<B>(I::either(left, right))
        };
        if larger != 0 {
            break;
        }
        at += 4 * lanes;
    }
    while let Some(vector) = words.get(at..at + lanes) {
        // SAFETY: as above.
        let larger = unsafe { I::bits::<B>(greater::<I, B>(vector, own)) };
        if larger != 0 {
            return at + larger.trailing_zeros() as usize;
        }
        at += lanes;
    }
    at + step_up_to(&words[at..], key)
}

/// [`group_up_to`], if the kernel has vectors.
pub(super) struct Group<'a, B: Bits> {
    pub(super) words: &'a [B::Word],
    pub(super) at: usize,
    pub(super) count: usize,
    pub(super) key: B,
}

impl<B: Bits> VectorOperation for Group<'_, B> {
    type Output = usize;

    #[inline(always)]
    fn run<I: InstructionSet>(self) -> usize {
        // SAFETY: an instruction set is `Present`: the processor has it.
        unsafe { group_up_to::<I, B>(self.words, self.at, self.count, self.key) }
    }
}

/// [`run_up_to`], if the kernel has vectors.
pub(super) struct Run<'a, B: Bits> {
    pub(super) words: &'a [B::Word],
    pub(super) key: B,
}

impl<B: Bits> VectorOperation for Run<'_, B> {
    type Output = usize;

    #[inline(always)]
    fn run<I: InstructionSet>(self) -> usize {
        // SAFETY: as above.
        unsafe { run_up_to::<I, B>(self.words, self.key) }
    }
}
