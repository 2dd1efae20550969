//! The maps by name.

use crate::driven::Driven;
use crate::peer::Peer;
use crate::peers;
use latchless::{Key, OrderedIndex, Value};

/// What there is to say about a map before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Whether this build has it.
    pub compiled: bool,
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
    &ENTRIES
}

const ENTRIES: [Entry; 2] = [
    Entry { name: "btreemap", about: "std::collections::BTreeMap, the baseline", compiled: true },
    Entry { name: "sorted-array", about: "two sorted arrays, keys and values", compiled: true },
];

/// An empty map of that name.
///
/// # Errors
/// [`Missing`] if there is no such map, or none in this build.
pub fn build<K, V>(name: &str) -> Result<Box<dyn OrderedIndex<K, V>>, Missing>
where
    K: Key,
    V: Value<K::Bits>,
{
    match name {
        "btreemap" => Ok(driven::<K, V, peers::BTree<K::Bits>>()),
        "sorted-array" => Ok(driven::<K, V, peers::SortedArray<K::Bits>>()),
        _ if ENTRIES.iter().any(|entry| entry.name == name) => Err(Missing::NotCompiled),
        _ => Err(Missing::Unknown),
    }
}

fn driven<K, V, P>() -> Box<dyn OrderedIndex<K, V>>
where
    K: Key,
    V: Value<K::Bits>,
    P: Peer<K::Bits>,
{
    Box::new(Driven::<P>::default())
}
