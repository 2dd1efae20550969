//! Run-time dispatch: an operation gets a kernel as a type, which proves that the processor supports the
//! kernel's instructions.
//!
//! The types of the vector kernels are private to this module: no path names them outside of it, and no
//! public item mentions one. Only [`Dispatch::with`] hands them out, as a type parameter of what it calls,
//! and a `Dispatch` is made only for kernels that this processor supports. So code with such a type
//! parameter runs on a processor with the instructions, and so does all code that it passes the type on to:
//! a processor doesn't lose instructions.

use super::half_line::HalfLine;
use super::kernel::Kernel;
use super::present::Ranks;
use super::scalar::Scalar;
use crate::base::error::{Error, Result};

/// An operation that is generic over the kernel. [`operations!`](crate::operations) defines one for each
/// crate's operations.
pub trait WithKernel {
    /// The operation's result.
    type Output;

    /// Runs the operation with the kernel `K`. It, and every function between it and the searches, must be
    /// `#[inline(always)]`: a function that isn't inlined is compiled without the kernel's instructions and
    /// calls them one by one.
    fn with<K: Ranks + HalfLine>(self) -> Self::Output;
}

/// A kernel that this processor supports, ready to run operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dispatch(Kernel);

impl Dispatch {
    /// Returns the fastest kernel that this processor supports.
    pub fn best() -> Self {
        // `best` returns an available kernel.
        Self(Kernel::best())
    }

    /// Returns a kernel, if this processor supports it.
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

    /// Returns the kernel's name.
    pub fn kernel(self) -> Kernel {
        self.0
    }
}

/// Expands the list of vector kernels to the code that hands them out.
macro_rules! dispatch {
    (() $(
        $(#[doc = $about:literal])+
        $kernel:ident $name:literal $run:ident on $arch:literal by $detected:ident: ($($feature:tt)+);
    )+) => {
        $(
            // SAFETY: the type is private to this module, and only `Dispatch::with` hands it out.
            #[cfg(target_arch = $arch)]
            unsafe impl super::present::Present for super::$kernel {
                #[inline(always)]
                fn with_vectors<O: super::present::VectorOperation>(
                    operation: O,
                ) -> core::result::Result<O::Output, O> {
                    Ok(operation.run::<Self>())
                }
            }
        )+

        impl Dispatch {
            /// Calls `operation` with the kernel, inside a function that enables the kernel's instructions.
            /// One predictable branch.
            #[inline(always)]
            pub fn with<O: WithKernel>(self, operation: O) -> O::Output {
                match self.0 {
                    $(
                        #[cfg(target_arch = $arch)]
                        Kernel::$kernel => {
                            /// # Safety
                            /// The processor supports the kernel.
                            #[target_feature($(enable = $feature),+)]
                            unsafe fn $run<O: WithKernel>(operation: O) -> O::Output {
                                operation.with::<super::$kernel>()
                            }
                            // SAFETY: a `Dispatch` is made only of kernels that this processor has.
                            unsafe { $run(operation) }
                        }
                    )+
                    _ => {
                        // A separate function, so that its setup isn't done for the other kernels.
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
