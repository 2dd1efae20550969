//! The share of each node that a bulk load fills.

use super::error::{Error, Result};

/// The share of a node's places that a bulk load fills, 0.01 to 1.0 (the paper's *bulkload
/// factor*, §4.2). The rest is room for later inserts.
///
/// The default, [`FillFactor::UPDATED`], is for data that will change, [`FillFactor::FULL`] for data that
/// won't.
///
/// ```
/// # use latchless_core as latchless;
/// use latchless::FillFactor;
///
/// assert_eq!(FillFactor::default().of(63), 50);
/// assert!(FillFactor::new(0.0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct FillFactor(f64);

impl FillFactor {
    /// All places are filled: for data that doesn't change. It takes the least memory until keys are
    /// inserted; then every leaf that receives one splits.
    pub const FULL: Self = Self(1.0);

    /// Four fifths of the places are filled: for data that will be written to. Inserts of random keys, up to
    /// a tenth of all keys, then take about half of the time that they take after [`FillFactor::FULL`], and
    /// the index ends smaller. Lookups take about the same time.
    pub const UPDATED: Self = Self(0.8);

    /// Creates a fill factor between 0.01 and 1.0.
    ///
    /// # Errors
    /// [`Error::FillFactor`] if the share is out of range or NaN.
    pub fn new(share: f64) -> Result<Self> {
        if (0.01..=1.0).contains(&share) { Ok(Self(share)) } else { Err(Error::FillFactor { given: share }) }
    }

    /// Returns the share, 0.01 to 1.0.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Returns the number of places to fill out of `places`: rounded to the nearest integer (§4.2), at least
    /// one.
    pub fn of(self, places: usize) -> usize {
        ((places as f64 * self.0).round() as usize).clamp(1, places.max(1))
    }
}

impl Default for FillFactor {
    /// [`FillFactor::UPDATED`].
    fn default() -> Self {
        Self::UPDATED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_the_nearest_place_and_never_to_none() {
        let sixty = FillFactor::new(0.6).unwrap();
        assert_eq!([7, 14, 63, 127].map(|places| sixty.of(places)), [4, 8, 38, 76]);
        assert_eq!(FillFactor::new(0.01).unwrap().of(7), 1);
        assert_eq!(FillFactor::FULL.of(63), 63);
    }

    #[test]
    fn refuses_what_no_node_can_be_filled_to() {
        for given in [0.0, -1.0, 1.000001, f64::INFINITY] {
            assert_eq!(FillFactor::new(given), Err(Error::FillFactor { given }));
        }
        assert!(FillFactor::new(f64::NAN).is_err());
    }
}
