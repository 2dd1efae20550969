//! References to nodes: a number instead of an address.

/// A reference to a block: four bytes instead of a pointer's eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRef(u32);

impl NodeRef {
    /// No block.
    pub const NIL: Self = Self(u32::MAX);

    /// The reference as it is stored in a node.
    #[inline(always)]
    pub fn to_word(self) -> u32 {
        self.0
    }

    /// The reference that a stored word represents.
    #[inline(always)]
    pub fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Whether this refers to no block.
    #[inline(always)]
    pub fn is_nil(self) -> bool {
        self == Self::NIL
    }

    /// The block `places` further on in the same run.
    #[inline(always)]
    pub fn offset(self, places: usize) -> Self {
        Self(self.0.wrapping_add(places as u32))
    }
}
