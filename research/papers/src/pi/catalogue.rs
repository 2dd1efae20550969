//! PI's forms by name, built as trait objects.

use super::map::Pi;
use super::options::{EntryKeys, Options};
use super::plain::SkipList;
use crate::common::catalogue::members;
use crate::error::Result;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;

members! {
    Pi4 "pi-4" false, "pi with four keys an entry, as in the paper";
    Pi8 "pi" false, "PI: a skip list of SIMD entries of eight keys, made for batches";
    Pi16 "pi-16" false, "pi with sixteen keys an entry";
    SkipList "skip-list" false, "a typical skip list, with none of pi's optimizations";
}

impl Member {
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

/// Creates an empty index of this form; the form overrides the entries' part of `options`.
///
/// # Errors
/// Those of [`Pi::with_options`].
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
