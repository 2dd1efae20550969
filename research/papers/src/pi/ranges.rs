//! Ranges that extend beyond a thread's or a node's keys (§3.2.5).
//!
//! Those without a limit are sent to every thread that has keys of theirs, at once. A limited one is
//! served by the thread that has its first key, before that thread changes anything: a range sees the
//! values before the batch, except for its own first key. Only if the thread's keys end before the limit
//! is met does the remainder continue to the right ([`Carry`]), where it is served before anything is
//! changed as well. So the cost of a range depends on its result, not on the number of threads and nodes.

use super::context::{Context, ask_ahead};
use super::work::Work;
use crate::pi::batch::carry::Carry;
use crate::pi::batch::partition::{Piece, Share};
use crate::pi::segments::{Anchor, SegmentsMut};
use core::iter::Peekable;
use core::ops::Range;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use std::vec::IntoIter;

/// A range's entries, or some of them.
pub(super) type Pairs<B> = Vec<(B, B)>;

/// The entries that limited ranges found in a share before anything in it was changed.
pub(super) struct Ahead<B> {
    /// Those of ranges that begin further left, by the query's number.
    pub(super) carried: Vec<(u32, Pairs<B>)>,
    /// Those of the share's own ranges, by their place among the sorted queries, ascending.
    own: Peekable<IntoIter<(usize, Pairs<B>)>>,
}

impl<B: Bits> Ahead<B> {
    /// Returns the entries of the sorted query at this place, if it was served ahead of its turn. Queries
    /// before it may have changed its first key meanwhile.
    pub(super) fn take(
        &mut self,
        order: &[(B, u32)],
        at: usize,
        current: impl FnOnce(B) -> Option<B>,
    ) -> Option<Pairs<B>> {
        let (_, mut found) = self.own.next_if(|(of, _)| *of == at)?;
        if may_have_changed(order, at) {
            let key = order[at].0;
            if found.first().is_some_and(|first| first.0 == key) {
                found.remove(0);
            }
            found.splice(0..0, current(key).map(|value| (key, value)));
        }
        Some(found)
    }
}

/// Returns whether an earlier query of the batch is for the same key.
fn may_have_changed<B: Bits>(order: &[(B, u32)], at: usize) -> bool {
    at > 0 && order[at - 1].0 == order[at].0
}

/// Serves the limited ranges of a share as far as its nodes extend: its own, if they may continue to the
/// right, and those from the left. Passes their remainders on.
pub(super) fn go_ahead<B: Bits, T: Trace>(
    context: &Context<'_, B>,
    order: &[(B, u32)],
    share: &Share<'_, B>,
    carry: Carry<B>,
) -> Ahead<B> {
    let (mut own, mut rests) = (Vec::new(), Vec::new());
    if carry.goes_on() {
        for (nth, (at, &anchor)) in share.queries.clone().zip(&share.anchors).enumerate() {
            ask_ahead::<B, T>(context, &share.list, &share.anchors, nth);
            let Some(piece) = context.work.range(order[at].1).filter(Piece::is_limited) else { continue };
            // Should the first key go, one more is wanted in its place.
            let more = usize::from(may_have_changed(order, at));
            let piece = Piece { limit: piece.limit + more, ..piece };
            let (found, rest) = fetch::<B, T>(&share.list, anchor, order[at].0, piece);
            own.push((at, found));
            rests.extend(rest);
        }
    }
    let mut carried = Vec::new();
    carry.pass::<T>(|pieces| {
        let mut left: Vec<Piece<B>> = Vec::new();
        for piece in pieces {
            let first = share.list.first_anchor();
            let (found, rest) = fetch::<B, T>(&share.list, first, B::MIN, piece);
            carried.push((piece.number, found));
            left.extend(rest);
        }
        left.append(&mut rests);
        left
    });
    Ahead { carried, own: own.into_iter().peekable() }
}

/// Returns a list's entries of a range from `low` on, and the remainder of the range if the list ends
/// first.
fn fetch<B: Bits, T: Trace>(
    list: &SegmentsMut<'_, B>,
    anchor: Anchor,
    low: B,
    piece: Piece<B>,
) -> (Pairs<B>, Option<Piece<B>>) {
    let mut found = Vec::new();
    let goes_on = list.range::<T>(anchor, (low, piece.high), piece.limit, &mut found);
    let rest = goes_on.then(|| Piece { limit: piece.limit - found.len(), ..piece });
    (found, rest)
}

/// The work that arrives at a domain from those to its left.
#[derive(Default, Clone)]
pub(super) struct Coming<B> {
    /// Ranges without a limit that continue in it.
    pub(super) pieces: Vec<Piece<B>>,
    /// Whether the remainder of a limited range may continue in it.
    limited: bool,
}

impl<B> Coming<B> {
    /// Returns whether anything may arrive.
    pub(super) fn is_some(&self) -> bool {
        self.limited || !self.pieces.is_empty()
    }
}

/// Returns, for each domain, the work of ranges that begin in an earlier one. `parts` are the domains'
/// shares of the sorted queries; `domain_of` gives the domain of a key, and `len_of` the keys of a domain.
pub(super) fn coming<B: Bits>(
    work: Work<'_, B>,
    order: &[(B, u32)],
    parts: &[Range<usize>],
    domain_of: impl Fn(B) -> usize,
    len_of: impl Fn(usize) -> usize,
) -> Vec<Coming<B>> {
    let mut coming = vec![Coming::default(); parts.len()];
    if let (Work::Mixed { .. }, true) = (work, parts.len() > 1) {
        for (node, part) in parts.iter().enumerate() {
            for piece in order[part.clone()].iter().filter_map(|&(_, number)| work.range(number)) {
                // One entry more than the limit: the range's first key may be removed before its turn.
                let mut missing = piece.limit.saturating_add(1);
                let end = domain_of(piece.high) + 1;
                for (later, coming) in coming.iter_mut().enumerate().take(end).skip(node + 1) {
                    if !piece.is_limited() {
                        coming.pieces.push(piece);
                    } else if missing > 0 {
                        coming.limited = true;
                        // Rests are done before anything in a domain is changed.
                        missing = missing.saturating_sub(len_of(later));
                    }
                }
            }
        }
    }
    coming
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Pi, Query};
    use crate::pi::mem::topology::Topology;
    use latchless_core::base::index::OrderedIndex;
    use latchless_core::base::request::{Reply, Request};
    use std::collections::BTreeMap;

    const KEYS: u64 = if cfg!(miri) { 60 } else { 2000 };

    /// An index of every tenth number, on that many threads and nodes.
    fn loaded(threads: usize, nodes: usize) -> (Pi<u64, u64>, BTreeMap<u64, u64>) {
        let topology = Some(Topology::synthetic(nodes, threads));
        let mut index =
            Pi::with_options(&Options { threads, topology, segment_nodes: 4, ..Options::default() }).unwrap();
        let entries: Vec<(u64, u64)> = (0..KEYS).map(|nth| (nth * 10, nth)).collect();
        index.bulk_load(&entries).unwrap();
        (index, entries.into_iter().collect())
    }

    const SHAPES: &[(usize, usize)] =
        if cfg!(miri) { &[(2, 2)] } else { &[(1, 1), (2, 1), (5, 1), (1, 4), (2, 4), (8, 3), (8, 8)] };

    fn scanned(model: &BTreeMap<u64, u64>, low: u64, limit: usize) -> Reply<u64, u64> {
        Reply::Scanned(model.range(low..).map(|(&key, &value)| (key, value)).take(limit).collect())
    }

    #[test]
    fn a_limited_range_is_not_fetched_once_by_every_thread_to_its_right() {
        for &(threads, nodes) in SHAPES {
            for limit in [1, 10, KEYS as usize / 6, KEYS as usize - 1] {
                let (mut index, model) = loaded(threads, nodes);
                let lows: Vec<u64> = (0..KEYS / 4).map(|nth| nth * 40 + 1).collect();
                let requests: Vec<_> = lows.iter().map(|&from| Request::Scan { from, limit }).collect();
                let expected: Vec<_> = lows.iter().map(|&low| scanned(&model, low, limit)).collect();
                let wanted: usize = lows.iter().map(|&low| model.range(low..).take(limit).count()).sum();
                let mut replies = Vec::new();
                OrderedIndex::execute(&mut index, &requests, &mut replies);
                assert_eq!(replies, expected, "{limit} entries, {threads} threads on {nodes} nodes");
                let fetched = index.engine.fetched;
                assert_eq!(fetched, wanted, "{limit} entries, {threads} threads on {nodes} nodes");
            }
        }
    }

    #[test]
    fn limited_ranges_see_their_first_key_s_changes_and_no_others_wherever_they_end() {
        let mut random = 7u64;
        let mut below = |end: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % end
        };
        for &(threads, nodes) in SHAPES {
            let (mut index, mut model) = loaded(threads, nodes);
            for _ in 0..if cfg!(miri) { 2 } else { 20 } {
                // Three queries a key on average, so that most ranges' first keys are changed before them.
                let queries: Vec<Query<u64, u64>> = (0..KEYS / 5)
                    .map(|_| {
                        let low = below(KEYS / 15) * 150 + below(2) * 5;
                        match below(6) {
                            0 => Query::Insert(low, below(100)),
                            1 => Query::Delete(low),
                            _ => {
                                let high = if below(2) == 0 { u64::MAX } else { low + below(KEYS * 3) };
                                let limit = [1, 2, 7, KEYS as usize / 3][below(4) as usize];
                                Query::Range { low, high, limit }
                            }
                        }
                    })
                    .collect();
                let expected = super::super::tests::model_replies(&mut model, &queries);
                let replies = index.execute(&queries);
                let wrong = (0..queries.len()).find(|&at| replies[at] != expected[at]);
                assert_eq!(wrong.map(|at| queries[at]), None, "{threads} threads on {nodes} nodes");
            }
            index.check_invariants().unwrap();
        }
    }
}
