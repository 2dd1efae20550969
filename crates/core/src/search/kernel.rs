//! Which kernels there are, by name, and which of them this processor has.

use core::fmt;

/// Makes of the list of vector kernels the names, and which of them this processor has.
macro_rules! kernels {
    (() $(
        $(#[doc = $about:literal])+
        $kernel:ident $name:literal $run:ident on $arch:literal by $detected:ident: ($($feature:tt)+);
    )+) => {
        /// An in-node search kernel, by name. Every kernel gives the same answers.
        ///
        /// ```
        /// # use latchless_core::search::Kernel;
        /// assert_eq!(Kernel::from_name("avx2"), Some(Kernel::Avx2));
        /// assert!(Kernel::Scalar.is_available());
        /// println!("this processor searches with {}", Kernel::best());
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kernel {
            /// Branch-free binary search; on every processor.
            Scalar,
            $($(#[doc = $about])+ $kernel,)+
        }

        impl Kernel {
            /// Every kernel of this library, whether this processor has it or not.
            pub const ALL: [Self; 1 + [$($name),+].len()] = [Self::Scalar, $(Self::$kernel),+];

            /// The kernel's name: `scalar`, `avx2`, `avx512`, `neon`.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Scalar => "scalar",
                    $(Self::$kernel => $name,)+
                }
            }

            /// Whether this processor has what the kernel needs. On x86-64, an interpreter such as Miri has
            /// the scalar kernel alone, unless it is told of more; so has a build with
            /// `--cfg latchless_scalar`, on any processor, for race detectors that can't see what assembly
            /// reads.
            pub fn is_available(self) -> bool {
                match self {
                    Self::Scalar => true,
                    // Vectors load many words in one step; tests that look at steps want each. And lanes of
                    // half a word are found in memory in the order that little-endian processors have.
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
    /// The kernel of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }

    /// The fastest kernel that this processor has.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Self::Scalar)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
