//! Cached counts of keys, so that a long range needn't be counted leaf by leaf.
//!
//! The keys are partitioned into *buckets* of a few leaves each. A bucket is a range of keys, whatever
//! happens to the leaves in it. Its count is stored outside of the tree, with a bit that marks the count as
//! out of date: the bucket is *dirty*. A query recounts the dirty buckets of its range and adds up the
//! others' counts.
//!
//! Writers don't know buckets. A count *marks* each leaf that it counts, in the leaf's latch word. A writer
//! that finds the mark on a leaf whose entries or fences it changes makes the leaf's buckets dirty, and
//! clears the mark. So until the next count a writer only tests one bit of a word that it has just read.
//!
//! # Thread safety
//! Counting a bucket clears its bit first, and then visits the bucket's keys leaf by leaf. Each leaf is
//! counted, and marked, under its latch. A writer has the leaf's latch as well, so it precedes the visit or
//! follows it. If it precedes the visit, its changes are counted. If it follows, the leaf is marked, or was
//! marked, and the first change after the visit made the bucket dirty; the writer sees the cleared bit,
//! because it got the latch after the visit. Everything else here is relaxed: the latch of the leaf orders a
//! change and a count.
//!
//! Queries are serialized: a mutex is held while buckets are counted and added up. Writers never wait for
//! it. A query that doesn't get it in time counts leaf by leaf, as every query does without memory for
//! buckets. (So does one in a child of a fork at which another thread held the mutex.)
//!
//! # Invariants
//! 1. The bucket of a key is dirty, or being counted with the key still to be visited, if the key's leaf
//!    isn't marked.
//! 2. The count of a bucket that isn't dirty is the number of its keys, except for changes under way.
//! 3. Tables stay where they are until the tree is cleared or dropped. A writer may still use one that has
//!    been replaced: making a bucket dirty there is harmless, and in the new table the leaf, whose latch it
//!    has, is still to be counted.

pub(super) mod recount;
mod table;
#[cfg(all(test, not(miri)))]
mod tests;

use super::store::Store;
use crate::blink::{Held, Levels};
use crate::node::{Children, Entries, Inner, Leaf, LeafReader};
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::refusal::boxed;
use latchless_core::search::Scalar;
use latchless_core::sync::{Backoff, Word};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

pub(super) use table::{Table, by_block};

use table::BUCKETS_PER_BLOCK;

/// Leaves per new bucket. Harsher in tests, as the other constants.
const LEAVES_PER_BUCKET: usize = if cfg!(debug_assertions) { 2 } else { 4 };
/// Smaller trees are counted leaf by leaf.
const LEAVES_MIN: usize = if cfg!(debug_assertions) { 2 } else { 256 };
/// Tables by size; each size has room for twice as many buckets as the one before.
const SIZES: usize = 25;
/// Inner nodes that are visited before the position is looked up again.
const NODES_AT_ONCE: usize = 64;
/// How often a query tries to lock the mutex before it counts leaf by leaf.
const TRIES: usize = 1 << 10;

/// See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    /// Allocated by the first query that uses it.
    made: OnceLock<Box<Tables>>,
}

/// The tables, of which one is in use.
#[derive(Debug)]
struct Tables {
    /// The table in use, by size and turn, from 1; 0: none.
    form: Word,
    /// Two per size, used alternately; each is allocated on first use.
    tables: [[OnceLock<Box<Table>>; 2]; SIZES],
    /// Superfluous visits of leaves since the table was made, because buckets have grown.
    wasted: Word,
    /// The number of keys when it was made.
    keys: Word,
    /// Locked while buckets are counted and added up.
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

    /// Locks the mutex, unless others hold it for long.
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

    /// Returns a table that isn't in use, with room for so many buckets, and its `form`. `charge` reserves
    /// the bytes. `None`: no memory.
    fn other(&self, buckets: usize, charge: impl FnOnce(usize) -> Result<()>) -> Option<(&Table, u64)> {
        let size = (0..SIZES).find(|&size| buckets <= BUCKETS_PER_BLOCK << size)?;
        let turn = self.form.load_relaxed() as usize % 2;
        let slot = &self.tables[size][turn];
        if slot.get().is_none() {
            let capacity = BUCKETS_PER_BLOCK << size;
            let table = boxed(Table::new(capacity).ok()?).ok()?;
            charge(Table::bytes(capacity)).ok()?;
            // No other thread can be first, under the mutex.
            let _ = slot.set(table);
        }
        Some((slot.get()?, (1 + 2 * size + turn) as u64))
    }

    /// Returns whether buckets have grown so much that as many visits of leaves were superfluous as there
    /// were leaves; or whether so many keys are gone that most buckets are nearly empty.
    fn is_outgrown(&self, table: &Table, len: usize) -> bool {
        self.wasted.load_relaxed() as usize > table.len() * LEAVES_PER_BUCKET
            || len < self.keys.load_relaxed() as usize / 4
    }

    /// Partitions a tree that has `len` keys into buckets, all of them dirty.
    #[cold]
    #[inline(never)]
    fn make_buckets<B: Bits>(&self, store: &Store<B>, len: usize) -> Option<&Table> {
        let mut leaves = 0;
        each_of_the_lowest(store, |inner| leaves += inner.children());
        self.wasted.store_relaxed(0);
        self.keys.store_relaxed(len as u64);
        if leaves < LEAVES_MIN {
            self.form.publish(0);
            return None;
        }
        let buckets = leaves.div_ceil(LEAVES_PER_BUCKET);
        // Some more leaves may have been added since.
        let (table, form) = self.other(buckets + buckets / 8, |bytes| store.arena().charge(bytes))?;
        table.begin();
        let (mut at, mut children) = (0, Children::default());
        each_of_the_lowest(store, |inner| {
            inner.copy_out(&mut children);
            for &start in children.separators() {
                if at % LEAVES_PER_BUCKET == 0 {
                    table.add(start.to_u64());
                }
                at += 1;
            }
        });
        self.form.publish(form);
        Some(table)
    }
}

/// Visits all of the lowest inner nodes.
fn each_of_the_lowest<B: Bits>(store: &Store<B>, mut visit: impl FnMut(Inner<'_, B>)) {
    let mut next = Some(B::MIN.to_u64());
    while let Some(from) = next {
        next = store.visit_lowest(from, NODES_AT_ONCE, |_, inner| visit(inner));
    }
}

impl Ranks {
    /// Returns the tables, allocated on first use. `None`: no memory.
    fn tables(&self) -> Option<&Tables> {
        if self.made.get().is_none() {
            // Another thread may have been first.
            let _ = self.made.set(boxed(Tables::default()).ok()?);
        }
        self.made.get().map(|tables| &**tables)
    }

    /// Returns whether there are cached counts.
    pub(super) fn are_kept(&self) -> bool {
        self.made.get().is_some_and(|tables| tables.form.load_relaxed() != 0)
    }

    /// Removes everything, and frees its memory.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Records a query's visits of leaves in buckets: some are superfluous if buckets have grown.
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

    /// Records that the entries or the fences of a latched leaf change.
    #[inline(always)]
    pub(super) fn outdate<B: Bits>(&self, leaf: Leaf<'_, B>, held: &mut impl Held) {
        if held.is_marked() {
            self.make_dirty(leaf.low().to_u64(), leaf.high().to_u64());
            held.set_mark(false);
        }
    }

    /// Records that two adjacent latched leaves are merged, or that the border between them moves.
    pub(super) fn outdate_both<B: Bits, H: Held>(
        &self,
        leaves: [Leaf<'_, B>; 2],
        [left_held, right_held]: [&mut H; 2],
    ) {
        // Each may get keys of the other's buckets.
        if left_held.is_marked() || right_held.is_marked() {
            self.make_dirty(leaves[0].low().to_u64(), leaves[1].high().to_u64());
            left_held.set_mark(false);
            right_held.set_mark(false);
        }
    }

    /// Returns the cached counts of a tree, for the caller alone while it has the guard. `None`: the tree is
    /// too small, or there is no memory, or another thread has them.
    pub(super) fn kept_counts<B: Bits>(&self, store: &Store<B>) -> Option<(&Table, MutexGuard<'_, ()>)> {
        let tables = self.tables()?;
        let (guard, len) = (tables.lock()?, store.counts().entries());
        let table = match tables.current().filter(|table| !tables.is_outgrown(table, len)) {
            Some(table) => table,
            // Without memory for a new table the old one stays.
            None => tables.make_buckets(store, len).or_else(|| tables.current())?,
        };
        Some((table, guard))
    }

    /// Returns what is wrong with the cached counts, if anything is. The tree must be at rest.
    pub(super) fn fault<B: Bits>(&self, store: &Store<B>) -> Option<String> {
        let tables = self.made.get()?;
        let (table, _guard) = (tables.current()?, tables.lock()?);
        let mut real = vec![0; table.len()];
        let (mut node, mut entries) = (store.descend_to_leaf(B::MIN), Entries::default());
        while !node.is_nil() {
            let leaf = store.leaf(node);
            let mut own = table.bucket_of(leaf.low().to_u64())..table.bucket_of(leaf.high().to_u64()) + 1;
            if !store.at(node).latch().is_marked() && !own.all(|bucket| table.is_dirty(bucket)) {
                return Some(format!(
                    "leaf {} isn't marked, and not all its buckets are dirty",
                    node.to_word()
                ));
            }
            LeafReader(leaf).copy_out::<Scalar>(&mut entries);
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
}
