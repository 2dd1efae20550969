//! The directory: the lowest inner node at which a descent begins, by key.
//!
//! A *cell* partitions a range of keys into slots of equal width. A slot has an entry: the deepest inner
//! node that covers all keys of the slot, and the node's block at which the slot begins; or, if that node
//! isn't on the lowest inner level, another cell, which partitions the slot further. A cell begins just
//! before the first border of nodes in its range and ends with the last one, so its slots are as narrow as
//! those borders require, wherever keys cluster. The first cell, the *root*, has several slots per lowest
//! inner node. Evenly distributed keys find most of their nodes there; others need one or two more cells (a
//! trie of histograms, as in Hist-Tree).
//!
//! A directory describes the tree for which it was built. Splits and merges don't change it. An operation
//! that is misled, or that has split a leaf, compares its key's entry with the tree and rewrites it, as a
//! new cell if the slot has got a border. A new directory is built next to the old one, [in pieces](survey),
//! when the lowest inner level has grown by a third, or when there is no room for new cells.
//!
//! # Thread safety
//! Headers and entries are words that are read while they are written. Writers hold a lock. An entry names
//! an inner node and its level, and a node's level never changes. So an entry leads to a leaf, whatever has
//! happened to the tree, or to the cell, since it was written; the leaf's fences decide whether it is the
//! right one.
//!
//! # Invariants
//! 1. An entry that isn't empty names a cell, or a node that is, or was, an inner node of the entry's level.
//!    Words that are entries never become headers.
//! 2. A table stays where it is until the tree is cleared or dropped.

mod cells;
pub(super) mod survey;
#[cfg(all(test, not(miri)))]
mod tests;

use super::store::Store;
use crate::blink::Levels;
use cells::{Keys, Table};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::once_array::OnceArray;
use latchless_core::mem::refusal::boxed;
use latchless_core::search::Scalar;
use latchless_core::sync::Word;

pub(super) use cells::{DEPTH_MAX, Entry, Routes};

/// Trees with fewer lowest inner nodes have no directory: they are low and small. Harsher in tests.
const NODES_MIN: u64 = if cfg!(debug_assertions) { 3 } else { 128 };
/// Entries per node for which memory is provided: slots of the root and of other cells.
const ROOM_PER_NODE: usize = 16;
/// The maximum number of borders in the slot of an entry that is rewritten; with more, the whole directory
/// is rebuilt.
const BORDERS_MAX: usize = 64;
/// Entries of the smallest tables; each size has twice as many as the one before.
const FEWEST_ENTRIES: usize = 1 << 10;
/// The number of sizes: the largest tables are more than the largest trees need.
const SIZES: usize = 22;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Directory {
    /// The table in use, by size and turn, from 1; 0: none.
    form: Word,
    /// Two per size, used alternately; each is allocated on first use. An index without any should be small,
    /// so their array is, too.
    tables: OnceArray<Box<Table>, { 2 * SIZES }>,
    /// Nodes of the lowest inner level when the directory was built.
    nodes: Word,
    /// Nodes that were added to it since.
    added: Word,
    /// The number of added nodes at which a new directory is due; the maximum while one is being built.
    due: Word,
    /// Whether there was no room for a cell since the last survey began.
    crowded: Word,
}

impl Default for Directory {
    fn default() -> Self {
        Self {
            form: Word::new(0),
            tables: OnceArray::empty(),
            nodes: Word::new(0),
            added: Word::new(0),
            due: Word::new(NODES_MIN),
            crowded: Word::new(0),
        }
    }
}

impl Directory {
    #[inline(always)]
    fn table(&self) -> Option<&Table> {
        self.table_of(self.form.follow() as usize)
    }

    #[inline(always)]
    fn table_of(&self, form: usize) -> Option<&Table> {
        // Small trees have none: they don't look at the array.
        Some(self.tables.get(form.checked_sub(1)?)?)
    }

    /// Returns the directory, if there is one.
    #[inline(always)]
    pub(super) fn routes(&self) -> Option<Routes<'_>> {
        self.table().map(Table::view)
    }

    /// Counts nodes that were added to the lowest inner level.
    pub(super) fn count_added(&self, nodes: usize) {
        self.added.add(nodes as u64);
    }

    /// Returns whether a new directory is being built, or is due because the tree has changed enough.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.added.load_relaxed() >= self.due.load_relaxed()
    }

    /// Records that a new directory is being built, until [`Directory::is_made_for`].
    pub(super) fn survey_begins(&self) {
        self.added.store_relaxed(0);
        self.due.store_relaxed(0);
        self.crowded.store_relaxed(0);
    }

    /// Sets when the next directory is due, for a tree with about `nodes` lowest inner nodes.
    fn is_made_for(&self, nodes: usize) {
        self.nodes.store_relaxed(nodes as u64);
        let share = if self.crowded.load_relaxed() == 0 { 3 } else { 8 };
        self.due.store_relaxed((nodes as u64 / share).max(NODES_MIN.saturating_sub(nodes as u64)).max(1));
    }

    /// Records that there was no room for a cell: the next directory is built earlier.
    fn is_crowded(&self) {
        self.crowded.store_relaxed(1);
        let due = (self.nodes.load_relaxed() / 8).max(1);
        if due < self.due.load_relaxed() {
            self.due.store_relaxed(due);
        }
    }

    /// Removes everything that is known about the tree.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the number of nodes for which the directory was built.
    #[cfg(all(test, target_os = "linux", not(miri)))]
    pub(super) fn made_for(&self) -> u64 {
        self.nodes.load_relaxed()
    }

    /// Returns an empty table that isn't in use, for a directory of `nodes` nodes, and its number. `charge`
    /// reserves the bytes. `None`: no memory.
    fn other_table(&self, nodes: usize, charge: impl FnOnce(usize) -> Result<()>) -> Option<(&Table, usize)> {
        let size = (0..SIZES).find(|&size| nodes * ROOM_PER_NODE <= FEWEST_ENTRIES << size)?;
        let turn = self.form.load_relaxed() as usize % 2;
        // No other thread can be first, under the lock.
        let made = self.tables.get_or_try(2 * size + turn, || {
            let table = boxed(Table::new(FEWEST_ENTRIES << size)?)?;
            charge(table.bytes())?;
            Ok(table)
        });
        let table: &Table = made.ok()?;
        table.cells.store_relaxed(0);
        table.used.store_relaxed(0);
        Some((table, 1 + 2 * size + turn))
    }
}

/// The starts of a tree's descents: its directory, and the nodes that the entries name.
#[derive(Clone, Copy)]
pub(super) struct Routing<'a, B> {
    pub(super) store: &'a Store<B>,
    pub(super) directory: &'a Directory,
}

impl<B: Bits> Routing<'_, B> {
    /// Returns the start of the descent to `key`.
    #[inline(always)]
    pub(super) fn start(self, key: B) -> Entry {
        // A closure in place of the branch would be called.
        let entry = self.directory.routes().and_then(|routes| routes.entry(key.to_u64()));
        if let Some(entry) = entry { entry } else { self.top() }
    }

    /// Returns the start of a descent without any information.
    #[inline(always)]
    pub(super) fn top(self) -> Entry {
        let (root, levels) = self.store.root().get();
        Entry::node_at(root, levels - 1, 0)
    }

    /// Returns whether the entry of a key leads to the key's lowest inner node, or there is no directory.
    pub(super) fn is_right(self, key: B) -> bool {
        let Some(routes) = self.directory.routes() else { return true };
        if let Some(entry) = routes.entry(key.to_u64())
            && entry.level() == 1
        {
            let node = self.store.inner(entry.node());
            return node.low() <= key && key <= node.high();
        }
        false
    }

    /// Writes the entry of a key. For the holder of the survey's lock.
    pub(super) fn write_entry(self, key: B) {
        let Some(table) = self.directory.table() else { return };
        let Some((word, keys, depth)) = table.view().slot(key.to_u64()) else { return };
        let mut borders = [(0, NodeRef::NIL); BORDERS_MAX];
        let entry = match self.nodes_of(keys, &mut borders) {
            Some(nodes) => self.entry_for(table, nodes, keys, depth),
            None => {
                self.directory.is_crowded();
                self.covering(keys)
            }
        };
        if word.load_relaxed() != entry.0 {
            word.publish(entry.0);
        }
    }

    /// Collects the lowest inner nodes that have keys of this range, each with its first key. `None` if
    /// there are more than `to` has room for.
    fn nodes_of(self, keys: Keys, to: &mut [(u64, NodeRef)]) -> Option<&[(u64, NodeRef)]> {
        let mut node =
            self.store.descend_through::<Scalar>(1, B::truncate(keys.first.min(B::MAX.to_u64())))?;
        let mut len = 0;
        loop {
            let inner = self.store.inner(node);
            let (start, end) = (inner.low().to_u64(), inner.high().to_u64());
            // Nodes that are being changed may be out of order.
            if len == 0 || start > to[len - 1].0 {
                *to.get_mut(len)? = (start, node);
                len += 1;
            }
            node = inner.link();
            if end >= keys.last || node.is_nil() {
                return Some(&to[..len]);
            }
        }
    }

    /// Returns the entry for these keys, which lie in these nodes.
    fn entry_for(self, table: &Table, nodes: &[(u64, NodeRef)], keys: Keys, depth: usize) -> Entry {
        if let [(_, node)] = *nodes {
            let block = self.store.inner(node).block_for::<Scalar>(B::truncate(keys.first));
            return Entry::node_at(node, 1, block);
        }
        if depth + 1 < DEPTH_MAX
            && let Some(cell) = self.make_cell(table, nodes, keys, depth + 1)
        {
            return Entry::of_cell(cell);
        }
        // Without room the next survey comes early.
        self.directory.is_crowded();
        self.covering(keys)
    }

    /// Builds a cell for keys that lie in these nodes, at least two. `None`: no room.
    fn make_cell(self, table: &Table, nodes: &[(u64, NodeRef)], keys: Keys, depth: usize) -> Option<usize> {
        let (at, cell) = table.allocate(&nodes[1..])?;
        let mut own = 0;
        for slot in 0..=cell.last {
            let keys = cell.keys(slot, keys);
            own += nodes[own + 1..].iter().take_while(|&&(start, _)| start <= keys.first).count();
            let more = nodes[own + 1..].iter().take_while(|&&(start, _)| start <= keys.last).count();
            let entry = self.entry_for(table, &nodes[own..=own + more], keys, depth);
            table.entries[cell.first + slot].publish(entry.0);
        }
        cell.write(&table.headers.as_chunks().0[at]);
        Some(at)
    }

    /// Returns the deepest inner node that covers these keys.
    fn covering(self, keys: Keys) -> Entry {
        let (first, last) = (B::truncate(keys.first), B::truncate(keys.last.min(B::MAX.to_u64())));
        let (mut node, levels) = self.store.root().get();
        let mut level = levels - 1;
        while level > 1 {
            let child = self.store.inner(node).child::<Scalar>(first);
            let (low, high) = self.store.fences(level - 1, child);
            if first < low || last > high {
                break;
            }
            (node, level) = (child, level - 1);
        }
        let block = if level > 0 { self.store.inner(node).block_for::<Scalar>(first) } else { 0 };
        Entry::node_at(node, level, block)
    }
}
