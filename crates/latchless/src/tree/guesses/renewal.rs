//! Building a new prediction table next to the one in use. A [survey](super::super::directory) does it in
//! pieces and holds the directory's lock for each of them, so one thread at a time runs this code.
//!
//! # Invariants
//! 1. The slots of a table that is neither in use nor being built are empty from `used` on, except for words
//!    that a thread has written late, which are no worse than other wrong predictions.

use super::segments::{SEGMENTS, Segments, are_even};
use super::{
    FEWEST_SLOTS, Guesses, HUGE_FROM_BYTES, Made, SEGMENTED, SIZES, SLOTS_PER_LEAF, Slots, TURNS, Table,
    UNREADY, WRONG_SHARE, segments_of, table_of,
};
use crate::node::{Children, Entries, Leaf, LeafReader};
use crate::tree::store::Store;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::refusal::boxed;
use latchless_core::mem::words::Words;
use latchless_core::search::Scalar;
use latchless_core::sync::{OnceBox, Word};
use std::sync::OnceLock;

/// Leaves whose keys a survey tries.
const SAMPLED_LEAVES: usize = 256;
/// Keys that a piece tries, more or less.
const TRIED_PER_PIECE: usize = 500;
/// Slots that a piece empties: with huge pages a whole page, which costs as little as a small one.
const FREED_SLOTS: usize = 1 << 15;
const FREED_SLOTS_HUGE: usize = HUGE_FROM_BYTES / size_of::<Word>();

/// The results of the sample so far.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::tree) struct Sample {
    leaves: usize,
    keys: usize,
    guessed: usize,
}

impl Sample {
    /// Creates a sample in which `guessed` of `keys` keys have a prediction.
    #[cfg(test)]
    pub(super) fn of(keys: usize, guessed: usize) -> Self {
        Self { leaves: SAMPLED_LEAVES, keys, guessed }
    }

    /// Tries the keys of some leaves below these inner nodes. Returns whether those were the last ones.
    pub(in crate::tree) fn try_some<B: Bits>(
        &mut self,
        store: &Store<B>,
        slots: Slots<'_>,
        nodes: &[(u64, NodeRef)],
    ) -> bool {
        let (mut children, mut entries) = (Children::default(), Entries::default());
        let end = SAMPLED_LEAVES.min(self.leaves + (TRIED_PER_PIECE / Leaf::<B>::CAPACITY).max(1));
        for nth in self.leaves..end {
            let (_, node) = nodes[nth * nodes.len() / SAMPLED_LEAVES];
            store.inner(node).copy_out(&mut children);
            // A different child of each node.
            let Some(&leaf) = children.nodes().get(31 * nth % children.nodes().len().max(1)) else {
                continue;
            };
            LeafReader(store.leaf(leaf)).copy_out::<Scalar>(&mut entries);
            let right = |key: &&B| slots.guess(key.to_u64()).is_some_and(|(named, _)| named == leaf);
            self.keys += entries.keys().len();
            self.guessed += entries.keys().iter().filter(right).count();
        }
        self.leaves = end;
        end == SAMPLED_LEAVES
    }

    /// Returns whether most of the keys have a prediction.
    fn is_good(self) -> bool {
        let Self { keys, guessed, .. } = self;
        guessed * 5 >= keys * 4
    }
}

impl Table {
    pub(super) const fn none() -> Self {
        let [base, scale, used, charged] = [const { Word::new(0) }; 4];
        Self { base, scale, words: OnceLock::new(), used, charged }
    }

    /// Returns the words, of which `slots` and one more are counted as used.
    fn open(
        &self,
        len: usize,
        huge_pages: bool,
        slots: usize,
        charge: impl FnOnce(usize) -> Result<()>,
    ) -> Option<&Words<Word>> {
        let bytes = (slots + 1) * size_of::<Word>();
        let made = match self.words.get() {
            Some(_) => None,
            None => Some(Words::new(len, huge_pages && bytes >= HUGE_FROM_BYTES).ok()?),
        };
        let more = bytes.saturating_sub(self.charged.load_relaxed() as usize);
        charge(more).ok()?;
        self.charged.add(more as u64);
        self.used.store_relaxed(slots as u64 + 1);
        // No other thread can be first, under the lock.
        Some(self.words.get_or_init(|| made.expect("it was made where there was none")))
    }

    /// Empties some of the slots that are no longer in use, the last ones first.
    fn free_piece(&self, step: usize, discharge: impl FnOnce(usize)) {
        let Some(words) = self.words.get() else { return };
        let from = (self.used.load_relaxed() as usize - 1) / step * step;
        let went_back = words.give_back(from..(from + step).min(words.len()));
        self.used.store_relaxed(from as u64);
        if went_back && from == 0 {
            discharge(self.charged.load_relaxed() as usize);
            self.charged.store_relaxed(0);
        }
    }
}

impl Made {
    fn none() -> Self {
        Self { tables: [const { Table::none() }; SIZES * TURNS], segments: [const { OnceBox::empty() }; 2] }
    }

    /// Returns the first or the second segments, allocated on first use.
    fn segments(&self, which: usize, charge: impl FnOnce(usize) -> Result<()>) -> Option<&Segments> {
        let made = self.segments[which].get_or_try(|| {
            charge(size_of::<Segments>())?;
            Ok::<_, Error>(Segments::blank())
        });
        made.ok()
    }
}

impl Guesses {
    /// Begins a new table of empty slots for `leaves` leaves below these inner nodes; the last node's keys
    /// are left out. `charge` reserves the bytes. Without memory, or with too few keys, there is no new
    /// table, and the one in use stays.
    pub(in crate::tree) fn lay_out(
        &self,
        leaves: usize,
        nodes: &[(u64, NodeRef)],
        charge: impl Fn(usize) -> Result<()>,
    ) -> Option<()> {
        let even = are_even(nodes);
        let slots = leaves * SLOTS_PER_LEAF + if even { 0 } else { SEGMENTS };
        let (first, behind) = (nodes.first()?.0, nodes.last()?.0);
        let scale = u64::try_from(((slots as u128) << 64).checked_div(u128::from(behind - first))?).ok()?;
        let size = (0..SIZES).find(|&size| slots < FEWEST_SLOTS << (2 * size))?;
        let made = self.made.get_or_try(|| boxed(Made::none())).ok()?;
        let is_empty = |&at: &usize| made.tables[at].used.load_relaxed() == 0;
        let at = (TURNS * size..TURNS * (size + 1)).find(is_empty)?;
        let table = &made.tables[at];
        let words = table.open(FEWEST_SLOTS << (2 * size), self.huge_pages, slots, &charge)?;
        if self.prefault {
            words.prefault(slots + 1);
        }
        table.base.store_relaxed(first);
        table.scale.store_relaxed(scale);
        let mut segmented = 0;
        if !even {
            let which = usize::from(segments_of(self.form.load_relaxed()) == Some(0));
            let per_node = (leaves * SLOTS_PER_LEAF) as f64 / (nodes.len() - 1) as f64;
            made.segments(which, charge)?.cut(nodes, per_node);
            segmented = SEGMENTED[which];
        }
        let unready = if self.prefault { UNREADY } else { 0 };
        self.growing.publish((at as u64) << 32 | slots as u64 | segmented | unready);
        Some(())
    }

    /// Returns the table in use.
    pub(super) fn in_use(&self) -> Option<usize> {
        let form = self.form.load_relaxed();
        (form != 0).then(|| table_of(form))
    }

    /// Returns whether another thread is still prefaulting the new table. From the first `false` on, the
    /// table is written.
    pub(in crate::tree) fn is_unready(&self) -> bool {
        let form = self.growing.load_relaxed();
        if form & UNREADY == 0 {
            return false;
        }
        let words = self.made.get().and_then(|made| made.tables[table_of(form)].words.get());
        let is_unready = words.is_some_and(Words::is_unready);
        if !is_unready {
            self.hurry();
        }
        is_unready
    }

    /// Starts writing the new table although its memory isn't ready, where a wait harms no operation.
    pub(in crate::tree) fn hurry(&self) {
        self.growing.publish(self.growing.load_relaxed() & !UNREADY);
    }

    /// Completes the new table: it is in use from now on if it is good, and there is no table otherwise.
    pub(in crate::tree) fn settle(&self, sample: Sample, leaves: usize) {
        self.patience.store_relaxed((leaves / WRONG_SHARE) as u64);
        let good = sample.is_good();
        self.form.publish(if good { self.growing.load_relaxed() } else { 0 });
        self.growing.publish(0);
    }

    /// Empties some of the slots that are no longer in use, of any table, and returns their memory to the
    /// system if that is possible. Returns `false` if there are none. A table that was being built when its
    /// survey ended is among them.
    pub(in crate::tree) fn free_piece(&self, discharge: impl FnOnce(usize)) -> bool {
        self.growing.publish(0);
        let unused =
            |&(at, table): &(usize, &Table)| Some(at) != self.in_use() && table.used.load_relaxed() > 0;
        let tables = self.made.get().map_or(&[][..], |made| &made.tables[..]);
        let Some((_, table)) = tables.iter().enumerate().find(unused) else { return false };
        let huge = self.huge_pages && table.charged.load_relaxed() as usize >= HUGE_FROM_BYTES;
        table.free_piece(if huge { FREED_SLOTS_HUGE } else { FREED_SLOTS }, discharge);
        true
    }
}
