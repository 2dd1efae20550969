//! The root of a tree.

use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

/// More levels than a tree of 2^32 nodes has; for the smallest nodes, more than the trees of tests have.
pub(crate) const LEVELS_MAX: usize = if cfg!(latchless_small_nodes) { 48 } else { 16 };

/// The root and the number of levels, in one word: the root's reference in the lower half. Changed only
/// under the latch of the root that it names.
#[derive(Debug, Default)]
pub(crate) struct Root(Word);

impl Root {
    /// Returns the root and the number of levels.
    #[inline(always)]
    pub(crate) fn get(&self) -> (NodeRef, usize) {
        let word = self.0.follow();
        (NodeRef::from_word(word as u32), (word >> 32) as usize)
    }

    /// Sets the root and the number of levels.
    pub(crate) fn set(&self, node: NodeRef, levels: usize) {
        self.0.publish((levels as u64) << 32 | u64::from(node.to_word()));
    }
}
