//! Named sets of byte strings: keys as memtables, secondary indexes and tables of addresses have them, and
//! keys that an index of byte strings finds hard.
//!
//! All are generated from a seed, so the same set is the same on every machine. As in [`crate::KeySet`] the
//! keys are distinct and in the order in which they arrive; those of a set without an order of its own
//! arrive in random order.
//!
//! In reading order: [`keys`] (the keys of a set), [`name`] (the names), [`distinct`] (drawing until there
//! are enough), [`words`] (the parts of texts), [`texts`] (addresses and words), [`numbers`] (keys of fixed
//! length), [`hard`] (the hard ones).

mod distinct;
mod hard;
mod keys;
mod name;
mod numbers;
mod texts;
mod words;

pub use keys::BytesKeys;

use crate::ask::Ask;
use crate::error::Error;

/// A named set of byte strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BytesKeySet {
    /// Addresses of pages: a few hosts have most of them, paths of words.
    Url,
    /// E-mail addresses: a few hosts have most of them.
    Email,
    /// Words of two to four syllables.
    Word,
    /// Paths of files: a few folders have most of them.
    Path,
    /// Random UUIDs (version 4), 16 bytes.
    Uuid16,
    /// The same as text, 36 characters.
    Uuid36,
    /// Keys of a storage engine: `user` and ten digits, then a sequence number of 8 bytes.
    Rocks,
    /// Measurements of 10,000 series, a random one of which has the next: its number of 8 bytes, then
    /// nanoseconds of 8 bytes.
    Series,
    /// Random numbers of 8 bytes, big-endian.
    Int8,
    /// The same 16 bytes, then random ones: a comparison of 16 bytes decides nothing.
    Same16,
    /// 65,535 bytes each, all the same but the last eight.
    LongEnds,
    /// Numbers of 8 bytes, and one key of 1,000 bytes among 64.
    OneLong,
    /// Each key begins the next one, in chains of 64.
    Nested,
    /// Keys of a storage engine that ascend as they arrive.
    RocksAscending,
}

impl BytesKeySet {
    /// Draws `loaded` keys, and `fresh` further ones of the same kind. All are distinct. The same seed gives
    /// the same keys. Takes as much memory as the keys, and sixteen to thirty bytes per key.
    ///
    /// # Errors
    /// [`Error::TooFewKeys`] where the set has fewer keys.
    pub fn draw(&self, loaded: usize, fresh: usize, seed: u64) -> Result<BytesKeys, Error> {
        let ask = Ask { loaded, fresh, seed };
        let wanted = (loaded as u64).saturating_add(fresh as u64);
        if wanted > self.keys_max() {
            return Err(Error::TooFewKeys { set: self.to_string(), wanted, there: self.keys_max() });
        }
        let mut keys = BytesKeys::new(ask);
        match self {
            Self::Url => texts::urls(ask, &mut keys),
            Self::Email => texts::emails(ask, &mut keys),
            Self::Word => texts::words(ask, &mut keys),
            Self::Path => texts::paths(ask, &mut keys),
            Self::Uuid16 => numbers::uuids(ask, &mut keys, numbers::in_bytes),
            Self::Uuid36 => numbers::uuids(ask, &mut keys, numbers::in_text),
            Self::Rocks => numbers::rocks(ask, &mut keys),
            Self::Series => numbers::series(ask, &mut keys),
            Self::Int8 => numbers::int8(ask, &mut keys),
            Self::Same16 => hard::same16(ask, &mut keys),
            Self::LongEnds => hard::long_ends(ask, &mut keys),
            Self::OneLong => hard::one_long(ask, &mut keys),
            Self::Nested => hard::nested(ask, &mut keys),
            Self::RocksAscending => numbers::rocks_ascending(ask, &mut keys),
        }
        Ok(keys)
    }

    /// The largest number of keys that may be requested. Texts are drawn until they are distinct, so they
    /// are limited to a part of all possible ones; long keys are limited to a gigabyte.
    pub const fn keys_max(&self) -> u64 {
        match self {
            Self::Url | Self::Email | Self::Word | Self::Path => 1 << 28,
            Self::LongEnds => 1 << 14,
            _ => 1 << 32,
        }
    }
}
