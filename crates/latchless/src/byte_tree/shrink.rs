//! Rebuilding a tree, so that it holds no more memory than its entries need.
//!
//! As in [`tree`](crate::tree), the entries are loaded into new nodes, and all of the old ones are returned
//! to the system together. The new tree has the old one's seed, so hashes stay as they are.

use super::leaf_copy::{Bounds, LeafCopy};
use super::take::{Kept, OneWord, Take};
use super::tree::ByteTree;
use super::values::Values;
use crate::blink::Listing;
use core::ops::Range;
use latchless_core::base::bytes_value::Raw;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::spans;

impl ByteTree {
    /// Moves the entries to new nodes, each filled to this degree, and returns the memory of the old ones to
    /// the system. O(n). Both are held until it is done.
    ///
    /// # Errors
    /// Memory was refused. The tree is then unchanged.
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        let span = spans::bulk_load();
        let (store, finder) = (self.store.alike(), self.finder.alike());
        let mut fresh = Self { store, finder, listing: Listing::empty() };
        let len = LeafCopy::lend(|leaf| {
            if self.store.values() == Values::ONE_WORD {
                let mut entries = InOrder::of(self, leaf, OneWord);
                return fresh.build(fill, &mut |key, loaded| {
                    entries.next(key, |word, _| loaded.set(Raw::Word(word)))
                });
            }
            let mut entries = InOrder::of(self, leaf, Kept::of_values(self.store.values()));
            fresh.build(fill, &mut |key, loaded| entries.next(key, |_, kept| loaded.set(kept.raw())))
        })?;
        self.store.swap_nodes(&mut fresh.store);
        core::mem::swap(&mut self.finder, &mut fresh.finder);
        span.record("entries", len as u64);
        span.record("bytes", self.live_bytes() as u64);
        Ok(())
    }
}

/// The entries of a tree that is at rest, in order.
struct InOrder<'a, T> {
    tree: &'a ByteTree,
    leaf: &'a mut LeafCopy,
    /// Those of the copied leaf that come next.
    within: Range<usize>,
    take: T,
}

impl<'a, T: Take> InOrder<'a, T> {
    fn of(tree: &'a ByteTree, leaf: &'a mut LeafCopy, take: T) -> Self {
        tree.load_first(Bounds::ALL, leaf);
        Self { tree, within: leaf.within(), leaf, take }
    }

    /// Appends the next key to `to`, and calls `see` with the first word of its value and with what took the
    /// value. Returns whether there was an entry.
    fn next(&mut self, to: &mut Vec<u8>, see: impl FnOnce(u64, &T)) -> bool {
        loop {
            for at in self.within.by_ref() {
                if self.tree.take_copied(self.leaf, at, &mut self.take) {
                    let (key, word) = self.leaf.entry(at);
                    to.extend_from_slice(key);
                    see(word, &self.take);
                    return true;
                }
            }
            if !self.tree.load_next(Bounds::ALL, self.leaf) {
                return false;
            }
            self.within = self.leaf.within();
        }
    }
}
