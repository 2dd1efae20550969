//! Changing one entry, in one atomic step, in the leaf that a descent has found. Where the first and the last
//! leaf are known without one, `ends.rs` is before this file.

use super::blink::BlinkTree;
use super::get::get_with;
use super::lend::{ask_for_neighbour, lend};
use super::merge::invites_a_merge;
use super::split::Split;
use super::store::At;
use crate::blink::{Change, Edit, Edited, Held, Levels, Mode, Spares, Step, merge_around};
use crate::node::operation::{Operation, Search};
use crate::node::{self, FullLeaf, Leaf, LeafEditor, Place, Seen};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The leaf is full.
pub(super) struct Full;

/// Applies an edit to the entry of a key, from a descent on. See [`BlinkTree::edit`].
#[inline(always)]
pub(super) fn edit_by_descent<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    key: B,
    edit: impl Change<B>,
) -> Result<Edited<B>> {
    tree.store().run(EditOne { tree, key, edit, mode: PhantomData::<M> })
}

/// Applies an edit from `start`, the result of a descent, unless that would insert into a full leaf.
///
/// # Errors
/// That leaf; nothing has changed then.
#[inline(always)]
pub(super) fn edit_without_split<B: Bits, S: Search, M: Mode>(
    tree: &BlinkTree<B>,
    start: At<'_>,
    key: B,
    edit: impl Change<B>,
) -> Result<Edited<B>, NodeRef> {
    let (at, held) = tree.finder().latch_leaf::<M>(start, key);
    edit_in::<_, S, M>(tree, at.leaf(), held, key, edit).map_err(|Full| at.node)
}

/// Applies an edit to a latched leaf, and unlatches it.
#[inline(always)]
pub(super) fn edit_in<B: Bits, S: Search, M: Mode>(
    tree: &BlinkTree<B>,
    leaf: Leaf<'_, B>,
    mut held: M::Held<'_>,
    key: B,
    edit: impl Change<B>,
) -> Result<Edited<B>, Full> {
    let seen = LeafEditor(leaf).seek::<S>(key);
    let place = seen.place;
    let before = place.map(|place| leaf.value(place));
    match (edit.step(before), place) {
        (Step::Set(value), Some(place)) => {
            held.changing();
            LeafEditor(leaf).set_value(place, value);
            drop(held);
            tree.note_change::<M>(key..=key);
        }
        (Step::Set(value), None) => {
            // A full leaf isn't changed here, but it is split next: restarting its readers costs less
            // than a check first.
            held.changing();
            if !LeafEditor(leaf).insert_in_block::<S>(seen, (key, value)) {
                let beside = InsertBeside { leaf, seen, entry: (key, value) };
                if !tree.store().run(beside) {
                    return Err(Full);
                }
            }
            tree.ranks().outdate(leaf, &mut held);
            drop(held);
            tree.store().counts().count_entries::<M>(1);
        }
        (Step::TakeOut, Some(place)) => {
            held.changing();
            take_out::<_, S, M>(tree, leaf, held, Taken { place, key });
        }
        _ => return Ok(Edited { before, applied: false }),
    }
    Ok(Edited { before, applied: true })
}

/// The entry that an edit takes out.
struct Taken<B> {
    place: Place,
    key: B,
}

#[inline(always)]
fn take_out<B: Bits, S: Search, M: Mode>(
    tree: &BlinkTree<B>,
    leaf: Leaf<'_, B>,
    mut held: M::Held<'_>,
    taken: Taken<B>,
) {
    LeafEditor(leaf).remove::<S>(taken.place);
    tree.ranks().outdate(leaf, &mut held);
    let left = leaf.len();
    drop(held);
    follow_up::<_, M>(tree, taken.key, left);
}

/// Follows up the removal of a key from a leaf that has `left` keys now. No latch is held any more.
#[inline(always)]
pub(super) fn follow_up<B: Bits, M: Mode>(tree: &BlinkTree<B>, key: B, left: usize) {
    tree.store().counts().count_entries::<M>(-1);
    tree.note_change::<M>(key..=key);
    if invites_a_merge::<B>(left) {
        merge_around::<_, M>(tree, 0, &key);
    }
}

/// Prefetches what a split or a loan of a full leaf accesses: the whole leaf, the first line of its
/// neighbour, and its parent's entry.
#[cold]
#[inline(never)]
pub(super) fn ask_for_split<B: Bits>(tree: &BlinkTree<B>, at: At<'_>, key: B) {
    ask_for_neighbour(tree.store(), at.leaf());
    (0..node::LINES).for_each(|line| prefetch_read(at.line_address(line)));
    tree.finder().ask_for_parent(key);
}

/// Applies an edit to a leaf that was full: allocates spare nodes, then splits it.
#[cold]
#[inline(never)]
pub(super) fn edit_with_split<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    mut node: NodeRef,
    key: B,
    edit: Edit<B>,
) -> Result<Edited<B>> {
    let (store, finder) = (tree.store(), tree.finder());
    // While all of that arrives, nodes are allocated.
    ask_for_split(tree, store.at(node), key);
    let mut spares = Spares::none(store.arena());
    spares.reserve(1)?;
    loop {
        let (at, held) = finder.latch_leaf::<M>(store.at(node), key);
        let leaf = at.leaf::<B>();
        node = at.node;
        let place = leaf.find::<Scalar>(key);
        if place.is_some() || leaf.len() < Leaf::<B>::CAPACITY {
            if let Ok(edited) = edit_in::<_, Scalar, M>(tree, leaf, held, key, edit) {
                return Ok(edited);
            }
            continue;
        }
        let Step::Set(value) = edit.step(None) else {
            return Ok(Edited { before: None, applied: false });
        };
        let cut = FullLeaf(leaf).cut::<Scalar>(key, tree.latecomers().come());
        // Where keys grow, the neighbour keeps its place: further keys don't go there.
        let lent = if cut.is_for_growth() { Err(held) } else { lend::<_, M>(tree, (at, held), key) };
        let held = match lent {
            Ok(leaf) => {
                node = leaf;
                continue;
            }
            Err(held) => held,
        };
        let split = Split { tree, new: (key, value), cut };
        match split.run::<M>((at, held), &mut spares) {
            Ok(()) => {
                tree.store().counts().count_entries::<M>(1);
                tree.latecomers().count(cut.is_at_the_end());
                finder.keep_directory(key);
                return Ok(Edited { before: None, applied: true });
            }
            Err(levels) => spares.reserve(levels)?,
        }
    }
}

/// Separate, so that what few inserts need takes no registers from the code that all run.
struct InsertBeside<'a, B> {
    leaf: Leaf<'a, B>,
    seen: Seen<B>,
    entry: (B, B),
}

impl<B: Bits> Operation for InsertBeside<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        LeafEditor(self.leaf).insert_beside::<S>(self.seen, self.entry)
    }
}

struct EditOne<'a, B, C, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    edit: C,
    mode: PhantomData<M>,
}

impl<B: Bits, C: Change<B>, M: Mode> Operation for EditOne<'_, B, C, M> {
    type Output = Result<Edited<B>>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<Edited<B>> {
        let Self { tree, key, edit, .. } = self;
        if edit.edit() == Edit::Look {
            let before = get_with::<_, S, M>(tree, key);
            return Ok(Edited { before, applied: false });
        }
        match edit_without_split::<_, S, M>(tree, tree.finder().descend::<S>(key), key, edit) {
            Ok(edited) => Ok(edited),
            Err(full) => edit_with_split::<_, M>(tree, full, key, edit.edit()),
        }
    }
}
