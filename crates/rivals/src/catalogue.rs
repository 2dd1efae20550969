//! The maps by name.

use crate::peers::{self, ENTRIES};
use latchless_core::base::index::OrderedIndex;
use latchless_core::{Fits, Key};

/// Properties of a map that are known before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Whether this build has it.
    pub compiled: bool,
    /// Whether it takes updates from many threads at once.
    pub concurrent: bool,
    /// How many pairs of key and value take the room that one entry takes in the map, about.
    pub pairs: u64,
}

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
