//! What the threads of a node share while they execute a batch, and how far each prefetches ahead.

use super::layer::Layer;
use super::options::Prefetch;
use super::work::Work;
use crate::pi::mem::budget::Budget;
use crate::pi::segments::{Anchor, SegmentsMut};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use latchless_core::search::Dispatch;

/// The state that all threads of a node share.
pub(super) struct Context<'a, B: Bits> {
    pub(super) layer: &'a Layer<B>,
    pub(super) work: Work<'a, B>,
    pub(super) budget: &'a Budget,
    pub(super) dispatch: Dispatch,
    pub(super) group: usize,
    pub(super) prefetch: Prefetch,
    /// Whether a rebuild is in progress, which must learn of the changes.
    pub(super) logging: bool,
}

/// The number of queries between prefetching a segment's place and its node, and between that and its use.
pub(super) const AHEAD: usize = 8;

/// Prefetches the place of a later query's segment and a nearer one's node, if the list is prefetched.
#[inline(always)]
pub(super) fn ask_ahead<B: Bits, T: Trace>(
    context: &Context<'_, B>,
    list: &SegmentsMut<'_, B>,
    anchors: &[Anchor],
    at: usize,
) {
    if context.prefetch.of_list() {
        if let Some(&later) = anchors.get(at + 2 * AHEAD) {
            list.ask_for_segment::<T>(later);
        }
        if let Some(&next) = anchors.get(at + AHEAD) {
            list.ask_for_node::<T>(next);
        }
    }
}
