//! Floor 4: how threads keep out of each other's way at a node.

mod link;
mod optimistic;
mod shared;

pub use link::{Claim, LINKED_NODES_MAX, Link, Seen};
pub use optimistic::{Latched, OptimisticLatch, Version};
pub use shared::{Alone, SharedLatch, Together};
