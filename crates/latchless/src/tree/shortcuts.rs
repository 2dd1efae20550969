//! Shortcuts: where descents begin, below the upper levels.
//!
//! The range of the keys is cut into slots of equal width, and a table says for each slot which is the
//! deepest inner node that covers it whole, and at which of its blocks the slot begins. A descent reads
//! one slot in place of all levels above that node.
//!
//! A table is worth what is written in it: nothing keeps it in step with the tree. Whoever is led
//! astray sees it by the leaf's fences, goes down from the root, and writes the slot anew. Keys outside
//! of the slots, and trees with few inner nodes, have no shortcut.
//!
//! # Thread safety
//! Slots are words that anybody may write at any time. Each names an inner node and its level, and a
//! node stays on its level for ever, so a slot leads to a leaf whatever became of the tree, or of the
//! form of the table, since it was written.
//!
//! # Invariants
//! 1. A slot that isn't empty names a node that is, or was, an inner node of the level beside it.
//! 2. A table that was handed out stays where it is until the tree is dropped.

use super::*;
use crate::node::operation::Search;
use latchless_core::search::Scalar;
use std::sync::{Mutex, OnceLock};

/// Slots that tables have. The largest one takes a quarter of a megabyte, which second-level caches
/// hold; and together they take next to nothing beside the nodes of a tree that has them.
const SLOTS: [usize; 3] =
    if cfg!(latchless_small_nodes) { [1 << 2, 1 << 4, 1 << 6] } else { [1 << 11, 1 << 13, 1 << 15] };
/// Slots for each of the lowest inner nodes, up to the largest table: about as many as it has blocks,
/// so that few slots lie across two nodes.
const SLOTS_PER_NODE: usize = 16;
/// Trees with fewer of the lowest inner nodes are low and small enough. Harsher in tests.
const NODES_MIN: u64 = if cfg!(debug_assertions) { 3 } else { 128 };

/// The table, and when a new one is due.
#[derive(Debug)]
pub(super) struct Shortcuts {
    /// The key at which the first slot begins.
    base: Word,
    /// By how many bits slots are wide; above these six, which of the tables it is.
    form: Word,
    /// Tables by size, each made when it is first wanted.
    tables: [OnceLock<Box<[Word]>>; SLOTS.len()],
    /// How many nodes the lowest level of inner nodes has.
    nodes: Word,
    /// How many it will have when the next table is due.
    due: Word,
    /// Held by who makes a table.
    surveying: Mutex<()>,
}

/// What a slot says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shortcut(u64);

impl Shortcut {
    fn new(node: NodeRef, level: usize, block: usize) -> Self {
        Self(u64::from(node.to_word()) | (level as u64) << 32 | (block as u64) << 40)
    }

    #[inline(always)]
    pub(super) fn node(self) -> NodeRef {
        NodeRef::from_word(self.0 as u32)
    }

    #[inline(always)]
    pub(super) fn level(self) -> usize {
        (self.0 >> 32) as usize & 0xFF
    }

    /// The block of the node at which the slot begins.
    #[inline(always)]
    pub(super) fn block(self) -> usize {
        (self.0 >> 40) as usize
    }
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self {
            base: Word::new(0),
            form: Word::new(0),
            tables: [const { OnceLock::new() }; SLOTS.len()],
            nodes: Word::new(0),
            due: Word::new(NODES_MIN),
            surveying: Mutex::new(()),
        }
    }
}

/// The table as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    base: u64,
    shift: u32,
    slots: &'a [Word],
}

impl<'a> Table<'a> {
    /// The slot of a key, if it has one.
    #[inline(always)]
    fn slot(self, key: u64) -> Option<&'a Word> {
        self.slots.get((key.wrapping_sub(self.base) >> self.shift) as usize)
    }

    /// The first and last key of the slot of a key, which has one.
    fn range(self, key: u64) -> (u64, u64) {
        let first = self.base.wrapping_add(key.wrapping_sub(self.base) >> self.shift << self.shift);
        (first, first.saturating_add((1 << self.shift) - 1))
    }
}

impl Shortcuts {
    /// The table, if there is one.
    #[inline(always)]
    pub(super) fn table(&self) -> Option<Table<'_>> {
        let form = self.form.follow();
        let slots = self.tables.get((form >> 6) as usize)?.get()?;
        // A new table may come in between, and this one be read with the form of that one; or it may
        // be wiped meanwhile.
        Some(Table { base: self.base.load_relaxed(), shift: (form & 63) as u32, slots })
    }

    /// Says that the lowest level of inner nodes has got this many nodes more.
    pub(super) fn count_nodes(&self, more: i64) {
        self.nodes.add(more as u64);
    }

    /// Whether the tree has grown so much that a new table is wanted.
    #[inline]
    pub(super) fn are_due(&self) -> bool {
        self.nodes.load_relaxed() >= self.due.load_relaxed()
    }

    /// Forgets all there is to know about the tree.
    pub(super) fn clear(&mut self) {
        self.form.store_relaxed(0);
        self.tables = [const { OnceLock::new() }; SLOTS.len()];
        self.nodes.store_relaxed(0);
        self.due.store_relaxed(NODES_MIN);
    }

    /// An empty table for so many nodes, with slots for the keys of this range. `charge` is asked whether
    /// so many bytes may be used. `None`: no memory.
    fn lay_out(
        &self,
        nodes: usize,
        (first, last): (u64, u64),
        charge: impl FnOnce(usize) -> Result<()>,
    ) -> Option<()> {
        let at = SLOTS.iter().position(|&slots| slots >= nodes * SLOTS_PER_NODE).unwrap_or(SLOTS.len() - 1);
        let slots = SLOTS[at];
        if self.tables[at].get().is_none() {
            let mut table = Vec::new();
            table.try_reserve_exact(slots).ok()?;
            charge(slots * size_of::<Word>()).ok()?;
            table.resize_with(slots, Word::default);
            // Nobody else is here to be first.
            let _ = self.tables[at].set(table.into_boxed_slice());
        }
        let table = self.tables[at].get()?;
        table.iter().for_each(|slot| slot.store_relaxed(0));
        let bits = u64::BITS - (last - first).leading_zeros();
        self.base.store_relaxed(first);
        self.form.publish((at as u64) << 6 | u64::from(bits.saturating_sub(slots.ilog2())));
        Some(())
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Where the descent to `key` begins.
    #[inline(always)]
    pub(super) fn start(&self, key: B) -> Shortcut {
        self.shortcuts.table().map_or_else(|| self.top(), |table| self.start_by(table, key))
    }

    /// Where the descent to `key` begins by this table.
    #[inline(always)]
    pub(super) fn start_by(&self, table: Table<'_>, key: B) -> Shortcut {
        let Some(slot) = table.slot(key.to_u64()) else { return self.top() };
        let shortcut = Shortcut(slot.follow());
        if shortcut.0 == 0 { self.learn_start::<Scalar>(key) } else { shortcut }
    }

    /// Where descents begin that have no shortcut.
    #[inline(always)]
    pub(super) fn top(&self) -> Shortcut {
        let (root, levels) = self.root();
        Shortcut::new(root, levels - 1, 0)
    }

    #[cold]
    #[inline(never)]
    fn learn_start<S: Search>(&self, key: B) -> Shortcut {
        self.learn::<S>(key);
        self.top()
    }

    /// Writes the slot of a key anew, by the tree as it is. Changes made meanwhile may make that wrong
    /// at once, which the next one to be led astray sees.
    #[cold]
    #[inline(never)]
    pub(super) fn learn<S: Search>(&self, key: B) {
        self.learn_leaf::<S>(key);
        let Some(table) = self.shortcuts.table() else { return };
        let Some(slot) = table.slot(key.to_u64()) else { return };
        let (first, last) = table.range(key.to_u64());
        let (first, last) = (B::truncate(first), B::truncate(last.min(B::MAX.to_u64())));
        let (mut node, levels) = self.root();
        let mut level = levels - 1;
        while level > 1 {
            let child = self.inner(node).child::<S>(first);
            let (low, high) = self.fences(level - 1, child);
            if first < low || last > high {
                break;
            }
            (node, level) = (child, level - 1);
        }
        if level > 0 {
            let block = self.inner(node).named_block::<S>(first);
            slot.publish(Shortcut::new(node, level, block).0);
        }
    }

    /// Makes a table for the tree as it has become. What lies below the first and the last of the lowest
    /// inner nodes has no slots, so that a few far keys don't make all slots too wide.
    #[cold]
    #[inline(never)]
    pub(super) fn survey(&self) {
        let Ok(_alone) = self.shortcuts.surveying.try_lock() else { return };
        let Some(leftmost) = self.descend_to::<Scalar>(1, B::MIN) else { return };
        let Some(rightmost) = self.descend_to::<Scalar>(1, B::MAX) else { return };
        let nodes = self.count_level(1);
        self.shortcuts.due.store_relaxed(NODES_MIN.max(nodes as u64 * 4 / 3));
        let (first, last) = (self.inner(leftmost).high().to_u64(), self.inner(rightmost).low().to_u64());
        if (nodes as u64) < NODES_MIN || first >= last {
            return;
        }
        // Without memory for a new table the old one stays.
        let laid_out = self.shortcuts.lay_out(nodes, (first, last), |bytes| self.arena.charge(bytes));
        let (Some(()), Some(table)) = (laid_out, self.shortcuts.table()) else { return };
        let mut node = leftmost;
        while !node.is_nil() {
            self.enter(table, node);
            node = self.inner(node).link();
        }
        self.survey_leaves(leftmost, (first, last));
    }

    /// Writes the slots that lie in one of the lowest inner nodes.
    fn enter(&self, table: Table<'_>, node: NodeRef) {
        let inner = self.inner(node);
        let (low, high) = (inner.low().to_u64(), inner.high().to_u64());
        let mut key = low.max(table.base);
        while let Some(slot) = table.slot(key) {
            let (first, last) = table.range(key);
            if last > high {
                return;
            }
            if first >= low {
                let block = inner.named_block::<Scalar>(B::truncate(first));
                slot.publish(Shortcut::new(node, 1, block).0);
            }
            let Some(next) = last.checked_add(1) else { return };
            key = next;
        }
    }
}

// A table wants a large tree, which takes an interpreter minutes; there is no unsafe code here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use core::num::NonZeroUsize;
    use latchless_core::base::fill::FillFactor;

    /// A tree of so many keys that it has a table: every third number, each with itself as value.
    fn loaded(len: usize) -> BlinkTree<u64> {
        let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
        let mut tree = BlinkTree::new(options).unwrap();
        let half = FillFactor::new(0.5).unwrap();
        tree.bulk_load(len, |at| (3 * at as u64, 3 * at as u64), half, NonZeroUsize::MIN).unwrap();
        tree
    }

    const LEN: usize = if cfg!(latchless_small_nodes) { 4_000 } else { 60_000 };

    fn all_found<M: Mode>(tree: &BlinkTree<u64>) {
        let len = LEN as u64;
        let keys = (0..2 * len).map(|i| i * 7919 % (4 * len));
        let keys: Vec<_> = keys.chain([u64::MAX, u64::MAX - 1]).collect();
        let expected = |key: u64| (key < 3 * len && key.is_multiple_of(3)).then_some(key);
        for &key in &keys {
            assert_eq!(tree.get::<M>(key), expected(key), "key {key}");
        }
        tree.get_each::<M>(
            keys.len(),
            Group::Auto,
            |at| keys[at],
            |at, found| {
                assert_eq!(found, expected(keys[at]), "key {}", keys[at]);
            },
        );
    }

    /// Keys whose slot names one of the lowest inner nodes, of `LEN`.
    fn at_the_lowest(tree: &BlinkTree<u64>) -> usize {
        let starts = (0..LEN as u64).map(|i| tree.start(3 * i));
        starts.filter(|start| start.level() == 1).count()
    }

    #[test]
    #[cfg_attr(latchless_small_nodes, ignore = "is about how well usual nodes are guessed")]
    fn descents_begin_low() {
        let tree = loaded(LEN);
        all_found::<Shared>(&tree);
        all_found::<Exclusive>(&tree);
        let lowest = tree.count_level(1);
        // All but the two outer nodes, and slots that lie across two.
        assert!(at_the_lowest(&tree) >= LEN * (lowest - 2) / lowest * 4 / 5);
        assert!(tree.held_bytes() > tree.live_bytes());
    }

    #[test]
    fn wrong_slots_mislead_nobody_and_are_mended() {
        let tree = loaded(LEN);
        let table = tree.shortcuts.table().unwrap();
        let somewhere = Shortcut(table.slots[table.slots.len() / 3].follow());
        let wrong = |slots: &[Word], with: u64| slots.iter().for_each(|slot| slot.publish(with));
        for with in [0, somewhere.0, Shortcut::new(tree.top().node(), tree.top().level(), 3).0] {
            wrong(table.slots, with);
            all_found::<Shared>(&tree);
            wrong(table.slots, with);
            all_found::<Exclusive>(&tree);
            wrong(table.slots, with);
            for key in (0..300).map(|i| i * 7919 % (3 * LEN as u64)) {
                let edited = tree.edit::<Shared>(key, Edit::Replace(key)).unwrap();
                assert_eq!(edited.before, key.is_multiple_of(3).then_some(key));
            }
        }
        tree.check_invariants().unwrap();
        wrong(table.slots, somewhere.0);
        (0..LEN as u64).step_by(5).for_each(|i| assert_eq!(tree.get::<Shared>(3 * i), Some(3 * i)));
        let low = at_the_lowest(&tree);
        assert!(cfg!(latchless_small_nodes) || low >= LEN / 2, "slots are mended where they misled");
    }

    #[test]
    fn a_table_outlives_the_tree_that_it_was_made_for() {
        let mut tree = loaded(LEN);
        for i in 0..LEN as u64 {
            tree.edit::<Shared>(3 * i, Edit::Remove).unwrap();
        }
        assert_eq!((tree.len(), tree.live_bytes()), (0, 1024));
        for i in (0..LEN as u64).rev() {
            tree.edit::<Exclusive>(3 * i, Edit::Put(3 * i)).unwrap();
        }
        all_found::<Shared>(&tree);
        tree.clear();
        assert!(tree.shortcuts.table().is_none());
        assert_eq!(tree.get::<Shared>(3), None);
        assert_eq!(tree.held_bytes(), tree.live_bytes());
    }
}
