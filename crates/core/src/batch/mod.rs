//! What batches have in common: their order by key, and where they may be cut.

mod order;
mod sorted;

pub use order::{Order, cut};
pub use sorted::sorted;
