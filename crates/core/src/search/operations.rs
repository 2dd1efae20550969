//! How a crate compiles its operations once for each kernel.

/// Defines, in the module that calls it, what the kernels do for a crate and the operations that use it:
///
/// - `trait Search`: all that is named in the call, of one kernel;
/// - `trait Operation`: a whole operation on an index, generic over its `Search`;
/// - `trait Run`, for [`Dispatch`](crate::search::Dispatch): runs an operation with the kernel chosen.
///
/// A macro, because a trait can't be a parameter: each crate has searches of its own.
#[macro_export]
macro_rules! operations {
    ($($search:tt)+) => {
        /// What an operation may ask of a kernel.
        pub trait Search: $($search)+ + Copy + Send + Sync + 'static {}
        impl<S: $($search)+ + Copy + Send + Sync + 'static> Search for S {}

        /// A whole operation on an index, from the first node to the last, which is compiled once for
        /// each kernel so that the searches in it are inlined.
        pub trait Operation {
            /// What the operation answers.
            type Output;

            /// Runs the operation with the kernel `S`. Mark it, and every function between it and the
            /// searches, `#[inline(always)]`: what isn't inlined is compiled without the kernel's
            /// instructions and calls them one by one.
            fn run<S: Search>(self) -> Self::Output;
        }

        /// Runs operations with the kernel that was chosen.
        pub trait Run {
            /// Runs `operation`. One predictable branch; everything below it is compiled for the kernel's
            /// instructions.
            fn run<O: Operation>(self, operation: O) -> O::Output;
        }

        impl Run for $crate::search::Dispatch {
            #[inline(always)]
            fn run<O: Operation>(self, operation: O) -> O::Output {
                match self.kernel() {
                    // SAFETY: a `Dispatch` is made only of kernels that this processor has.
                    #[cfg(target_arch = "x86_64")]
                    $crate::search::Kernel::Avx2 => unsafe { run_with_avx2(operation) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    $crate::search::Kernel::Avx512 => unsafe { run_with_avx512(operation) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "aarch64")]
                    $crate::search::Kernel::Neon => unsafe { run_with_neon(operation) },
                    _ => operation.run::<$crate::search::Scalar>(),
                }
            }
        }

        /// # Safety
        /// The processor has what the AVX2 kernel needs.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn run_with_avx2<O: Operation>(operation: O) -> O::Output {
            operation.run::<$crate::search::Avx2>()
        }

        /// # Safety
        /// The processor has what the AVX-512 kernel needs.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn run_with_avx512<O: Operation>(operation: O) -> O::Output {
            operation.run::<$crate::search::Avx512>()
        }

        /// # Safety
        /// The processor has NEON.
        #[cfg(target_arch = "aarch64")]
        #[target_feature(enable = "neon")]
        unsafe fn run_with_neon<O: Operation>(operation: O) -> O::Output {
            operation.run::<$crate::search::Neon>()
        }
    };
}
