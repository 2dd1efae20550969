//! Merging nodes that have become nearly empty, so that their memory can be reused.
//!
//! A removal never merges under its own latch: it schedules a merge around its key for afterwards. Two
//! neighbours below one parent are latched from left to right, then their parent. The prefix of both
//! together is shorter than that of either, so their entries may no longer fit one node: then both stay as
//! they are.

use super::change::Shared;
use super::fences::Fences;
use super::node::{Node, Toward, Words};
use super::part::Part;
use super::shape::{ENTRIES_MAX, SLOTS, Shape, WORDS};
use super::split::{build, fences_of};
use super::store::Held;
use super::strings::Strings;
use super::tree::ByteTree;
use super::values::Values;
use crate::blink::Levels;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// How often a merge is tried when others get in its way.
const TRIES: usize = 4;

/// A node that takes at most this many words is nearly empty.
const NEARLY_EMPTY: usize = WORDS / 4;

/// The outcome of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing is to be done.
    Done,
    /// Two nodes became one. Their parent may now be too empty itself.
    Merged { shrank: bool },
    /// Both together don't fit.
    Refused,
    /// The parent has no other child on that side.
    LastChild,
    /// Others changed the tree meanwhile.
    Disturbed,
}

/// Words that the entries of a node take, slots included.
pub(super) fn taken<W: Words>(node: Node<'_, W>) -> usize {
    let (shape, words) = (node.shape(), node.words_of_entries());
    words + if shape.is_of_records() { shape.len() } else { shape.len() * 11 / 8 }
}

fn is_nearly_empty<W: Words>(node: Node<'_, W>) -> bool {
    // Nodes of four entries are small by their number, unless their values are long.
    let (shape, taken) = (node.shape(), taken(node));
    let may_be_few = shape.values() == Values::ONE_WORD || taken <= WORDS / 2;
    let is_by_number = cfg!(latchless_small_nodes) && may_be_few && shape.len() <= ENTRIES_MAX / 4;
    taken <= NEARLY_EMPTY || is_by_number
}

/// Whether a leaf that took `before` words before a removal should look at its neighbours. Not after
/// every removal, since the neighbours may be full.
#[inline(always)]
pub(super) fn invites_a_merge(before: usize, leaf: Shared<'_>) -> bool {
    let now = taken(leaf);
    let sinks_below = |words: usize| now <= words && before > words;
    leaf.shape().len() == 0 || [1, 2, 4].into_iter().any(|part| sinks_below(NEARLY_EMPTY / part))
}

/// Merges the node of this level that covers `key` with a neighbour, if it is nearly empty. Returns
/// whether it did.
#[cold]
#[inline(never)]
pub(super) fn merge_around(tree: &ByteTree, level: usize, key: &[u8]) -> bool {
    let (mut strings, mut has_merged, mut tries) = (Strings::default(), false, 0);
    while tries < TRIES {
        match merge_either(tree, level, key, &mut strings) {
            Outcome::Done | Outcome::Refused => break,
            Outcome::Disturbed => tries += 1,
            Outcome::Merged { shrank } => {
                has_merged = true;
                if shrank {
                    merge_around(tree, level + 1, key);
                }
            }
            // An only child gets neighbours when its parent does.
            Outcome::LastChild => {
                if !merge_around(tree, level + 1, key) {
                    break;
                }
            }
        }
    }
    has_merged
}

/// Merges the node that `key` belongs to with its right neighbour or its left one. `own`: strings for
/// that; without memory for these, the tree's are used.
fn merge_either(tree: &ByteTree, level: usize, key: &[u8], own: &mut Strings) -> Outcome {
    let longest = tree.store.longest().get();
    let mut spare;
    let strings = if own.reserve(longest).is_ok() {
        own
    } else {
        spare = tree.store.longest().spare().lock();
        // They have the room, unless a longer key comes just now: then the node stays nearly empty.
        if spare.reserve(longest).is_err() {
            return Outcome::Refused;
        }
        &mut spare
    };
    match merge_right(tree, level, key, strings) {
        Outcome::LastChild | Outcome::Refused => merge_left(tree, level, key, strings),
        outcome => outcome,
    }
}

/// Merges the node that `key` belongs to with its right neighbour.
fn merge_right(tree: &ByteTree, level: usize, key: &[u8], strings: &mut Strings) -> Outcome {
    let Some((at, held)) = tree.store.latch_covering(level, key) else { return Outcome::Done };
    if !is_nearly_empty(at.1) {
        return Outcome::Done;
    }
    if tree.store.root().get() == (at.0, level + 1) {
        return collapse_root(tree, level, (at, held));
    }
    let right = at.1.link();
    if right.is_nil() { Outcome::LastChild } else { merge(tree, level, (at, held), right, strings) }
}

/// Merges the node that `key` belongs to with its left neighbour.
fn merge_left(tree: &ByteTree, level: usize, key: &[u8], strings: &mut Strings) -> Outcome {
    let Some((at, held)) = tree.store.latch_covering(level, key) else { return Outcome::Done };
    let low = &mut strings.other;
    low.clear();
    at.1.low_to(low);
    let still = is_nearly_empty(at.1);
    // Latches are taken from left to right: this one has to go first.
    drop(held);
    if low.is_empty() || !still {
        return if still { Outcome::LastChild } else { Outcome::Done };
    }
    let Some(left) = tree.store.descend::<Scalar>(level, low, Toward::Before) else { return Outcome::Done };
    let (left, held) = tree.store.latch(tree.store.at(left));
    if left.1.link() != at.0 || left.1.shape().has(Shape::DEAD) {
        return Outcome::Disturbed;
    }
    merge(tree, level, (left, held), at.0, strings)
}

/// Replaces a root that has one child by that child.
fn collapse_root(tree: &ByteTree, level: usize, (at, mut held): Held<'_>) -> Outcome {
    let shape = at.1.shape();
    if level == 0 || shape.len() > 1 {
        return Outcome::Done;
    }
    held.changing();
    tree.store.root().set(NodeRef::from_word(at.1.value(shape, 0) as u32), level);
    at.1.mark_dead();
    drop(held);
    tree.store.nodes().free(level, at.0);
    Outcome::Done
}

/// Merges a latched node and its right neighbour, if they have the same parent and fit one node.
fn merge(tree: &ByteTree, level: usize, left: Held<'_>, right: NodeRef, strings: &mut Strings) -> Outcome {
    let (left, mut left_held) = left;
    let (right, mut right_held) = tree.store.latch(tree.store.at(right));
    let [mut left_image, mut right_image] = [[0; WORDS]; 2];
    tree.store.copy_node(left.1, &mut left_image);
    tree.store.copy_node(right.1, &mut right_image);
    let [one, two] = [&left_image, &right_image].map(|words| Node { words, long: tree.store.long() });
    let Strings { low, high, separator, .. } = strings;
    [&mut *low, &mut *high, &mut *separator].into_iter().for_each(Vec::clear);
    one.low_to(low);
    two.low_to(separator);
    let has_high = two.high_to(high);
    let Some((parent, mut parent_held)) = tree.store.latch_covering(level + 1, separator) else {
        return Outcome::Disturbed;
    };
    let (rank, is_there) = parent.1.rank::<Scalar>(parent.1.shape(), separator);
    if !is_there || rank == 0 {
        return Outcome::LastChild;
    }
    let fences = Fences {
        low: fences_of(one, low, None).low,
        high: fences_of(two, separator, has_high.then_some(&high[..])).high,
    };
    let mut image = [0; WORDS];
    let part =
        |node, low| Part { node, low, entries: 0..Node::shape(node).len(), seed: tree.store.seed_of(level) };
    let parts = [part(one, low), part(two, separator)];
    let both = if may_merge(&fences, &parts) {
        build(&tree.finder, &mut image, &fences, two.link(), &parts)
    } else {
        None
    };
    let Some(both) = both else {
        return Outcome::Refused;
    };
    [&mut left_held, &mut right_held, &mut parent_held].into_iter().for_each(|held| held.changing());
    left.1.write(both.image());
    right.1.mark_dead();
    let named = parent.1.remove::<Scalar>(rank);
    let shrank = is_nearly_empty(parent.1);
    drop((left_held, right_held, parent_held));
    let old_high = one.shape().has(Shape::HIGH_LONG).then(|| one.long_high());
    let old_low = two.shape().has(Shape::LOW_LONG).then(|| two.long_low());
    [old_high, old_low, named].into_iter().flatten().for_each(|string| tree.store.long().free(string));
    tree.store.nodes().free(level, right.0);
    Outcome::Merged { shrank }
}

/// Whether one node with the entries of both has room for further ones. A merge with an empty node always
/// has.
fn may_merge(fences: &Fences<'_>, parts: &[Part<'_>; 2]) -> bool {
    let words = |part: &Part<'_>| part.words(fences.prefix());
    let [Some(one), Some(two)] = parts.each_ref().map(words) else { return false };
    let len = parts[0].entries.len() + parts[1].entries.len();
    let is_one_empty = parts.iter().any(|part| part.entries.is_empty());
    let room = WORDS - SLOTS - fences.words();
    is_one_empty || one + two + len * 11 / 8 <= room * 3 / 4 && len <= ENTRIES_MAX * 3 / 4
}
