//! A caller's range of keys as a range of lanes.

use crate::base::error::Result;
use crate::base::index::Span;
use crate::base::key::Key;
use crate::base::span::lanes_of;
use crate::tree::LaneRange;

/// The lanes of a span, both ends included; `None` if no lane lies in it.
///
/// # Errors
/// [`Error::InvertedRange`](crate::Error::InvertedRange).
pub(super) fn lane_range<K: Key>(span: &Span<K>) -> Result<Option<LaneRange<K::Bits>>> {
    Ok(lanes_of(span)?.map(|(low, high)| LaneRange { low, high }))
}
