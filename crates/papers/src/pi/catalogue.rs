//! PI's forms by name, made as trait objects.

use super::map::Pi;
use super::options::{EntryKeys, Options};
use super::plain::SkipList;
use crate::error::Result;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;

/// A form of PI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// Four keys an entry.
    Pi4,
    /// Eight keys an entry.
    Pi8,
    /// Sixteen keys an entry.
    Pi16,
    /// None of it: a typical skip list.
    SkipList,
}

impl Member {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Pi4, Self::Pi8, Self::Pi16, Self::SkipList];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pi4 => "pi-4",
            Self::Pi8 => "pi",
            Self::Pi16 => "pi-16",
            Self::SkipList => "skip-list",
        }
    }

    /// One line for people.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Pi4 => "pi with four keys an entry, as in the paper",
            Self::Pi8 => "PI: a skip list of SIMD entries of eight keys, made for batches",
            Self::Pi16 => "pi with sixteen keys an entry",
            Self::SkipList => "a typical skip list, with none of pi's optimizations",
        }
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|member| member.name() == name)
    }

    /// Its entries, if it has some.
    pub const fn entry_keys(self) -> Option<EntryKeys> {
        match self {
            Self::Pi4 => Some(EntryKeys::Four),
            Self::Pi8 => Some(EntryKeys::Eight),
            Self::Pi16 => Some(EntryKeys::Sixteen),
            Self::SkipList => None,
        }
    }
}

/// An empty index of this form; what `options` say of entries is overruled.
///
/// # Errors
/// As [`Pi::with_options`].
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    let Some(entry_keys) = member.entry_keys() else {
        return Ok(Box::new(SkipList::<K, V>::with_options(options)));
    };
    let options = Options { entry_keys, ..options.clone() };
    Ok(Box::new(Pi::<K, V>::with_options(&options)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(Member::ALL.iter().all(|&member| Member::from_name(member.name()) == Some(member)));
        assert_eq!(Member::from_name("pi-3"), None);
    }
}
