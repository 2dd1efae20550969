//! Searching inside a node. Kernels over ascending `u32` and `u64` lanes, and their
//! dispatch.
//!
//! A tree chooses its kernel once, when it is made ([`Dispatch::of`]), and hands it whole
//! operations ([`operations!`](crate::operations)): the branch on the kernel is taken once an operation,
//! never in a node. The vector kernels are one algorithm (`vector.rs`) over a vocabulary of four words,
//! which each instruction set spells in its own file.
//!
//! ```
//! use latchless_core::mem::touch::NoTrace;
//! use latchless_core::search::{Dispatch, Ranks};
//!
//! // `Search`, `Operation` and `Run`: what operations of this crate may ask of a kernel.
//! latchless_core::operations!(Ranks);
//!
//! /// Finds the child that a key belongs to.
//! struct Child<'a> {
//!     separators: &'a [u64],
//!     key: u64,
//! }
//!
//! impl Operation for Child<'_> {
//!     type Output = usize;
//!
//!     #[inline(always)]
//!     fn run<S: Search>(self) -> usize {
//!         S::up_to::<_, NoTrace>(self.separators, self.key)
//!     }
//! }
//!
//! let child = Child { separators: &[10, 20, 30], key: 20 };
//! assert_eq!(Dispatch::best().run(child), 2);
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod kernel;
#[cfg(target_arch = "aarch64")]
mod neon;
mod operations;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;

#[cfg(target_arch = "x86_64")]
pub use avx2::{Avx2, bits, greater, splat};
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use kernel::{Dispatch, Kernel, Ranks};
#[cfg(target_arch = "aarch64")]
pub use neon::{Neon, bits, greater, splat};
pub use scalar::Scalar;
