//! The tree of byte strings: a concurrent B-link tree, read without latches.
//!
//! # Thread safety
//! Everything takes `&self`. A reader validates each node that it goes through: a result counts only if the
//! node's version was the same before and after. So it reaches a node that was right at some moment; the
//! leaf's fences decide whether it still is. A reader that is too far left follows links; any other one
//! restarts, and takes the leaf's latch after [`READ_TRIES`](super::store::READ_TRIES) tries. Writers latch
//! leaves; inner nodes are latched only by splits and merges.
//!
//! # Invariants
//! Those of `blink/mod.rs`, and: a key is in one leaf that isn't dead, so a reader that finds it there needs
//! no fences, and may come there by a [guess](super::finder).

use super::finder::Finder;
use super::shape::Nodes;
use super::store::Store;
use super::values::Values;
use crate::blink::{BlinkOptions, Levels, Listing, Tries, counted};
use latchless_core::base::bytes_value::Kind;
use latchless_core::base::error::Result;
use latchless_core::base::stats::Stats;
use latchless_core::mem::budget::Budget;
use std::sync::Arc;

/// A concurrent ordered map from byte strings to words. See the file's head.
#[derive(Debug)]
pub struct ByteTree {
    pub(super) store: Store,
    pub(super) finder: Finder,
    /// Operations with closures that are listed.
    pub(super) listing: Listing,
}

impl ByteTree {
    /// An empty tree: one empty leaf. `values`: their form.
    ///
    /// # Errors
    /// When memory for that leaf is refused, or the kernel isn't available here.
    pub fn new(options: BlinkOptions, values: Kind) -> Result<Self> {
        Self::with_keys(options, values, false)
    }

    /// An empty tree whose keys may be versioned.
    ///
    /// # Errors
    /// Those of [`ByteTree::new`].
    pub fn with_keys(options: BlinkOptions, values: Kind, versioned: bool) -> Result<Self> {
        let (nodes, dispatch) = options.begin()?;
        let finder = Finder::none(options.huge_pages, options.prefault, nodes.budget());
        let store = Store::new(nodes, Values::of(values), versioned, dispatch);
        store.init_root()?;
        Ok(Self { store, finder, listing: Listing::empty() })
    }

    /// Removes everything and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.store.clear();
        self.finder.clear();
        self.store.init_root().expect("one node found room before");
    }

    /// How many keys there are: exact when no thread is changing that.
    pub fn len(&self) -> usize {
        self.store.counts().entries()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of every node that was ever in use, including those that carry long strings, of the tables,
    /// and of other users of the budget.
    pub fn held_bytes(&self) -> usize {
        self.budget().taken_bytes()
    }

    /// Bytes of the nodes in the tree, of the blocks of long strings, and of the tables that are in use.
    pub fn live_bytes(&self) -> usize {
        let long = self.store.long();
        long.tree_nodes() * Nodes::NODE_BYTES + long.live_bytes() + self.finder.bytes()
    }

    /// The held bytes, those that are committed for further nodes, and those of the free lists.
    pub fn mapped_bytes(&self) -> usize {
        self.store.nodes().mapped_bytes()
    }

    /// What the tree counts, and its levels. O(1).
    pub fn counted(&self) -> Stats {
        counted(&self.store)
    }

    /// The budget of the tree's memory. Others may charge it, too.
    pub fn budget(&self) -> &Arc<Budget> {
        self.store.nodes().budget()
    }

    /// The tries of an operation with a closure about `key`.
    pub fn tries(&self, key: &[u8]) -> Tries<'_> {
        self.listing.tries(self.store.hash(key))
    }
}
