//! References to nodes: the kind, the byte of a key on which the node branches, and the place in its
//! arena.
//!
//! ```text
//! 1 │ place of a leaf, 31 bits
//! 0 │ kind, 2 bits │ depth, 3 │ 1 + place, 26        all zeros: no node
//! ```
//! Unwritten memory contains no references.
//!
//! From the reference a walk knows the next byte, and so which line of a large node it will read, before
//! it has read the node.

use latchless_core::mem::node_ref::NodeRef;

/// The kinds of inner nodes, by the number of children that they have room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Four,
    Sixteen,
    FortyEight,
    All,
}

/// The name of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ref(u32);

/// The target of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Nothing,
    Leaf(NodeRef),
    Inner(Kind, NodeRef),
}

const LEAF: u32 = 1 << 31;
const DEPTH_AT: u32 = 26;
const KIND_AT: u32 = 29;

impl Ref {
    /// No node.
    pub(super) const NIL: Self = Self(0);
    /// The number of leaves that references can distinguish.
    pub(super) const LEAVES_MAX: u32 = LEAF;
    /// The number of inner nodes of a kind that references can distinguish.
    pub(super) const NODES_MAX: u32 = (1 << DEPTH_AT) - 1;

    pub(super) fn leaf(place: NodeRef) -> Self {
        debug_assert!(place.to_word() < Self::LEAVES_MAX);
        Self(LEAF | place.to_word())
    }

    pub(super) fn inner(kind: Kind, depth: usize, place: NodeRef) -> Self {
        debug_assert!(place.to_word() < Self::NODES_MAX && depth < 8);
        Self((kind as u32) << KIND_AT | (depth as u32) << DEPTH_AT | (place.to_word() + 1))
    }

    /// The reference that a stored word represents.
    #[inline(always)]
    pub(super) fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Returns the reference in its stored form.
    #[inline(always)]
    pub(super) fn to_word(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub(super) fn to(self) -> To {
        if self == Self::NIL {
            return To::Nothing;
        }
        if self.0 & LEAF != 0 {
            return To::Leaf(NodeRef::from_word(self.0 & !LEAF));
        }
        let kind = match self.0 >> KIND_AT {
            0 => Kind::Four,
            1 => Kind::Sixteen,
            2 => Kind::FortyEight,
            _ => Kind::All,
        };
        To::Inner(kind, NodeRef::from_word((self.0 & Self::NODES_MAX) - 1))
    }

    /// The byte of a key, the first being 0, that an inner node branches on.
    #[inline(always)]
    pub(super) fn depth(self) -> usize {
        (self.0 >> DEPTH_AT & 7) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_say_what_they_were_made_of() {
        let at = NodeRef::from_word;
        for kind in [Kind::Four, Kind::Sixteen, Kind::FortyEight, Kind::All] {
            for (depth, place) in [(0, at(0)), (7, at(Ref::NODES_MAX - 1)), (3, at(77))] {
                let inner = Ref::inner(kind, depth, place);
                assert_eq!((inner.to(), inner.depth()), (To::Inner(kind, place), depth));
                assert_eq!(Ref::from_word(inner.to_word()), inner);
            }
        }
        for place in [at(0), at(Ref::LEAVES_MAX - 1)] {
            assert_eq!(Ref::leaf(place).to(), To::Leaf(place));
        }
        assert_eq!(Ref::from_word(0).to(), To::Nothing);
    }
}
