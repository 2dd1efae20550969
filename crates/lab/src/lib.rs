//! The papers' experiments as data, one runner, and the memory-hierarchy model.

pub mod error;
pub mod model;

pub use error::{LabError, Result};
