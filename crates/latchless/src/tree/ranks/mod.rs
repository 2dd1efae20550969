//! Counts that are kept, so that a long range needn't be counted leaf by leaf.
//!
//! The keys are cut into *buckets* of a few leaves each. A bucket is a range of keys, whatever becomes of the
//! leaves in it. Its count is kept beside the tree, with a bit that says that the count is out of date: the
//! bucket is *dirty*. A query counts the dirty buckets of its range anew and adds up the others' counts.
//!
//! Writers don't know buckets. A count *marks* each leaf that it counts, in the leaf's latch word. A writer
//! that finds the mark on a leaf whose entries or fences it changes makes the leaf's buckets dirty, and takes
//! the mark back. So a writer tests one bit of a word that it has just read, until somebody counts again.
//!
//! # Thread safety
//! Counting a bucket clears its bit first, and then visits the bucket's keys from leaf to leaf. Each leaf is
//! counted, and marked, under its latch. A writer has the leaf's latch as well, and so comes before the
//! visit or after it. If it comes before, the visit counts what it wrote. If it comes after, the leaf is
//! marked, or was marked, and the first change after the visit made the bucket dirty; the writer sees the
//! cleared bit, because it got the latch after the visit. Everything else here is relaxed: the latch of the
//! leaf is what orders a change and a count.
//!
//! Queries take turns: a mutex is held while buckets are counted and added up. Writers never wait for it. A
//! query that doesn't get it in time counts leaf by leaf, as every query does where there is no memory for
//! buckets. (So does one in a child of a fork, at which another thread held the mutex.)
//!
//! # Invariants
//! 1. The bucket of a key is dirty, or being counted with the key still to be visited, if the key's leaf
//!    isn't marked.
//! 2. The count of a bucket that isn't dirty is the number of its keys, but for changes that are going on.
//! 3. Tables stay where they are until the tree is cleared or dropped. A writer may still use one that has
//!    been replaced: what it makes dirty there is no harm, and in the new table the leaf, whose latch it
//!    has, is still to be counted.

mod recount;
mod table;
#[cfg(all(test, not(miri)))]
mod tests;

use super::mode::Held;
use super::*;
use crate::node::{Children, Entries};
use core::ops::Range;

use latchless_core::mem::refusal::boxed;
use latchless_core::search::Scalar;
use latchless_core::sync::Backoff;
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

pub(super) use table::{Table, by_block};

use table::BUCKETS_PER_BLOCK;

/// Leaves in a bucket when it is made. Harsher in tests, as the other numbers.
const LEAVES_PER_BUCKET: usize = if cfg!(debug_assertions) { 2 } else { 4 };
/// Smaller trees are counted leaf by leaf.
const LEAVES_MIN: usize = if cfg!(debug_assertions) { 2 } else { 256 };
/// Tables by size, each with room for twice as many buckets as the one before.
const SIZES: usize = 25;
/// Inner nodes that are shown before it is looked up where to go on.
const NODES_AT_ONCE: usize = 64;
/// How often a query tries to get the mutex before it counts leaf by leaf.
const TRIES: usize = 1 << 10;

/// See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    /// Made by the first query that wants it.
    made: OnceLock<Box<Tables>>,
}

/// The tables, of which one is in use.
#[derive(Debug)]
struct Tables {
    /// Which table is in use, by size and turn, from 1; 0: none is.
    form: Word,
    /// Two by size, which are used in turn; each is made when it is first wanted.
    tables: [[OnceLock<Box<Table>>; 2]; SIZES],
    /// Leaves that were visited in vain since the table was made, because buckets have grown.
    wasted: Word,
    /// Keys that there were when it was made.
    keys: Word,
    /// Held while buckets are counted and added up.
    counting: Mutex<()>,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            form: Word::new(0),
            tables: [const { [const { OnceLock::new() }; 2] }; SIZES],
            wasted: Word::new(0),
            keys: Word::new(0),
            counting: Mutex::new(()),
        }
    }
}

impl Tables {
    fn current(&self) -> Option<&Table> {
        let at = (self.form.follow() as usize).wrapping_sub(1);
        Some(self.tables.get(at / 2)?[at % 2].get()?)
    }

    /// The mutex, unless others have it for long.
    fn lock(&self) -> Option<MutexGuard<'_, ()>> {
        let mut backoff = Backoff::default();
        for _ in 0..TRIES {
            match self.counting.try_lock() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) => backoff.wait(),
            }
        }
        None
    }

    /// A table that isn't in use, with room for so many buckets, and what `form` says of it. `charge` is
    /// asked whether so many bytes may be used. `None`: no memory.
    fn other(&self, buckets: usize, charge: impl FnOnce(usize) -> Result<()>) -> Option<(&Table, u64)> {
        let size = (0..SIZES).find(|&size| buckets <= BUCKETS_PER_BLOCK << size)?;
        let turn = self.form.load_relaxed() as usize % 2;
        let slot = &self.tables[size][turn];
        if slot.get().is_none() {
            let capacity = BUCKETS_PER_BLOCK << size;
            let table = boxed(Table::new(capacity).ok()?).ok()?;
            charge(Table::bytes(capacity)).ok()?;
            // Nobody else is here to be first.
            let _ = slot.set(table);
        }
        Some((slot.get()?, (1 + 2 * size + turn) as u64))
    }
}

impl Ranks {
    /// The tables, made if they aren't yet. `None`: no memory.
    fn tables(&self) -> Option<&Tables> {
        if self.made.get().is_none() {
            // Another thread may have been first.
            let _ = self.made.set(boxed(Tables::default()).ok()?);
        }
        self.made.get().map(|tables| &**tables)
    }

    /// Whether counts are kept already.
    pub(super) fn are_kept(&self) -> bool {
        self.made.get().is_some_and(|tables| tables.form.load_relaxed() != 0)
    }

    /// Forgets everything, together with its memory.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A query visited so many leaves in so many buckets: some in vain if buckets have grown.
    pub(super) fn waste_visits(&self, leaves: usize, buckets: usize) {
        if let Some(in_vain) = leaves.checked_sub(2 * LEAVES_PER_BUCKET * buckets)
            && in_vain > 0
            && let Some(tables) = self.made.get()
        {
            tables.wasted.add(in_vain as u64);
        }
    }

    /// Makes the buckets of these keys dirty.
    #[cold]
    #[inline(never)]
    fn make_dirty(&self, low: u64, high: u64) {
        if let Some(table) = self.made.get().and_then(|tables| tables.current()) {
            table.make_dirty(table.bucket_of(low)..table.bucket_of(high) + 1);
        }
    }
}

impl<B: Bits> BlinkTree<B> {
    /// The entries of a latched leaf change, or its fences.
    #[inline(always)]
    pub(super) fn outdate<M: Mode>(&self, leaf: Leaf<'_, B>, held: &mut M::Held<'_>) {
        if held.is_marked() {
            self.ranks.make_dirty(leaf.low().to_u64(), leaf.high().to_u64());
            held.set_mark(false);
        }
    }

    /// Two latched leaves side by side become one, or the border between them moves.
    pub(super) fn outdate_both<M: Mode>(
        &self,
        (left, left_held): (NodeRef, &mut M::Held<'_>),
        (right, right_held): (NodeRef, &mut M::Held<'_>),
    ) {
        // Each may get keys of the other's buckets.
        if left_held.is_marked() || right_held.is_marked() {
            self.ranks.make_dirty(self.leaf(left).low().to_u64(), self.leaf(right).high().to_u64());
            left_held.set_mark(false);
            right_held.set_mark(false);
        }
    }

    /// The counts of buckets for the caller alone, as long as it has the guard. `None`: the tree is too
    /// small, or there is no memory, or others have them.
    pub(super) fn kept_counts(&self) -> Option<(&Table, MutexGuard<'_, ()>)> {
        let tables = self.ranks.tables()?;
        let guard = tables.lock()?;
        let table = match tables.current().filter(|table| !self.is_outgrown(tables, table)) {
            Some(table) => table,
            // Without memory for a new table the old one stays.
            None => self.make_buckets(tables).or_else(|| tables.current())?,
        };
        Some((table, guard))
    }

    /// What is wrong with the counts that are kept, if anything is. Wants the tree at rest.
    pub(super) fn fault_of_counts(&self) -> Option<String> {
        let tables = self.ranks.made.get()?;
        let (table, _guard) = (tables.current()?, tables.lock()?);
        let mut real = vec![0; table.len()];
        let (mut node, mut entries) = (self.descend_to::<Scalar>(0, B::MIN)?, Entries::default());
        while !node.is_nil() {
            let leaf = self.leaf(node);
            let mut own = table.bucket_of(leaf.low().to_u64())..table.bucket_of(leaf.high().to_u64()) + 1;
            if !self.at(node).latch().is_marked() && !own.all(|bucket| table.is_dirty(bucket)) {
                return Some(format!(
                    "leaf {} isn't marked, and not all its buckets are dirty",
                    node.to_word()
                ));
            }
            leaf.copy_out::<Scalar>(&mut entries);
            entries.keys().iter().for_each(|key| real[table.bucket_of(key.to_u64())] += 1);
            node = leaf.link();
        }
        let wrong = |&(bucket, real): &(usize, usize)| !table.is_dirty(bucket) && table.count(bucket) != real;
        if let Some((bucket, real)) = real.into_iter().enumerate().find(wrong) {
            return Some(format!("bucket {bucket} has {real} keys, {} are counted", table.count(bucket)));
        }
        let sum = |part: &Range<usize>| part.clone().map(|bucket| table.count(bucket)).sum::<usize>();
        let wrong = by_block(0..table.len()).find(|part| table.sum(part.clone()) != sum(part));
        wrong.map(|part| format!("the counts of buckets {part:?} don't add up"))
    }

    /// Whether buckets have grown so much that queries have visited as many leaves in vain as there were; or
    /// so many keys are gone that most buckets are nearly empty.
    fn is_outgrown(&self, tables: &Tables, table: &Table) -> bool {
        tables.wasted.load_relaxed() as usize > table.len() * LEAVES_PER_BUCKET
            || self.len() < tables.keys.load_relaxed() as usize / 4
    }

    /// Shows all of the lowest inner nodes.
    fn each_of_the_lowest(&self, mut visit: impl FnMut(Inner<'_, B>)) {
        let mut next = Some(B::MIN.to_u64());
        while let Some(from) = next {
            next = self.visit_lowest(from, NODES_AT_ONCE, |_, inner| visit(inner));
        }
    }

    /// Cuts the tree as it has become into buckets, all of them dirty.
    #[cold]
    #[inline(never)]
    fn make_buckets<'a>(&self, tables: &'a Tables) -> Option<&'a Table> {
        let mut leaves = 0;
        self.each_of_the_lowest(|inner| leaves += inner.children());
        tables.wasted.store_relaxed(0);
        tables.keys.store_relaxed(self.len() as u64);
        if leaves < LEAVES_MIN {
            tables.form.publish(0);
            return None;
        }
        let buckets = leaves.div_ceil(LEAVES_PER_BUCKET);
        // Some more leaves may have come since.
        let (table, form) = tables.other(buckets + buckets / 8, |bytes| self.arena.charge(bytes))?;
        table.begin();
        let (mut at, mut children) = (0, Children::default());
        self.each_of_the_lowest(|inner| {
            inner.copy_out(&mut children);
            for &start in children.separators() {
                if at % LEAVES_PER_BUCKET == 0 {
                    table.add(start.to_u64());
                }
                at += 1;
            }
        });
        tables.form.publish(form);
        Some(table)
    }
}
