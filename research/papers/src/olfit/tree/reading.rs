//! Reads of a range that can be validated later: the leaves that cover it, and their versions.
//! Transactions need this against phantoms (§5.4).
//!
//! # Thread safety
//! A leaf's version changes with its entries, with its end, and when it leaves the tree; and keys enter a
//! leaf's range only from leaves that change by that. So as long as no version has changed, the same
//! leaves cover the range, with the same entries: no key in it was inserted, removed or given another
//! value. Memory of nodes is never unmapped and versions never recur, so a leaf that was reused has
//! another version.

use super::OlfitTree;
use super::guard::Access;
use super::path::NoPath;
use crate::olfit::node::{Kind, Olfit};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::latch::{OptimisticLatch, Version};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// The leaves that cover a range, and the version of each when it was read.
#[derive(Debug, Default)]
pub struct SeenLeaves(Vec<(NodeRef, Version)>);

impl SeenLeaves {
    /// Returns the number of leaves.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is none: the range contained no key at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A leaf that was read.
struct Leaf<B> {
    node: NodeRef,
    version: Version,
    high: B,
}

impl<K: Kind<Scheme = Olfit>> OlfitTree<K> {
    /// Passes on the entries of `low..=high` in order, each leaf's as of one moment, and returns the
    /// leaves. For trees without duplicates. O(leaves · log n).
    pub fn read_leaves(
        &self,
        low: K::Bits,
        high: K::Bits,
        mut each: impl FnMut(K::Bits, K::Bits),
    ) -> SeenLeaves {
        K::Trace::work(Work::Operation);
        let _inside = self.enter(Access::Read);
        let mut seen = SeenLeaves::default();
        let mut entries = Vec::with_capacity(self.layout.leaf_places);
        let mut from = Some(low);
        while let Some(first) = from {
            let leaf = self.read_leaf(first, high, &mut entries);
            K::Trace::work(Work::Copy(entries.len()));
            entries.drain(..).for_each(|(key, value)| each(key, value));
            seen.0.push((leaf.node, leaf.version));
            from = if leaf.high < high { next(leaf.high) } else { None };
        }
        seen
    }

    /// Reads the leaf that `first` belongs to, its entries from there up to `high`.
    fn read_leaf(
        &self,
        first: K::Bits,
        high: K::Bits,
        entries: &mut Vec<(K::Bits, K::Bits)>,
    ) -> Leaf<K::Bits> {
        loop {
            // It may look several times.
            let found = self.find(0, first, &mut NoPath::new(), |leaf, at| {
                entries.clear();
                let count = leaf.entries();
                let keys =
                    (leaf.lower(count, first)..count).map(|place| (leaf.key(place), leaf.value(place)));
                entries.extend(keys.take_while(|&(key, _)| key <= high));
                let version = OptimisticLatch::of(leaf.latch_word()).stable_version();
                (at.node::<K>(), version, leaf.high())
            });
            // A reader that had to take the latch has no version.
            if let Some((node, Some(version), high)) = found {
                return Leaf { node, version, high };
            }
        }
    }

    /// Returns whether all of these leaves are unchanged.
    pub fn are_as_seen(&self, seen: &SeenLeaves) -> bool {
        seen.0.iter().all(|&(node, version)| {
            let node = self.node_of(node);
            K::Trace::read(node.latch_address(), K::Bits::BYTES);
            OptimisticLatch::of(node.latch_word()).validate(version)
        })
    }
}
