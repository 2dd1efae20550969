//! Batches over nodes that one thread owns at a time: queries and nodes handed from thread to thread, threads
//! that follow the load of NUMA nodes.

pub mod carry;
pub mod mailbox;
pub mod partition;
pub mod pool;
pub mod tune;
