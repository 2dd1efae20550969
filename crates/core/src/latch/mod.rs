//! Node latches: optimistic for readers, exclusive for writers.

mod optimistic;
mod reuse;

pub use optimistic::{Latched, OptimisticLatch, Version};
pub use reuse::before_reuse;
