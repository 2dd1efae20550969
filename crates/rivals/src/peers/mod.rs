//! The maps, one per file, and the table of them: name, whether this build has it, its kind, whether
//! updates are concurrent, its size, its constructor.

#[cfg(feature = "artmap")]
mod artmap;
#[cfg(any(feature = "artmap", feature = "blart"))]
mod big_endian;
#[cfg(feature = "blart")]
mod blart;
#[cfg(feature = "bplustree")]
mod bplustree;
#[cfg(feature = "brie-tree")]
mod brie_tree;
mod btreemap;
#[cfg(feature = "concurrent-map")]
mod concurrent_map;
#[cfg(feature = "congee")]
mod congee;
#[cfg(feature = "crossbeam-skiplist")]
mod crossbeam_skiplist;
#[cfg(feature = "ferntree")]
mod ferntree;
#[cfg(feature = "indexset")]
mod indexset;
#[cfg(feature = "masstree")]
mod masstree;
#[cfg(feature = "scc")]
mod scc;
mod sorted_array;

pub use btreemap::BTree;

use crate::driven::Driven;
use crate::entry::Entry;
use crate::peer::Peer;
use latchless_core::base::index::OrderedIndex;
use latchless_core::{Fits, Key};

/// Generates from the table: `ENTRIES`, which describes every map, and `make`, which makes those that this
/// build has. `in 32 bits` is the type of a map whose type depends on the width of keys.
macro_rules! maps {
    ($(
        #[cfg($compiled:meta)]
        $name:literal: $about:literal, concurrent: $concurrent:literal, pairs: $pairs:literal,
        $map:ty $(, in 32 bits $narrow:ty)?;
    )*) => {
        /// Every map of this crate, whether this build has it or not.
        pub(crate) const ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            about: $about,
            compiled: cfg!($compiled),
            concurrent: $concurrent,
            pairs: $pairs,
        }),*];

        /// An empty map of that name, if this build has it.
        pub(crate) fn make<K: Key, V: Fits<K::Bits>>(name: &str) -> Option<Box<dyn OrderedIndex<K, V>>> {
            $($(
                #[cfg($compiled)]
                if name == $name && <K::Bits as latchless_core::base::key::Bits>::BYTES == 4 {
                    return Some(driven::<K, V, $narrow>());
                }
            )?)*
            match name {
                $(
                    #[cfg($compiled)]
                    $name => Some(driven::<K, V, $map>()),
                )*
                _ => None,
            }
        }
    };
}

// `pairs`: as many pairs of key and value take the room that one entry takes in the map, about.
maps! {
    #[cfg(all())]
    "btreemap": "std::collections::BTreeMap, the baseline", concurrent: false, pairs: 4,
        btreemap::BTree<K::Bits>;
    #[cfg(all())]
    "sorted-array": "two sorted arrays, keys and values", concurrent: false, pairs: 4,
        sorted_array::SortedArray<K::Bits>;
    #[cfg(feature = "artmap")]
    "artmap": "concurrent adaptive radix tree", concurrent: true, pairs: 16,
        artmap::Art<K::Bits, 8>, in 32 bits artmap::Art<K::Bits, 4>;
    #[cfg(feature = "blart")]
    "blart": "single-threaded adaptive radix tree", concurrent: false, pairs: 4,
        blart::Radix<K::Bits, 8>, in 32 bits blart::Radix<K::Bits, 4>;
    #[cfg(feature = "bplustree")]
    "bplustree": "concurrent B+-Tree, optimistic lock coupling; no reverse scans", concurrent: true, pairs: 4,
        bplustree::OptimisticBPlusTree<K::Bits>;
    #[cfg(feature = "brie-tree")]
    "brie-tree": "single-threaded B+-Tree with SIMD search; no reverse scans", concurrent: false, pairs: 4,
        brie_tree::Brie<K::Bits, nonmax::NonMaxU64>, in 32 bits brie_tree::Brie<K::Bits, nonmax::NonMaxU32>;
    #[cfg(feature = "concurrent-map")]
    "concurrent-map": "lock-free B+-Tree", concurrent: true, pairs: 4,
        concurrent_map::Concurrent<u64>, in 32 bits concurrent_map::Concurrent<u32>;
    #[cfg(feature = "congee")]
    "congee": "concurrent adaptive radix tree over 8-byte keys; no reverse scans", concurrent: true, pairs: 16,
        congee::RadixTree;
    #[cfg(feature = "crossbeam-skiplist")]
    "crossbeam-skiplist": "lock-free skip list", concurrent: true, pairs: 4,
        crossbeam_skiplist::Skip<K::Bits>;
    #[cfg(feature = "ferntree")]
    "ferntree": "concurrent B+-Tree, optimistic lock coupling", concurrent: true, pairs: 4,
        ferntree::Fern<u64>, in 32 bits ferntree::Fern<u32>;
    #[cfg(feature = "indexset")]
    "indexset": "two-level B-tree with positions", concurrent: false, pairs: 4,
        indexset::IndexSet<K::Bits>;
    #[cfg(feature = "masstree")]
    "masstree": "concurrent trie of B+-Trees", concurrent: true, pairs: 16,
        masstree::Mass;
    #[cfg(feature = "scc")]
    "scc": "TreeIndex: concurrent B+-Tree, lock-free reads", concurrent: true, pairs: 4,
        scc::Tree<K::Bits>;
}

fn driven<K: Key, V: Fits<K::Bits>, P: Peer<K::Bits>>() -> Box<dyn OrderedIndex<K, V>> {
    Box::new(Driven::<P>::default())
}
