//! The vector search, written once over the few operations of an instruction set.
//!
//! A run of lanes is halved, without branches, until two vectors cover it. These two are counted: one at its
//! start and one at its end, which may overlap, because lanes ascend. Trees search all places of a node, so
//! the number of halvings is known at compile time and nothing can be mispredicted. Counting more vectors
//! needs fewer dependent steps, which is faster in a node that is cached already. In a tree that isn't
//! cached, fewer instructions are faster, because the processor reaches the next lookup's misses earlier.
//! `docs/internals/search-kernels.md` has the figures.

use super::present::{InstructionSet, Ranks, lanes_in_vector};
use super::scalar::halve;
use crate::base::key::Bits;
use crate::base::span::next;
use crate::mem::touch::{NoTrace, Trace, Work};

impl<I: InstructionSet> Ranks for I {
    #[inline(always)]
    fn below<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize {
        T::work(Work::Probe);
        T::read(lanes.as_ptr().cast(), size_of_val(lanes));
        // SAFETY: the kernel is present.
        unsafe { rank::<I, B>(lanes, key) }
    }

    #[inline(always)]
    fn up_to<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize {
        // Lanes are integers: "up to the key" is "below the next key", if there is one. A `match`, because
        // `map_or`, with the vector instructions in it, isn't always inlined.
        match next(key) {
            Some(next) => Self::below::<B, T>(lanes, next),
            None => lanes.len(),
        }
    }
}

/// Returns how many of the ascending `lanes` are smaller than `key`.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn rank<I: InstructionSet, B: Bits>(lanes: &[B], key: B) -> usize {
    let (at, len, per_vector) = (lanes.as_ptr(), lanes.len(), lanes_in_vector::<I, B>());
    // SAFETY: the processor has the instruction set, by this function's contract. `both_ends` gets lanes of
    // the slice, at least one vector of them: the condition ensures that, and halving more than two vectors
    // until at most two are left leaves at least one.
    unsafe {
        let key_everywhere = I::splat(key);
        if len < per_vector {
            let below = I::bits::<B>(I::greater::<B>(key_everywhere, I::load_few(at, len)));
            return (below & ((1 << len) - 1)).count_ones() as usize;
        }
        let (base, size) = halve::<B, NoTrace>(lanes, 2 * per_vector, |lane| lane < key);
        base + both_ends::<I, B>(at.add(base), size, key_everywhere)
    }
}

/// Returns how many of the `len` ascending lanes from `at` on are smaller than the key, by a vector at their
/// start and one at their end, which together cover all of them.
///
/// # Safety
/// The processor has the instruction set, and the `len` lanes can be read. They fill at least one
/// vector and at most two.
#[inline(always)]
unsafe fn both_ends<I: InstructionSet, B: Bits>(at: *const B, len: usize, key: I::Vector) -> usize {
    let end = lanes_in_vector::<I, B>();
    debug_assert!((end..=2 * end).contains(&len), "{len} lanes don't fit two vectors of {end}");
    // SAFETY: both ends lie in the `len` lanes, by this function's contract.
    let (first, last) = unsafe { (below::<I, B>(at, key), below::<I, B>(at.add(len - end), key)) };
    // Lanes in both ends are the last end's first ones: when any of that end is smaller than the
    // key, these are, and have been counted before.
    first + last.saturating_sub(2 * end - len)
}

/// Returns how many lanes of the vector at `at` are smaller than the key.
///
/// # Safety
/// The processor has the instruction set, and the vector can be read.
#[inline(always)]
unsafe fn below<I: InstructionSet, B: Bits>(at: *const B, key: I::Vector) -> usize {
    // SAFETY: both by this function's contract.
    unsafe { I::bits::<B>(I::greater::<B>(key, I::load(at))).count_ones() as usize }
}
