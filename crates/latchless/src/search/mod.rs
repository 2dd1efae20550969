//! Floor 3: searching inside a node. Kernels over ascending `u32` and `u64` lanes, and their
//! dispatch.
//!
//! A tree chooses its kernel once, when it is made ([`Kernel::checked`]), and hands it whole
//! operations ([`Dispatch::run`]): the branch on the kernel is taken once an operation, never in
//! a node. The vector kernels are one algorithm (`vector.rs`) over a vocabulary of four words,
//! which each instruction set spells in its own file.
//!
//! ```
//! use latchless::mem::touch::Untouched;
//! use latchless::search::{Dispatch, Operation, Search};
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
//!         S::up_to::<_, Untouched>(self.separators, self.key)
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
mod lines;
#[cfg(target_arch = "x86_64")]
mod lines_avx2;
#[cfg(target_arch = "x86_64")]
mod lines_avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod runs;
#[cfg(target_arch = "x86_64")]
mod runs_avx2;
#[cfg(target_arch = "x86_64")]
mod runs_avx512;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;
mod words;

pub use kernel::{Dispatch, Kernel, Operation, Search};
pub use lines::{Lines, children_in_line, keys_in_line};
pub use runs::Runs;
pub use scalar::Scalar;
pub use words::words_below;
