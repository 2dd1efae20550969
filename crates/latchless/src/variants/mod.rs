//! Floor 11: the papers' indexes, assembled from the floors below.

#[cfg(feature = "olfit")]
pub mod olfit;
#[cfg(feature = "pb-tree")]
pub mod pb_tree;
#[cfg(feature = "pi")]
pub mod pi;
