//! Indexes whose keys are `f64`.

pub mod batches;
pub mod entries;
pub mod life;
pub mod order;
pub mod ranges;

pub use life::{latchless_f64, latchless_f64_cursor};
