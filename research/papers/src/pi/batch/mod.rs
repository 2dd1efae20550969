//! Batches over nodes with one owner thread at a time: queries and nodes are passed between threads, and
//! the number of threads follows the load of NUMA nodes.

pub mod carry;
pub mod mailbox;
pub mod partition;
pub mod pool;
pub mod tune;
