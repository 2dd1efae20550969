//! The maps by name.

use crate::entry::Entry;
use crate::peers::{self, ENTRIES};
use latchless_core::base::index::OrderedIndex;
use latchless_core::{Fits, Key};

/// Why a map can't be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No map of that name is known.
    #[error("no such map")]
    Unknown,
    /// The map is known, but this build was made without its feature.
    #[error("this build was made without it")]
    NotCompiled,
}

/// Every map this crate knows, whether this build has it or not; the baseline first.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// An empty map of that name.
///
/// # Errors
/// [`Missing`] if there is no such map, or none in this build.
pub fn build<K: Key, V: Fits<K::Bits>>(name: &str) -> Result<Box<dyn OrderedIndex<K, V>>, Missing> {
    let known = ENTRIES.iter().any(|entry| entry.name == name);
    peers::make(name).ok_or(if known { Missing::NotCompiled } else { Missing::Unknown })
}
