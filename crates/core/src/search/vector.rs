//! The vector search, written once over the few words that an instruction set must know.
//!
//! A run of lanes is halved, without branches, until two vectors cover it, and these two are
//! counted: one at its start and one at its end, which may overlap, because lanes ascend. Trees
//! search all places of a node, so the number of halvings is known at compile time and nothing can
//! be mispredicted. Counting more vectors takes fewer dependent steps and wins in a node that is in
//! the cache already; in a tree that isn't, fewer instructions win, because the processor then
//! reaches the next lookup's misses earlier. `docs/search-kernels.md` has the figures.

use super::kernel::Ranks;
use super::scalar::halve;
use crate::base::key::Bits;
use crate::base::span::next;
use crate::mem::touch::{NoTrace, Trace, Work};

/// What an instruction set must know to search a node.
///
/// # Safety
/// The functions may run only on a processor that has the instruction set. `count` reads one whole
/// vector from `at` on, and `count_few` reads `lanes` lanes and no byte more.
/// Neither needs alignment beyond that of a lane.
pub unsafe trait InstructionSet: Copy + Send + Sync + 'static {
    /// A register full of lanes.
    type Vector: Copy;
    /// Width of a register in bytes.
    const VECTOR_BYTES: usize;

    /// The key in every lane, in the form that the compare wants.
    unsafe fn splat<B: Bits>(key: B) -> Self::Vector;

    /// How many lanes of the vector at `at` are smaller than the key.
    unsafe fn count<B: Bits>(at: *const B, key: Self::Vector) -> usize;

    /// How many of the `lanes` lanes from `at` on, fewer than a vector holds, are smaller than
    /// the key.
    unsafe fn count_few<B: Bits>(at: *const B, lanes: usize, key: Self::Vector) -> usize;
}

impl<I: InstructionSet> Ranks for I {
    #[inline(always)]
    fn below<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize {
        T::work(Work::Probe);
        T::read(lanes.as_ptr().cast(), size_of_val(lanes));
        // SAFETY: a vector kernel comes to an operation through `Dispatch` alone, which is made
        // only of kernels that this processor has.
        unsafe { rank::<I, B>(lanes, key) }
    }

    #[inline(always)]
    fn up_to<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize {
        // Lanes are integers: up to the key is below the next one, if there is one.
        // A `match`, because `map_or` isn't always inlined: the vector instructions with it.
        match next(key) {
            Some(next) => Self::below::<B, T>(lanes, next),
            None => lanes.len(),
        }
    }
}

/// How many of the ascending `lanes` are smaller than `key`.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn rank<I: InstructionSet, B: Bits>(lanes: &[B], key: B) -> usize {
    let per_vector = I::VECTOR_BYTES / B::BYTES;
    let (at, len) = (lanes.as_ptr(), lanes.len());
    // SAFETY: the processor has the instruction set, by this function's contract. `both_ends` is
    // given lanes of the slice, at least one vector of them: that is what the condition says, and
    // halving more than two vectors until at most two are left leaves at least one.
    unsafe {
        let splat = I::splat(key);
        if len < per_vector {
            return I::count_few(at, len, splat);
        }
        let (base, size) = halve::<B, NoTrace>(lanes, 2 * per_vector, |lane| lane < key);
        base + both_ends::<I, B>(at.add(base), size, splat)
    }
}

/// How many of the `len` ascending lanes from `at` on are smaller than the key: a vector at their
/// start and one at their end, which between them cover all.
///
/// # Safety
/// The processor has the instruction set, and the `len` lanes can be read. They fill at least one
/// vector and at most two.
#[inline(always)]
unsafe fn both_ends<I: InstructionSet, B: Bits>(at: *const B, len: usize, key: I::Vector) -> usize {
    let end = I::VECTOR_BYTES / B::BYTES;
    debug_assert!((end..=2 * end).contains(&len), "{len} lanes don't fit two vectors of {end}");
    // SAFETY: both ends lie in the `len` lanes, by this function's contract.
    let (first, last) = unsafe { (I::count(at, key), I::count(at.add(len - end), key)) };
    // Lanes in both ends are the last end's first ones: when any of that end is smaller than the
    // key, these are, and have been counted before.
    first + last.saturating_sub(2 * end - len)
}
