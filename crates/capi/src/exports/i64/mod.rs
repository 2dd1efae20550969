//! Indexes whose keys are `i64`.

pub mod batches;
pub mod entries;
pub mod life;
pub mod order;
pub mod ranges;

pub use life::{latchless_i64, latchless_i64_cursor};
