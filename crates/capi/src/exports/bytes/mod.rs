//! Indexes whose keys are byte strings.

pub mod batches;
pub mod cursors;
pub mod entries;
pub mod life;
pub mod order;
pub mod ranges;
