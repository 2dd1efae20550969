//! Compilation of a crate's operations, once for each kernel.

/// Defines the kernels' interface to a crate and the operations that use it, in the module that invokes it:
///
/// - `trait Search`: all traits that the invocation lists, implemented by one kernel;
/// - `trait Operation`: a whole operation on an index, generic over its `Search`;
/// - `trait Run`, for [`Dispatch`](crate::search::Dispatch): runs an operation with the kernel chosen.
///
/// A macro, because a trait can't be a parameter: each crate has its own searches.
#[macro_export]
macro_rules! operations {
    ($($search:tt)+) => {
        /// The searches that an operation may use.
        pub trait Search: $($search)+ + Copy + Send + Sync + 'static {}
        impl<S: $($search)+ + Copy + Send + Sync + 'static> Search for S {}

        /// A whole operation on an index, from the first node to the last. It is compiled once for each
        /// kernel so that the searches in it are inlined.
        pub trait Operation {
            /// The operation's result.
            type Output;

            /// Runs the operation with the kernel `S`. It, and every function between it and the searches,
            /// must be `#[inline(always)]`: a function that isn't inlined is compiled without the kernel's
            /// instructions and calls them one by one.
            fn run<S: Search>(self) -> Self::Output;
        }

        /// Runs operations with the kernel that was chosen.
        pub trait Run {
            /// Runs `operation`. One predictable branch; everything inside it is compiled for the kernel's
            /// instructions.
            fn run<O: Operation>(self, operation: O) -> O::Output;
        }

        impl Run for $crate::search::Dispatch {
            #[inline(always)]
            fn run<O: Operation>(self, operation: O) -> O::Output {
                struct Whole<O>(O);
                impl<O: Operation> $crate::search::WithKernel for Whole<O> {
                    type Output = O::Output;

                    #[inline(always)]
                    fn with<K: $crate::search::Ranks + $crate::search::HalfLine>(self) -> O::Output {
                        self.0.run::<K>()
                    }
                }
                self.with(Whole(operation))
            }
        }
    };
}
