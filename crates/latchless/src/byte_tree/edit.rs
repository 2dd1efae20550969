//! Changing one entry, in one atomic step.

use super::aside::{Aside, Lack};
use super::change::{Entry, Shared};
use super::cut::Growth;
use super::finder::{Aim, Outcome, Start, StartBy, aim_of};
use super::lend::{lend, lend_back};
use super::long::{LongStrings, check_length};
use super::merge::{invites_a_merge, taken};
use super::node::{Probe, Toward};
use super::shape::{LONG, LongRef, SUFFIX_MAX, Size};
use super::split::{make_room, split};
use super::store::Held;
use super::strings::Strings;
use super::text::{Hashed, Seed, head};
use super::tree::ByteTree;
use crate::blink::{self, Change, Edit, Edited, Levels, Side, Step, merge_around};
use crate::node::operation::{Operation, Run, Search};
use crate::tree::Share;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// An edit of one entry, for one form of values.
pub(super) trait LeafEdit {
    /// The form in which it reports the previous value.
    type Before: Copy;
    /// Whether values have one word.
    const IS_WORD: bool;
    /// The purpose of the edit.
    fn aim(&self) -> Aim;
    /// Decides the step from the entry that was found, if any; sets at most the first word of a value. Runs
    /// under the leaf's latch.
    fn step(&mut self, leaf: Shared<'_>, found: Option<usize>) -> (Option<Self::Before>, Step<u64>);
    /// The words of the value that is to be set after its first.
    fn more(&self) -> &[u64];
}

impl LeafEdit for Edit<u64> {
    type Before = u64;
    const IS_WORD: bool = true;

    #[inline(always)]
    fn aim(&self) -> Aim {
        aim_of(self)
    }

    #[inline(always)]
    fn step(&mut self, leaf: Shared<'_>, found: Option<usize>) -> (Option<u64>, Step<u64>) {
        let before = found.map(|at| leaf.value(leaf.shape(), at));
        (before, Change::step(*self, before))
    }

    #[inline(always)]
    fn more(&self) -> &[u64] {
        &[]
    }
}

impl ByteTree {
    /// Applies `edit` to the entry of `key`.
    ///
    /// # Errors
    /// When the key is too long to be added, or memory is refused; nothing has changed then.
    #[inline]
    pub fn edit(&self, key: &[u8], edit: Edit<u64>) -> Result<Edited<u64>> {
        check_length(key)?;
        if edit == Edit::Look {
            return Ok(Edited { before: self.get(key), applied: false });
        }
        self.store.dispatch().run(EditOne { tree: self, key, edit })
    }
}

/// Edits a key, beginning at a leaf that is likely to cover it.
#[inline(always)]
pub(super) fn edit_from<S: Search, E: LeafEdit>(
    tree: &ByteTree,
    start: Start,
    own: Hashed<'_>,
    edit: &mut E,
) -> Result<Edited<E::Before>> {
    let (held, wrong) = latch_leaf(tree, start, own.key);
    let leaf = held.0.0;
    // A closure in place of the branch would be called.
    let share = if start.leaf == leaf { start.share } else { None };
    match edit_in::<S, E>(tree, held, own, share, edit) {
        Ok(edited) => {
            let was_there = edited.before.is_some();
            let outcome = Outcome {
                hash: own.hash,
                leaf,
                wrong,
                aim: edit.aim(),
                was_there,
                applied: edited.applied,
                is_lookup: false,
            };
            tree.finder.learn(&tree.store, start, own.key, &outcome);
            Ok(edited)
        }
        Err(((leaf, _), held)) => {
            drop(held);
            edit_with_room(tree, leaf, own, edit)
        }
    }
}

/// Latches the leaf that covers a key. Returns which guess by hash was wrong, or nil.
#[inline(always)]
fn latch_leaf<'a>(tree: &'a ByteTree, start: Start, key: &[u8]) -> (Held<'a>, NodeRef) {
    let store = &tree.store;
    let Start { mut leaf, by, .. } = start;
    let mut wrong = NodeRef::NIL;
    if by != StartBy::Descent {
        let (at, held) = store.latch(store.at(leaf));
        if at.1.side(key) == Side::Here {
            return ((at, held), wrong);
        }
        drop(held);
        match by {
            StartBy::End => tree.finder.ends().leave(),
            StartBy::Hash => wrong = leaf,
            _ => {}
        }
        store.counts().count_misled(u64::from(by != StartBy::End));
        leaf = store.descend_to_leaf::<Scalar>(key, Toward::Key);
    }
    (store.latch_covering_from(leaf, 0, key).expect("there is always a level of leaves"), wrong)
}

/// Edits a latched leaf, and lets go of it. `share`: the likely place of the key in it.
///
/// # Errors
/// The leaf, when it has no room for a new entry or a longer value, or the new entry is long.
#[inline(always)]
fn edit_in<'a, S: Search, E: LeafEdit>(
    tree: &ByteTree,
    (at, mut held): Held<'a>,
    Hashed { key, hash }: Hashed<'_>,
    share: Option<Share>,
    edit: &mut E,
) -> Result<Edited<E::Before>, Held<'a>> {
    let ((_, leaf), tag) = (at, Seed::tag(hash));
    let shape = leaf.shape();
    // Between the fences all keys have the prefix.
    let own = Probe::of(key, shape);
    let (found, rank) = leaf.seek::<S>(shape, own, tag, share);
    let (before, step) = edit.step(leaf, found);
    match (step, found) {
        (Step::Set(value), Some(entry)) if E::IS_WORD => {
            held.changing();
            leaf.set_value(entry, value);
            drop(held);
            tree.listing.note_change(hash..=hash);
        }
        (Step::Set(value), Some(entry)) => {
            if !leaf.has_room_to_set(entry, edit.more().len()) {
                return Err((at, held));
            }
            held.changing();
            leaf.set_words(entry, value, edit.more());
            drop(held);
            tree.listing.note_change(hash..=hash);
        }
        (Step::Set(value), None) => {
            let (suffix, more) = (&key[shape.prefix()..], edit.more());
            if suffix.len() > SUFFIX_MAX || !shape.has_room(suffix.len() as u8, more.len()) {
                return Err((at, held));
            }
            // A closure in place of the branch would be called.
            let rank = match rank {
                Some(rank) => rank,
                None => leaf.rank_of_head::<S>(shape, own).0,
            };
            if shape.is_of_records() && leaf.is_tie(shape, rank, own.head) {
                return Err((at, held));
            }
            held.changing();
            leaf.insert::<S>(rank, Entry::short(suffix, tag, value).with_more(more));
            drop(held);
            tree.finder.ends().note(&tree.store, at.0, leaf, shape, rank);
            tree.store.counts().count_entries::<blink::Shared>(1);
        }
        (Step::TakeOut, Some(at)) => {
            held.changing();
            let words = taken(leaf);
            let long = leaf.remove::<S>(at);
            let is_small = invites_a_merge(words, leaf);
            drop(held);
            tree.store.counts().count_entries::<blink::Shared>(-1);
            tree.listing.note_change(hash..=hash);
            follow_up(tree, key, long, is_small);
        }
        _ => return Ok(Edited { before, applied: false }),
    }
    Ok(Edited { before, applied: true })
}

/// The work after a removal, once no latch is held.
#[inline(always)]
pub(super) fn follow_up(tree: &ByteTree, key: &[u8], long: Option<LongRef>, is_small: bool) {
    if let Some(string) = long {
        tree.store.long().free(string);
    }
    if is_small {
        merge_around::<_, blink::Shared>(tree, 0, key);
    }
}

/// Edits a leaf that had no room: reserves nodes, then makes room in the leaf or splits it.
#[cold]
#[inline(never)]
fn edit_with_room<E: LeafEdit>(
    tree: &ByteTree,
    mut node: NodeRef,
    own: Hashed<'_>,
    edit: &mut E,
) -> Result<Edited<E::Before>> {
    let (store, key, tag) = (&tree.store, own.key, Seed::tag(own.hash));
    store.prefetch().all(node);
    store.prefetch().header(store.at(node).1.link());
    tree.finder.follow_growth(store);
    store.longest().note(key.len())?;
    let (mut aside, mut lack) = (Aside::none(store), Lack { levels: 1, blocks: 0 });
    let mut has_lent = false;
    loop {
        aside.reserve(lack)?;
        let leaf = store.latch_covering_from(node, 0, key).expect("there is always a level of leaves");
        node = leaf.0.0;
        let (at, mut held) = match edit_in::<Scalar, E>(tree, leaf, own, None, edit) {
            Ok(edited) => return Ok(edited),
            Err(leaf) => leaf,
        };
        let leaf = at.1;
        let prefix = leaf.shape().prefix();
        // An entry that was there before keeps its form.
        let found = if E::IS_WORD { None } else { leaf.find::<Scalar>(key, tag) };
        let length = length_in(leaf, found, key);
        let is_long = found.is_none() && length == LONG;
        let blocks = if is_long { LongStrings::blocks_for(key.len()) } else { 0 };
        if aside.blocks.len() < blocks {
            lack.blocks = blocks;
            continue;
        }
        let size = Size { length, more: edit.more().len() };
        if is_long && leaf.shape().has_room(size.length, size.more) {
            let (None, Step::Set(value)) = edit.step(leaf, None) else {
                unreachable!("a new entry was to be added")
            };
            held.changing();
            let entry = Entry::long(head(key, prefix), aside.blocks.store(key), tag, value);
            leaf.insert::<Scalar>(leaf.rank::<Scalar>(leaf.shape(), key).0, entry.with_more(edit.more()));
            drop(held);
            store.counts().count_entries::<blink::Shared>(1);
            return Ok(Edited { before: None, applied: true });
        }
        let may_lend = !core::mem::replace(&mut has_lent, true);
        let mut strings = aside.take_strings(0);
        let room = find_room(tree, (at, held), key, size, may_lend, &mut strings);
        aside.bring_strings(0, strings);
        let Some((at, held)) = room else { continue };
        if let Err(more) = split(tree, 0, (at, held), key, &mut aside) {
            lack = Lack { levels: lack.levels.max(more.levels), blocks: lack.blocks.max(more.blocks) };
        }
    }
}

/// Makes room for an entry of this size in a latched, full leaf, or lends some of its entries to a
/// neighbour, if it may. Gives the leaf back if neither could be done: then it is to be split.
fn find_room<'a>(
    tree: &'a ByteTree,
    (at, mut held): Held<'a>,
    key: &[u8],
    size: Size,
    may_lend: bool,
    strings: &mut Strings,
) -> Option<Held<'a>> {
    let leaf = at.1;
    if make_room(tree, 0, leaf, &mut held, size, strings) {
        return None;
    }
    let rank = leaf.rank::<Scalar>(leaf.shape(), key).0;
    match leaf.growth(key, rank).filter(|_| may_lend) {
        // Nothing is lent to the right: the next key would go to the same leaf.
        Some(Growth::Up) if rank == leaf.shape().len() => {
            drop(held);
            lend_back(tree, at.0, key, strings);
            None
        }
        Some(Growth::Up) => Some((at, held)),
        growth => {
            let falls = growth.is_some() && rank == 0;
            (!may_lend || !lend(tree, at, &mut held, falls, strings)).then_some((at, held))
        }
    }
}

/// The length that a key's entry has in a leaf, if it was found there, or will have.
fn length_in(leaf: Shared<'_>, found: Option<usize>, key: &[u8]) -> u8 {
    let suffix = key.len() - leaf.shape().prefix();
    match found {
        Some(entry) => leaf.length(leaf.shape(), entry),
        None if suffix > SUFFIX_MAX => LONG,
        None => suffix as u8,
    }
}

struct EditOne<'a> {
    tree: &'a ByteTree,
    key: &'a [u8],
    edit: Edit<u64>,
}

impl Operation for EditOne<'_> {
    type Output = Result<Edited<u64>>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<Edited<u64>> {
        let Self { tree, key, mut edit } = self;
        let hash = tree.store.hash(key);
        let start = tree.finder.start::<S>(&tree.store, key, hash, edit.aim());
        edit_from::<S, _>(tree, start, Hashed { key, hash }, &mut edit)
    }
}
