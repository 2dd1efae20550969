//! The first and the last leaf, where keys that come in order go.

use super::*;

/// Which leaf has the smallest keys of all, and which the greatest. Keys beyond those that the table of slots
/// was made for have no guess there; those that grow beyond them all, or fall below, come to these leaves.
///
/// In a line of its own: it is written where the tables above are read only.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Ends {
    first: EndLeaf,
    last: EndLeaf,
}

/// A leaf, and the fence on its inner side. The two words are written one after the other, so that now and
/// then the one doesn't belong to the other: the leaf's fences tell.
#[derive(Debug)]
struct EndLeaf {
    fence: Word,
    leaf: Word,
}

/// The first leaf of all, or the last one.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct End {
    pub(in crate::tree) leaf: NodeRef,
    pub(in crate::tree) is_last: bool,
}

impl EndLeaf {
    /// Only the key that is the fence is beyond it.
    fn unknown(fence: u64) -> Self {
        Self { fence: Word::new(fence), leaf: Word::new(u64::from(NodeRef::NIL.to_word())) }
    }

    fn is(&self, leaf: NodeRef, fence: u64) {
        self.fence.store_relaxed(fence);
        self.leaf.publish(u64::from(leaf.to_word()));
    }

    /// The leaf, if the key is beyond its fence, in the direction that `is_beyond` tells.
    #[inline(always)]
    fn leaf_if(&self, is_beyond: impl FnOnce(u64) -> bool) -> Option<NodeRef> {
        if !is_beyond(self.fence.load_relaxed()) {
            return None;
        }
        let leaf = NodeRef::from_word(self.leaf.follow() as u32);
        (!leaf.is_nil()).then_some(leaf)
    }
}

impl Ends {
    pub(super) fn unknown() -> Self {
        Self { first: EndLeaf::unknown(0), last: EndLeaf::unknown(u64::MAX) }
    }

    /// Learns of a leaf of these fences.
    pub(super) fn name<B: Bits>(&self, leaf: NodeRef, (low, high): (B, B)) {
        if low == B::MIN {
            self.first.is(leaf, high.to_u64());
        }
        if high == B::MAX {
            self.last.is(leaf, low.to_u64());
        }
    }

    /// The inner fences of the first and of the last leaf.
    #[inline(always)]
    pub(super) fn fences(&self) -> (u64, u64) {
        (self.first.fence.load_relaxed(), self.last.fence.load_relaxed())
    }

    /// The end that `key` is likely to come to.
    #[inline(always)]
    pub(super) fn end(&self, key: u64) -> Option<End> {
        if let Some(leaf) = self.last.leaf_if(|low| key >= low) {
            return Some(End { leaf, is_last: true });
        }
        Some(End { leaf: self.first.leaf_if(|high| key <= high)?, is_last: false })
    }

    /// The first or the last leaf, if that is likely to have `key`, and in which sixteenth of it the key is
    /// likely to stand.
    #[inline(always)]
    pub(super) fn guess(&self, key: u64) -> Option<(NodeRef, usize)> {
        let end = self.end(key)?;
        Some((end.leaf, if end.is_last { 15 } else { 0 }))
    }
}
