//! One thread's work on its share of a batch: look up the interceptions (Algorithm 2), agree with its
//! neighbours (Algorithm 3), execute (Algorithm 4).

use super::layer::Layer;
use super::options::Prefetch;
use super::ranges::{Ahead, Pairs, go_ahead};
use crate::pi::batch::carry::Carry;
use crate::pi::batch::partition::{Neighbours, Piece, Share, staying};
use crate::pi::mem::budget::Budget;
use crate::pi::segments::{Anchor, Drift, Finger, Segments, SegmentsMut};
use core::ops::Range;
use latchless_core::base::error::Error;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work as Busy};
use latchless_core::search::Dispatch;

/// A query (Definition 2), in lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query<B> {
    Search,
    Insert(B),
    Delete,
    /// Up to this key, and at most that many entries. `usize::MAX` if the limit exceeds the size of the
    /// index.
    Range(B, usize),
}

/// The queries of a batch, by their numbers.
#[derive(Clone, Copy)]
pub(super) enum Work<'a, B> {
    Search,
    Delete,
    Insert(&'a (dyn Fn(usize) -> B + Sync)),
    Mixed {
        query_at: &'a (dyn Fn(usize) -> Query<B> + Sync),
        /// Whether some of them are ranges that a limit can end.
        limited: bool,
    },
}

impl<B: Bits> Work<'_, B> {
    #[inline(always)]
    fn query(&self, number: u32) -> Query<B> {
        match self {
            Work::Search => Query::Search,
            Work::Delete => Query::Delete,
            Work::Insert(value_at) => Query::Insert(value_at(number as usize)),
            Work::Mixed { query_at, .. } => query_at(number as usize),
        }
    }

    /// The query as a range, if it is one.
    pub(super) fn range(&self, number: u32) -> Option<Piece<B>> {
        let Work::Mixed { query_at, .. } = self else { return None };
        match query_at(number as usize) {
            Query::Range(high, limit) => Some(Piece { number, high, limit }),
            _ => None,
        }
    }
}

/// The state that all threads of a node share.
pub(super) struct Context<'a, B: Bits> {
    pub(super) layer: &'a Layer<B>,
    pub(super) work: Work<'a, B>,
    pub(super) budget: &'a Budget,
    pub(super) dispatch: Dispatch,
    pub(super) group: usize,
    pub(super) prefetch: Prefetch,
    /// Whether a rebuild is in progress, which must learn of the changes.
    pub(super) logging: bool,
}

/// A change to the list: the new value of a key, or its removal.
pub(super) type Update<B> = (B, Option<B>);

/// The result of a share.
#[derive(Debug)]
pub(super) struct Outcome<B> {
    /// The positions of the answers among the sorted queries.
    pub(super) queries: Range<usize>,
    /// The previous value under each query's key.
    pub(super) answers: Vec<Option<B>>,
    /// The entries of ranges found here, by the query's number.
    pub(super) found: Vec<(u32, Pairs<B>)>,
    pub(super) refused: Vec<(u32, Error)>,
    pub(super) drift: Drift,
    pub(super) log: Vec<Update<B>>,
}

/// The number of queries between prefetching a segment's place and its node, and between that and its use.
const AHEAD: usize = 8;

/// Serves searches: nothing is changed, so no thread needs to own anything.
pub(super) fn search<B: Bits, T: Trace>(
    context: &Context<'_, B>,
    list: &Segments<B>,
    order: &[(B, u32)],
) -> Vec<Option<B>> {
    let anchors = anchors_of::<B, T>(context, order);
    let mut answers = Vec::with_capacity(order.len());
    for (at, (&(key, _), &anchor)) in order.iter().zip(&anchors).enumerate() {
        if context.prefetch.of_list() {
            if let Some(&later) = anchors.get(at + 2 * AHEAD) {
                list.ask_for_segment::<T>(later);
            }
            if let Some(&next) = anchors.get(at + AHEAD) {
                list.ask_for_node::<T>(next);
            }
        }
        T::work(Busy::Operation);
        answers.push(list.get::<T>(anchor, key));
    }
    answers
}

/// Prefetches the place of a later query's segment and a nearer one's node, if the list is prefetched.
#[inline(always)]
pub(super) fn ask_ahead<B: Bits, T: Trace>(
    context: &Context<'_, B>,
    list: &SegmentsMut<'_, B>,
    anchors: &[Anchor],
    at: usize,
) {
    if context.prefetch.of_list() {
        if let Some(&later) = anchors.get(at + 2 * AHEAD) {
            list.ask_for_segment::<T>(later);
        }
        if let Some(&next) = anchors.get(at + AHEAD) {
            list.ask_for_node::<T>(next);
        }
    }
}

fn anchors_of<B: Bits, T: Trace>(context: &Context<'_, B>, order: &[(B, u32)]) -> Vec<Anchor> {
    T::read(order.as_ptr().cast(), size_of_val(order));
    let keys: Vec<B> = order.iter().map(|&(key, _)| key).collect();
    context.layer.anchors::<T>(context.dispatch, &keys, (context.group, context.prefetch.of_entries()))
}

/// A whole share: `own` are this thread's of the sorted queries. `place` and `carry` are its ends of the ways
/// to its neighbours.
pub(super) fn execute<B: Bits, T: Trace>(
    context: &Context<'_, B>,
    order: &[(B, u32)],
    own: Range<usize>,
    (place, carry): (Neighbours<'_, B>, Carry<B>),
) -> Outcome<B> {
    let anchors = anchors_of::<B, T>(context, &order[own.clone()]);
    let range_at = |at: usize| context.work.range(order[at].1);
    let share = place.redistribute::<T>(own, anchors, range_at, staying);
    let ahead = go_ahead::<B, T>(context, order, &share, carry);
    execute_share::<B, T>(context, order, share, ahead)
}

fn execute_share<B: Bits, T: Trace>(
    context: &Context<'_, B>,
    order: &[(B, u32)],
    share: Share<'_, B>,
    mut ahead: Ahead<B>,
) -> Outcome<B> {
    let Share { queries, anchors, pieces, mut list } = share;
    let mut outcome = Outcome {
        answers: Vec::with_capacity(queries.len()),
        queries: queries.clone(),
        found: core::mem::take(&mut ahead.carried),
        refused: Vec::new(),
        drift: Drift::default(),
        log: Vec::new(),
    };
    // Ranges from the left come first: they begin before all of this thread's keys.
    for Piece { number, high, limit } in pieces {
        let mut found = Vec::new();
        list.range::<T>(list.first_anchor(), (B::MIN, high), limit, &mut found);
        outcome.found.push((number, found));
    }
    let mut finger = Finger::default();
    for (nth, (at, &anchor)) in queries.zip(&anchors).enumerate() {
        let (key, number) = order[at];
        ask_ahead::<B, T>(context, &list, &anchors, nth);
        T::work(Busy::Operation);
        let answer = match context.work.query(number) {
            Query::Search => list.get::<T>(anchor, &mut finger, key),
            Query::Insert(value) => match list.put::<T>(anchor, &mut finger, (key, value), context.budget) {
                Ok((before, drift)) => {
                    outcome.drift += drift;
                    if context.logging {
                        outcome.log.push((key, Some(value)));
                    }
                    before
                }
                Err(error) => {
                    outcome.refused.push((number, error));
                    None
                }
            },
            Query::Delete => {
                let (before, drift) = list.take::<T>(anchor, &mut finger, key);
                outcome.drift += drift;
                if context.logging && before.is_some() {
                    outcome.log.push((key, None));
                }
                before
            }
            Query::Range(high, limit) => {
                let before = ahead.take(order, at, |key| list.get::<T>(anchor, &mut finger, key));
                let found = before.unwrap_or_else(|| {
                    let mut found = Vec::new();
                    list.range::<T>(anchor, (key, high), limit, &mut found);
                    found
                });
                outcome.found.push((number, found));
                None
            }
        };
        outcome.answers.push(answer);
    }
    outcome
}
