//! Ranges (CSSL §4): their first and last element, counts, and visits.

use super::parts::{Parts, RunAlong, Spot};
use super::skip_list::{In, SkipList};
use crate::common::operation::Run;
use core::marker::PhantomData;
use core::ops::ControlFlow;
use latchless_core::base::key::Bits;
use latchless_core::base::span::before as before_lane;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{NoTrace, Trace, Work};

/// The prefetch distance, in references ahead of the current entry.
const ASK_AHEAD: usize = 16;

/// The first and the last element of a range, both alive when they were found; and their number, if the
/// lanes determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) first: NodeRef,
    pub(super) last: NodeRef,
    pub(super) len: Option<usize>,
}

/// How the end of a range is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By a separate descent, interleaved with the one to the start.
    Descend,
    /// Along lane 1 from the beginning on (Algorithm 2).
    Run,
}

impl<B: Bits> SkipList<B> {
    /// The ends of `low..=high`; nothing if no entry lies in it.
    #[inline(always)]
    pub(super) fn ends<T: Trace>(&self, inside: &In<'_, B>, low: B, high: B, way: Way) -> Option<Ends> {
        T::work(Work::Operation);
        let parts = inside.published();
        let [before, last] = match way {
            Way::Descend => self.locate_told::<T, 2>(parts, [low, high]),
            Way::Run => self.dispatch.run(RunAlong { parts, low, high, touch: PhantomData::<T> }),
        };
        self.ends_at(parts, low, high, [before, last])
    }

    /// The ends of `low..=high`, whose spots are known.
    #[inline(always)]
    pub(super) fn ends_at(&self, parts: &Parts<B>, low: B, high: B, spots: [Spot; 2]) -> Option<Ends> {
        match self.settled_ends(parts, low, spots[0], spots[1]) {
            Some(ends) => ends,
            None => self.unsettled_ends(parts, low, high, spots),
        }
    }

    /// The ends by the lanes alone, if nothing has changed since they were built: `Some(None)` if the
    /// range is empty.
    #[inline(always)]
    fn settled_ends(&self, parts: &Parts<B>, low: B, before: Spot, last: Spot) -> Option<Option<Ends>> {
        let holds_low = match before.at {
            Some(at) => parts.part(before.part).lanes.key(at) == low,
            None => false,
        };
        let first = if holds_low { Some(before) } else { parts.right_of(before) };
        let mut ends = None;
        if let (Some(first), Some(_)) = (first, last.at)
            && (first.part, first.at) <= (last.part, last.at)
        {
            let first_node = self.node(parts, first);
            let len = parts.up_to(last) + 1 - parts.up_to(first);
            ends = Some(Ends { first: first_node, last: self.node(parts, last), len: Some(len) });
        }
        // After all reading of the lanes.
        match self.first_unsettled(parts, before.part, last.part.max(before.part)) {
            Some(_) => None,
            None => Some(ends),
        }
    }

    /// The ends by the list.
    #[cold]
    fn unsettled_ends(&self, parts: &Parts<B>, low: B, high: B, spots: [Spot; 2]) -> Option<Ends> {
        let mut first = None;
        self.at_living_anchor(parts, spots[0], |anchor| {
            self.list().visit(anchor, low, high, |node, _, _| {
                first = Some(node);
                false
            })
        });
        let first = first?;
        let mut last = None;
        self.at_living_anchor(parts, spots[1], |anchor| {
            self.list().visit(anchor, low, high, |node, _, _| {
                last = Some(node);
                true
            })
        });
        // The first element of a moment ago may be the only one that was ever seen.
        Some(Ends { first, last: last.unwrap_or(first), len: None })
    }

    /// Returns the number of entries in `low..=high`: from the lanes, in O(log n), if nothing has changed
    /// since they were built; by walks over the parts that have changed.
    pub(super) fn count(&self, inside: &In<'_, B>, low: B, high: B) -> usize {
        let parts = inside.published();
        let [from, to] = self.locate(parts, [low, high]);
        let own_low = from.at.is_some_and(|at| parts.part(from.part).lanes.key(at) == low);
        let positions = parts.up_to(from) - usize::from(own_low)..parts.up_to(to);
        // Parts `number..` are still to be counted. Whether they are settled is checked after reading the
        // lanes.
        let (mut number, last) = (parts.of(low), parts.of(high));
        let mut count = 0;
        loop {
            let changed = self.first_unsettled(parts, number, last);
            let settled = parts.positions_of(number).start..match changed {
                Some(changed) => parts.positions_of(changed).start,
                None => parts.positions_of(last).end,
            };
            let (start, end) = (positions.start.max(settled.start), positions.end.min(settled.end));
            count += end.saturating_sub(start);
            let Some(changed) = changed else { return count };
            let (first_key, last_key) = parts.keys_of(changed);
            self.visit(parts, low.max(first_key), high.min(last_key), |_, _, _| {
                count += 1;
                true
            });
            if changed == last {
                return count;
            }
            number = changed + 1;
        }
    }

    /// Shows the living entries of `low..=high`, ascending, until `visit` has seen enough (`false`).
    #[inline(always)]
    pub(super) fn visit(&self, parts: &Parts<B>, low: B, high: B, visit: impl FnMut(NodeRef, B, B) -> bool) {
        let [spot] = self.locate(parts, [low]);
        self.visit_from(parts, spot, low, high, visit);
    }

    #[inline(always)]
    fn visit_from(
        &self,
        parts: &Parts<B>,
        spot: Spot,
        low: B,
        high: B,
        mut visit: impl FnMut(NodeRef, B, B) -> bool,
    ) {
        self.at_living_anchor(parts, spot, |anchor| self.list().visit(anchor, low, high, &mut visit));
    }

    /// Adds up something of the values of `low..=high`. Where nothing has changed since lanes were built
    /// the nodes are read in the order of the proxies, which name those ahead; elsewhere along the list.
    #[inline(always)]
    pub(super) fn fold<A>(
        &self,
        inside: &In<'_, B>,
        low: B,
        high: B,
        start: A,
        mut fold: impl FnMut(A, B, B) -> ControlFlow<A, A>,
    ) -> A {
        let parts = inside.published();
        let mut so_far = ControlFlow::Continue(start);
        for number in parts.of(low)..=parts.of(high) {
            let (first, last) = parts.keys_of(number);
            let (low, high) = (low.max(first), high.min(last));
            so_far = match so_far {
                ControlFlow::Continue(start) => self.fold_in(parts, number, (low, high), start, &mut fold),
                broken => broken,
            };
        }
        match so_far {
            ControlFlow::Continue(done) | ControlFlow::Break(done) => done,
        }
    }

    #[inline(always)]
    fn fold_in<A>(
        &self,
        parts: &Parts<B>,
        number: usize,
        (low, high): (B, B),
        start: A,
        fold: &mut impl FnMut(A, B, B) -> ControlFlow<A, A>,
    ) -> ControlFlow<A, A> {
        let [from, to] = self.locate(parts, [low, high]);
        let part = parts.part(number);
        if !part.is_settled() {
            let mut so_far = Some(ControlFlow::Continue(start));
            self.visit_from(parts, from, low, high, |_, key, value| {
                so_far = match so_far.take() {
                    Some(ControlFlow::Continue(before)) => Some(fold(before, key, value)),
                    done => done,
                };
                matches!(so_far, Some(ControlFlow::Continue(_)))
            });
            return so_far.expect("it is put back after each entry");
        }
        let first = if from.part == number { from.at.map_or(0, |at| at) } else { 0 };
        let behind = if to.part == number { to.at.map_or(0, |at| at + 1) } else { 0 };
        let (list, lanes) = (self.list(), &part.lanes);
        let mut so_far = start;
        for at in first..behind {
            if at + ASK_AHEAD < lanes.len() {
                list.ask::<NoTrace>(NodeRef::from_word(lanes.reference(at + ASK_AHEAD)));
            }
            let node = NodeRef::from_word(lanes.reference(at));
            let key = list.key(node);
            // One may have left meanwhile. And the first one may be before the range.
            if key < low {
                continue;
            }
            let Some(value) = list.living_value(node) else { continue };
            so_far = match fold(so_far, key, value) {
                ControlFlow::Continue(next) => next,
                done => return done,
            };
        }
        ControlFlow::Continue(so_far)
    }

    /// Returns at most `parts` stretches of `low..=high` with about equally many entries, by the lanes.
    pub(super) fn cut(&self, inside: &In<'_, B>, low: B, high: B, pieces: usize) -> Vec<(B, B)> {
        let parts = inside.published();
        let [from, to] = self.locate(parts, [low, high]);
        // The position of a spot's key, among those of all parts.
        let position = |spot: Spot| parts.positions_of(spot.part).start + spot.at.unwrap_or(0);
        let (start, end) = (position(from), position(to));
        let (mut cut, mut low) = (Vec::with_capacity(pieces), low);
        for piece in 1..pieces {
            let position = start + end.saturating_sub(start) * piece / pieces;
            let part = parts.holding(position);
            let at = position - parts.positions_of(part).start;
            if at >= parts.part(part).lanes.len() {
                continue;
            }
            let key = parts.part(part).lanes.key(at);
            if low < key && key <= high {
                cut.push((low, before_lane(key)));
                low = key;
            }
        }
        cut.push((low, high));
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::super::parts::{ASKED, Parts};
    use super::*;
    use std::collections::BTreeSet;

    const PARTS: u64 = if cfg!(miri) { 70 } else { 1000 };

    /// Every tenth number, ten of them in a part.
    fn loaded() -> (SkipList<u64>, BTreeSet<u64>) {
        let options =
            Options { part_keys: Some(10), rebuild_automatically: false, guess: false, ..Options::default() };
        let mut list = SkipList::new(&options).unwrap();
        list.load(10 * PARTS as usize, |nth| (nth as u64 * 10, 1)).unwrap();
        (list, (0..10 * PARTS).map(|nth| nth * 10).collect())
    }

    fn count(list: &SkipList<u64>, low: u64, high: u64) -> usize {
        list.count(&list.enter(), low, high)
    }

    fn asked(what: impl FnOnce()) -> usize {
        let before = ASKED.get();
        what();
        ASKED.get() - before
    }

    #[test]
    fn a_settled_count_asks_no_part_between_its_ends() {
        let (list, model) = loaded();
        let all = || assert_eq!(count(&list, 0, u64::MAX), model.len());
        assert_eq!(asked(all), 0, "after a load");
        list.rebuild(true).unwrap();
        all();
        assert_eq!(asked(all), 0, "nobody is inside any more who came in before the rebuild");
        assert_eq!(asked(|| assert_eq!(count(&list, 15, 25), 1)), 1, "few parts are asked");
        // One part has changed: it is walked over, the others aren't.
        list.insert(777, 1).unwrap();
        assert_eq!(asked(|| assert_eq!(count(&list, 0, u64::MAX), model.len() + 1)), 0);
    }

    #[test]
    fn counts_over_many_parts_see_every_change_whichever_parts_one_came_in_by() {
        let (list, mut model) = loaded();
        let mut random = 3u64;
        let mut below = |end: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % end
        };
        let end = PARTS * 100;
        for round in 0..if cfg!(miri) { 4 } else { 60 } {
            let early = list.enter();
            for _ in 0..4 {
                if below(2) == 0 {
                    let key = below(end);
                    list.insert(key, 1).unwrap();
                    model.insert(key);
                } else {
                    let key = below(end / 10) * 10;
                    assert_eq!(list.remove(key).is_some(), model.remove(&key));
                }
                if below(4) == 0 {
                    list.rebuild(round % 5 == 0).unwrap();
                }
                for _ in 0..10 {
                    let low = below(end);
                    let high = low + below(end - low);
                    let expected = model.range(low..=high).count();
                    assert_eq!(list.count(&early, low, high), expected, "{low}..={high}, pinned early");
                    let late = list.enter();
                    assert_eq!(list.count(&late, low, high), expected, "{low}..={high}");
                    let ends = list.ends::<NoTrace>(&late, low, high, Way::Descend);
                    if let Some(len) = ends.and_then(|ends| ends.len) {
                        assert_eq!(len, expected, "{low}..={high}, its ends");
                    }
                }
            }
            drop(early);
            list.check_invariants().unwrap();
        }
    }

    /// A writer that entered through parts which were replaced meanwhile.
    #[test]
    fn a_change_through_replaced_parts_is_seen_through_the_new_ones() {
        let (list, _) = loaded();
        let inside = list.enter();
        let old = inside.published();
        let shared = (0..old.len()).map(|number| (old.keys_of(number).0, old.part(number).clone()));
        let new = Parts::new(shared.collect());
        let all = (0, old.len() - 1);
        assert_eq!(new.first_unsettled(all, |_| true), None, "they aren't published yet, each part is asked");
        new.published_before(5);
        old.give_way();
        old.part(20).insert();
        old.mark(20);
        assert_eq!(new.first_unsettled(all, |_| false), Some(20), "the writer may be inside");
        assert_eq!(new.first_unsettled(all, |stamp| stamp == 5), Some(20), "it has left");
        new.part(15).insert();
        new.mark(15);
        assert_eq!(new.first_unsettled(all, |_| true), Some(15));
        assert_eq!(
            old.first_unsettled(all, |_| true),
            Some(15),
            "who came in by the old ones sees it as well"
        );
    }
}
