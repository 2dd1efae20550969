//! The offset of each field of a node: first the scheme's words, then entries.
//!
//! ```text
//! latch │ meta │ high key │ low fence │ group │       key value │ key value │ ……… │ link
//!                                              │ child │ key child │ key child │ ……… │ link
//! ```
//! Every field is one word as wide as a lane; words that a scheme doesn't need are absent. *Meta* has
//! size, level and three flags (the paper's `size` and `level`, Fig. 3). The link is the last word, as in
//! that figure: hardly a search reads it. With 64-bit lanes the upper half of meta has the link or group, and
//! one word has two children, which are after all keys.
//!
//! # Keys are beside what they lead to
//! The paper draws "keys and ptrs" as one field (Fig. 3), and finds nodes of 128 bytes best because a
//! search often needs only the first 64 of a node that is 70 % full (§6). That holds only if a key and its
//! pointer are adjacent: pointers after all keys would begin in the second line.
//!
//! # Table 1
//! The paper counts an entry of a CSB+-Tree's inner node as one key; with n children only n − 1 separators
//! are needed, so one word is unused. It has the low fence if there is one.

use super::scheme::{NodeLatch, Scheme};
use crate::error::{Error, Result};
use core::fmt::Debug;
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;

/// Everything in which the nodes of two trees can differ, but for their size.
pub trait Kind: Debug + Send + Sync + 'static {
    /// The lane of keys and of values.
    type Bits: Bits;
    /// The concurrency-control scheme.
    type Scheme: Scheme;
    /// The tracing hook, to which the tree reports its reads and writes.
    type Trace: Trace;
    /// Whether the children of a node are adjacent in a node group (full CSB+-Tree), or have one reference
    /// each (B+-Tree).
    const GROUPS: bool;
}

/// A B+-Tree or a CSB+-Tree under a scheme.
pub trait Family: Debug + Send + Sync + 'static {
    /// See [`Kind::Scheme`].
    type Scheme: Scheme;
    /// See [`Kind::GROUPS`].
    const GROUPS: bool;
}

/// The B+-Tree under a scheme.
#[derive(Debug)]
pub struct BPlus<S>(PhantomData<S>);

/// The full CSB+-Tree under a scheme: a group has room for all its nodes from the start, a split moves the
/// nodes after it by one place, and a full group splits in two.
#[derive(Debug)]
pub struct CsbPlus<S>(PhantomData<S>);

impl<S: Scheme> Family for BPlus<S> {
    type Scheme = S;
    const GROUPS: bool = false;
}

impl<S: Scheme> Family for CsbPlus<S> {
    type Scheme = S;
    const GROUPS: bool = true;
}

/// The kind with lanes `B`, family and scheme `F`, and listener `T`.
#[derive(Debug)]
pub struct Of<B, F, T>(PhantomData<(B, F, T)>);

impl<B: Bits, F: Family, T: Trace> Kind for Of<B, F, T> {
    type Bits = B;
    type Scheme = F::Scheme;
    type Trace = T;
    const GROUPS: bool = F::GROUPS;
}

/// The words of a kind's nodes.
pub type WordOf<K> = <<K as Kind>::Bits as Bits>::Word;

/// The offsets of fields, in words, known at compile time.
#[derive(Debug)]
pub struct Fields<K>(PhantomData<K>);

impl<K: Kind> Fields<K> {
    /// Whether a word is wide enough for a reference beside size, level and flags.
    pub const WIDE: bool = K::Bits::BYTES == 8;
    /// Whether nodes have a latch.
    pub const LATCHED: bool = !matches!(K::Scheme::NODE_LATCH, NodeLatch::None);
    /// Whether nodes store the key after which they begin.
    pub const LOW_FENCES: bool = K::Scheme::LINKS && (K::GROUPS || K::Scheme::AT_ONCE);
    /// Whether a node's last word is the link to the right.
    pub const LINK_IS_LAST: bool = K::Scheme::LINKS && !K::GROUPS && !Self::WIDE;
    /// Whether a word before the keys is a reference: an inner node's, to the group of its children.
    const GROUP_IS_FIRST: bool = K::GROUPS && !Self::WIDE;

    /// The latch.
    pub const LATCH_AT: usize = 0;
    /// Size, level, flags.
    pub const META_AT: usize = Self::LATCHED as usize;
    /// The high key.
    pub const HIGH_AT: usize = Self::META_AT + 1;
    /// The low fence.
    pub const LOW_AT: usize = Self::HIGH_AT + K::Scheme::LINKS as usize;
    /// The group, of 32-bit lanes; of a group's head, the link.
    pub const GROUP_AT: usize = Self::LOW_AT + Self::LOW_FENCES as usize;
    /// A leaf's keys.
    pub const LEAF_KEYS_AT: usize = Self::GROUP_AT;
    /// Whether an inner node's children and separators alternate, one word each.
    pub const ALTERNATES: bool = !K::GROUPS && !Self::WIDE;
    /// An inner node's first separator; if they alternate with children, after the first child.
    pub const INNER_KEYS_AT: usize =
        Self::GROUP_AT + Self::GROUP_IS_FIRST as usize + Self::ALTERNATES as usize;
    /// Nodes before a unit's first one: the head of a group, which has the link to the next group under a
    /// separate latch and version (§5.5).
    pub const HEADS: usize = (K::GROUPS && K::Scheme::LINKS) as usize;
}

/// The numbers that depend on how large nodes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The number of entries that a leaf has room for.
    pub leaf_places: usize,
    /// The number of children that an inner node has room for: the fan-out.
    pub inner_places: usize,
    /// The offset of an inner node's children, if one word has two.
    pub children_at: usize,
    /// Nodes in a unit.
    pub unit_nodes: usize,
}

/// The minimum number of children that an inner node must have room for.
const CHILDREN_MIN: usize = 4;

/// The smallest and the largest node, in bytes.
pub const NODE_BYTES: core::ops::RangeInclusive<usize> = LINE_BYTES..=8 * LINE_BYTES;

impl Layout {
    /// The layout of nodes of this size.
    ///
    /// # Errors
    /// [`Error::NodeSize`] unless that is a number of whole cache lines, from one to eight, with room for
    /// four children: with fewer, a split would leave a node with one, and a tree of such nodes grows in
    /// height without bound. That excludes 64 bytes for 64-bit lanes if nodes have low fences besides
    /// links.
    pub fn of<K: Kind>(node_bytes: usize) -> Result<Self> {
        if !NODE_BYTES.contains(&node_bytes) || !node_bytes.is_multiple_of(LINE_BYTES) {
            return Err(Error::NodeSize { given: node_bytes });
        }
        let words = node_bytes / K::Bits::BYTES - usize::from(Fields::<K>::LINK_IS_LAST);
        let leaf_places = (words - Fields::<K>::LEAF_KEYS_AT) / 2;
        let free = words - Fields::<K>::INNER_KEYS_AT;
        let inner_places = match (K::GROUPS, Fields::<K>::WIDE) {
            // The low fence is where the n-th separator isn't needed.
            (true, _) => free + usize::from(Fields::<K>::LOW_FENCES),
            // After the first child, n - 1 separators and children.
            (false, false) => 1 + free / 2,
            // n - 1 separators and n / 2 words of children, rounded up: the most that fit.
            (false, true) => (2 * free).div_ceil(3),
        };
        if inner_places < CHILDREN_MIN {
            return Err(Error::NodeSize { given: node_bytes });
        }
        Ok(Self {
            leaf_places,
            inner_places,
            children_at: Fields::<K>::INNER_KEYS_AT + inner_places - 1,
            unit_nodes: if K::GROUPS { inner_places + Fields::<K>::HEADS } else { 1 },
        })
    }
}

/// A node: which unit it is in, and at which place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// The unit. For a B+-Tree the node itself.
    pub unit: NodeRef,
    /// The index of the node within the unit, heads not counted. Zero for a B+-Tree.
    pub index: u32,
}

impl At {
    /// The first node of a unit.
    #[inline(always)]
    pub fn first(unit: NodeRef) -> Self {
        Self { unit, index: 0 }
    }

    /// The node `places` further on.
    #[inline(always)]
    pub fn further(self, places: usize) -> Self {
        Self { index: self.index + places as u32, ..self }
    }

    /// The node's reference.
    #[inline(always)]
    pub fn node<K: Kind>(self) -> NodeRef {
        if K::GROUPS { self.unit.offset(Fields::<K>::HEADS + self.index as usize) } else { self.unit }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scheme::*;
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    fn fanouts<B: Bits, F: Family>(node_bytes: usize) -> (usize, usize) {
        let layout = Layout::of::<Of<B, F, NoTrace>>(node_bytes).unwrap();
        (layout.leaf_places, layout.inner_places)
    }

    /// Table 1: leaf and non-leaf, 128-byte nodes, 4-byte keys and references.
    #[test]
    fn fanouts_are_the_papers() {
        assert_eq!(fanouts::<u32, BPlus<Olfit>>(128), (14, 14));
        assert_eq!(fanouts::<u32, BPlus<LockCoupling>>(128), (15, 15));
        assert_eq!(fanouts::<u32, BPlus<OneLatch>>(128), (15, 16));
        assert_eq!(fanouts::<u32, BPlus<VersionedNodes>>(128), (15, 15));
        assert_eq!(fanouts::<u32, BPlus<VersionedTree>>(128), (15, 16));
        assert_eq!(fanouts::<u32, CsbPlus<Olfit>>(128), (14, 28));
        assert_eq!(fanouts::<u32, CsbPlus<LockCoupling>>(128), (15, 29));
        assert_eq!(fanouts::<u32, CsbPlus<OneLatch>>(128), (15, 30));
        assert_eq!(fanouts::<u32, CsbPlus<VersionedNodes>>(128), (15, 29));
        assert_eq!(fanouts::<u32, CsbPlus<VersionedTree>>(128), (15, 30));
    }

    #[test]
    fn schemes_that_are_not_in_the_table() {
        assert_eq!(fanouts::<u32, BPlus<Without>>(128), (15, 16));
        assert_eq!(fanouts::<u32, BPlus<OlfitAtOnce>>(128), (13, 14));
        assert_eq!(fanouts::<u32, CsbPlus<OlfitAtOnce>>(128), (14, 28));
        assert_eq!(fanouts::<u64, BPlus<Without>>(128), (7, 10));
        assert_eq!(fanouts::<u64, BPlus<Olfit>>(128), (6, 9));
        assert_eq!(fanouts::<u64, BPlus<OlfitAtOnce>>(512), (30, 40));
        assert_eq!(fanouts::<u64, CsbPlus<Olfit>>(128), (6, 13));
        assert_eq!(fanouts::<u64, CsbPlus<VersionedTree>>(64), (3, 7));
    }

    /// Asserts that fields are within the node and don't overlap, at every size.
    fn fields_fit<K: Kind>() {
        for node_bytes in NODE_BYTES.step_by(LINE_BYTES) {
            let layout = match Layout::of::<K>(node_bytes) {
                Err(Error::NodeSize { given: 64 }) if !K::GROUPS && Fields::<K>::LOW_FENCES => continue,
                layout => layout.unwrap(),
            };
            let words = node_bytes / K::Bits::BYTES - usize::from(Fields::<K>::LINK_IS_LAST);
            assert!(layout.leaf_places >= 2 && layout.inner_places >= 4, "{node_bytes}: {layout:?}");
            assert!(Fields::<K>::LEAF_KEYS_AT + 2 * layout.leaf_places <= words);
            let separators = layout.inner_places - 1;
            let end = match (K::GROUPS, Fields::<K>::WIDE) {
                (true, _) => Fields::<K>::INNER_KEYS_AT + separators,
                (false, true) => layout.children_at + layout.inner_places.div_ceil(2),
                (false, false) => Fields::<K>::INNER_KEYS_AT + 2 * separators,
            };
            assert!(end <= words, "{node_bytes}: {layout:?}");
        }
    }

    #[test]
    fn no_field_overlaps_another() {
        macro_rules! check {
            ($($scheme:ty),*) => {$(
                fields_fit::<Of<u32, BPlus<$scheme>, NoTrace>>();
                fields_fit::<Of<u64, BPlus<$scheme>, NoTrace>>();
                fields_fit::<Of<u32, CsbPlus<$scheme>, NoTrace>>();
                fields_fit::<Of<u64, CsbPlus<$scheme>, NoTrace>>();
            )*};
        }
        check!(Without, Olfit, OlfitAtOnce, LockCoupling, OneLatch, VersionedNodes, VersionedTree);
    }

    #[test]
    fn other_sizes_are_refused() {
        for given in [0, 32, 63, 100, 127, 513, 576, usize::MAX] {
            let refused = Layout::of::<Of<u32, BPlus<Olfit>, NoTrace>>(given);
            assert_eq!(refused, Err(Error::NodeSize { given }));
        }
        let refused = Layout::of::<Of<u64, BPlus<OlfitAtOnce>, NoTrace>>(64);
        assert_eq!(refused, Err(Error::NodeSize { given: 64 }));
        assert_eq!(fanouts::<u32, BPlus<OlfitAtOnce>>(64), (5, 6));
    }
}
