//! The experiments of Cha, Hwang, Kim and Kwon, *Cache-Conscious Concurrency Control of Main-Memory
//! Indexes on Shared-Memory Multiprocessor Systems* (VLDB 2001), §3.2 and §6.

mod analysis;

pub use analysis::{FILL, coherence_miss_probability, expected_height, update_probability};
