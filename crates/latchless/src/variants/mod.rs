//! Floor 11: the papers' indexes, assembled from the floors below.

#[cfg(feature = "pb-tree")]
pub mod pb_tree;
