//! Branch-free binary search: the paper's in-node search, and the kernel on every processor.

use super::kernel::Search;
use crate::base::key::Bits;
use crate::mem::touch::{Touch, Work};

/// Branch-free binary search. Tells the memory-hierarchy model each lane that it looks at.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

impl Search for Scalar {
    #[inline(always)]
    fn below<B: Bits, T: Touch>(lanes: &[B], key: B) -> usize {
        count_while::<B, T>(lanes, |lane| lane < key)
    }

    #[inline(always)]
    fn up_to<B: Bits, T: Touch>(lanes: &[B], key: B) -> usize {
        count_while::<B, T>(lanes, |lane| lane <= key)
    }
}

/// How many of `lanes` fulfil `goes_before`, which must hold for a prefix of them and no more.
#[inline(always)]
fn count_while<B: Bits, T: Touch>(lanes: &[B], goes_before: impl Fn(B) -> bool) -> usize {
    let probe = |at: usize| {
        T::work(Work::Probe);
        T::read(lanes[at..].as_ptr().cast(), B::BYTES);
        goes_before(lanes[at])
    };
    let (mut base, mut size) = (0, lanes.len());
    while size > 1 {
        let half = size / 2;
        base = if probe(base + half - 1) { base + half } else { base };
        size -= half;
    }
    if size == 1 && probe(base) { base + 1 } else { base }
}
