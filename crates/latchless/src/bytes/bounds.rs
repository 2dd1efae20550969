//! The bytes of a range's ends, for one call or in owned form.

use crate::byte_tree::Bounds;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Error, Result};

/// Serves a range of which these are the bytes of the ends. Ends that come after each other are
/// [`Error::InvertedRange`]. Nothing is allocated, unless a key allocates to show its bytes.
pub(super) fn with_bounds<K: BytesKey, Q: BytesKey<K> + ?Sized, R>(
    range: &impl RangeBounds<Q>,
    serve: impl FnOnce(Result<Bounds<'_>>) -> R,
) -> R {
    with_ends(range, |bounds| serve(upright(bounds)))
}

/// Calls `serve` with the bytes of a range's ends.
pub(super) fn with_ends<K: BytesKey, Q: BytesKey<K> + ?Sized, R>(
    range: &impl RangeBounds<Q>,
    serve: impl FnOnce(Bounds<'_>) -> R,
) -> R {
    let (mut serve, mut outcome) = (Some(serve), None);
    with_end(range.start_bound(), &mut |low| {
        with_end(range.end_bound(), &mut |high| {
            outcome = serve.take().map(|serve| serve(Bounds { low, high }));
        });
    });
    outcome.expect("a key shows its bytes")
}

pub(super) fn with_end<K: BytesKey, Q: BytesKey<K> + ?Sized>(
    end: Bound<&Q>,
    see: &mut dyn FnMut(Bound<&[u8]>),
) {
    match end {
        Bound::Included(key) => key.with_bytes(|key| see(Bound::Included(key))),
        Bound::Excluded(key) => key.with_bytes(|key| see(Bound::Excluded(key))),
        Bound::Unbounded => see(Bound::Unbounded),
    }
}

/// The same bounds.
///
/// # Errors
/// [`Error::InvertedRange`].
pub(super) fn upright(bounds: Bounds<'_>) -> Result<Bounds<'_>> {
    match (bounds.low, bounds.high) {
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high))
            if low > high =>
        {
            Err(Error::InvertedRange)
        }
        _ => Ok(bounds),
    }
}

/// Bounds with no key between them: those of an inverted range.
pub(super) const NOTHING: Bounds<'static> = Bounds { low: Bound::Unbounded, high: Bound::Excluded(&[]) };

/// The bytes of a range's ends, in owned form.
#[derive(Debug, Clone)]
pub(super) struct OwnedBounds {
    pub(super) low: Bound<Vec<u8>>,
    pub(super) high: Bound<Vec<u8>>,
}

impl OwnedBounds {
    /// Those of a range that is only read: of an inverted one, ends with no key between them.
    pub(super) fn of<K: BytesKey, Q: BytesKey<K> + ?Sized>(range: &impl RangeBounds<Q>) -> Self {
        with_bounds(range, |bounds| Self::copy(bounds.unwrap_or(NOTHING)))
    }

    /// # Errors
    /// [`Error::InvertedRange`].
    pub(super) fn try_of<K: BytesKey, Q: BytesKey<K> + ?Sized>(range: &impl RangeBounds<Q>) -> Result<Self> {
        with_bounds(range, |bounds| bounds.map(Self::copy))
    }

    pub(super) fn copy(bounds: Bounds<'_>) -> Self {
        Self { low: bounds.low.map(<[u8]>::to_vec), high: bounds.high.map(<[u8]>::to_vec) }
    }

    /// All keys that begin with these bytes.
    pub(super) fn of_prefix(prefix: &[u8]) -> Self {
        Self { low: Bound::Included(prefix.to_vec()), high: after(prefix.to_vec()) }
    }

    /// All keys that begin with bytes within these bounds: of inverted ones, none.
    pub(super) fn of_prefixes(low: Bound<Vec<u8>>, high: Bound<Vec<u8>>) -> Self {
        let low = match low {
            Bound::Excluded(prefix) => match after(prefix) {
                Bound::Excluded(end) => Bound::Included(end),
                _ => return Self::copy(NOTHING),
            },
            low => low,
        };
        let high = match high {
            Bound::Included(prefix) => after(prefix),
            high => high,
        };
        Self::copy(upright(Self { low, high }.borrowed()).unwrap_or(NOTHING))
    }

    pub(super) const ALL: Self = Self { low: Bound::Unbounded, high: Bound::Unbounded };

    pub(super) fn borrowed(&self) -> Bounds<'_> {
        Bounds { low: self.low.as_ref().map(Vec::as_slice), high: self.high.as_ref().map(Vec::as_slice) }
    }
}

/// The end of the keys that begin with these bytes.
fn after(mut prefix: Vec<u8>) -> Bound<Vec<u8>> {
    while prefix.pop_if(|last| *last == u8::MAX).is_some() {}
    match prefix.last_mut() {
        Some(last) => {
            *last += 1;
            Bound::Excluded(prefix)
        }
        None => Bound::Unbounded,
    }
}
