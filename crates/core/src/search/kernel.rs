//! The names of the kernels, and which of them this processor supports.

use core::fmt;

/// Expands the list of vector kernels to their names and their availability.
macro_rules! kernels {
    (() $(
        $(#[doc = $about:literal])+
        $kernel:ident $name:literal $run:ident on $arch:literal by $detected:ident: ($($feature:tt)+);
    )+) => {
        /// An in-node search kernel, by name. All kernels give the same results.
        ///
        /// ```
        /// # use latchless_core::search::Kernel;
        /// assert_eq!(Kernel::from_name("avx2"), Some(Kernel::Avx2));
        /// assert!(Kernel::Scalar.is_available());
        /// println!("this processor searches with {}", Kernel::best());
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kernel {
            /// Branch-free binary search; runs on every processor.
            Scalar,
            $($(#[doc = $about])+ $kernel,)+
        }

        impl Kernel {
            /// Every kernel of this library, available or not.
            pub const ALL: [Self; 1 + [$($name),+].len()] = [Self::Scalar, $(Self::$kernel),+];

            /// Returns the kernel's name: `scalar`, `avx2`, `avx512`, `neon`.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Scalar => "scalar",
                    $(Self::$kernel => $name,)+
                }
            }

            /// Returns whether this processor supports the kernel. On x86-64, Miri has only the scalar
            /// kernel, unless further target features are enabled. A build with `--cfg latchless_scalar` has
            /// only that one on any processor, for race detectors that can't see the reads of assembly.
            pub fn is_available(self) -> bool {
                match self {
                    Self::Scalar => true,
                    // Vectors load many words in one step, while tests of schedules need each as a step. And
                    // lanes of half a word are located in memory in little-endian order.
                    _ if cfg!(any(latchless_scalar, latchless_shuttle, target_endian = "big")) => false,
                    $(
                        #[cfg(target_arch = $arch)]
                        Self::$kernel => $(std::arch::$detected!($feature))&&+,
                    )+
                    _ => false,
                }
            }
        }
    };
}
vector_kernels!([kernels]());

impl Kernel {
    /// Returns the kernel of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }

    /// Returns the fastest kernel that this processor supports.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Self::Scalar)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
