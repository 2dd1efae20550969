//! How an operation gets a kernel as a type, and why such a type proves that the processor has what the
//! kernel needs.
//!
//! The types of the vector kernels are private to this room: no path names them outside of it, and no public
//! item mentions one. [`Dispatch::with`] alone hands them out, as a type parameter of what it calls, and a
//! `Dispatch` is made only of kernels that this processor has. So code that has such a type parameter runs on
//! a processor with the instructions, and so does all that it passes the type on to: a processor doesn't lose
//! them.

use super::half_line::HalfLine;
use super::kernel::Kernel;
use super::scalar::Scalar;
use super::vector::InstructionSet;
use crate::base::error::{Error, Result};
use crate::base::key::Bits;
use crate::mem::touch::Trace;

/// A kernel as a type. Code that has it as a type parameter may use its instructions.
///
/// The scalar kernel, which needs nothing, can be named:
///
/// ```
/// use latchless_core::mem::touch::NoTrace;
/// use latchless_core::search::{Ranks, Scalar};
/// assert_eq!(Scalar::below::<u64, NoTrace>(&[3, 5, 7], 6), 2);
/// ```
///
/// A vector kernel can't: a program that could would execute instructions that its processor may lack.
///
/// ```compile_fail,E0603
/// use latchless_core::search::Avx512;
/// ```
/// ```compile_fail,E0603
/// use latchless_core::search::avx2::Avx2;
/// ```
///
/// Nor does safe code make a kernel of its own:
///
/// ```compile_fail,E0200
/// # use latchless_core::search::{Present, VectorOperation};
/// #[derive(Clone, Copy)]
/// struct Own;
/// impl Present for Own {
///     fn with_vectors<O: VectorOperation>(operation: O) -> Result<O::Output, O> {
///         Err(operation)
///     }
/// }
/// ```
///
/// # Safety
/// Safe code outside of the room of searches gets at a type that implements this only on a processor that has
/// what the kernel needs.
pub unsafe trait Present: Copy + Send + Sync + 'static {
    /// Runs `operation` with the kernel's vectors, or gives it back if the kernel has none.
    ///
    /// # Errors
    /// `operation`, if the kernel is the scalar one.
    fn with_vectors<O: VectorOperation>(operation: O) -> core::result::Result<O::Output, O>;
}

/// What is done with long vectors: searches that are written once over an [`InstructionSet`].
pub trait VectorOperation {
    /// What it answers.
    type Output;

    /// Does it. Mark it `#[inline(always)]`, as [`WithKernel::with`].
    fn run<I: InstructionSet>(self) -> Self::Output;
}

// SAFETY: every processor can run it.
unsafe impl Present for Scalar {
    #[inline(always)]
    fn with_vectors<O: VectorOperation>(operation: O) -> core::result::Result<O::Output, O> {
        Err(operation)
    }
}

/// What every kernel does: ranks of a key among ascending lanes.
///
/// Implemented by the kernels of this room alone; an operation gets one as its type parameter.
pub trait Ranks: Present {
    /// How many of the ascending `lanes` are smaller than `key` (the lower bound). Equal lanes are
    /// side by side. Reads nothing outside of `lanes`; in lanes that don't ascend the answer
    /// is any number up to `lanes.len()`.
    fn below<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize;

    /// How many of the ascending `lanes` are smaller than or equal to `key` (the upper bound).
    /// Otherwise as [`Ranks::below`].
    fn up_to<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize;
}

/// What is done with the kernel that was chosen. [`operations!`](crate::operations) makes one of a crate's
/// operations.
pub trait WithKernel {
    /// What it answers.
    type Output;

    /// Does it with the kernel `K`. Mark it, and every function between it and the searches,
    /// `#[inline(always)]`: what isn't inlined is compiled without the kernel's instructions and calls them
    /// one by one.
    fn with<K: Ranks + HalfLine>(self) -> Self::Output;
}

/// A kernel that this processor is known to have, ready to run operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dispatch(Kernel);

impl Dispatch {
    /// The fastest kernel that this processor has.
    pub fn best() -> Self {
        // What `best` names is available.
        Self(Kernel::best())
    }

    /// A kernel, if this processor has it.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`].
    pub fn of(kernel: Kernel) -> Result<Self> {
        if kernel.is_available() {
            Ok(Self(kernel))
        } else {
            Err(Error::KernelUnavailable { kernel: kernel.name() })
        }
    }

    /// Which kernel it is.
    pub fn kernel(self) -> Kernel {
        self.0
    }
}

/// Makes of the list of vector kernels what hands them out.
macro_rules! dispatch {
    (() $(
        $(#[doc = $about:literal])+
        $kernel:ident $name:literal $run:ident on $arch:literal by $detected:ident: ($($feature:tt)+);
    )+) => {
        $(
            // SAFETY: the type is private to this room, and `Dispatch::with` alone hands it out.
            #[cfg(target_arch = $arch)]
            unsafe impl Present for super::$kernel {
                #[inline(always)]
                fn with_vectors<O: VectorOperation>(operation: O) -> core::result::Result<O::Output, O> {
                    Ok(operation.run::<Self>())
                }
            }
        )+

        impl Dispatch {
            /// Calls `operation` with the kernel, below a function that has the kernel's instructions. One
            /// predictable branch.
            #[inline(always)]
            pub fn with<O: WithKernel>(self, operation: O) -> O::Output {
                match self.0 {
                    $(
                        #[cfg(target_arch = $arch)]
                        Kernel::$kernel => {
                            /// # Safety
                            /// The processor has what the kernel needs.
                            #[target_feature($(enable = $feature),+)]
                            unsafe fn $run<O: WithKernel>(operation: O) -> O::Output {
                                operation.with::<super::$kernel>()
                            }
                            // SAFETY: a `Dispatch` is made only of kernels that this processor has.
                            unsafe { $run(operation) }
                        }
                    )+
                    _ => {
                        // Apart, so that what it needs isn't made ready for the other kernels, too.
                        #[inline(never)]
                        fn run_with_scalar<O: WithKernel>(operation: O) -> O::Output {
                            operation.with::<Scalar>()
                        }
                        run_with_scalar(operation)
                    }
                }
            }
        }
    };
}
vector_kernels!([dispatch]());
