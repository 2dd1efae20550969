//! Which kernels there are, which of them this processor has, and how an operation is handed to
//! one of them.

use crate::base::error::{Error, Result};
use crate::base::key::Bits;
use crate::mem::touch::Trace;
use core::fmt;

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
    /// 32-byte vectors, on x86-64 processors since about 2013.
    Avx2,
    /// 64-byte vectors with masks, on many x86-64 servers since 2017.
    Avx512,
    /// 16-byte vectors, on every 64-bit Arm processor.
    Neon,
}

impl Kernel {
    /// Every kernel of this library, whether this processor has it or not.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Avx2, Self::Avx512, Self::Neon];

    /// The kernel's name: `scalar`, `avx2`, `avx512`, `neon`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// The kernel of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }

    /// Whether this processor has what the kernel needs. On x86-64, an interpreter such as Miri has the
    /// scalar kernel alone, unless it is told of more; so has a build with `--cfg latchless_scalar`, on any
    /// processor, for race detectors that can't see what assembly reads.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            // Vectors load many words in one step; tests that look at steps want each.
            _ if cfg!(any(latchless_scalar, latchless_shuttle)) => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has_bit_counting() && is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                // BW and VL: how the unsigned 16-bit hints of hinted nodes are compared. Servers have
                // had all of these together since the first that had AVX-512.
                has_bit_counting()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
            }
            // Lanes of half a word are found in memory in the order that little-endian processors have.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }

    /// The fastest kernel that this processor has.
    pub fn best() -> Self {
        let by_speed = [Self::Avx512, Self::Avx2, Self::Neon];
        by_speed.into_iter().find(|kernel| kernel.is_available()).unwrap_or(Self::Scalar)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Population count and friends, which turn compare masks into counts, and leading zeros, which tell where
/// a node is.
#[cfg(target_arch = "x86_64")]
fn has_bit_counting() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
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
