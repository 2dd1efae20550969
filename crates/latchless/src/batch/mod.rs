//! Floor 10: what batches have in common: their order by key, where they may be cut.

mod order;

pub use order::{Order, cut};
