//! Splitting full leaves, and lending some of their entries.
//!
//! # Where to cut
//! A leaf is cut in the middle, unless keys grow at one place of it: then every further key goes to the same
//! side, and the other side would stay half empty. The order of inserts isn't recorded, but the keys show
//! it: the new key and those before it lie close together, and after it there is a gap in which many more of
//! them fit. Random keys have no such place. If growing keys turn out to come in another order, one cut is
//! uneven, which costs a little memory.

use super::copies::Entries;
use super::leaf::{Leaf, Place};
use super::leaf_editor::LeafEditor;
use super::leaf_reader::LeafReader;
use super::leaf_update::{Layout, Room};
use super::lines::Lines;
use super::{assert_held, assert_held_or_new, set_link};
use core::cmp::Ordering;
use core::ops::Deref;
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::node_ref::NodeRef;

/// The direction in which keys grow in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// None that is detectable.
    None,
    /// Each key follows the last one immediately.
    Up,
    /// Each key precedes the last one immediately.
    Down,
}

/// How to split a full leaf and one more entry into two leaves.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// The number of entries before the new one.
    place: usize,
    /// The number of entries of the left leaf.
    kept: usize,
    growth: Growth,
    /// Whether the leaf is the last one, and the new key in its upper half.
    at_the_end: bool,
    /// The expected distance of the next keys from the new one.
    reach: u64,
}

impl Cut {
    /// Returns whether keys grow here, in which case the right neighbour should keep its room.
    pub fn is_for_growth(&self) -> bool {
        self.growth != Growth::None
    }

    /// Returns whether the leaf is the last one of all, and keys grow there.
    pub fn is_at_the_end(&self) -> bool {
        self.at_the_end
    }
}

/// Returns the key with the fewest leading bits that separates two, of which the second one is larger: above
/// the first, at most the second. Leaves that begin there are easily distinguished, and so are their keys.
fn shortest_between<B: Bits>(first: B, second: B) -> B {
    debug_assert!(first < second, "keys ascend");
    let bit = (first.to_u64() ^ second.to_u64()).checked_ilog2().unwrap_or(0);
    B::truncate(second.to_u64() >> bit << bit)
}

/// Returns a key halfway between two, of which the second one is larger: above the first, at most the
/// second.
fn middle_between<B: Bits>(first: B, second: B) -> B {
    debug_assert!(first < second, "keys ascend");
    B::truncate(first.to_u64() + (second.to_u64() - first.to_u64()).div_ceil(2))
}

impl<B: Bits> Leaf<'_, B> {
    /// The maximum number of entries of a neighbour that is lent some.
    pub const LENT_MAX: usize = Self::CAPACITY * 3 / 5;
}

/// The leaf to the right of a split one.
#[derive(Debug, Clone, Copy)]
pub struct Right<'a, B> {
    /// Its reference.
    pub name: NodeRef,
    pub leaf: LeafEditor<'a, B>,
}

/// A full leaf, which is split, or lends entries.
#[derive(Debug, Clone, Copy)]
pub struct FullLeaf<'a, B>(pub Leaf<'a, B>);

impl<'a, B> Deref for FullLeaf<'a, B> {
    type Target = Leaf<'a, B>;

    #[inline(always)]
    fn deref(&self) -> &Leaf<'a, B> {
        &self.0
    }
}

impl<'a, B: Bits> FullLeaf<'a, B> {
    const PER_BLOCK: usize = Leaf::<B>::PER_BLOCK;
    const CAPACITY: usize = Leaf::<B>::CAPACITY;
    /// The number of close keys that indicates growth.
    const RUN: usize = if Self::CAPACITY < 8 { 2 } else { Self::CAPACITY / 4 };
    /// The maximum distance of a cut from the middle, in entries.
    const AROUND: usize = Self::CAPACITY / 6;
    /// Gaps that are examined together.
    const PART: usize = if Self::AROUND < 2 { 1 } else { Self::AROUND / 2 };
    /// Places that a leaf near the end of all keys keeps free for late keys.
    const SLACK: usize = Self::CAPACITY / 8;

    fn editor(self) -> LeafEditor<'a, B> {
        LeafEditor(*self)
    }

    /// Returns an entry of a full leaf, by its number.
    #[inline(always)]
    fn nth(self, at: usize) -> (B, B) {
        self.entry_at(Place { block: at / Self::PER_BLOCK, at: at % Self::PER_BLOCK })
    }

    /// Returns how many keys of a full leaf are smaller than `key`.
    fn smaller_in_full<S: Lines>(self, key: B) -> usize {
        let block = self.editor().seek::<S>(key).block;
        let smaller = (0..Self::PER_BLOCK).filter(|&at| self.key(Place { block, at }) < key).count();
        block * Self::PER_BLOCK + smaller
    }

    /// Decides where to cut a full leaf for the insert of `key`, which it doesn't contain. `late`: whether a
    /// leaf at the end of all keys leaves room for late keys.
    pub fn cut<S: Lines>(self, key: B, late: bool) -> Cut {
        debug_assert_eq!(self.len(), Self::CAPACITY, "a full leaf is cut");
        let (all, place) = (Self::CAPACITY, self.smaller_in_full::<S>(key));
        let up_by = self.run_before(place, key);
        let gap_after = if place < all { self.nth(place).0 } else { self.high() }.to_u64() - key.to_u64();
        let down_by = self.run_after(place, key);
        let gap_before = key.to_u64() - if place > 0 { self.nth(place - 1).0 } else { self.low() }.to_u64();
        // The end of all keys: the next ones probably come after it, or a little before.
        let at_the_end = self.link().is_nil() && place >= all / 2;
        let growth = if at_the_end || up_by.is_some_and(|run| run < gap_after / 4) {
            Growth::Up
        } else if down_by.is_some_and(|run| run < gap_before / 4) {
            Growth::Down
        } else {
            Growth::None
        };
        let kept = match growth {
            Growth::Up if at_the_end && late => all - Self::SLACK,
            Growth::Up if at_the_end => place.max(all - Self::SLACK),
            // The new key stays with those before it, if there is room.
            Growth::Up => (place + 1).min(all),
            Growth::Down => place.max(1),
            Growth::None if self.low() == B::MIN && place == 0 => 1,
            Growth::None => self.cut_at_gap(place, key, all.div_ceil(2)),
        };
        Cut { place, kept, growth, at_the_end, reach: up_by.unwrap_or(0).saturating_mul(8) }
    }

    /// Decides where to cut near `middle`: at a gap that takes most of the span of the surrounding keys, if
    /// there is one. So keys that are nearly equal, such as those of one user, stay together, and the
    /// separator distinguishes their leaves by few leading bits.
    fn cut_at_gap(self, place: usize, new: B, middle: usize) -> usize {
        let key = |at: usize| match at.cmp(&place) {
            Ordering::Less => self.nth(at).0,
            Ordering::Equal => new,
            Ordering::Greater => self.nth(at - 1).0,
        };
        let (mut from, last) = (middle - Self::AROUND - 1, middle + Self::AROUND);
        let between = |first: usize, last: usize| key(last).to_u64() - key(first).to_u64();
        let most = between(from, last) / 2;
        // Most leaves have no such gap, which a few of the keys show: no part of them takes most of the
        // span.
        while from < last {
            let to = last.min(from + Self::PART);
            if between(from, to) > most {
                return (from + 1..=to).find(|&at| between(at - 1, at) > most).unwrap_or(middle);
            }
            from = to;
        }
        middle
    }

    /// Returns the extent of the keys right before the new one, if there are enough of them.
    fn run_before(self, place: usize, key: B) -> Option<u64> {
        let first = place.checked_sub(Self::RUN)?;
        Some(key.to_u64() - self.nth(first).0.to_u64())
    }

    /// Returns the extent of the keys right after the new one. See [`FullLeaf::run_before`].
    fn run_after(self, place: usize, key: B) -> Option<u64> {
        let last = place + Self::RUN - 1;
        (last < Self::CAPACITY).then(|| self.nth(last).0.to_u64() - key.to_u64())
    }

    /// Moves the upper part of the leaf, with the new entry in its place, to the leaf `right`. Returns the
    /// low fence of that leaf.
    #[inline(always)]
    pub fn split_into<S: Lines>(self, right: Right<'_, B>, new: (B, B), cut: Cut) -> B {
        let (left, Right { name, leaf: right }) = (self.editor(), right);
        let Cut { place, kept, growth, at_the_end, reach } = cut;
        assert_held(self.node);
        assert_held_or_new(right.node);
        debug_assert!(0 < kept && kept <= Self::CAPACITY, "both leaves get entries");
        let mut old = Entries::default();
        LeafReader(*self).append_to::<S>(0, &mut old);
        let keys = old.keys();
        // The number of old entries that the left leaf keeps.
        let stay = if place < kept { kept - 1 } else { kept };
        let first = if kept == place { new.0 } else { keys[stay] };
        let separator = match growth {
            // Both sides of the gap may grow: each gets half of it.
            Growth::Down if kept == place => middle_between(keys[place - 1], new.0),
            Growth::Up if kept == place + 1 && stay < keys.len() => middle_between(new.0, first),
            Growth::None if kept > 1 => {
                shortest_between(if kept == place + 1 { new.0 } else { keys[stay - 1] }, first)
            }
            _ => first,
        };
        let (left_room, right_room) = match growth {
            // Late keys are inserted anywhere.
            Growth::Up if at_the_end && place > kept => (Room::Spread, Room::AtEnd),
            Growth::Up => (Room::AtEnd, Room::AtEnd),
            // Below all other keys.
            _ if stay == 0 => (Room::AtStart, Room::Spread),
            Growth::Down => (Room::Spread, Room::AtStart),
            Growth::None => (Room::Spread, Room::Spread),
        };
        right.set_fences(separator, self.high());
        right.fill::<S>(&old, stay..Self::CAPACITY, Layout { room: right_room, reach });
        set_link(right.node, self.link());
        left.set_fences(self.low(), before(separator));
        set_link(self.node, name);
        if stay == 0 {
            left.fill_for_descent::<S>(new, &old.keys()[..Self::CAPACITY]);
            return separator;
        }
        left.fill::<S>(&old, 0..stay, Layout { room: left_room, reach });
        let home = if place < kept { left } else { right };
        let put = home.insert::<S>(home.seek::<S>(new.0), new);
        debug_assert!(put, "half a leaf has room");
        separator
    }

    /// Moves half of the entries that this full leaf has in excess of its right neighbour to that one, or a
    /// few entries to the last leaf of all. Returns the neighbour's new low fence.
    #[inline(always)]
    pub fn lend_to<S: Lines>(self, right: LeafEditor<'_, B>) -> B {
        let left = self.editor();
        assert_held(self.node);
        assert_held(right.node);
        debug_assert_eq!(self.len(), Self::CAPACITY, "a full leaf lends");
        let others = right.len();
        debug_assert!(others <= Leaf::<B>::LENT_MAX, "a leaf with room to spare is lent entries");
        // The last leaf will get further keys.
        let last = right.link().is_nil();
        let kept = if last { Self::CAPACITY - Self::SLACK.max(1) } else { Self::CAPACITY.midpoint(others) };
        let (mut own, mut moved) = (Entries::default(), Entries::default());
        LeafReader(*self).append_to::<S>(0, &mut own);
        moved.append(&own, kept);
        LeafReader(*right).append_to::<S>(0, &mut moved);
        let separator = shortest_between(own.keys()[kept - 1], own.keys()[kept]);
        right.set_fences(separator, right.high());
        right.fill::<S>(&moved, 0..moved.keys().len(), Layout::SPREAD);
        left.set_fences(self.low(), before(separator));
        left.fill::<S>(&own, 0..kept, Layout::SPREAD);
        separator
    }
}

#[cfg(all(test, not(latchless_small_nodes)))]
mod tests {
    use super::*;
    use crate::node::NodeLines;
    use latchless_core::search::Scalar;
    use latchless_core::sync::Word;
    use latchless_core::testing::sample;

    /// Returns where a full leaf is cut in which each key is 1,000 larger than the one before, except that
    /// one is much larger still, for a new key after the third.
    fn kept(large: usize, more: u64) -> usize {
        let node: NodeLines = core::array::from_fn(|_| core::array::from_fn(|_| Word::new(0)));
        let mut entries = Entries::default();
        let capacity = Leaf::<u64>::CAPACITY;
        (0..capacity).for_each(|at| {
            entries.push(1000 * (at as u64 + 1) + if at >= large { more } else { 0 }, 0);
        });
        let leaf = Leaf::new(&node);
        LeafEditor(leaf).set((0, u64::MAX), NodeRef::NIL, &entries, 0..capacity);
        FullLeaf(leaf).cut::<Scalar>(3500, false).kept
    }

    #[test]
    fn a_leaf_is_cut_in_a_large_gap_near_its_middle_or_in_the_middle() {
        let (middle, around) = (Leaf::<u64>::CAPACITY / 2, FullLeaf::<u64>::AROUND);
        for large in (5..Leaf::<u64>::CAPACITY).step_by(sample(6)) {
            // With the new key there is one more before the gap.
            let before = large + 1;
            let near = if middle.abs_diff(before) <= around { before } else { middle };
            assert_eq!(kept(large, 1_000_000), near, "{large}");
            assert_eq!(kept(large, 9_000), middle, "{large}: no gap is half of the span");
        }
    }
}
