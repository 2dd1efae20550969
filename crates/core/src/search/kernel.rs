//! Which kernels there are, which of them this processor has, and how an operation is handed to
//! one of them.

use crate::base::error::{Error, Result};
use crate::base::key::Bits;
use crate::mem::touch::Trace;
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
crate::vector_kernels!([kernels]());

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

/// What every kernel does: ranks of a key among ascending lanes.
///
/// Implemented by the kernels of this module alone; an operation gets one as its type parameter.
pub trait Ranks: Copy + Send + Sync + 'static {
    /// How many of the ascending `lanes` are smaller than `key` (the lower bound). Equal lanes may
    /// are side by side. Reads nothing outside of `lanes`; in lanes that don't ascend the answer
    /// is any number up to `lanes.len()`.
    fn below<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize;

    /// How many of the ascending `lanes` are smaller than or equal to `key` (the upper bound).
    /// Otherwise as [`Ranks::below`].
    fn up_to<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize;
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
