//! The names of sets of byte strings.

use super::BytesKeySet;
use crate::error::Error;
use core::fmt;
use core::str::FromStr;

impl BytesKeySet {
    /// Every set.
    pub const ALL: [Self; 14] = [
        Self::Url,
        Self::Email,
        Self::Word,
        Self::Path,
        Self::Uuid16,
        Self::Uuid36,
        Self::Rocks,
        Self::Series,
        Self::Int8,
        Self::Same16,
        Self::LongEnds,
        Self::OneLong,
        Self::Nested,
        Self::RocksAscending,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Email => "email",
            Self::Word => "word",
            Self::Path => "path",
            Self::Uuid16 => "uuid16",
            Self::Uuid36 => "uuid36",
            Self::Rocks => "rocks",
            Self::Series => "series",
            Self::Int8 => "int8",
            Self::Same16 => "same16",
            Self::LongEnds => "long-ends",
            Self::OneLong => "one-long",
            Self::Nested => "nested",
            Self::RocksAscending => "rocks-ascending",
        }
    }

    /// One line for people.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Url => "byte strings: addresses of pages, few hosts have most of them, about 62 bytes",
            Self::Email => "byte strings: e-mail addresses, few hosts have most of them",
            Self::Word => "byte strings: words of two to four syllables",
            Self::Path => "byte strings: paths of files, few folders have most of them",
            Self::Uuid16 => "byte strings: random UUIDs, 16 bytes",
            Self::Uuid36 => "byte strings: random UUIDs as text, 36 characters",
            Self::Rocks => "byte strings: `user` and ten digits, then a sequence number, 22 bytes",
            Self::Series => "byte strings: measurements of 10,000 series, series and nanoseconds, 16 bytes",
            Self::Int8 => "byte strings: random numbers, 8 bytes",
            Self::Same16 => "byte strings, hard: the same 16 bytes, then 8 random ones",
            Self::LongEnds => "byte strings, hard: 65,535 bytes, all the same but the last eight",
            Self::OneLong => "byte strings, hard: 8 bytes, and one of 1,000 among 64",
            Self::Nested => "byte strings, hard: each begins the next one, in chains of 64",
            Self::RocksAscending => "byte strings, hard: as rocks, ascending as they arrive",
        }
    }

    /// Whether it is made to be hard for an index.
    pub const fn is_hard(self) -> bool {
        matches!(self, Self::Same16 | Self::LongEnds | Self::OneLong | Self::Nested | Self::RocksAscending)
    }
}

impl FromStr for BytesKeySet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let named = Self::ALL.into_iter().find(|set| set.name() == text);
        named.ok_or_else(|| Error::UnknownKeySet { given: text.to_owned() })
    }
}

impl fmt::Display for BytesKeySet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeySet;

    #[test]
    fn every_name_is_read_back_and_is_no_other_set_s() {
        for (at, set) in BytesKeySet::ALL.into_iter().enumerate() {
            assert_eq!(set.name().parse(), Ok(set));
            assert!(BytesKeySet::ALL[..at].iter().all(|other| *other != set), "{set} twice");
            assert!(set.name().parse::<KeySet>().is_err(), "{set}");
            assert!(!set.about().is_empty());
        }
        for given in ["", "urls", "uuid", "Url"] {
            let refused = given.parse::<BytesKeySet>().unwrap_err();
            assert!(refused.to_string().contains("url, email"), "{refused}");
        }
    }
}
