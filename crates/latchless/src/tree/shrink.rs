//! Rebuilding a tree, so that it holds no more memory than its entries need.
//!
//! Nodes stay where they are, and the memory of emptied ones is between that of others: none of it can be
//! returned. So the entries are loaded into new nodes, and all of the old ones are returned together.

use super::blink::BlinkTree;
use super::store::Store;
use crate::blink::Levels;
use crate::node::{Entries, LeafReader};
use core::num::NonZeroUsize;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;
use latchless_core::sync::Mutex;

impl<B: Bits> BlinkTree<B> {
    /// Moves the entries to new nodes, each filled to this degree, and returns the memory of the old ones to
    /// the system. O(n). Both are held until it is done.
    ///
    /// # Errors
    /// Memory was refused. The tree is then unchanged.
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        let mut fresh = self.alike();
        let store = self.store();
        // The leaves decide. In a process that was forked from others' inserts, the tree's count needn't be
        // exact.
        let len = leaves(store).map(|leaf| store.leaf(leaf).len()).sum();
        if len == 0 {
            fresh.store().init_root()?;
        } else {
            let entries =
                Mutex::new(InOrder { store, leaves: leaves(store), copy: Entries::default(), before: 0 });
            fresh.build(len, |at| entries.lock().entry(at), fill, NonZeroUsize::MIN)?;
        }
        self.swap_nodes(&mut fresh);
        Ok(())
    }
}

/// Returns the leaves, in order.
fn leaves<B: Bits>(store: &Store<B>) -> impl Iterator<Item = NodeRef> {
    let present = |leaf: NodeRef| (!leaf.is_nil()).then_some(leaf);
    core::iter::successors(store.first(0), move |&leaf| present(store.leaf(leaf).link()))
}

/// The entries by position, for a caller that takes each in turn, and some of them twice.
struct InOrder<'a, B: Bits, L> {
    store: &'a Store<B>,
    /// The leaves after the copied one.
    leaves: L,
    copy: Entries<B>,
    /// The number of entries before the copied leaf.
    before: usize,
}

impl<B: Bits, L: Iterator<Item = NodeRef>> InOrder<'_, B, L> {
    fn entry(&mut self, at: usize) -> (B, B) {
        while at >= self.before + self.copy.keys().len() {
            self.before += self.copy.keys().len();
            let leaf = self.leaves.next().expect("the leaves have as many entries as were counted");
            self.copy.clear();
            LeafReader(self.store.leaf(leaf)).copy_out::<Scalar>(&mut self.copy);
        }
        let at = at - self.before;
        (self.copy.keys()[at], self.copy.values()[at])
    }
}
