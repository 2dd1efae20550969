//! Batches: sorting by key, and cutting where no two parts share a leaf.

mod order;
mod sorted;

pub use order::{Order, cut};
pub use sorted::sorted;
