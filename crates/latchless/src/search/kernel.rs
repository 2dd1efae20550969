//! Which kernels there are, which this processor has, and the vocabulary they share.

use crate::base::error::{Error, Result};
use crate::base::key::Bits;
use crate::mem::touch::Touch;

/// An in-node search kernel, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Branch-free binary search; on every processor.
    Scalar,
}

impl Kernel {
    /// Every kernel of this library, whether this processor has it or not.
    pub const ALL: [Self; 1] = [Self::Scalar];

    /// The kernel's name: `scalar`, `avx2`, `avx512`, `neon`.
    pub fn name(self) -> &'static str {
        "scalar"
    }

    /// Whether this processor has what the kernel needs.
    pub fn is_available(self) -> bool {
        true
    }

    /// The fastest kernel that this processor has.
    pub fn best() -> Self {
        Self::Scalar
    }

    /// The kernel itself, if this processor has it.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`].
    pub fn checked(self) -> Result<Self> {
        if self.is_available() { Ok(self) } else { Err(Error::KernelUnavailable { kernel: self.name() }) }
    }
}

/// What a kernel does: ranks of a key among sorted lanes.
pub trait Search: Copy + Send + Sync + 'static {
    /// How many of the sorted `lanes` are smaller than `key` (the lower bound).
    fn below<B: Bits, T: Touch>(lanes: &[B], key: B) -> usize;

    /// How many of the sorted `lanes` are smaller than or equal to `key` (the upper bound).
    fn up_to<B: Bits, T: Touch>(lanes: &[B], key: B) -> usize;
}
