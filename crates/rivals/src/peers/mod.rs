//! The maps, one a file.

mod btreemap;
mod sorted_array;

pub use btreemap::BTree;
pub use sorted_array::SortedArray;
