//! The directory: which of the lowest inner nodes a descent begins at.
//!
//! A *cell* cuts a range of keys into slots of equal width. A slot has an entry: the deepest inner node
//! that covers all keys of the slot, and the node's block at which the slot begins; or, if that node is
//! not one of the lowest, another cell, which cuts the slot's keys further. A cell begins just before
//! the first border of nodes in its range and ends with the last one, so that its slots are as wide as
//! those borders want, wherever keys crowd together. The first cell, the *root*, has several slots for
//! each of the lowest inner nodes. Evenly spread keys find most of their nodes there; others need a cell
//! or two more (a trie of histograms, as Hist-Tree).
//!
//! A directory is right about the tree that it was made for. Splits and merges don't change it. An
//! operation that is misled, or that has split a leaf, compares its key's entry with the tree and writes
//! it anew, into a new cell where the slot has got a border. A new directory is made beside the old one,
//! [in pieces](survey), when the lowest inner level has grown by a third, or when there is no room for new
//! cells.
//!
//! # Thread safety
//! Headers and entries are words that are read while they are written. Writers hold a lock. An entry
//! names an inner node and its level, and a node stays on its level for ever. So an entry leads to a
//! leaf, whatever became of the tree, or of the cell, since it was written; the leaf's fences tell
//! whether it is the right one.
//!
//! # Invariants
//! 1. An entry that isn't empty names a cell, or a node that is, or was, an inner node of the level
//!    beside it. Words that are entries are never headers.
//! 2. A table stays where it is until the tree is cleared or dropped.

mod cells;
mod survey;
#[cfg(all(test, not(miri)))]
mod tests;

use super::*;
use crate::node::Children;
use cells::Table;
use latchless_core::mem::refusal::boxed;
use latchless_core::search::Scalar;
use std::sync::{Mutex, MutexGuard, OnceLock};
use survey::Survey;

pub(super) use cells::{DEPTH_MAX, Entry, Routes};

/// Trees with fewer of the lowest inner nodes are low and small enough. Harsher in tests.
const NODES_MIN: u64 = if cfg!(debug_assertions) { 3 } else { 128 };
/// Entries that there is room for, for each node: slots of the root and of other cells.
const ROOM_PER_NODE: usize = 16;
/// Borders that an entry which is written anew may have in its slot; for more, all is made anew.
const BORDERS_MAX: usize = 64;
/// Entries of the smallest tables; those of each size have twice as many as the ones before.
const FEWEST_ENTRIES: usize = 1 << 10;
/// The largest tables are more than the largest trees need.
const SIZES: usize = 22;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Directory {
    /// Which of the tables is in use, by size and turn, from 1; 0: none is.
    form: Word,
    /// Two by size, which are used in turn; each is made when it is first wanted. In boxes, since an index
    /// without any is to be small.
    tables: [OnceLock<Box<Table>>; 2 * SIZES],
    /// Nodes that the lowest inner level had when the directory was made.
    nodes: Word,
    /// Nodes that it has got since.
    added: Word,
    /// How many it will have got when a new directory is due; none while one is being made.
    due: Word,
    /// Whether there was no room for a cell since the last survey began.
    crowded: Word,
    /// The survey that is going on. Held while entries are written.
    survey: Mutex<Option<Box<Survey>>>,
}

impl Default for Directory {
    fn default() -> Self {
        Self {
            form: Word::new(0),
            tables: [const { OnceLock::new() }; 2 * SIZES],
            nodes: Word::new(0),
            added: Word::new(0),
            due: Word::new(NODES_MIN),
            crowded: Word::new(0),
            survey: Mutex::new(None),
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
        Some(self.tables.get(form.wrapping_sub(1))?.get()?)
    }

    /// The directory, if there is one.
    #[inline(always)]
    pub(super) fn routes(&self) -> Option<Routes<'_>> {
        self.table().map(Table::view)
    }

    /// Says that the lowest inner level has got this many nodes more.
    pub(super) fn count_added(&self, nodes: usize) {
        self.added.add(nodes as u64);
    }

    /// Whether a new directory is being made, or the tree has changed so much that one is wanted.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.added.load_relaxed() >= self.due.load_relaxed()
    }

    /// Says that a new directory is being made, until [`Directory::is_made_for`].
    fn survey_begins(&self) {
        self.added.store_relaxed(0);
        self.due.store_relaxed(0);
        self.crowded.store_relaxed(0);
    }

    /// Says for when the next directory is due: the tree has about so many of the lowest inner nodes.
    fn is_made_for(&self, nodes: usize) {
        self.nodes.store_relaxed(nodes as u64);
        let share = if self.crowded.load_relaxed() == 0 { 3 } else { 8 };
        self.due.store_relaxed((nodes as u64 / share).max(NODES_MIN.saturating_sub(nodes as u64)).max(1));
    }

    /// There was no room for a cell: the next directory comes earlier.
    fn is_crowded(&self) {
        self.crowded.store_relaxed(1);
        let due = (self.nodes.load_relaxed() / 8).max(1);
        if due < self.due.load_relaxed() {
            self.due.store_relaxed(due);
        }
    }

    /// Forgets all there is to know about the tree.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Option<Box<Survey>>>> {
        self.survey.try_lock().ok()
    }

    /// For how many nodes the directory was made.
    #[cfg(all(test, target_os = "linux", not(miri)))]
    pub(super) fn made_for(&self) -> u64 {
        self.nodes.load_relaxed()
    }

    /// Holds the survey, as a thread does that the process has no more.
    #[cfg(all(test, target_os = "linux", not(miri)))]
    pub(super) fn hold(&self) -> impl Drop + use<'_> {
        self.try_lock().expect("nobody else holds it")
    }

    /// Empty memory for a directory of so many nodes that isn't in use, and which of the tables it is.
    /// `charge` is asked whether so many bytes may be used. `None`: no memory.
    fn other_table(&self, nodes: usize, charge: impl FnOnce(usize) -> Result<()>) -> Option<(&Table, usize)> {
        let size = (0..SIZES).find(|&size| nodes * ROOM_PER_NODE <= FEWEST_ENTRIES << size)?;
        let turn = self.form.load_relaxed() as usize % 2;
        let slot = &self.tables[2 * size + turn];
        if slot.get().is_none() {
            let table = boxed(Table::new(FEWEST_ENTRIES << size).ok()?).ok()?;
            charge(table.bytes()).ok()?;
            // Nobody else is here to be first.
            let _ = slot.set(table);
        }
        let table = slot.get()?;
        table.cells.store_relaxed(0);
        table.used.store_relaxed(0);
        Some((table, 1 + 2 * size + turn))
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Where the descent to `key` begins.
    #[inline(always)]
    pub(super) fn start(&self, key: B) -> Entry {
        // A closure in place of the branch would be called.
        let entry = self.directory.routes().and_then(|routes| routes.entry(key.to_u64()));
        if let Some(entry) = entry { entry } else { self.top() }
    }

    /// Where descents begin of which nothing is known.
    #[inline(always)]
    pub(super) fn top(&self) -> Entry {
        let (root, levels) = self.root();
        Entry::node_at(root, levels - 1, 0)
    }

    /// After a split: corrects the entry of `key`, and goes on with a new directory if one is due.
    #[inline]
    pub(super) fn keep_directory(&self, key: B) {
        // Where keys come in before or after all others, operations on them need no entry.
        if self.guesses.at_an_end(key.to_u64()).is_none() {
            self.correct_entry(key);
        }
        if self.directory.is_due() {
            self.go_on_with_survey();
        }
    }

    /// Writes the entry of a key anew if it doesn't lead to the lowest inner node of the key.
    pub(super) fn correct_entry(&self, key: B) {
        let Some(routes) = self.directory.routes() else { return };
        if let Some(entry) = routes.entry(key.to_u64())
            && entry.level() == 1
        {
            let node = self.inner(entry.node());
            if node.low() <= key && key <= node.high() {
                return;
            }
        }
        self.write_entry(key);
    }

    #[cold]
    #[inline(never)]
    fn write_entry(&self, key: B) {
        // Another thread that writes may be about to correct the same; if not, the next one is.
        let Some(_alone) = self.directory.try_lock() else { return };
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

    /// The lowest inner nodes that have keys of this range, each with its first key; `None` if there are
    /// more than there is room for.
    fn nodes_of<'a>(
        &self,
        (low, high): (u64, u64),
        to: &'a mut [(u64, NodeRef)],
    ) -> Option<&'a [(u64, NodeRef)]> {
        let mut node = self.descend_to::<Scalar>(1, B::truncate(low.min(B::MAX.to_u64())))?;
        let mut len = 0;
        loop {
            let inner = self.inner(node);
            let (start, end) = (inner.low().to_u64(), inner.high().to_u64());
            // What is being changed may be out of order.
            if len == 0 || start > to[len - 1].0 {
                *to.get_mut(len)? = (start, node);
                len += 1;
            }
            node = inner.link();
            if end >= high || node.is_nil() {
                return Some(&to[..len]);
            }
        }
    }

    /// What an entry for these keys says, which lie in these nodes.
    fn entry_for(&self, table: &Table, nodes: &[(u64, NodeRef)], keys: (u64, u64), depth: usize) -> Entry {
        if let [(_, node)] = *nodes {
            let block = self.inner(node).block_for::<Scalar>(B::truncate(keys.0));
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

    /// Makes a cell for keys that lie in these nodes, at least two. `None`: no room.
    fn make_cell(
        &self,
        table: &Table,
        nodes: &[(u64, NodeRef)],
        keys: (u64, u64),
        depth: usize,
    ) -> Option<usize> {
        let (at, cell) = table.allocate(&nodes[1..])?;
        let mut own = 0;
        for slot in 0..=cell.last {
            let (first, last) = cell.keys(slot, keys);
            own += nodes[own + 1..].iter().take_while(|&&(start, _)| start <= first).count();
            let more = nodes[own + 1..].iter().take_while(|&&(start, _)| start <= last).count();
            let entry = self.entry_for(table, &nodes[own..=own + more], (first, last), depth);
            table.entries[cell.first + slot].publish(entry.0);
        }
        cell.write(&table.headers.as_chunks().0[at]);
        Some(at)
    }

    /// The deepest inner node that covers these keys.
    fn covering(&self, (first, last): (u64, u64)) -> Entry {
        let (first, last) = (B::truncate(first), B::truncate(last.min(B::MAX.to_u64())));
        let (mut node, levels) = self.root();
        let mut level = levels - 1;
        while level > 1 {
            let child = self.inner(node).child::<Scalar>(first);
            let (low, high) = self.fences(level - 1, child);
            if first < low || last > high {
                break;
            }
            (node, level) = (child, level - 1);
        }
        let block = if level > 0 { self.inner(node).block_for::<Scalar>(first) } else { 0 };
        Entry::node_at(node, level, block)
    }
}
