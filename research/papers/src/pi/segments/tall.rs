//! A data node as the index layer sees it.

/// A node of the index layer, with the data that its rebuild needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tall<B> {
    pub(super) key: B,
    pub(super) place: u16,
    pub(super) height: u16,
}
