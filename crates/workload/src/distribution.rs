//! The keys of a workload, and their popularity.

use crate::error::Error;
use core::fmt;
use core::str::FromStr;

/// The largest skew of the exact sampler. Beyond it all requests are for one key.
const SKEW_MAX: f64 = 5.0;

/// The keys of a workload, and their popularity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Random distinct keys over the whole width, requested evenly.
    Uniform,
    /// Random distinct keys, requested by Zipf's law: the k-th most popular with a frequency proportional
    /// to k^−θ. Sampled exactly, by rejection.
    Zipf {
        /// The exponent θ, 0 to 5. 0 is uniform.
        theta: f64,
    },
    /// Random distinct keys, requested as by YCSB's scrambled generator: Gray's closed formula for the
    /// rank, then a hash to a record. Cheaper to make, but an approximation: ranks 3 and beyond are drawn
    /// from a continuous curve, and the hash lets records share ranks.
    ZipfYcsb {
        /// The exponent θ, between 0 and 1, both exclusive.
        theta: f64,
    },
    /// Keys 0, 1, 2, …, requested and inserted in ascending order.
    Sequential,
    /// Keys 0, 1, 2, … without a gap, requested evenly; further ones follow after them, shuffled.
    Dense,
    /// Keys at even distances over the whole width, requested evenly; further ones in between.
    Sparse,
}

impl Distribution {
    /// Refuses a skew that can't be sampled.
    ///
    /// # Errors
    /// [`Error::SkewOutOfRange`].
    pub fn check(self) -> Result<Self, Error> {
        match self {
            Self::Zipf { theta } if !(0.0..=SKEW_MAX).contains(&theta) => {
                Err(Error::SkewOutOfRange { sampler: "zipf", range: "in 0 to 5", given: theta })
            }
            Self::ZipfYcsb { theta } if !(theta > 0.0 && theta < 1.0) => Err(Error::SkewOutOfRange {
                sampler: "zipf-ycsb",
                range: "between 0 and 1, both exclusive",
                given: theta,
            }),
            fine => Ok(fine),
        }
    }
}

impl FromStr for Distribution {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, skew) = match text.split_once(':') {
            Some((name, skew)) => (name, Some(skew)),
            None => (text, None),
        };
        let theta = || {
            let unreadable = || Error::UnreadableSkew { given: text.to_owned() };
            skew.ok_or_else(unreadable)?.trim().parse::<f64>().map_err(|_| unreadable())
        };
        match (name, skew) {
            ("uniform", None) => Ok(Self::Uniform),
            ("sequential", None) => Ok(Self::Sequential),
            ("dense", None) => Ok(Self::Dense),
            ("sparse", None) => Ok(Self::Sparse),
            ("zipf", _) => Self::Zipf { theta: theta()? }.check(),
            ("zipf-ycsb", _) => Self::ZipfYcsb { theta: theta()? }.check(),
            _ => Err(Error::UnknownDistribution { given: text.to_owned() }),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => out.write_str("uniform"),
            Self::Zipf { theta } => write!(out, "zipf:{theta}"),
            Self::ZipfYcsb { theta } => write!(out, "zipf-ycsb:{theta}"),
            Self::Sequential => out.write_str("sequential"),
            Self::Dense => out.write_str("dense"),
            Self::Sparse => out.write_str("sparse"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for name in ["uniform", "zipf:0.99", "zipf:0", "zipf-ycsb:0.5", "sequential", "dense", "sparse"] {
            assert_eq!(name.parse::<Distribution>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn what_cannot_be_sampled_is_refused() {
        for given in ["zipf:-0.1", "zipf:5.1", "zipf:NaN", "zipf-ycsb:0", "zipf-ycsb:1", "zipf:inf"] {
            let refused = given.parse::<Distribution>();
            assert!(matches!(refused, Err(Error::SkewOutOfRange { .. })), "{given}: {refused:?}");
        }
        for given in ["zipf", "zipf:", "zipf:x", "zipf-ycsb"] {
            let refused = given.parse::<Distribution>();
            assert!(matches!(refused, Err(Error::UnreadableSkew { .. })), "{given}: {refused:?}");
        }
        for given in ["", "normal", "uniform:1", "Uniform"] {
            let refused = given.parse::<Distribution>();
            assert!(matches!(refused, Err(Error::UnknownDistribution { .. })), "{given}: {refused:?}");
        }
    }
}
