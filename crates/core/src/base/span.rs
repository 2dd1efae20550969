//! Conversion of a range of keys to a range of encoded keys.

use super::error::Result;
use super::index::{Span, check_span};
use super::key::{Bits, Key};
use core::ops::Bound;

/// Returns the encoded keys of a span, both ends included; `None` if the span contains none.
///
/// # Errors
/// [`Error::InvertedRange`](crate::base::error::Error::InvertedRange).
///
/// ```
/// use core::ops::Bound;
/// use latchless_core::base::span::encoded_range;
/// assert_eq!(encoded_range::<u32>(&(Bound::Excluded(3), Bound::Unbounded))?, Some((4, u32::MAX)));
/// assert_eq!(encoded_range::<u32>(&(Bound::Excluded(u32::MAX), Bound::Unbounded))?, None);
/// # Ok::<(), latchless_core::base::error::Error>(())
/// ```
pub fn encoded_range<K: Key>(span: &Span<K>) -> Result<Option<(K::Bits, K::Bits)>> {
    check_span(span)?;
    let low = match span.0 {
        Bound::Unbounded => Some(K::Bits::MIN),
        Bound::Included(key) => Some(key.encode()),
        Bound::Excluded(key) => next(key.encode()),
    };
    let high = match span.1 {
        Bound::Unbounded => Some(K::Bits::MAX),
        Bound::Included(key) => Some(key.encode()),
        Bound::Excluded(key) => previous(key.encode()),
    };
    Ok(low.zip(high).filter(|(low, high)| low <= high))
}

/// Returns the encoded key after `key`, unless `key` is the largest.
#[inline(always)]
pub fn next<B: Bits>(key: B) -> Option<B> {
    (key != B::MAX).then(|| behind(key))
}

/// Returns the encoded key before `key`, unless `key` is the smallest.
#[inline(always)]
pub fn previous<B: Bits>(key: B) -> Option<B> {
    (key != B::MIN).then(|| before(key))
}

/// Returns the encoded key after `key`, which isn't the largest; the largest wraps to the smallest.
#[inline(always)]
pub fn behind<B: Bits>(key: B) -> B {
    B::truncate(key.to_u64().wrapping_add(1))
}

/// Returns the encoded key before `key`, which isn't the smallest; the smallest wraps to the largest.
#[inline(always)]
pub fn before<B: Bits>(key: B) -> B {
    B::truncate(key.to_u64().wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use Bound::{Excluded, Included, Unbounded};

    #[test]
    fn ends_are_included_and_empty_ranges_are_none() {
        let of = |low, high| encoded_range::<u32>(&(low, high));
        assert_eq!(of(Unbounded, Unbounded), Ok(Some((0, u32::MAX))));
        assert_eq!(of(Included(3), Excluded(5)), Ok(Some((3, 4))));
        assert_eq!(of(Excluded(3), Included(5)), Ok(Some((4, 5))));
        assert_eq!(of(Excluded(3), Excluded(4)), Ok(None));
        assert_eq!(of(Excluded(3), Excluded(3)), Ok(None));
        assert_eq!(of(Unbounded, Excluded(0)), Ok(None));
        assert_eq!(of(Excluded(u32::MAX), Unbounded), Ok(None));
        assert_eq!(of(Included(5), Included(3)), Err(Error::InvertedRange));
        assert_eq!(of(Excluded(5), Unbounded).unwrap().unwrap().1, u32::MAX);
    }

    #[test]
    fn neighbours_end_or_wrap_at_the_ends() {
        assert_eq!((next(3u32), next(u32::MAX)), (Some(4), None));
        assert_eq!((previous(3u32), previous(0u32)), (Some(2), None));
        assert_eq!((behind(3u32), behind(u32::MAX), behind(u64::MAX)), (4, 0, 0));
        assert_eq!((before(3u64), before(0u32), before(0u64)), (2, u32::MAX, u64::MAX));
    }

    #[test]
    fn signed_ends_cross_zero() {
        let (low, high) = encoded_range::<i64>(&(Excluded(-2), Excluded(1))).unwrap().unwrap();
        assert_eq!((i64::decode(low), i64::decode(high)), (-1, 0));
    }
}
