//! References to nodes: a number instead of an address.

/// A reference to a node: four bytes instead of a pointer's eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRef(u32);

impl NodeRef {
    /// No node.
    pub const NIL: Self = Self(u32::MAX);

    /// Returns the reference in the form that is stored in a node.
    #[inline(always)]
    pub fn to_word(self) -> u32 {
        self.0
    }

    /// Returns the reference that a stored word represents.
    #[inline(always)]
    pub fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Returns whether this refers to no node.
    #[inline(always)]
    pub fn is_nil(self) -> bool {
        self == Self::NIL
    }

    /// Returns the node `places` further on in the same run.
    #[inline(always)]
    pub fn offset(self, places: usize) -> Self {
        Self(self.0.wrapping_add(places as u32))
    }
}
