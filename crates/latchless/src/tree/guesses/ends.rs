//! The first and the last leaf, to which keys in order are added.

use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

/// The leaves with the smallest and the greatest keys of all. Keys outside of the range of the table of
/// slots have no prediction there; those that grow beyond all others, or fall below them, belong to these
/// leaves.
///
/// In its own line: it is written while the tables above are only read.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Ends {
    first: EndLeaf,
    last: EndLeaf,
}

/// A leaf, and the fence on its inner side. The two words are written one after the other, so a reader may
/// see a mismatched pair: the leaf's fences decide.
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

    /// Returns the leaf, if the key is beyond its fence, in the direction of `is_beyond`.
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

    /// Enters a leaf with these fences.
    pub(super) fn name<B: Bits>(&self, leaf: NodeRef, low: B, high: B) {
        if low == B::MIN {
            self.first.is(leaf, high.to_u64());
        }
        if high == B::MAX {
            self.last.is(leaf, low.to_u64());
        }
    }

    /// Returns the inner fences of the first and of the last leaf.
    #[inline(always)]
    pub(super) fn fences(&self) -> (u64, u64) {
        (self.first.fence.load_relaxed(), self.last.fence.load_relaxed())
    }

    /// Returns the end that `key` probably belongs to.
    #[inline(always)]
    pub(super) fn end(&self, key: u64) -> Option<End> {
        if let Some(leaf) = self.last.leaf_if(|low| key >= low) {
            return Some(End { leaf, is_last: true });
        }
        Some(End { leaf: self.first.leaf_if(|high| key <= high)?, is_last: false })
    }

    /// Returns the first or the last leaf, if it probably has `key`, and the sixteenth of it in which the
    /// key probably is.
    #[inline(always)]
    pub(super) fn guess(&self, key: u64) -> Option<(NodeRef, usize)> {
        let end = self.end(key)?;
        Some((end.leaf, if end.is_last { 15 } else { 0 }))
    }
}
