//! What an index layer is built over.

/// The nodes that an index layer is built over, in ascending order of keys, in one or more parts.
pub trait Source<B>: Sync {
    /// Returns the number of parts, which are built in parallel.
    fn parts(&self) -> usize;

    /// Shows the nodes of a part whose height is at least 2: key, height, and the word that names the data
    /// node. No key is [`Bits::MAX`](latchless_core::base::key::Bits::MAX).
    fn each(&self, part: usize, visit: impl FnMut(B, usize, u32));
}
