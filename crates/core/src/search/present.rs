//! What a kernel is as a type: present on this processor, with ranks among lanes, and perhaps with vectors.
//!
//! How a type is handed out, and to whom, is in `dispatch.rs`. Searches in single lines are in
//! `half_line.rs`.

use crate::base::key::Bits;
use crate::mem::touch::Trace;

/// A kernel as a type. Code that has it as a type parameter may use its instructions.
///
/// The scalar kernel, which runs on every processor, has a public name:
///
/// ```
/// use latchless_core::mem::touch::NoTrace;
/// use latchless_core::search::{Ranks, Scalar};
/// assert_eq!(Scalar::below::<u64, NoTrace>(&[3, 5, 7], 6), 2);
/// ```
///
/// A vector kernel has none: otherwise a program could execute instructions that its processor lacks.
///
/// ```compile_fail,E0603
/// use latchless_core::search::Avx512;
/// ```
/// ```compile_fail,E0603
/// use latchless_core::search::avx2::Avx2;
/// ```
///
/// Nor can safe code define a kernel:
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
/// Outside of the search modules, safe code can obtain a type that implements this only on a processor that
/// supports the kernel.
pub unsafe trait Present: Copy + Send + Sync + 'static {
    /// Runs `operation` with the kernel's vectors, or returns it if the kernel has none.
    ///
    /// # Errors
    /// `operation`, if the kernel is the scalar one.
    fn with_vectors<O: VectorOperation>(operation: O) -> core::result::Result<O::Output, O>;
}

/// An operation on long vectors: searches that are written once over an [`InstructionSet`].
pub trait VectorOperation {
    /// The operation's result.
    type Output;

    /// Runs the operation. Implementations are `#[inline(always)]`, see
    /// [`WithKernel::with`](super::WithKernel::with).
    fn run<I: InstructionSet>(self) -> Self::Output;
}

/// The operations of every kernel: ranks of a key among ascending lanes.
///
/// Only the kernels of this module implement it; an operation gets one as its type parameter.
pub trait Ranks: Present {
    /// Returns how many of the ascending `lanes` are smaller than `key` (the lower bound). Equal lanes are
    /// adjacent. Reads nothing outside of `lanes`; if the lanes aren't ascending, the result is any number
    /// up to `lanes.len()`.
    fn below<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize;

    /// Returns how many of the ascending `lanes` are smaller than or equal to `key` (the upper bound).
    /// Otherwise like [`Ranks::below`].
    fn up_to<B: Bits, T: Trace>(lanes: &[B], key: B) -> usize;
}

/// The vector operations of an instruction set: on ascending lanes of a node that isn't being written
/// (ranks, below), or on long arrays of words that may be written meanwhile.
///
/// # Safety
/// The functions return what they document. `load` reads one whole vector from `at` on, and `load_few` reads
/// `lanes` lanes and no byte more. Neither needs alignment beyond that of a lane. Callers ensure that the
/// processor has the instruction set, which a type that is [`Present`] proves.
pub unsafe trait InstructionSet: Present {
    /// One or several registers of lanes.
    type Vector: Copy;
    /// The result of comparing a vector's lanes, in the instruction set's form.
    type Mask: Copy;
    /// Bytes in a vector.
    const VECTOR_BYTES: usize;

    /// Returns the key in every lane.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn splat<B: Bits>(key: B) -> Self::Vector;

    /// Loads the vector at `at`.
    ///
    /// # Safety
    /// See the trait; the vector is readable.
    unsafe fn load<B: Bits>(at: *const B) -> Self::Vector;

    /// Loads the `lanes` lanes from `at` on, fewer than a vector holds; the remaining lanes are arbitrary.
    ///
    /// # Safety
    /// See the trait; the lanes are readable.
    unsafe fn load_few<B: Bits>(at: *const B, lanes: usize) -> Self::Vector;

    /// Loads these words, each of them whole, by an equivalent of a relaxed load of each.
    ///
    /// # Safety
    /// See the trait; there are as many words as a vector has lanes.
    unsafe fn load_words<B: Bits>(words: &[B::Word]) -> Self::Vector;

    /// Returns the lanes in which `left` is greater than `right`, unsigned.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn greater<B: Bits>(left: Self::Vector, right: Self::Vector) -> Self::Mask;

    /// Returns the union of the masks.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn either(one: Self::Mask, other: Self::Mask) -> Self::Mask;

    /// Converts a mask to one bit per lane.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn bits<B: Bits>(mask: Self::Mask) -> u32;
}

/// Returns the number of lanes in a vector.
pub const fn lanes_in_vector<I: InstructionSet, B: Bits>() -> usize {
    I::VECTOR_BYTES / B::BYTES
}
