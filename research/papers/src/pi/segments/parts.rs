//! A list's tall nodes in order, as an index layer is built over them.

use super::Segments;
use super::anchor::Anchor;
use super::layout::ranges;
use crate::pi::routed::Source;
use core::ops::Range;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read_all;

/// The distance, in segments, between prefetching tall nodes and reading them.
const TALLS_AHEAD: usize = 8;

/// A list's tall nodes by parts: what [`Routed::build`](crate::pi::routed::Routed::build) works on.
#[derive(Debug)]
pub struct Parts<'a, B: Bits> {
    list: &'a Segments<B>,
    ranges: Vec<Range<usize>>,
    /// The segment that anchors call the first one.
    first: usize,
}

impl<B: Bits> Segments<B> {
    /// The list's nodes by parts, as an index layer is built from.
    pub fn parts(&self, parts: usize) -> Parts<'_, B> {
        Parts { list: self, ranges: ranges(self.segments.len(), parts), first: 0 }
    }

    /// The tall nodes of a run of segments; anchors call the first of these the first one.
    pub fn run(&self, segments: Range<usize>) -> Parts<'_, B> {
        Parts { list: self, first: segments.start, ranges: vec![segments] }
    }
}

impl<B: Bits> Source<B> for Parts<'_, B> {
    fn parts(&self) -> usize {
        self.ranges.len()
    }

    #[inline(always)]
    fn each(&self, part: usize, mut visit: impl FnMut(B, usize, u32)) {
        for nth in self.ranges[part].clone() {
            // Segments lie anywhere: no processor guesses where the next one's nodes are.
            if let Some(later) = self.list.talls.get(nth + TALLS_AHEAD) {
                prefetch_read_all(later.as_ptr().cast(), size_of_val(&**later));
            }
            for tall in &*self.list.talls[nth] {
                let anchor = Anchor::new(nth - self.first, tall.place as usize);
                visit(tall.key, tall.height as usize, anchor.to_word());
            }
        }
    }
}
