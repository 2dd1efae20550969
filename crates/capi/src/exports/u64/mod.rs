//! Indexes whose keys are `u64`.

pub mod batches;
pub mod entries;
pub mod life;
pub mod order;
pub mod ranges;

pub use life::{latchless_u64, latchless_u64_cursor};
