//! Named sets of keys, modelled on those of real tables.
//!
//! A set yields distinct keys in the order in which they arrive: the keys to load first, then keys of the
//! same kind that come later. A set without an order of its own arrives in random order.
//!
//! In reading order: [`name`] (the names), [`spread`] (keys drawn one by one), [`stretches`] (keys in
//! runs), [`arrivals`] (keys whose order matters), [`file`] (keys from a file).

mod arrivals;
mod distinct;
mod file;
mod name;
mod spread;
mod stretches;

use crate::ask::Ask;
use crate::error::Error;
use std::path::PathBuf;

/// A named set of 64-bit keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySet {
    /// Random keys over the whole width.
    Uniform,
    /// 0, 1, 2 and so on without a gap, shuffled.
    Dense,
    /// A hash of the user in the upper half, the user's items in the lower: 0, `step`, 2 · `step` and so on.
    /// How many items a user has is even between 1 and 2 · `mean` − 1.
    Composite {
        /// Items per user, on average.
        mean: u32,
        /// From one item of a user to the next.
        step: u32,
    },
    /// Lognormal keys: σ is 2, the median 10^12.
    Lognormal,
    /// Normally distributed clusters around random centres, 4,096 of them where there are a million keys.
    Clusters,
    /// Runs of consecutive keys with a random gap after each, shuffled.
    Runs {
        /// Keys per run.
        length: u32,
    },
    /// Appends in many places at once: a random tenant takes its next number. A hash of the tenant is in the
    /// upper half, the number in the lower.
    Tenants {
        /// How many tenants there are.
        tenants: u32,
    },
    /// Time stamps in nanoseconds as they arrive: bursts at (nearly) the same time, and 3 % that arrive late.
    Timestamps,
    /// Identifiers as services give them out, in the order in which they arrive: milliseconds, then which of
    /// 32 machines, then a number. Those of one millisecond arrive in any order.
    Snowflake,
    /// Random keys below 2^40 and twenty far above, at 2^60 and more.
    Outliers,
    /// Random keys that share their upper bits.
    Prefix {
        /// How many bits all keys share.
        bits: u32,
    },
    /// Gaps between the variants on a human chromosome 22 (`examples/data`), drawn again and again.
    Chr22,
    /// 0, 1, 2 and so on, in that order.
    Ascending,
    /// The largest first, down to 0.
    Descending,
    /// The smallest, the largest, the second smallest, the second largest and so on to the middle.
    Zigzag,
    /// The keys of a file: see [`KeySet::draw`].
    File(PathBuf),
}

/// The keys of a set, in the order in which they arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    all: Vec<u64>,
    loaded: usize,
}

impl KeySet {
    /// Draws `loaded` keys, and `fresh` further ones of the same kind. All are distinct. The same seed gives
    /// the same keys. Takes O(n log n) time at most, and little more memory than the keys themselves.
    ///
    /// A file holds little-endian 64-bit numbers, with their count before them (as SOSD's files have it) or
    /// without; or text, one number per line. Keys that come again are dropped. Of more keys than wanted a
    /// random part is taken. Keys that ascend in the file are taken for a set without an order, and
    /// shuffled; otherwise they arrive in the file's order.
    ///
    /// # Errors
    /// [`Error::TooFewKeys`] where the set has fewer keys. For a file also [`Error::FileUnreadable`],
    /// [`Error::FileBytes`] and [`Error::FileLine`].
    pub fn draw(&self, loaded: usize, fresh: usize, seed: u64) -> Result<Keys, Error> {
        let ask = Ask { loaded, fresh, seed };
        let most = self.keys_max();
        let wanted = (loaded as u64).saturating_add(fresh as u64);
        if wanted > most {
            return Err(Error::TooFewKeys { set: self.to_string(), wanted, there: most });
        }
        let all = match self {
            Self::Uniform => spread::uniform(ask),
            Self::Dense => ask.shuffled(arrivals::ascending(ask.total())),
            Self::Composite { mean, step } => ask.shuffled(stretches::composite(ask, *mean, *step)),
            Self::Lognormal => spread::lognormal(ask),
            Self::Clusters => spread::clusters(ask),
            Self::Runs { length } => ask.shuffled(stretches::runs(ask, *length)),
            Self::Tenants { tenants } => arrivals::tenants(ask, *tenants),
            Self::Timestamps => arrivals::timestamps(ask),
            Self::Snowflake => arrivals::snowflake(ask),
            Self::Outliers => spread::outliers(ask),
            Self::Prefix { bits } => spread::prefix(ask, *bits),
            Self::Chr22 => ask.shuffled(stretches::chr22(ask)),
            Self::Ascending => arrivals::ascending(ask.total()),
            Self::Descending => arrivals::descending(ask.total()),
            Self::Zigzag => arrivals::zigzag(ask.total()),
            Self::File(path) => file::draw(path, ask)?,
        };
        Ok(Keys { all, loaded })
    }

    /// How many keys the set surely has. Drawn keys must be distinct; a set is held to half of its space, so
    /// that drawing ends soon.
    const fn keys_max(&self) -> u64 {
        match self {
            // A number in the lower half may reach 2^32; and there are as many prefixes.
            Self::Tenants { tenants } => (*tenants as u64) << 31,
            Self::Lognormal => 1 << 36,
            Self::Clusters => 1 << 40,
            Self::Prefix { bits } => 1 << (63 - *bits),
            Self::Outliers => 1 << 39,
            Self::Composite { .. } | Self::Runs { .. } | Self::Timestamps | Self::Snowflake | Self::Chr22 => {
                1 << 32
            }
            _ => u64::MAX,
        }
    }
}

impl Keys {
    /// The keys to load.
    pub fn loaded(&self) -> &[u64] {
        &self.all[..self.loaded]
    }

    /// The keys that come later.
    pub fn fresh(&self) -> &[u64] {
        &self.all[self.loaded..]
    }

    /// All of them, those to load first.
    pub fn all(&self) -> &[u64] {
        &self.all
    }
}
