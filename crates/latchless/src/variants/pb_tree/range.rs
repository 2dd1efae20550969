//! A caller's range of keys as a range of lanes.

use crate::base::error::Result;
use crate::base::index::{Span, check_span};
use crate::base::key::{Bits, Key};
use crate::tree::LaneRange;
use core::ops::Bound;

/// The lanes of a span, both ends included; `None` if no lane lies in it.
///
/// # Errors
/// [`Error::InvertedRange`](crate::Error::InvertedRange).
pub(super) fn lane_range<K: Key>(span: &Span<K>) -> Result<Option<LaneRange<K::Bits>>> {
    check_span(span)?;
    let low = match span.0 {
        Bound::Unbounded => Some(K::Bits::MIN),
        Bound::Included(key) => Some(key.to_bits()),
        Bound::Excluded(key) => neighbour(key.to_bits(), K::Bits::MAX, 1),
    };
    let high = match span.1 {
        Bound::Unbounded => Some(K::Bits::MAX),
        Bound::Included(key) => Some(key.to_bits()),
        Bound::Excluded(key) => neighbour(key.to_bits(), K::Bits::MIN, -1),
    };
    let range = low.zip(high).filter(|(low, high)| low <= high);
    Ok(range.map(|(low, high)| LaneRange { low, high }))
}

/// The lane beside `lane`, unless that is the `last` one.
fn neighbour<B: Bits>(lane: B, last: B, step: i64) -> Option<B> {
    (lane != last).then(|| B::truncate(lane.to_u64().wrapping_add_signed(step)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use Bound::{Excluded, Included, Unbounded};

    #[test]
    fn ends_are_included_and_empty_ranges_are_none() {
        let of = |low, high| lane_range::<u32>(&(low, high)).map(|range| range.map(|r| (r.low, r.high)));
        assert_eq!(of(Unbounded, Unbounded), Ok(Some((0, u32::MAX))));
        assert_eq!(of(Included(3), Excluded(5)), Ok(Some((3, 4))));
        assert_eq!(of(Excluded(3), Included(5)), Ok(Some((4, 5))));
        assert_eq!(of(Excluded(3), Excluded(4)), Ok(None));
        assert_eq!(of(Excluded(3), Excluded(3)), Ok(None));
        assert_eq!(of(Unbounded, Excluded(0)), Ok(None));
        assert_eq!(of(Excluded(u32::MAX), Unbounded), Ok(None));
        assert_eq!(of(Included(5), Included(3)), Err(Error::InvertedRange));
    }

    #[test]
    fn signed_ends_cross_zero() {
        let range = lane_range::<i64>(&(Excluded(-2), Excluded(1))).unwrap().unwrap();
        assert_eq!((i64::from_bits(range.low), i64::from_bits(range.high)), (-1, 0));
    }
}
