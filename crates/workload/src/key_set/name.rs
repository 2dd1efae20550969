//! The names of key sets.

use super::KeySet;
use crate::error::Error;
use core::fmt;
use core::str::FromStr;

/// Tenants, keys of a run and shared bits where the name has no number.
const TENANTS: u32 = 10_000;
const RUN: u32 = 10_000;
const PREFIX: u32 = 20;
/// A name's numbers stay below this, so that products of them fit into a key.
const NUMBER_MAX: u32 = 1 << 24;
/// The most upper bits that keys may share.
const PREFIX_MAX: u32 = 32;

/// The prefix of a file's path.
const FILE: &str = "file:";

impl KeySet {
    /// The sets that `all` means: every set that needs no file, with the sizes at which they differ.
    pub const ALL: [Self; 25] = [
        Self::Uniform,
        Self::Dense,
        composite(2, 1),
        composite(4, 1),
        composite(8, 1),
        composite(16, 1),
        composite(32, 1),
        composite(64, 1),
        composite(64, 60),
        composite(128, 1),
        composite(256, 1),
        composite(1024, 1),
        composite(8192, 1),
        Self::Lognormal,
        Self::Clusters,
        Self::Runs { length: RUN },
        Self::Tenants { tenants: TENANTS },
        Self::Timestamps,
        Self::Snowflake,
        Self::Outliers,
        Self::Prefix { bits: PREFIX },
        Self::Chr22,
        Self::Ascending,
        Self::Descending,
        Self::Zigzag,
    ];

    /// One line for people.
    pub const fn about(&self) -> &'static str {
        match self {
            Self::Uniform => "random keys over the whole width",
            Self::Dense => "0, 1, 2 and so on, shuffled",
            Self::Composite { step: 1, .. } => "hash of a user, then a counter; so many items per user",
            Self::Composite { .. } => "the same, the counter in steps",
            Self::Lognormal => "lognormal, sigma 2, median 10^12",
            Self::Clusters => "normally distributed clusters around random centres",
            Self::Runs { .. } => "runs of so many consecutive keys with random gaps",
            Self::Tenants { .. } => "appends at so many places at once, as they arrive",
            Self::Timestamps => "nanoseconds with bursts and 3 % late arrivals, as they arrive",
            Self::Snowflake => "identifiers that begin with the time, of 32 machines, as they arrive",
            Self::Outliers => "random keys below 2^40, twenty above 2^60",
            Self::Prefix { .. } => "random keys that share so many upper bits",
            Self::Chr22 => "gaps between variants on a human chromosome, drawn again",
            Self::Ascending => "0, 1, 2 and so on, in that order",
            Self::Descending => "the largest first, down to 0",
            Self::Zigzag => "smallest, largest, second smallest and so on",
            Self::File(_) => "the keys of a file",
        }
    }
}

const fn composite(mean: u32, step: u32) -> KeySet {
    KeySet::Composite { mean, step }
}

impl FromStr for KeySet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(path) = text.strip_prefix(FILE).filter(|path| !path.is_empty()) {
            return Ok(Self::File(path.into()));
        }
        let unknown = || Error::UnknownKeySet { given: text.to_owned() };
        let mut parts = text.split('-');
        let name = parts.next().unwrap_or_default();
        let parts: Vec<&str> = parts.collect();
        let number = |digits: &str, most: u32| match digits.parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(Error::KeySetNumber { given: text.to_owned(), most }),
        };
        match (name, &parts[..]) {
            ("uniform", []) => Ok(Self::Uniform),
            ("dense", []) => Ok(Self::Dense),
            ("composite", [mean]) => Ok(composite(number(mean, NUMBER_MAX)?, 1)),
            ("composite", [mean, "step", step]) => {
                let mean = number(mean, NUMBER_MAX)?;
                // The last item of the largest user has to fit into the lower half.
                Ok(composite(mean, number(step, u32::MAX / (2 * mean))?))
            }
            ("lognormal", []) => Ok(Self::Lognormal),
            ("clusters", []) => Ok(Self::Clusters),
            ("runs", []) => Ok(Self::Runs { length: RUN }),
            ("runs", [length]) => Ok(Self::Runs { length: number(length, NUMBER_MAX)? }),
            ("tenants", []) => Ok(Self::Tenants { tenants: TENANTS }),
            ("tenants", [tenants]) => Ok(Self::Tenants { tenants: number(tenants, NUMBER_MAX)? }),
            ("timestamps", []) => Ok(Self::Timestamps),
            ("snowflake", []) => Ok(Self::Snowflake),
            ("outliers", []) => Ok(Self::Outliers),
            ("prefix", []) => Ok(Self::Prefix { bits: PREFIX }),
            ("prefix", [bits]) => Ok(Self::Prefix { bits: number(bits, PREFIX_MAX)? }),
            ("chr22", []) => Ok(Self::Chr22),
            ("ascending", []) => Ok(Self::Ascending),
            ("descending", []) => Ok(Self::Descending),
            ("zigzag", []) => Ok(Self::Zigzag),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for KeySet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => out.write_str("uniform"),
            Self::Dense => out.write_str("dense"),
            Self::Composite { mean, step: 1 } => write!(out, "composite-{mean}"),
            Self::Composite { mean, step } => write!(out, "composite-{mean}-step-{step}"),
            Self::Lognormal => out.write_str("lognormal"),
            Self::Clusters => out.write_str("clusters"),
            Self::Runs { length } => write!(out, "runs-{length}"),
            Self::Tenants { tenants } => write!(out, "tenants-{tenants}"),
            Self::Timestamps => out.write_str("timestamps"),
            Self::Snowflake => out.write_str("snowflake"),
            Self::Outliers => out.write_str("outliers"),
            Self::Prefix { bits } => write!(out, "prefix-{bits}"),
            Self::Chr22 => out.write_str("chr22"),
            Self::Ascending => out.write_str("ascending"),
            Self::Descending => out.write_str("descending"),
            Self::Zigzag => out.write_str("zigzag"),
            Self::File(path) => write!(out, "{FILE}{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for set in KeySet::ALL {
            assert_eq!(set.to_string().parse(), Ok(set));
        }
        for (given, shown) in [
            ("runs", "runs-10000"),
            ("tenants", "tenants-10000"),
            ("prefix", "prefix-20"),
            ("composite-7-step-1", "composite-7"),
            ("composite-1024-step-60", "composite-1024-step-60"),
            ("file:/a-b/c d", "file:/a-b/c d"),
        ] {
            assert_eq!(given.parse::<KeySet>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn names_are_distinct_and_described() {
        for (at, set) in KeySet::ALL.iter().enumerate() {
            assert!(KeySet::ALL[..at].iter().all(|other| other != set), "{set} twice");
            assert!(!set.about().is_empty());
        }
    }

    #[test]
    fn other_names_and_numbers_are_refused() {
        for given in
            ["", "normal", "composite", "uniform-3", "composite-8-by-3", "file:", "runs-1-2", "Dense"]
        {
            let refused = given.parse::<KeySet>();
            assert!(matches!(refused, Err(Error::UnknownKeySet { .. })), "{given}: {refused:?}");
        }
        let too_long = "composite-1024-step-2097152";
        for given in
            ["composite-0", "runs-x", "prefix-33", "tenants-99999999", too_long, "composite-8-step-0"]
        {
            let refused = given.parse::<KeySet>();
            assert!(matches!(refused, Err(Error::KeySetNumber { .. })), "{given}: {refused:?}");
        }
    }
}
