//! Code that at least two of the papers' structures share.

#[cfg(any(
    test,
    feature = "cssl",
    feature = "olfit",
    feature = "pb-tree",
    feature = "pi",
    feature = "spiderman"
))]
pub mod catalogue;
pub mod epochs;
pub mod interleave;
pub mod operation;
#[cfg(any(feature = "cssl", feature = "olfit", feature = "pb-tree", feature = "pi", feature = "spiderman"))]
pub mod ordered;
#[cfg(any(feature = "cssl", feature = "olfit", feature = "spiderman"))]
pub mod pages;
pub mod runs;
#[cfg(any(feature = "cssl", feature = "olfit", feature = "spiderman"))]
pub mod scan;
pub mod units;
pub mod walk;
pub mod words;
