//! Positions, and intervals of them as words.

use core::fmt::Debug;
use core::ops::{Bound, RangeBounds, RangeInclusive};

mod sealed {
    /// A position as an unsigned integer with the same order and the same distances.
    pub trait Word: Sized {
        const LEAST: Self;
        const GREATEST: Self;
        fn to_word(self) -> u64;
        fn from_word(word: u64) -> Self;
    }
}
pub(super) use sealed::Word;

/// An integer as a position on a line: `u8` to `u64`, `i8` to `i64`, `usize`, `isize`.
///
/// Times are counts of their unit. The trait is sealed.
pub trait Position: Word + Copy + Ord + Debug {}

macro_rules! positions {
    ($($wide:ty, $flip:expr => $($position:ty)*;)*) => {$($(
        impl Word for $position {
            const LEAST: Self = <$position>::MIN;
            const GREATEST: Self = <$position>::MAX;

            #[inline]
            fn to_word(self) -> u64 {
                self as $wide as u64 ^ $flip
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                (word ^ $flip) as $position
            }
        }

        impl Position for $position {}
    )*)*};
}
positions! {
    u64, 0 => u8 u16 u32 u64 usize;
    i64, 1 << 63 => i8 i16 i32 i64 isize;
}

/// The words from a first to a last one, both included, of which there is at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub first: u64,
    pub last: u64,
}

impl Span {
    /// The positions of a range, if it has any.
    #[inline]
    pub fn of<P: Position>(range: &impl RangeBounds<P>) -> Option<Self> {
        let first = match range.start_bound() {
            Bound::Included(at) => at.to_word(),
            Bound::Excluded(at) => at.to_word().checked_add(1)?,
            Bound::Unbounded => P::LEAST.to_word(),
        };
        let last = match range.end_bound() {
            Bound::Included(at) => at.to_word(),
            Bound::Excluded(at) => at.to_word().checked_sub(1)?,
            Bound::Unbounded => P::GREATEST.to_word(),
        };
        (first <= last).then_some(Self { first, last })
    }

    pub fn positions<P: Position>(self) -> RangeInclusive<P> {
        P::from_word(self.first)..=P::from_word(self.last)
    }

    /// The class of its length. See [`reach`].
    #[inline]
    pub fn lane(self) -> u8 {
        (u64::BITS - (self.last - self.first).leading_zeros()).div_ceil(2) as u8
    }
}

/// The greatest distance between the ends of an interval of a lane: 0, 3, 15, 63, …
#[inline]
pub(super) fn reach(lane: u8) -> u64 {
    u64::MAX.checked_shr(u64::BITS - 2 * u32::from(lane)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_is_longer_than_its_lane_reaches() {
        for distance in (0..64).flat_map(|bits| [(1 << bits) - 1, 1 << bits]).chain([u64::MAX]) {
            let lane = Span { first: 0, last: distance }.lane();
            assert!(
                distance <= reach(lane) && (lane == 0 || distance > reach(lane - 1)),
                "{distance}: {lane}"
            );
        }
        assert_eq!((reach(0), reach(1), reach(32)), (0, 3, u64::MAX));
    }

    #[test]
    fn ranges_of_every_form_have_their_positions() {
        let of = |range: (Bound<i8>, Bound<i8>)| Span::of(&range).map(Span::positions::<i8>);
        use Bound::{Excluded, Included, Unbounded};
        assert_eq!(of((Included(-3), Excluded(5))), Some(-3..=4));
        assert_eq!(of((Excluded(-3), Included(5))), Some(-2..=5));
        assert_eq!(of((Unbounded, Unbounded)), Some(i8::MIN..=i8::MAX));
        assert_eq!(of((Included(5), Excluded(5))), None);
        assert_eq!(of((Excluded(i8::MAX), Unbounded)), None);
        assert_eq!(of((Unbounded, Excluded(i8::MIN))), None);
        assert_eq!(Span::of(&(..0u64)), None);
        assert_eq!(Span::of(&(Excluded(u64::MAX), Included(u64::MAX))), None);
    }
}
