//! One thread's work on its share of a batch: look up the interceptions (Algorithm 2), agree with its
//! neighbours (Algorithm 3), execute (Algorithm 4).

use super::context::{AHEAD, Context, ask_ahead};
use super::ranges::{Ahead, Pairs, go_ahead};
use super::work::{Query, Update};
use crate::pi::batch::carry::Carry;
use crate::pi::batch::partition::{Neighbours, Piece, Share, staying};
use crate::pi::segments::{Anchor, Drift, Finger, Segments};
use core::ops::Range;
use latchless_core::base::error::Error;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work as Busy};

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
