//! The consistency check of the whole tree.

use super::blink::BlinkTree;
use super::store::{Arena, At, Store};
use crate::blink::{Check, Content, check};
use crate::node::operation::{Operation, Search};
use crate::node::{Children, Inner};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::mem::node_ref::NodeRef;

impl<B: Bits> BlinkTree<B> {
    /// Checks every invariant of the tree and of its nodes. The tree must be at rest: concurrent changes may
    /// look like violations.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let nodes = check(self.store(), B::MIN)?.nodes;
        let (bytes, live) = (nodes * Arena::NODE_BYTES, self.live_bytes());
        if bytes != live {
            return Err(Broken::new(format!("nodes of {bytes} bytes found, {live} bytes handed out")));
        }
        self.ranks().fault(self.store()).map_or(Ok(()), |fault| Err(Broken::new(fault)))
    }
}

impl<B: Bits> Check for Store<B> {
    type Fence = B;

    fn is_of_level(&self, node: NodeRef, level: usize) -> bool {
        self.arena().is_of_kind(level, node)
    }

    fn content(&self, at: At<'_>, level: usize) -> Result<Content<B>, String> {
        let (low, high) = at.fences(level);
        let mut content = Content { low, end: next(high), children: Vec::new(), entries: 0, blocks: 0 };
        let fault = if level == 0 {
            content.entries = at.leaf::<B>().len();
            at.leaf::<B>().fault()
        } else {
            let mut children = Children::default();
            at.inner().copy_out(&mut children);
            let separators = children.separators().iter().copied();
            content.children = separators.zip(children.nodes().iter().copied()).collect();
            self.run(FaultOf(at.inner::<B>()))
        };
        fault.map_or(Ok(content), Err)
    }
}

/// Checks an inner node with the searches of the tree's kernel.
struct FaultOf<'a, B>(Inner<'a, B>);

impl<B: Bits> Operation for FaultOf<'_, B> {
    type Output = Option<String>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<String> {
        self.0.fault::<S>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blink::{Edit, Levels};
    use crate::node::{Entries, LeafEditor, LeafReader};
    use crate::tree::{BlinkOptions, Shared};
    use latchless_core::search::Scalar;

    #[test]
    fn damage_is_found() {
        let tree =
            BlinkTree::<u64>::new(BlinkOptions { huge_pages: false, ..BlinkOptions::default() }).unwrap();
        (0..1000).for_each(|key| _ = tree.edit::<Shared>(2 * key, Edit::Put(key)).unwrap());
        let store = tree.store();
        let finds = |what: &str| {
            let found = tree.check_invariants().unwrap_err().to_string();
            assert!(found.contains(what), "{found}");
        };
        tree.check_invariants().unwrap();
        store.counts().count_entries::<Shared>(1);
        finds("1000 entries found, 1001 counted");
        store.counts().count_entries::<Shared>(-1);
        let (root, levels) = store.root().get();
        store.root().set(store.descend_to(levels - 2, &0).unwrap(), levels - 1);
        finds("links to");
        store.root().set(root, levels);
        let (leaf, mut held) = store.latch::<Shared>(store.first(0).unwrap());
        finds("is latched");
        let (leaf, mut entries) = (leaf.leaf::<u64>(), Entries::default());
        LeafReader(leaf).copy_out::<Scalar>(&mut entries);
        let ((low, high), link) = (leaf.fences(), leaf.link());
        held.changing();
        let len = entries.keys().len();
        let damage = |fences, link| LeafEditor(leaf).set(fences, link, &entries, 0..len);
        damage((low, high), NodeRef::NIL);
        drop(held);
        finds("links to 4294967295");
        let (_, mut held) = store.latch::<Shared>(store.first(0).unwrap());
        held.changing();
        damage((low, high - 1), link);
        drop(held);
        finds("the node before ends at");
    }
}
