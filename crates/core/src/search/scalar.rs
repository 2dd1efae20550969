//! Branch-free binary search: the paper's in-node search, and the kernel for every processor.

use super::present::{Present, Ranks, VectorOperation};
use crate::base::key::Bits;
use crate::mem::touch::{Trace, Work};
use core::hint::select_unpredictable;

/// Branch-free binary search. Reports each lane that it reads to the memory-hierarchy model.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

// SAFETY: every processor can run it.
unsafe impl Present for Scalar {
    #[inline(always)]
    fn with_vectors<O: VectorOperation>(operation: O) -> core::result::Result<O::Output, O> {
        Err(operation)
    }
}

impl Ranks for Scalar {
    #[inline(always)]
    fn below<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize {
        count_while::<B, T>(lanes, |lane| lane < key)
    }

    #[inline(always)]
    fn up_to<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize {
        count_while::<B, T>(lanes, |lane| lane <= key)
    }
}

/// Returns how many of `lanes` satisfy `goes_before`, which must hold for a prefix of them and no others.
#[inline(always)]
fn count_while<B: Bits, T: Trace>(lanes: &[B], goes_before: impl Fn(B) -> bool) -> usize {
    halve::<B, T>(lanes, 0, goes_before).0
}

/// Halves `lanes` until at most `window` of them are left, and returns the start and the number of these:
/// all lanes before them satisfy `goes_before`, all after them don't. If it halves at all, at least `window
/// / 2` lanes are left.
///
/// A complete search takes ⌊log₂ n⌋ + 1 probes: three among 7 lanes, six among 63.
#[inline(always)]
pub(super) fn halve<B: Bits, T: Trace>(
    lanes: &[B],
    window: usize,
    goes_before: impl Fn(B) -> bool,
) -> (usize, usize) {
    let (mut base, mut size) = (0, lanes.len());
    while size > window {
        let half = size / 2;
        // SAFETY: `base + size <= lanes.len()` holds at first and after each step, and
        // `half < size` because `size` isn't 0.
        let middle = unsafe { lanes.get_unchecked(base + half) };
        // With an even number of lanes the upper half is one short, so it includes the middle again: both
        // ways then leave equally many lanes, and only `base` depends on the lane.
        base = select_unpredictable(goes_before(told::<B, T>(middle)), base + (size - half), base);
        size = half;
    }
    (base, size)
}

/// Returns the lane and reports the probe to the tracing hook: first the load, then the compare and the
/// branch, which wait for it.
#[inline(always)]
fn told<B: Bits, T: Trace>(lane: &B) -> B {
    T::read(core::ptr::from_ref(lane).cast(), B::BYTES);
    T::work(Work::Probe);
    *lane
}
