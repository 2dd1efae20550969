//! The pB+-Tree family (Chen, Gibbons, Mowry: *Improving Index Performance through Prefetching*,
//! SIGMOD 2001).

pub mod analysis;
mod catalogue;

pub use catalogue::{Member, Options};
