//! Durations that fit in 64 bits.

use super::error::{Error, Result};
use super::key::Key;
use super::value::Value;
use core::time::Duration;

/// A duration in nanoseconds, up to 584 years, as a key or a value.
///
/// [`Duration`] itself is neither: it takes 94 bits, and rounding it would merge keys that differ.
///
/// ```
/// # mod latchless { pub use latchless_core::*; pub use latchless_core::base::nanos::Nanos; }
/// use latchless::{Error, Key, Nanos};
/// use std::time::Duration;
///
/// let soon = Nanos::try_from(Duration::from_millis(1500))?;
/// assert_eq!(Duration::from(soon), Duration::from_millis(1500));
/// assert!(Key::encode(soon) < Key::encode(Nanos::try_from(Duration::from_secs(2))?));
/// let long = Duration::from_secs(1 << 40);
/// assert_eq!(Nanos::try_from(long), Err(Error::DurationTooLong { given: long }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub u64);

impl TryFrom<Duration> for Nanos {
    type Error = Error;

    /// # Errors
    /// [`Error::DurationTooLong`] if it has more than 2^64 − 1 nanoseconds.
    fn try_from(given: Duration) -> Result<Self> {
        u64::try_from(given.as_nanos()).map(Self).map_err(|_| Error::DurationTooLong { given })
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl Key for Nanos {
    type Bits = u64;

    #[inline(always)]
    fn encode(self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn decode(bits: u64) -> Self {
        Self(bits)
    }
}

impl Value for Nanos {
    type Bits = u64;

    #[inline(always)]
    fn encode(self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn decode(bits: u64) -> Self {
        Self(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ordered_and_itself, random_cases};
    use proptest::prelude::*;

    #[test]
    fn the_longest_that_fits_and_the_shortest_that_does_not() {
        let longest = Duration::from_nanos(u64::MAX);
        assert_eq!(Nanos::try_from(longest), Ok(Nanos(u64::MAX)));
        let given = longest + Duration::from_nanos(1);
        assert_eq!(Nanos::try_from(given), Err(Error::DurationTooLong { given }));
        assert!(Nanos::try_from(Duration::MAX).is_err());
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn order_and_identity_of_durations(a: u64, b: u64) {
            let of = |nanos| Nanos::try_from(Duration::from_nanos(nanos)).unwrap();
            ordered_and_itself(of(a), of(b));
            prop_assert_eq!(Duration::from(of(a)).cmp(&Duration::from(of(b))), of(a).cmp(&of(b)));
            prop_assert_eq!(<Nanos as Value>::decode(Value::encode(of(a))), of(a));
        }
    }
}
