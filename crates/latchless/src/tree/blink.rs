//! The tree: its parts, and what they are together. Its operations are in files above this one.

use super::finder::{Findable, Finder, Ways};
use super::latecomers::Latecomers;
use super::ranks::Ranks;
use super::store::Store;
use super::tuners::Tuners;
use crate::blink::{BlinkOptions, Levels, Listing, Mode, Tries, counted, stats};
use crate::node::Leaf;
use core::ops::RangeInclusive;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::stats::Stats;
use latchless_core::mem::budget::Budget;
use latchless_core::search::Kernel;
use std::sync::Arc;

/// A concurrent ordered map from encoded keys to encoded values. See the module documentation.
#[derive(Debug)]
pub struct BlinkTree<B> {
    nodes: Findable<B>,
    latecomers: Latecomers,
    tuners: Tuners,
    ranks: Ranks,
    /// Operations with closures that are listed.
    listing: Listing,
}

impl<B: Bits> BlinkTree<B> {
    /// Creates an empty tree: one empty leaf.
    ///
    /// # Errors
    /// Memory for that leaf was refused, or the kernel isn't available here.
    pub fn new(options: BlinkOptions) -> Result<Self> {
        let (arena, dispatch) = options.begin()?;
        let ways = Ways::unknown(options.huge_pages, options.prefault);
        Ok(Self {
            nodes: Findable { store: Store::new(arena, dispatch)?, ways },
            latecomers: Latecomers::default(),
            tuners: Tuners::default(),
            ranks: Ranks::default(),
            listing: Listing::empty(),
        })
    }

    /// Creates another tree with the options of this one and without nodes, the root included. Both take
    /// their memory from one budget.
    pub(super) fn alike(&self) -> Self {
        Self {
            nodes: Findable { store: self.nodes.store.alike(), ways: self.nodes.ways.alike() },
            latecomers: Latecomers::default(),
            tuners: Tuners::default(),
            ranks: Ranks::default(),
            listing: Listing::empty(),
        }
    }

    /// Exchanges the nodes with those of a tree that is [alike](BlinkTree::alike), and what is known about
    /// where keys are. The statistics stay: they are about keys that come next, and about the past.
    pub(super) fn swap_nodes(&mut self, other: &mut Self) {
        self.nodes.store.swap_nodes(&mut other.nodes.store);
        core::mem::swap(&mut self.nodes.ways, &mut other.nodes.ways);
        core::mem::swap(&mut self.ranks, &mut other.ranks);
    }

    /// Removes everything and returns the memory to the system.
    pub fn clear(&mut self) {
        self.nodes.store.clear();
        self.nodes.ways.clear();
        self.ranks.clear();
    }

    /// Returns the number of keys: exact if no thread is changing it, otherwise close to a recent one.
    pub fn len(&self) -> usize {
        self.store().counts().entries()
    }

    /// Returns whether there are no keys, as exactly as [`BlinkTree::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.nodes.store.arena().live_bytes()
    }

    /// Returns the bytes of every node that was ever in use, of the tables, and what others took from the
    /// budget: nodes that were merged away keep their memory until they are reused.
    pub fn held_bytes(&self) -> usize {
        self.nodes.store.arena().held_bytes()
    }

    /// Returns the held bytes, those that are committed for further nodes, and those of the free lists.
    pub fn mapped_bytes(&self) -> usize {
        self.nodes.store.arena().mapped_bytes()
    }

    /// Returns the budget that counts the tree's memory. Others may take from it.
    pub fn budget(&self) -> &Arc<Budget> {
        self.nodes.store.arena().budget()
    }

    /// Returns the search kernel of the tree.
    pub fn kernel(&self) -> Kernel {
        self.nodes.store.kernel()
    }

    /// Returns what the tree counts, and its levels. O(1).
    pub fn counted(&self) -> Stats {
        counted(&self.nodes.store)
    }

    /// Returns the tree's shape. Visits every node; approximate while others change the tree.
    pub fn stats(&self) -> Stats {
        stats(&self.nodes.store, Leaf::<B>::CAPACITY, |leaf| leaf.leaf::<B>().len())
    }

    /// Returns the tries of an operation with a closure on `key`.
    #[inline(always)]
    pub fn tries(&self, key: B) -> Tries<'_> {
        self.listing.tries(key.to_u64())
    }

    /// Records that the calling thread has replaced or removed the values of these keys.
    #[inline(always)]
    pub(super) fn note_change<M: Mode>(&self, keys: RangeInclusive<B>) {
        if M::SHARED {
            self.listing.note_change(keys.start().to_u64()..=keys.end().to_u64());
        }
    }

    /// Sets the number of keys, for the caller that has put them into the nodes.
    pub(super) fn set_len(&mut self, len: usize) {
        self.nodes.store.set_entries(len);
    }

    /// Returns the nodes.
    #[inline(always)]
    pub(super) fn store(&self) -> &Store<B> {
        &self.nodes.store
    }

    /// Returns the ways to leaves.
    #[inline(always)]
    pub(super) fn finder(&self) -> Finder<'_, B> {
        Finder::new(&self.nodes)
    }

    /// Returns the cached counts of ranges.
    #[inline(always)]
    pub(super) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Returns which leaves were split.
    #[inline(always)]
    pub(super) fn latecomers(&self) -> &Latecomers {
        &self.latecomers
    }

    /// Returns the sizes of groups.
    #[inline(always)]
    pub(super) fn tuners(&self) -> &Tuners {
        &self.tuners
    }
}
