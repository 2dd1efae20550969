//! Floor 3: searching inside a node. Kernels over `u32` and `u64` lanes, and their dispatch.

mod kernel;
mod scalar;

pub use kernel::{Kernel, Search};
pub use scalar::Scalar;
