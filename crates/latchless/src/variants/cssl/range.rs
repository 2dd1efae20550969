//! Ranges (CSSL §4): their first and last element, counting them, showing them.

use super::parts::{Parts, RunAlong, Spot};
use super::skip_list::{In, SkipList};
use crate::base::key::Bits;
use crate::base::span::before as before_lane;
use crate::mem::arena::NodeRef;
use core::ops::ControlFlow;

/// References ahead of the entry that is looked at for which nodes are asked.
const ASK_AHEAD: usize = 16;

/// The first and the last element of a range, both alive when they were found; and how many there are, where
/// the lanes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) first: NodeRef,
    pub(super) last: NodeRef,
    pub(super) len: Option<usize>,
}

/// How the end of a range is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By a descent of its own, together with the one to the beginning.
    Descend,
    /// Along lane 1 from the beginning on (Algorithm 2).
    Run,
}

impl<B: Bits> SkipList<B> {
    /// The ends of `low..=high`; nothing if no entry lies in it.
    #[inline(always)]
    pub(super) fn ends(&self, inside: &In<'_, B>, low: B, high: B, way: Way) -> Option<Ends> {
        let parts = inside.published();
        let [before, last] = match way {
            Way::Descend => self.locate(parts, [low, high]),
            Way::Run => self.dispatch.run(RunAlong { parts, low, high }),
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
        if let (Some(first), Some(last_at)) = (first, last.at)
            && (first.part, first.at) <= (last.part, last.at)
        {
            let first_node = self.node(parts, first);
            let mut len = last_at + 1;
            for part in first.part..last.part {
                len += parts.part(part).lanes.len();
            }
            len -= first.at.unwrap_or(0);
            ends = Some(Ends { first: first_node, last: self.node(parts, last), len: Some(len) });
        }
        // Behind all reading of the lanes.
        for part in before.part..=last.part.max(before.part) {
            if !parts.part(part).is_settled() {
                return None;
            }
        }
        Some(ends)
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
        // What was first a moment ago may be the only one that was ever seen.
        Some(Ends { first, last: last.unwrap_or(first), len: None })
    }

    /// How many entries lie in `low..=high`: by the lanes, in O(log n), where nothing has changed since
    /// they were built; by walking over the parts that have changed.
    pub(super) fn count(&self, inside: &In<'_, B>, low: B, high: B) -> usize {
        let parts = inside.published();
        let mut count = 0;
        for number in parts.of(low)..=parts.of(high) {
            let (first, last) = parts.keys_of(number);
            count += self.count_in(parts, number, low.max(first), high.min(last));
        }
        count
    }

    /// How many entries of a part lie in `low..=high`, which all belong to it.
    fn count_in(&self, parts: &Parts<B>, number: usize, low: B, high: B) -> usize {
        let [from, to] = self.locate(parts, [low, high]);
        let part = parts.part(number);
        // Entries up to a spot, those of parts before not counted.
        let up_to = |spot: Spot| if spot.part == number { spot.at.map_or(0, |at| at + 1) } else { 0 };
        let own_low = from.part == number && from.at.is_some_and(|at| part.lanes.key(at) == low);
        let count = (up_to(to) + usize::from(own_low)).saturating_sub(up_to(from));
        if part.is_settled() {
            return count;
        }
        let mut count = 0;
        self.visit_from(parts, from, low, high, |_, _, _| {
            count += 1;
            true
        });
        count
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
                list.ask(NodeRef::from_word(lanes.reference(at + ASK_AHEAD)));
            }
            let node = NodeRef::from_word(lanes.reference(at));
            let key = list.key(node);
            // One may have gone meanwhile. And the first one may lie before the range.
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

    /// At most `parts` stretches of `low..=high` with about equally many entries, by the lanes.
    pub(super) fn cut(&self, inside: &In<'_, B>, low: B, high: B, pieces: usize) -> Vec<(B, B)> {
        let parts = inside.published();
        let [from, to] = self.locate(parts, [low, high]);
        // Entries before each part, among those from `from`'s part on.
        let before = |spot: Spot| -> usize {
            let whole = (from.part..spot.part).map(|part| parts.part(part).lanes.len()).sum::<usize>();
            whole + spot.at.unwrap_or(0)
        };
        let (start, end) = (before(from), before(to));
        let (mut cut, mut low) = (Vec::with_capacity(pieces), low);
        for piece in 1..pieces {
            let mut at = start + end.saturating_sub(start) * piece / pieces;
            let mut part = from.part;
            while part < to.part && at >= parts.part(part).lanes.len() {
                at -= parts.part(part).lanes.len();
                part += 1;
            }
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
