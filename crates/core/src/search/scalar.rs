//! Branch-free binary search: the paper's in-node search, and the kernel on every processor.

use super::dispatch::Ranks;
use crate::base::key::Bits;
use crate::mem::touch::{Trace, Work};
use core::hint::select_unpredictable;

/// Branch-free binary search. Tells the memory-hierarchy model each lane that it looks at.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

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

/// How many of `lanes` fulfil `goes_before`, which must hold for a prefix of them and no more.
#[inline(always)]
fn count_while<B: Bits, T: Trace>(lanes: &[B], goes_before: impl Fn(B) -> bool) -> usize {
    halve::<B, T>(lanes, 0, goes_before).0
}

/// Halves `lanes` until at most `window` of them are left to look at, and says where these start
/// and how many they are: all lanes before fulfil `goes_before`, all after don't. If it halves at
/// all, at least `window / 2` lanes are left.
///
/// A search to the end takes ⌊log₂ n⌋ + 1 probes: three among 7 lanes, six among 63.
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
        // Of an even number of lanes the upper half is one short: it takes the middle in again, so
        // that both ways leave equally many and only `base` depends on the lane.
        base = select_unpredictable(goes_before(told::<B, T>(middle)), base + (size - half), base);
        size = half;
    }
    (base, size)
}

/// The lane, and the tracing hook told of the probe: the load first, then the compare and the branch
/// that wait for it.
#[inline(always)]
fn told<B: Bits, T: Trace>(lane: &B) -> B {
    T::read(core::ptr::from_ref(lane).cast(), B::BYTES);
    T::work(Work::Probe);
    *lane
}
