//! What names a node: its kind, the byte of a key that it branches on, and its place in its pool.
//!
//! ```text
//! 1 │ place of a leaf, 31 bits                  all ones: no node
//! 0 │ kind, 2 bits │ depth, 3 │ place, 26
//! ```
//! A walk knows from the reference which byte comes next, and so which line of a large node it will read,
//! before it has seen the node.

/// The kinds of inner nodes, by the children that they have room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Four,
    Sixteen,
    FortyEight,
    All,
}

/// The name of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ref(u32);

/// What a reference leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Nothing,
    Leaf(usize),
    Inner(Kind, usize),
}

const LEAF: u32 = 1 << 31;
const DEPTH_AT: u32 = 26;
const KIND_AT: u32 = 29;

impl Ref {
    /// No node.
    pub(super) const NIL: Self = Self(u32::MAX);
    /// Leaves that references can tell apart.
    pub(super) const LEAVES_MAX: usize = LEAF as usize - 1;
    /// Inner nodes of a kind that references can tell apart.
    pub(super) const NODES_MAX: usize = 1 << DEPTH_AT;

    pub(super) fn leaf(place: usize) -> Self {
        debug_assert!(place < Self::LEAVES_MAX);
        Self(LEAF | place as u32)
    }

    pub(super) fn inner(kind: Kind, depth: usize, place: usize) -> Self {
        debug_assert!(place < Self::NODES_MAX && depth < 8);
        Self((kind as u32) << KIND_AT | (depth as u32) << DEPTH_AT | place as u32)
    }

    #[inline(always)]
    pub(super) fn to(self) -> To {
        if self == Self::NIL {
            return To::Nothing;
        }
        if self.0 & LEAF != 0 {
            return To::Leaf((self.0 & !LEAF) as usize);
        }
        let kind = match self.0 >> KIND_AT {
            0 => Kind::Four,
            1 => Kind::Sixteen,
            2 => Kind::FortyEight,
            _ => Kind::All,
        };
        To::Inner(kind, self.0 as usize & (Self::NODES_MAX - 1))
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
        for kind in [Kind::Four, Kind::Sixteen, Kind::FortyEight, Kind::All] {
            for (depth, place) in [(0, 0), (7, Ref::NODES_MAX - 1), (3, 77)] {
                let inner = Ref::inner(kind, depth, place);
                assert_eq!((inner.to(), inner.depth()), (To::Inner(kind, place), depth));
            }
        }
        assert_eq!(Ref::leaf(Ref::LEAVES_MAX - 1).to(), To::Leaf(Ref::LEAVES_MAX - 1));
        assert_eq!(Ref::NIL.to(), To::Nothing);
    }
}
