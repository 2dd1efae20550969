//! The maps, one a file.

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

#[cfg(feature = "artmap")]
pub use self::artmap::Art;
#[cfg(feature = "blart")]
pub use self::blart::Radix;
#[cfg(feature = "bplustree")]
pub use self::bplustree::OptimisticBPlusTree;
#[cfg(feature = "brie-tree")]
pub use self::brie_tree::Brie;
pub use self::btreemap::BTree;
#[cfg(feature = "concurrent-map")]
pub use self::concurrent_map::Concurrent;
#[cfg(feature = "congee")]
pub use self::congee::RadixTree;
#[cfg(feature = "crossbeam-skiplist")]
pub use self::crossbeam_skiplist::Skip;
#[cfg(feature = "ferntree")]
pub use self::ferntree::Fern;
#[cfg(feature = "indexset")]
pub use self::indexset::IndexSet;
#[cfg(feature = "masstree")]
pub use self::masstree::Mass;
#[cfg(feature = "scc")]
pub use self::scc::Tree;
pub use self::sorted_array::SortedArray;
