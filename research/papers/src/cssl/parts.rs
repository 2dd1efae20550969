//! The structure above the data list: lanes over all of it, or over one stretch of keys each, so that a
//! stretch that changed is rebuilt without the others.

use crate::common::operation::{Operation, Search};
use crate::cssl::drift::Drift;
use crate::cssl::lanes::Lanes;
use crate::cssl::list::List;
use crate::cssl::marks::Marks;
use core::marker::PhantomData;
use core::ops::Range;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::Word;
use std::sync::{Arc, OnceLock};

/// Change counters in separate cache lines: every writer writes them, and every reader reads the fields
/// beside them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counted(Drift);

#[cfg(test)]
std::thread_local! {
    /// The number of parts that were checked individually.
    pub(super) static ASKED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// Lanes over a stretch of keys, and how far the list has drifted from them.
#[derive(Debug)]
pub(super) struct Part<B: Bits> {
    pub(super) lanes: Lanes<B>,
    /// The number of inserts after which the lanes are rebuilt: until then, n stays below t (§3).
    pub(super) room: usize,
    /// Changes by threads that entered since the part was published.
    own: Counted,
    /// Changes by threads that may have entered before it was published, but after it was begun.
    inherited: Arc<Drift>,
    /// The counter of the part's successor, once its construction has begun; changes are counted there as
    /// well.
    successor: OnceLock<Arc<Drift>>,
}

impl<B: Bits> Part<B> {
    pub(super) fn new(lanes: Lanes<B>, room: usize, inherited: Arc<Drift>) -> Self {
        Self { lanes, room, own: Counted::default(), inherited, successor: OnceLock::new() }
    }

    /// Counts an entry that is about to be inserted. Updates call [`Parts::mark`] as well.
    pub(super) fn insert(&self) {
        self.own.0.insert();
        if let Some(successor) = self.successor.get() {
            successor.insert();
        }
    }

    /// An entry is about to go out. Updates call [`Parts::mark`] as well.
    pub(super) fn remove(&self) {
        self.own.0.remove();
        if let Some(successor) = self.successor.get() {
            successor.remove();
        }
    }

    /// Returns whether the list agreed with the lanes at the time of the call, after reading the lanes.
    /// Once a successor was begun, some changes may be counted only by other threads.
    #[inline(always)]
    pub(super) fn is_settled(&self) -> bool {
        #[cfg(test)]
        ASKED.with(|asked| asked.set(asked.get() + 1));
        self.own.0.is_none() && self.inherited.is_none() && self.successor.get().is_none()
    }

    /// Inserts and removals since the lanes were built.
    pub(super) fn changes(&self) -> (usize, usize) {
        let inserted = self.own.0.inserted() + self.inherited.inserted();
        (inserted, self.own.0.removed() + self.inherited.removed())
    }

    /// From now on, threads that enter from now on count changes for the successor as well.
    pub(super) fn begin_successor(&self) -> Arc<Drift> {
        Arc::clone(self.successor.get_or_init(Arc::default))
    }
}

/// An entry of some part's lanes, or the list's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) part: usize,
    /// `None`: the head; then the part is the first one.
    pub(super) at: Option<usize>,
}

/// Up to this number of parts, each is checked individually.
const FEW: usize = 4;

/// All parts, in the order of their keys.
///
/// Marks show which of them have changed, so that a count needn't check each part between its ends. An
/// update marks its part in the table of parts through which it entered. So marks are complete from the
/// moment when every pinned thread entered through this table until it is replaced; before and after that,
/// each part is checked.
#[derive(Debug)]
pub(super) struct Parts<B: Bits> {
    /// The smallest key of each part; the first part begins with the smallest key there is.
    firsts: Vec<B>,
    parts: Vec<Arc<Part<B>>>,
    /// Positions in the lanes of all parts before each one; and at the end, in all.
    before: Vec<usize>,
    marks: Marks,
    /// The stamp of the moment after their publication.
    published: OnceLock<u64>,
    /// Whether marks cover all changes that entered through other tables, 1 or 0.
    marked: Word,
    /// Whether another table is about to be published, 1 or 0.
    replaced: Word,
}

impl<B: Bits> Parts<B> {
    /// Creates a table of parts with the smallest key of each. The first one's key is ignored.
    pub(super) fn new(parts: Vec<(B, Arc<Part<B>>)>) -> Self {
        let (mut firsts, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        if let Some(first) = firsts.first_mut() {
            *first = B::MIN;
        }
        let ends = parts.iter().scan(0, |end, part| {
            *end += part.lanes.len();
            Some(*end)
        });
        let before = core::iter::once(0).chain(ends).collect();
        let (marks, published) = (Marks::new(parts.len()), OnceLock::new());
        Self { firsts, parts, before, marks, published, marked: Word::default(), replaced: Word::default() }
    }

    /// Returns the parts, none of which has changed, when no thread can enter through another table.
    pub(super) fn at_rest(self) -> Self {
        self.marked.store_relaxed(1);
        self
    }

    /// The parts were published before that moment.
    pub(super) fn published_before(&self, stamp: u64) {
        // Each of them is published once.
        let _ = self.published.set(stamp);
    }

    /// Others are about to be published.
    pub(super) fn give_way(&self) {
        self.replaced.store_relaxed(1);
    }

    /// Marks a part that is about to be changed, after the change was counted.
    #[inline(always)]
    pub(super) fn mark(&self, number: usize) {
        self.marks.mark(number);
    }

    /// Returns the first one of `from..=to` that isn't settled; to be called after reading the lanes.
    /// O(log parts) once every pinned thread entered through this table, as `is_past` reports.
    #[inline(always)]
    pub(super) fn first_unsettled(
        &self,
        (from, to): (usize, usize),
        is_past: impl FnOnce(u64) -> bool,
    ) -> Option<usize> {
        if to.saturating_sub(from) < FEW || !self.marks_tell(is_past) {
            return (from..=to).find(|&number| !self.parts[number].is_settled());
        }
        self.marks.first(from, to)
    }

    fn marks_tell(&self, is_past: impl FnOnce(u64) -> bool) -> bool {
        if self.marked.follow() == 0 {
            if !self.published.get().is_some_and(|&stamp| is_past(stamp)) {
                return false;
            }
            // Threads that entered through another table have left: their changes are counted in the
            // parts.
            for (number, part) in self.parts.iter().enumerate() {
                if !part.is_settled() {
                    self.marks.mark(number);
                }
            }
            self.marked.publish(1);
        }
        self.replaced.load_after_fence() == 0
    }

    /// Returns the number of positions up to a spot, in all parts.
    #[inline(always)]
    pub(super) fn up_to(&self, spot: Spot) -> usize {
        self.before[spot.part] + spot.at.map_or(0, |at| at + 1)
    }

    /// The positions of a part, among those of all parts.
    #[inline(always)]
    pub(super) fn positions_of(&self, number: usize) -> Range<usize> {
        self.before[number]..self.before[number + 1]
    }

    /// The part of a position among those of all parts.
    pub(super) fn holding(&self, position: usize) -> usize {
        self.before.partition_point(|&before| before <= position).clamp(1, self.parts.len()) - 1
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    #[inline(always)]
    pub(super) fn part(&self, number: usize) -> &Arc<Part<B>> {
        &self.parts[number]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Part<B>>> {
        self.parts.iter()
    }

    /// The keys that belong to a part, both ends included.
    pub(super) fn keys_of(&self, number: usize) -> (B, B) {
        let end = self.firsts.get(number + 1);
        (self.firsts[number], end.map_or(B::MAX, |&next| latchless_core::base::span::before(next)))
    }

    /// The part that a key belongs to.
    #[inline(always)]
    pub(super) fn of(&self, key: B) -> usize {
        if self.firsts.len() == 1 {
            return 0;
        }
        self.firsts.partition_point(|&first| first <= key).saturating_sub(1)
    }

    /// The node at a spot; nothing for the head.
    #[inline(always)]
    pub(super) fn node(&self, spot: Spot) -> Option<NodeRef> {
        spot.at.map(|at| NodeRef::from_word(self.parts[spot.part].lanes.reference(at)))
    }

    /// A place in a part's lanes, or left of all of them.
    #[inline(always)]
    pub(super) fn spot(&self, part: usize, at: Option<usize>) -> Spot {
        match at {
            None if part > 0 => self.last_before(part),
            at => Spot { part, at },
        }
    }

    /// The last spot before a part.
    #[cold]
    fn last_before(&self, mut part: usize) -> Spot {
        while part > 0 {
            part -= 1;
            if let Some(last) = self.parts[part].lanes.len().checked_sub(1) {
                return Spot { part, at: Some(last) };
            }
        }
        Spot { part: 0, at: None }
    }

    /// The spot to the left of one that isn't the head.
    pub(super) fn left_of(&self, spot: Spot) -> Spot {
        match spot.at {
            Some(at) if at > 0 => Spot { at: Some(at - 1), ..spot },
            _ => self.last_before(spot.part),
        }
    }

    /// The spot to the right of one, if there is one.
    pub(super) fn right_of(&self, spot: Spot) -> Option<Spot> {
        let at = spot.at.map_or(0, |at| at + 1);
        if at < self.parts[spot.part].lanes.len() {
            return Some(Spot { at: Some(at), ..spot });
        }
        let part = (spot.part + 1..self.parts.len()).find(|&part| !self.parts[part].lanes.is_empty())?;
        Some(Spot { part, at: Some(0) })
    }

    /// Passes over the removed entries right of `from` up to `to`: searches end before them.
    pub(super) fn pass_over(&self, from: Spot, to: Spot) {
        for part in from.part..=to.part {
            let len = self.parts[part].lanes.len();
            let first = if part == from.part { from.at.map_or(0, |at| at + 1) } else { 0 };
            let last = if part == to.part { to.at } else { len.checked_sub(1) };
            if let Some(last) = last.filter(|&last| first <= last) {
                self.parts[part].lanes.pass_over(first..=last);
            }
        }
    }
}

/// Finds for each of `N` keys the last spot whose key is at most the key, waiting for memory together.
pub(super) struct Locate<'a, B: Bits, T, const N: usize> {
    pub(super) parts: &'a Parts<B>,
    /// The list whose nodes are prefetched together with proxies, if they will be read.
    pub(super) list: Option<List<'a, B>>,
    pub(super) keys: [B; N],
    pub(super) touch: PhantomData<T>,
}

impl<B: Bits, T: Trace, const N: usize> Operation for Locate<'_, B, T, N> {
    type Output = [Spot; N];

    #[inline(always)]
    fn run<S: Search>(self) -> [Spot; N] {
        let Self { parts, list, keys, .. } = self;
        let mut of = [0; N];
        let mut lanes = [&parts.parts[0].lanes; N];
        for i in 0..N {
            of[i] = parts.of(keys[i]);
            lanes[i] = &parts.parts[of[i]].lanes;
        }
        let ask = |node: u32| {
            if let Some(list) = list {
                list.ask::<T>(NodeRef::from_word(node));
            }
        };
        let positions = Lanes::last_up_to_each::<S, T, N>(lanes, keys, ask);
        let mut spots = [Spot { part: 0, at: None }; N];
        for i in 0..N {
            spots[i] = parts.spot(of[i], positions[i]);
        }
        spots
    }
}

/// Finds the last spot whose key is at most the second key as the paper does it (Algorithm 2): along lane 1
/// from the last one whose key is at most the first key, which is found as well.
pub(super) struct RunAlong<'a, B: Bits, T> {
    pub(super) parts: &'a Parts<B>,
    pub(super) low: B,
    pub(super) high: B,
    pub(super) touch: PhantomData<T>,
}

impl<B: Bits, T: Trace> Operation for RunAlong<'_, B, T> {
    type Output = [Spot; 2];

    #[inline(always)]
    fn run<S: Search>(self) -> [Spot; 2] {
        let Self { parts, low, high, touch } = self;
        let [first] = Locate { parts, list: None, keys: [low], touch }.run::<S>();
        let end = parts.of(high);
        let (mut part, mut at) = (first.part, first.at);
        loop {
            let lanes = &parts.parts[part].lanes;
            if !lanes.is_empty() && (at.is_some() || lanes.key(0) <= high) {
                at = Some(lanes.run_up_to::<S, T>(at.unwrap_or(0), high));
            }
            if part >= end || at.is_some_and(|at| at + 1 < lanes.len()) {
                break;
            }
            (part, at) = (part + 1, None);
        }
        [first, parts.spot(part, at)]
    }
}
