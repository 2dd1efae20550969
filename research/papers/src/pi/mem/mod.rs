//! Memory on the NUMA node whose threads use it: arrays on huge pages, short arrays that are cut from
//! large chunks, a budget of bytes, and the machine's nodes.

pub mod budget;
mod lines;
pub mod paged_array;
pub mod placement;
pub mod slabs;
pub mod topology;
