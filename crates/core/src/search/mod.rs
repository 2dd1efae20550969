//! Searching inside a node: kernels over ascending `u32` and `u64` lanes, and their dispatch.
//!
//! A tree chooses its kernel once, when it is created ([`Dispatch::of`]), and passes it whole operations
//! ([`operations!`](crate::operations)): the branch on the kernel is taken once per operation, never per
//! node. A kernel is one file, which implements two traits for its instruction set. Its type is private to
//! this module, and operations get it only in this way (`dispatch.rs`). Searches in runs of lanes are
//! written over [`InstructionSet`] (ranks in `vector.rs`; CSSL's lanes in the papers' crate), searches in
//! single lines of a node over [`HalfLine`] (the index's nodes).
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

/// The list of vector kernels, for macros that expand it. Of two for one processor the faster is the later.
/// Each entry has the kernel's type, its name, the function that runs its operations, the architecture, the
/// macro that detects its features, and these features.
macro_rules! vector_kernels {
    ([$($with:tt)+] $given:tt) => {
        $($with)+! { $given
            /// 32-byte vectors, on x86-64 processors since about 2013.
            Avx2 "avx2" run_with_avx2 on "x86_64" by is_x86_feature_detected:
                ("avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
            // BW and VL: for comparing the unsigned 16-bit hints of hinted nodes. Servers have had all of
            // these together since the first that had AVX-512.
            /// 64-byte vectors with masks, on many x86-64 servers since 2017.
            Avx512 "avx512" run_with_avx512 on "x86_64" by is_x86_feature_detected:
                ("avx512f" "avx512bw" "avx512vl" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
            /// 16-byte vectors, on every 64-bit Arm processor.
            Neon "neon" run_with_neon on "aarch64" by is_aarch64_feature_detected:
                ("neon");
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod half_line;
mod kernel;
#[cfg(target_arch = "aarch64")]
mod neon;
mod operations;
mod present;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

// The vector kernels' types stay in this module: `dispatch.rs` has the reason.
#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
pub use dispatch::{Dispatch, WithKernel};
pub use half_line::{HalfLine, lanes_in_half};
pub use kernel::Kernel;
#[cfg(target_arch = "aarch64")]
use neon::Neon;
pub use present::{InstructionSet, Present, Ranks, VectorOperation, lanes_in_vector};
pub use scalar::Scalar;
