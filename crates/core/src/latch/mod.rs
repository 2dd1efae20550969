//! How threads keep out of each other's way at a node.

mod optimistic;

pub use optimistic::{Latched, OptimisticLatch, Version};
