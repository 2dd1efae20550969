//! Indexes whose keys are words.

pub mod batches;
pub mod entries;
pub mod life;
pub mod order;
pub mod ranges;
