//! The pB+-Tree family (Chen, Gibbons, Mowry: *Improving Index Performance through Prefetching*,
//! SIGMOD 2001).

pub mod analysis;
pub mod arena;
mod catalogue;
pub mod jump_array;
mod map;
pub mod node;
mod options;
mod ordered;
pub mod path;
mod range;
pub mod tree;
mod window;

pub use catalogue::{Member, build, build_traced};
pub use map::{
    BPlusTree, CsbTree, Entries, PExternalTree, PInternalTree, PSweepTree, PTree, Paused, PbTree, Quiet,
};
pub use node::Placement;
pub use options::Options;
pub use tree::ScanPrefetch;
