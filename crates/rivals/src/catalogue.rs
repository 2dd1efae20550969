//! The maps by name.

use crate::driven::Driven;
use crate::peer::Peer;
use crate::peers;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Bits;
use latchless_core::{Fits, Key};

/// What there is to say about a map before it is made.
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

/// An entry for a published crate whose feature bears its name.
macro_rules! published {
    ($name:literal, $about:literal, concurrent: $concurrent:literal) => {
        Entry { name: $name, about: $about, compiled: cfg!(feature = $name), concurrent: $concurrent }
    };
}

/// An entry for what is always there.
const fn always(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, compiled: true, concurrent: false }
}

const ENTRIES: [Entry; 13] = [
    always("btreemap", "std::collections::BTreeMap, the baseline"),
    always("sorted-array", "two sorted arrays, keys and values"),
    published!("artmap", "concurrent adaptive radix tree", concurrent: true),
    published!("blart", "single-threaded adaptive radix tree", concurrent: false),
    published!(
        "bplustree",
        "concurrent B+-Tree, optimistic lock coupling; no reverse scans",
        concurrent: true
    ),
    published!(
        "brie-tree",
        "single-threaded B+-Tree with SIMD search; no reverse scans",
        concurrent: false
    ),
    published!("concurrent-map", "lock-free B+-Tree", concurrent: true),
    published!(
        "congee",
        "concurrent adaptive radix tree over 8-byte keys; no reverse scans",
        concurrent: true
    ),
    published!("crossbeam-skiplist", "lock-free skip list", concurrent: true),
    published!("ferntree", "concurrent B+-Tree, optimistic lock coupling", concurrent: true),
    published!("indexset", "two-level B-tree with positions", concurrent: false),
    published!("masstree", "concurrent trie of B+-Trees", concurrent: true),
    published!("scc", "TreeIndex: concurrent B+-Tree, lock-free reads", concurrent: true),
];

/// An empty map of that name.
///
/// # Errors
/// [`Missing`] if there is no such map, or none in this build.
pub fn build<K, V>(name: &str) -> Result<Box<dyn OrderedIndex<K, V>>, Missing>
where
    K: Key,
    V: Fits<K::Bits>,
{
    // Whether lanes are 4 bytes wide, for maps that have to be named with a concrete type.
    #[cfg_attr(not(feature = "all"), allow(unused_variables))]
    let narrow = K::Bits::BYTES == 4;
    match name {
        "btreemap" => Ok(driven::<K, V, peers::BTree<K::Bits>>()),
        "sorted-array" => Ok(driven::<K, V, peers::SortedArray<K::Bits>>()),
        #[cfg(feature = "artmap")]
        "artmap" if narrow => Ok(driven::<K, V, peers::Art<K::Bits, 4>>()),
        #[cfg(feature = "artmap")]
        "artmap" => Ok(driven::<K, V, peers::Art<K::Bits, 8>>()),
        #[cfg(feature = "blart")]
        "blart" if narrow => Ok(driven::<K, V, peers::Radix<K::Bits, 4>>()),
        #[cfg(feature = "blart")]
        "blart" => Ok(driven::<K, V, peers::Radix<K::Bits, 8>>()),
        #[cfg(feature = "bplustree")]
        "bplustree" => Ok(driven::<K, V, peers::OptimisticBPlusTree<K::Bits>>()),
        #[cfg(feature = "brie-tree")]
        "brie-tree" if narrow => Ok(driven::<K, V, peers::Brie<K::Bits, nonmax::NonMaxU32>>()),
        #[cfg(feature = "brie-tree")]
        "brie-tree" => Ok(driven::<K, V, peers::Brie<K::Bits, nonmax::NonMaxU64>>()),
        #[cfg(feature = "concurrent-map")]
        "concurrent-map" if narrow => Ok(driven::<K, V, peers::Concurrent<u32>>()),
        #[cfg(feature = "concurrent-map")]
        "concurrent-map" => Ok(driven::<K, V, peers::Concurrent<u64>>()),
        #[cfg(feature = "congee")]
        "congee" => Ok(driven::<K, V, peers::RadixTree>()),
        #[cfg(feature = "crossbeam-skiplist")]
        "crossbeam-skiplist" => Ok(driven::<K, V, peers::Skip<K::Bits>>()),
        #[cfg(feature = "ferntree")]
        "ferntree" if narrow => Ok(driven::<K, V, peers::Fern<u32>>()),
        #[cfg(feature = "ferntree")]
        "ferntree" => Ok(driven::<K, V, peers::Fern<u64>>()),
        #[cfg(feature = "indexset")]
        "indexset" => Ok(driven::<K, V, peers::IndexSet<K::Bits>>()),
        #[cfg(feature = "masstree")]
        "masstree" => Ok(driven::<K, V, peers::Mass>()),
        #[cfg(feature = "scc")]
        "scc" => Ok(driven::<K, V, peers::Tree<K::Bits>>()),
        _ if ENTRIES.iter().any(|entry| entry.name == name) => Err(Missing::NotCompiled),
        _ => Err(Missing::Unknown),
    }
}

fn driven<K, V, P>() -> Box<dyn OrderedIndex<K, V>>
where
    K: Key,
    V: Fits<K::Bits>,
    P: Peer<K::Bits>,
{
    Box::new(Driven::<P>::default())
}
