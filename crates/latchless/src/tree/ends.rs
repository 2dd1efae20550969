//! Edits of keys that come before or after all others.
//!
//! Where keys come in order, every one goes to the end of the first or the last leaf: neither the tree nor
//! the leaf is searched for it.

use super::blink::BlinkTree;
use super::edit::{Full, edit_by_descent, edit_in, edit_with_split};
use super::guesses::End;
use crate::blink::{Change, Edit, Edited, Held, Levels, Mode, Step};
use crate::node::operation::{Operation, Search};
use crate::node::{Leaf, LeafEditor};
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;

/// The maximum number of edits of a batch under one latch.
const RUN: usize = 32;

/// Applies an edit that may insert a key which probably belongs to the first or the last leaf. See
/// [`BlinkTree::edit`].
#[inline(never)]
pub(super) fn edit_at_end<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    end: End,
    key: B,
    edit: impl Change<B>,
) -> Result<Edited<B>> {
    let (at, mut held) = tree.finder().latch_leaf::<M>(tree.store().at(end.leaf), key);
    let leaf = at.leaf::<B>();
    if let Step::Set(value) = edit.step(None) {
        held.changing();
        if LeafEditor(leaf).push_at_end(end.is_last, (key, value)) {
            tree.ranks().outdate(leaf, &mut held);
            drop(held);
            tree.store().counts().count_entries::<M>(1);
            return Ok(Edited { before: None, applied: true });
        }
    }
    match tree.store().run(EditIn::<_, _, M> { tree, leaf, held, key, edit }) {
        Ok(edited) => Ok(edited),
        Err(Full) => edit_with_split::<_, M>(tree, at.node, key, edit.edit()),
    }
}

/// Applies edits of a batch that may insert keys at the ends. If many come out of order at one end, they
/// are sorted first, so that most of them follow each other. See [`edit_at_end`].
pub(super) fn edit_at_ends<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    edits: Range<usize>,
    edit_at: impl Fn(usize) -> (B, Edit<B>),
    mut done: impl FnMut(usize, Result<Edited<B>>),
) {
    match better_order(tree, edits.clone().map(|at| edit_at(at).0)) {
        None => edit_in_turn::<_, M>(tree, edits, edit_at, done),
        Some(order) => {
            let start = edits.start;
            let answers = edit_in_order::<_, M>(tree, &order, &|at| edit_at(start + at));
            edits.zip(answers).for_each(|(at, answer)| done(at, answer.expect("each of them was done")));
        }
    }
}

/// Applies edits in this order. Returns their answers by number.
///
/// It is compiled once for each width of keys, not for each caller.
#[inline(never)]
fn edit_in_order<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    order: &[(B, usize)],
    edit_at: &dyn Fn(usize) -> (B, Edit<B>),
) -> Vec<Option<Result<Edited<B>>>> {
    let mut answers: Vec<_> = order.iter().map(|_| None).collect();
    let in_order = |at: usize| edit_at(order[at].1);
    edit_in_turn::<_, M>(tree, 0..order.len(), in_order, |at, edited| answers[order[at].1] = Some(edited));
    answers
}

/// Returns the keys in the order in which they go to one end, each with its number; equal ones keep
/// their order. `None`: most of them are in order already, or don't go to one end.
fn better_order<B: Bits>(
    tree: &BlinkTree<B>,
    keys: impl Iterator<Item = B> + Clone,
) -> Option<Vec<(B, usize)>> {
    let (mut ups, mut downs) = (0, 0);
    keys.clone().zip(keys.clone().skip(1)).for_each(|(key, next)| {
        ups += usize::from(key < next);
        downs += usize::from(key > next);
    });
    let (_, low) = tree.finder().guesses().end_fences();
    let is_last = |key: B| key.to_u64() >= low;
    let up = is_last(keys.clone().next()?);
    if ups.min(downs) <= (ups + downs) / 8 || keys.clone().any(|key| is_last(key) != up) {
        return None;
    }
    let mut order: Vec<_> = keys.zip(0..).collect();
    sort(&mut order, up);
    Some(order)
}

/// Sorts numbered keys; equal ones keep their order.
///
/// A function of its own, because a sort is much code, and a closure is another one for each caller.
fn sort<B: Bits>(numbered: &mut [(B, usize)], up: bool) {
    numbered.sort_by(|(a, _), (b, _)| if up { a.cmp(b) } else { b.cmp(a) });
}

/// Applies edits one after the other. See [`edit_at_ends`].
#[inline(always)]
fn edit_in_turn<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    mut edits: Range<usize>,
    edit_at: impl Fn(usize) -> (B, Edit<B>),
    mut done: impl FnMut(usize, Result<Edited<B>>),
) {
    while let Some(at) = edits.next() {
        let (key, edit) = edit_at(at);
        let Some(end) = tree.finder().guesses().end(key.to_u64()) else {
            // An earlier edit has split that leaf.
            done(at, edit_by_descent::<_, M>(tree, key, edit));
            continue;
        };
        let pushed = push_run::<_, M>(tree, end, at..edits.end, &edit_at);
        if pushed == 0 {
            done(at, edit_at_end::<_, M>(tree, end, key, edit));
            continue;
        }
        (at..at + pushed).for_each(|at| done(at, Ok(Edited { before: None, applied: true })));
        edits.start = at + pushed;
    }
}

/// Applies the first of these edits that insert consecutive keys at this end, at most [`RUN`] of them.
/// Returns their number.
#[inline(always)]
fn push_run<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    end: End,
    edits: Range<usize>,
    edit_at: impl Fn(usize) -> (B, Edit<B>),
) -> usize {
    // The edits are built from the caller's keys and values first, so no code of the caller runs under
    // the latch.
    let (mut run, mut len) = ([(B::MIN, B::MIN); RUN], 0);
    for (key, edit) in edits.take(RUN).map(edit_at) {
        let Step::Set(value) = edit.step(None) else { break };
        let is_behind = |before: B| if end.is_last { before < key } else { key < before };
        if len > 0 && !is_behind(run[len - 1].0) {
            break;
        }
        run[len] = (key, value);
        len += 1;
    }
    let Some(&(first, _)) = run[..len].first() else { return 0 };
    let (at, mut held) = tree.finder().latch_leaf::<M>(tree.store().at(end.leaf), first);
    let leaf = at.leaf::<B>();
    held.changing();
    let is_pushed =
        |entry: &(B, B)| leaf.covers(entry.0) && LeafEditor(leaf).push_at_end(end.is_last, *entry);
    let pushed = run[..len].iter().take_while(|entry| is_pushed(entry)).count();
    if pushed > 0 {
        tree.ranks().outdate(leaf, &mut held);
        drop(held);
        tree.store().counts().count_entries::<M>(pushed as i64);
    }
    pushed
}

/// An edit of a latched leaf.
struct EditIn<'a, B, C, M: Mode> {
    tree: &'a BlinkTree<B>,
    leaf: Leaf<'a, B>,
    held: M::Held<'a>,
    key: B,
    edit: C,
}

impl<B: Bits, C: Change<B>, M: Mode> Operation for EditIn<'_, B, C, M> {
    type Output = Result<Edited<B>, Full>;

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        edit_in::<_, S, M>(self.tree, self.leaf, self.held, self.key, self.edit)
    }
}
