//! How threads keep out of each other's way at a node.

mod optimistic;
mod reuse;

pub use optimistic::{Latched, OptimisticLatch, Version};
pub use reuse::before_reuse;
