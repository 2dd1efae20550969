//! A map on its way to be an index. What it does as one is in the file `ordered`.

/// A peer, driven as an [`OrderedIndex`](latchless_core::base::index::OrderedIndex).
#[derive(Debug, Default)]
pub struct Driven<P>(pub(crate) P);

impl<P> Driven<P> {
    /// The map itself.
    pub fn inner(&self) -> &P {
        &self.0
    }
}
