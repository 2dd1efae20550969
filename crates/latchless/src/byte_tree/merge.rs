//! Which nodes of byte strings are merged, and how.

use super::change::Shared;
use super::fences::Fences;
use super::node::{Image, Node, Toward, Words};
use super::part::Part;
use super::shape::{ENTRIES_MAX, LongRef, SLOTS, Shape, WORDS};
use super::split::{build, fences_of};
use super::store::{At, Store};
use super::strings::Strings;
use super::tree::ByteTree;
use super::values::Values;
use crate::blink::{Family, Levels, Merge, Mode, Outcome, Side};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// A node that takes at most this many words is nearly empty.
const NEARLY_EMPTY: usize = WORDS / 4;

/// Words that the entries of a node take, slots included.
pub(super) fn taken<W: Words>(node: Node<'_, W>) -> usize {
    let (shape, words) = (node.shape(), node.words_of_entries());
    words + if shape.is_of_records() { shape.len() } else { shape.len() * 11 / 8 }
}

/// Whether a leaf that took `before` words before a removal should look at its neighbours. Not after
/// every removal, since the neighbours may be full.
#[inline(always)]
pub(super) fn invites_a_merge(before: usize, leaf: Shared<'_>) -> bool {
    let now = taken(leaf);
    let sinks_below = |words: usize| now <= words && before > words;
    leaf.shape().len() == 0 || [1, 2, 4].into_iter().any(|part| sinks_below(NEARLY_EMPTY / part))
}

/// How two nodes become one.
pub(crate) struct Plan {
    /// The node of both.
    image: Image,
    /// The place of the right one in the parent.
    rank: usize,
    /// The long ones of the fences between both and the right one's key in the parent.
    long: [Option<LongRef>; 3],
}

impl Merge for ByteTree {
    type Nodes = Store;
    type Room = Strings;
    type Plan = Plan;

    fn nodes(&self) -> &Store {
        &self.store
    }

    /// Without memory for the caller's strings, the tree's are used.
    fn with_room(&self, own: &mut Strings, merge: impl FnOnce(&mut Strings) -> Outcome) -> Outcome {
        let longest = self.store.longest().get();
        if own.reserve(longest).is_ok() {
            return merge(own);
        }
        let mut spare = self.store.longest().spare().lock();
        // They have the room, unless a longer key comes just now: then the node stays nearly empty.
        if spare.reserve(longest).is_ok() { merge(&mut spare) } else { Outcome::Refused }
    }

    fn is_nearly_empty((_, node): At<'_>, _: usize) -> bool {
        // Nodes of four entries are small by their number, unless their values are long.
        let (shape, taken) = (node.shape(), taken(node));
        let may_be_few = shape.values() == Values::ONE_WORD || taken <= WORDS / 2;
        let is_by_number = cfg!(latchless_small_nodes) && may_be_few && shape.len() <= ENTRIES_MAX / 4;
        taken <= NEARLY_EMPTY || is_by_number
    }

    fn only_child((_, node): At<'_>) -> Option<NodeRef> {
        let shape = node.shape();
        (shape.len() == 1).then(|| NodeRef::from_word(node.value(shape, 0) as u32))
    }

    fn mark_dead((_, node): At<'_>, _: usize) {
        node.mark_dead();
    }

    fn low<'r>((_, node): At<'_>, _: usize, room: &'r mut Strings) -> &'r [u8] {
        room.separator.clear();
        node.low_to(&mut room.separator);
        &room.separator
    }

    fn latch_before<M: Mode>(&self, level: usize, room: &Strings) -> Option<(At<'_>, M::Held<'_>)> {
        let at = self.store.at(self.store.descend::<Scalar>(level, &room.separator, Toward::Before)?);
        let held = Levels::latch::<M>(&self.store, at);
        (at.1.side_toward(&room.separator, Toward::Before) == Side::Here).then_some((at, held))
    }

    /// The prefix of both nodes together is shorter than that of either, so their entries may no longer fit
    /// one node.
    fn plan(&self, of: &Family<'_, Self>, room: &mut Strings) -> Result<Plan, Outcome> {
        let Family { level, left, right, parent } = *of;
        let Strings { low, high, separator, .. } = room;
        let (rank, is_there) = parent.1.rank::<Scalar>(parent.1.shape(), separator);
        if !is_there || rank == 0 {
            return Err(Outcome::LastChild);
        }
        let mut images = [[0; WORDS]; 2];
        images.iter_mut().zip([left, right]).for_each(|(image, at)| self.store.copy_node(at.1, image));
        let [one, two] = images.each_ref().map(|words| Node { words, long: self.store.long() });
        [&mut *low, &mut *high].into_iter().for_each(Vec::clear);
        one.low_to(low);
        let high = two.high_to(high).then_some(&high[..]);
        let fences =
            Fences { low: fences_of(one, low, None).low, high: fences_of(two, separator, high).high };
        let seed = self.store.seed_of(level);
        let part = |node, low| Part { node, low, entries: 0..Node::shape(node).len(), seed };
        let parts = [part(one, low), part(two, separator)];
        let mut image = [0; WORDS];
        let is_built = may_merge(&fences, &parts)
            && build(&self.finder, &mut image, &fences, two.link(), &parts).is_some();
        let old_high = one.shape().has(Shape::HIGH_LONG).then(|| one.long_high());
        let old_low = two.shape().has(Shape::LOW_LONG).then(|| two.long_low());
        let plan = Plan { image, rank, long: [old_high, old_low, None] };
        if is_built { Ok(plan) } else { Err(Outcome::Refused) }
    }

    fn write<M: Mode>(&self, of: &Family<'_, Self>, plan: &mut Plan, _: [&mut M::Held<'_>; 2]) -> bool {
        of.left.1.write(&plan.image);
        plan.long[2] = of.parent.1.remove::<Scalar>(plan.rank);
        true
    }

    fn free(&self, level: usize, node: NodeRef, plan: Option<Plan>) {
        let strings = plan.into_iter().flat_map(|plan| plan.long).flatten();
        strings.for_each(|string| self.store.long().free(string));
        self.store.nodes().free(level, node);
    }
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
