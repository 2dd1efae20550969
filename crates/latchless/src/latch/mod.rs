//! Floor 4: how threads keep out of each other's way at a node.

mod optimistic;
mod shared;

pub use optimistic::{Latched, OptimisticLatch, Version};
pub use shared::{Alone, SharedLatch, Together};
