//! A caller's range of keys as a range of lanes.

use crate::pb_tree::tree::LaneRange;
use latchless_core::base::error::Result;
use latchless_core::base::index::Span;
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;

/// The lanes of a span, both ends included; `None` if no lane lies in it.
///
/// # Errors
/// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
pub(super) fn lane_range<K: Key>(span: &Span<K>) -> Result<Option<LaneRange<K::Bits>>> {
    Ok(encoded_range(span)?.map(|(low, high)| LaneRange { low, high }))
}
