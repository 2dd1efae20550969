//! The vector search, written once over the few words that an instruction set must know.
//!
//! Counting lanes has no chain of dependent steps, and a count over a fixed number of vectors has
//! no loop to mispredict. So up to eight vectors' worth of lanes are counted from both ends at
//! once, with ends of one, two or four vectors; the ends may overlap, because lanes ascend. Longer
//! runs are first halved, without branches, which also spares cache lines.
//! `docs/search-kernels.md` has the figures that chose this form.

use super::kernel::Search;
use super::scalar::halve;
use crate::base::key::Bits;
use crate::mem::touch::{Touch, Untouched, Work};

/// What an instruction set must know to search a node.
///
/// # Safety
/// The functions may run only on a processor that has the instruction set. `count` reads
/// `VECTORS` whole vectors from `at` on, and `count_few` reads `lanes` lanes and no byte more.
/// Neither needs alignment beyond that of a lane.
pub(super) unsafe trait InstructionSet: Copy + Send + Sync + 'static {
    /// A register full of lanes.
    type Vector: Copy;
    /// Width of a register in bytes.
    const VECTOR_BYTES: usize;

    /// The key in every lane, in the form that the compare wants.
    unsafe fn splat<B: Bits>(key: B) -> Self::Vector;

    /// How many lanes of the `VECTORS` consecutive vectors from `at` on are smaller than the key.
    unsafe fn count<B: Bits, const VECTORS: usize>(at: *const B, key: Self::Vector) -> usize;

    /// How many of the `lanes` lanes from `at` on, fewer than a vector holds, are smaller than
    /// the key.
    unsafe fn count_few<B: Bits>(at: *const B, lanes: usize, key: Self::Vector) -> usize;
}

impl<I: InstructionSet> Search for I {
    #[inline(always)]
    fn below<B: Bits, T: Touch>(lanes: &[B], key: B) -> usize {
        T::work(Work::Probe);
        T::read(lanes.as_ptr().cast(), size_of_val(lanes));
        // SAFETY: a vector kernel comes to an operation through `Dispatch` alone, which is made
        // only of kernels that this processor has.
        unsafe { rank::<I, B>(lanes, key) }
    }

    #[inline(always)]
    fn up_to<B: Bits, T: Touch>(lanes: &[B], key: B) -> usize {
        // Lanes are integers: up to the key is below the next one, if there is one.
        if key == B::MAX { lanes.len() } else { Self::below::<B, T>(lanes, B::truncate(key.to_u64() + 1)) }
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
    // given lanes of the slice, at least as many as one end has: that is what the conditions say,
    // and halving more than `n` lanes until at most `n` are left leaves at least `n / 2`.
    unsafe {
        let splat = I::splat(key);
        if len < per_vector {
            I::count_few(at, len, splat)
        } else if len <= 2 * per_vector {
            both_ends::<I, B, 1>(at, len, splat)
        } else if len <= 4 * per_vector {
            both_ends::<I, B, 2>(at, len, splat)
        } else if len <= 8 * per_vector {
            both_ends::<I, B, 4>(at, len, splat)
        } else {
            let (base, size) = halve::<B, Untouched>(lanes, 8 * per_vector, |lane| lane < key);
            base + both_ends::<I, B, 4>(at.add(base), size, splat)
        }
    }
}

/// How many of the `len` ascending lanes from `at` on are smaller than the key: `VECTORS` vectors
/// at their start and as many at their end, which between them cover all.
///
/// # Safety
/// The processor has the instruction set, and the `len` lanes can be read. They fill at least
/// `VECTORS` vectors and at most twice as many.
#[inline(always)]
unsafe fn both_ends<I: InstructionSet, B: Bits, const VECTORS: usize>(
    at: *const B,
    len: usize,
    key: I::Vector,
) -> usize {
    let end = VECTORS * (I::VECTOR_BYTES / B::BYTES);
    debug_assert!((end..=2 * end).contains(&len), "{len} lanes don't fit two ends of {end}");
    // SAFETY: both ends lie in the `len` lanes, by this function's contract.
    let (first, last) =
        unsafe { (I::count::<B, VECTORS>(at, key), I::count::<B, VECTORS>(at.add(len - end), key)) };
    // Lanes in both ends are the last end's first ones: when any of that end is smaller than the
    // key, these are, and have been counted before.
    first + last.saturating_sub(2 * end - len)
}
