//! Looking up one key.

use super::change::Shared;
use super::node::Toward;
use super::tree::ByteTree;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::mem::node_ref::NodeRef;

impl ByteTree {
    /// The value under a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<u64> {
        self.dispatch.run(Get { tree: self, key })
    }

    /// As [`ByteTree::get`], of a key with this tag. `node`: where a descent came out.
    #[inline(always)]
    pub(super) fn get_from<S: Search>(&self, node: NodeRef, key: &[u8], tag: u8) -> Option<u64> {
        let (_, leaf) = self.at(node);
        if let Some(version) = leaf.latch().stable_version() {
            let found = value_in::<S>(leaf, key, tag);
            // A key that is found is right, however the reader came here.
            if found.is_some() && leaf.latch().validate(version) {
                return found;
            }
        }
        self.get_again::<S>(node, key, tag)
    }

    /// As [`ByteTree::get_from`], when looking once found nothing.
    #[inline(never)]
    fn get_again<S: Search>(&self, node: NodeRef, key: &[u8], tag: u8) -> Option<u64> {
        self.read_leaf(node, (key, Toward::Key), |(_, leaf)| value_in::<S>(leaf, key, tag)).0
    }
}

/// The value of a key in a leaf.
#[inline(always)]
fn value_in<S: Search>(leaf: Shared<'_>, key: &[u8], tag: u8) -> Option<u64> {
    leaf.find::<S>(key, tag).map(|at| leaf.value(leaf.shape(), at))
}

struct Get<'a> {
    tree: &'a ByteTree,
    key: &'a [u8],
}

impl Operation for Get<'_> {
    type Output = Option<u64>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<u64> {
        let tag = ByteTree::tag(self.tree.hash(self.key));
        let node = self.tree.descend_to_leaf(self.key, Toward::Key);
        self.tree.get_from::<S>(node, self.key, tag)
    }
}
