//! The ways to a leaf: by a key's position, by its hash, at an end of all keys, and by a descent.
//!
//! A key's position predicts the leaf at best, its hash where positions don't; otherwise a descent finds
//! it. A thread whose last edit inserted a key at an end of all keys begins its next one there. The leaf's
//! fences decide whether it is the right one. What they decide is learnt here, for the next operations.

mod ends;
mod guesses;
mod positions;
mod start;

pub use ends::Ends;
pub use positions::Aim;
pub use start::{Start, StartBy, aim_of};

use super::node::{Private, Toward};
use super::store::Store;
use crate::blink::Levels;
use crate::node::operation::{Operation, Run, Search};
use crate::tree::{Share, Slots};
use guesses::{Guesses, Line, is_chosen};
use latchless_core::mem::budget::Budget;
use latchless_core::mem::node_ref::NodeRef;
use positions::{Positions, Purpose, SAMPLED};
use std::sync::Arc;

/// The shortcuts past inner nodes. See the file's head.
#[derive(Debug)]
pub struct Finder {
    guesses: Guesses,
    positions: Positions,
    ends: Ends,
}

impl Drop for Finder {
    /// Gives back what the tables have taken: their budget may be that of others, too.
    fn drop(&mut self) {
        self.clear();
    }
}

/// What came of an operation on a key.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// The key's hash.
    pub hash: u64,
    /// The leaf that covers the key.
    pub leaf: NodeRef,
    /// The leaf of the guess by hash that was wrong, or nil.
    pub wrong: NodeRef,
    pub aim: Aim,
    /// Whether the key was there, and whether an edit was applied to it: then it is new unless it was there.
    pub was_there: bool,
    pub applied: bool,
    /// Whether it was a lookup: many that find nothing make guesses by hash useless.
    pub is_lookup: bool,
}

impl Finder {
    /// No shortcuts yet.
    pub fn none(huge_pages: bool, prefault: bool, budget: &Arc<Budget>) -> Self {
        Self {
            guesses: Guesses::none(huge_pages, prefault, budget),
            positions: Positions::none(huge_pages, prefault, budget),
            ends: Ends::unknown(),
        }
    }

    /// No shortcuts of another tree yet, on pages of the same kind and with memory from the same budget.
    pub fn alike(&self) -> Self {
        let (guesses, positions, ends) = (self.guesses.alike(), self.positions.alike(), Ends::unknown());
        Self { guesses, positions, ends }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.guesses.clear();
        self.positions.clear();
        self.ends = Ends::unknown();
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> usize {
        self.guesses.bytes() + self.positions.bytes()
    }

    /// The first and the last leaf.
    #[inline(always)]
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Whether there are guesses by position that pay.
    #[inline(always)]
    pub fn has_positions(&self, aim: Aim) -> bool {
        self.positions.are_any(aim)
    }

    /// Where an edit of a key with this hash begins. The lines that it reads are prefetched.
    #[inline(always)]
    pub fn start<S: Search>(&self, store: &Store, key: &[u8], hash: u64, aim: Aim) -> Start {
        if let Some(end) = self.start_at_end(store) {
            return end;
        }
        let start = match self.guess(store, key, hash, aim) {
            Some(start) => {
                if let Some((share, usual)) = start.share.zip(store.usual().records()) {
                    store.prefetch().record_onwards(start.leaf, share, usual);
                    return start;
                }
                store.prefetch().node(start.leaf, 0);
                start
            }
            None => Start::new(store.descend_to_leaf::<S>(key, Toward::Key), StartBy::Descent),
        };
        store.prefetch().heads(start.leaf);
        start
    }

    /// Where an edit begins if this thread's last one was an insert at an end of this tree.
    #[inline(always)]
    pub fn start_at_end(&self, store: &Store) -> Option<Start> {
        self.ends.of_thread(store).map(|leaf| Start::new(leaf, StartBy::End))
    }

    /// The leaf that a key with this hash is likely to be in, without a descent.
    #[inline(always)]
    fn guess(&self, store: &Store, key: &[u8], hash: u64, aim: Aim) -> Option<Start> {
        match self.positions.guess(key, aim) {
            Some((leaf, share)) => Some(at_position(store, leaf, share)),
            None => self.guess_by_hash(hash),
        }
    }

    /// Where a search for a key, or for its neighbour, begins by the key's position. The lines that it reads
    /// are prefetched.
    #[inline(always)]
    pub fn start_by_position(&self, store: &Store, key: &[u8]) -> Option<Start> {
        let (leaf, share) = self.positions.guess(key, Aim::Find)?;
        let Some(usual) = store.usual().records() else {
            store.prefetch().leaf(leaf);
            return Some(Start::new(leaf, StartBy::Position));
        };
        store.prefetch().record(leaf, share, usual);
        Some(Start { leaf, by: StartBy::Position, share: Some(share) })
    }

    /// The same of a key that has this place among the slots.
    #[inline(always)]
    pub fn start_by_slot(&self, store: &Store, slots: Slots<'_>, place: u64) -> Option<Start> {
        let (leaf, share) = slots.guess_at(place.into())?;
        match store.usual().records() {
            Some(usual) => store.prefetch().record(leaf, share, usual),
            None => store.prefetch().leaf(leaf),
        }
        Some(at_position(store, leaf, share))
    }

    /// The guesses for a key with this hash, if there are any.
    #[inline(always)]
    pub fn guesses_by_hash(&self, hash: u64) -> Option<Line<'_>> {
        self.guesses.line(hash)
    }

    #[inline(always)]
    fn guess_by_hash(&self, hash: u64) -> Option<Start> {
        self.guesses.leaf(hash).map(|leaf| Start::new(leaf, StartBy::Hash))
    }

    /// Prefetches the slots of keys, if there are any, and returns each key's place.
    #[inline(always)]
    pub fn prefetch_slots(&self, keys: &[&[u8]], aim: Aim, places: &mut [u64]) -> Option<Slots<'_>> {
        self.positions.ask_for_all(keys, aim, places)
    }

    /// Prefetches the guesses of a key with this hash.
    #[inline(always)]
    pub fn prefetch_guesses(&self, hash: u64) {
        self.guesses.ask(hash);
    }

    /// The guess for a key that has this place among the slots, if there are any.
    #[inline(always)]
    pub fn guess_at_slot(&self, store: &Store, slots: Option<Slots<'_>>, place: u64) -> Option<Start> {
        let (leaf, share) = slots?.guess_at(place.into())?;
        Some(at_position(store, leaf, share))
    }

    /// The guess by position, or else the one for a key with this hash.
    #[inline(always)]
    pub fn guess_at(&self, by_position: Option<Start>, hash: u64) -> Option<Start> {
        if by_position.is_some() { by_position } else { self.guess_by_hash(hash) }
    }

    /// Where a search for a key's neighbour begins. The key needn't be there, so its hash gives no guess.
    #[inline(always)]
    pub fn start_near(&self, store: &Store, key: &[u8], toward: Toward) -> Start {
        if toward == Toward::Key
            && let Some((leaf, _)) = self.positions.guess(key, Aim::Find)
        {
            store.prefetch().node(leaf, 0);
            return Start::new(leaf, StartBy::Position);
        }
        let leaf = store.dispatch().run(Descend { store, key, toward, with_next: false });
        Start::new(leaf, StartBy::Descent)
    }

    /// Where a search begins that reads several leaves in order: also prefetches the header of the next
    /// one.
    #[inline(always)]
    pub fn start_with_next(&self, store: &Store, key: &[u8], toward: Toward) -> Start {
        if toward == Toward::Key
            && let Some((leaf, share, next)) = self.positions.guess_two(key)
        {
            store.prefetch().header(next);
            return at_position(store, leaf, share);
        }
        let leaf = store.dispatch().run(Descend { store, key, toward, with_next: true });
        Start::new(leaf, StartBy::Descent)
    }

    /// Learns from the outcome of an edit, or of a lookup that went down the tree.
    #[inline(always)]
    pub fn learn(&self, store: &Store, start: Start, key: &[u8], outcome: &Outcome) {
        let &Outcome { hash, leaf, wrong, aim, was_there, applied, is_lookup } = outcome;
        let is_new = applied && !was_there;
        if self.learn_leaf(store, start, key, leaf, Purpose { aim, is_new }) {
            return;
        }
        if was_there || is_lookup {
            let is_worth = was_there && key.len() > 8 && wrong.is_nil();
            self.guesses.learn(is_worth, || store.counts().entries());
        }
        if was_there || applied {
            self.guesses.write(hash, leaf, wrong);
        }
    }

    /// Learns from the leaf that covers a key, at which a search for neighbours began.
    #[inline(always)]
    pub fn settle(&self, store: &Store, start: Start, key: &[u8], leaf: NodeRef) {
        self.learn_leaf(store, start, key, leaf, Purpose { aim: Aim::Find, is_new: false });
    }

    /// Learns the right start from the leaf that covers a key, which is there or was added. Returns whether
    /// the guess by position was right and lookups use positions, too.
    #[inline(always)]
    fn learn_leaf(&self, store: &Store, start: Start, key: &[u8], leaf: NodeRef, purpose: Purpose) -> bool {
        let is_right = start.by == StartBy::Position && start.leaf == leaf;
        if is_right {
            self.count_position(store, purpose.aim);
        } else if start.by != StartBy::End && self.positions.are_any(purpose.aim) {
            self.positions.learn(store, key, leaf, purpose);
        }
        is_right && self.positions.are_any(Aim::Find)
    }

    /// Learns from a lookup by hash that a guess was right, or led to the left neighbour of the key's `leaf`.
    #[inline(always)]
    pub fn learn_guess(&self, store: &Store, guess: NodeRef, hash: u64, leaf: NodeRef, is_found: bool) {
        if leaf != guess && is_found {
            self.guesses.write(hash, leaf, guess);
        }
        self.guesses.learn(is_found, || store.counts().entries());
    }

    /// Counts an operation now and then whose guess by position was right.
    #[inline(always)]
    fn count_position(&self, store: &Store, aim: Aim) {
        if is_chosen(SAMPLED) {
            self.was_right(store, aim);
        }
    }

    /// Counts a lookup whose guess by position was right, and that didn't find its key at the likely place in
    /// the leaf, if that is known.
    #[inline(always)]
    pub fn count_elsewhere(&self, store: &Store, start: Start) {
        if start.share.is_some() {
            self.count_nearness(store, false);
        } else {
            self.count_position(store, Aim::Find);
        }
    }

    /// Counts a lookup in a leaf of records: whether the key was at its likely place.
    #[inline(always)]
    pub fn count_nearness(&self, store: &Store, was_near: bool) {
        if is_chosen(SAMPLED) {
            self.was_near(store, was_near);
        }
    }

    #[cold]
    #[inline(never)]
    fn was_near(&self, store: &Store, was_near: bool) {
        self.was_right(store, Aim::Find);
        self.positions.weigh_nearness(was_near);
        if self.positions.are_far() {
            store.usual().forget_records();
        }
    }

    #[cold]
    #[inline(never)]
    fn was_right(&self, store: &Store, aim: Aim) {
        self.positions.weigh(aim, true);
        if aim == Aim::Find {
            self.guesses.count_in_vain(store.counts().entries());
        }
    }

    /// Remembers a leaf's shape as the estimate for others.
    pub fn learn_shape(&self, store: &Store, leaf: Private<'_>) {
        let density = || self.positions.density(store.counts().entries());
        store.usual().learn(leaf, self.positions.are_far(), density);
    }

    /// Whether positions distinguish a leaf of these fences from its neighbours, or there was no table yet.
    pub fn distinguishes(&self, low: &[u8], high: Option<&[u8]>) -> bool {
        self.positions.tell(low, high)
    }

    /// Two neighbours meet at a separator now.
    pub fn name_both(&self, leaves: [NodeRef; 2], lows: [&[u8]; 2], high: Option<&[u8]>) {
        self.positions.name_both(leaves, lows, high);
    }

    /// A leaf was split at a separator.
    pub fn note_split(&self, separator: &[u8]) {
        self.positions.note_split(separator);
    }

    /// Makes tables larger that the tree has outgrown, or lays out newer ones.
    pub fn follow_growth(&self, store: &Store) {
        let entries = store.counts().entries();
        if self.guesses.is_outgrown(entries) {
            self.guesses.grow(entries);
        }
        self.positions.lay_out_if_outgrown(store);
    }
}

/// A start by a key's position, with the key's likely place in the leaf.
#[inline(always)]
fn at_position(store: &Store, leaf: NodeRef, share: Share) -> Start {
    let share = store.usual().records().is_some().then_some(share);
    Start { leaf, by: StartBy::Position, share }
}

/// The way down to the leaf that is likely to have a key.
struct Descend<'a> {
    store: &'a Store,
    key: &'a [u8],
    toward: Toward,
    /// Whether to prefetch the header of the following leaf.
    with_next: bool,
}

impl Operation for Descend<'_> {
    type Output = NodeRef;

    #[inline(always)]
    fn run<S: Search>(self) -> NodeRef {
        let Self { store, key, toward, with_next } = self;
        if with_next
            && let Some(parent) = store.descend::<S>(1, key, toward)
            && let Some((child, next)) = store.child_and_next::<S>(parent, key, toward)
        {
            store.prefetch().header(next);
            return child;
        }
        store.descend_to_leaf::<S>(key, toward)
    }
}
