//! Floor 11: the papers' indexes, assembled from the floors below.

#[cfg(feature = "cssl")]
pub mod cssl;
#[cfg(all(
    test,
    feature = "cssl",
    feature = "olfit",
    feature = "pb-tree",
    feature = "pi",
    feature = "spiderman"
))]
mod extremes;
#[cfg(feature = "olfit")]
pub mod olfit;
#[cfg(feature = "pb-tree")]
pub mod pb_tree;
#[cfg(feature = "pi")]
pub mod pi;
#[cfg(any(feature = "olfit", feature = "spiderman"))]
mod scan;
#[cfg(feature = "spiderman")]
pub mod spiderman;
