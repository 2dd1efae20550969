//! Lines of leaves: how many entries fill, and their prefetch.

use crate::node::Leaf;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};

/// Returns about how many lines this many entries fill, in leaves that are two thirds full.
#[inline(always)]
pub(in crate::tree) fn lines_of<B: Bits>(entries: usize) -> usize {
    (entries / 2).saturating_mul(3) / Leaf::<B>::PER_BLOCK + 2
}

/// Prefetches `lines` lines from the first one on.
#[inline(always)]
pub(super) fn prefetch_lines(first: *const u8, lines: usize) {
    // Four at a time, and then the remaining ones.
    let (mut line, end) = (first, first.wrapping_add(lines * LINE_BYTES));
    while line.addr() + 4 * LINE_BYTES <= end.addr() {
        (0..4).for_each(|at| prefetch_read(line.wrapping_add(at * LINE_BYTES)));
        line = line.wrapping_add(4 * LINE_BYTES);
    }
    while line.addr() < end.addr() {
        prefetch_read(line);
        line = line.wrapping_add(LINE_BYTES);
    }
}
