//! The pB+-Tree family (Chen, Gibbons, Mowry: *Improving Index Performance through Prefetching*,
//! SIGMOD 2001).

pub mod analysis;
mod catalogue;
mod map;
mod ordered;
mod range;

#[cfg(feature = "model")]
pub use catalogue::build_modelled;
pub use catalogue::{Member, Options, build};
pub use map::{
    BPlusTree, CsbTree, Entries, PExternalTree, PInternalTree, PSweepTree, PTree, Paused, PbTree, Quiet,
};
