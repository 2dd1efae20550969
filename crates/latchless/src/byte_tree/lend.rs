//! Lending entries to a neighbour instead of splitting.
//!
//! A full leaf next to one that is little more than half full needs no third one: half of the difference is
//! moved to the right. Where keys grow, the leaf that takes them has a short prefix, and the last leaf of
//! all has none. So keys fill it completely, and after its split the new leaf has room again. When the leaf
//! after that one is full, as many of its entries as fit are moved to the left.
//!
//! Both leaves are latched from left to right, then their parent, as for a merge. A reader of the left leaf
//! follows the link to an entry that has moved; a reader of the right leaf restarts.

use super::change::{Entry, Shared};
use super::cut::{separator_bytes, weight};
use super::fences::{Fence, Fences};
use super::merge::taken;
use super::node::{Node, Private, SUFFIX_ROOM, Toward, Words};
use super::part::{Part, fit};
use super::shape::{ENTRIES_MAX, FENCE_MAX, LONG, SUFFIX_MAX, Shape, WORDS, entry_words};
use super::split::{build, fences_of};
use super::store::{At, HeldLatch};
use super::strings::Strings;
use super::text::{Seed, separator_len};
use super::tree::ByteTree;
use crate::blink::{Levels, Side};
use core::ops::Range;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// Whether a leaf takes at most this many eighths of a node.
fn takes_at_most<W: Words>(leaf: Node<'_, W>, eighths: usize) -> bool {
    let shape = leaf.shape();
    !shape.has(Shape::DEAD) && taken(leaf) <= WORDS * eighths / 8 && shape.len() <= ENTRIES_MAX * eighths / 8
}

/// Two neighbours and their latches.
type Pair<'p, 'a> = [(Shared<'a>, &'p mut HeldLatch<'a>); 2];
/// Two neighbours' copies, their low fences, and the right one's high fence.
#[derive(Debug, Clone, Copy)]
struct Neighbours<'c> {
    leaves: [Private<'c>; 2],
    lows: [&'c [u8]; 2],
    high: Option<&'c [u8]>,
    seed: Option<Seed>,
}

/// Entries moved between two leaves: how many stay left, and how many of the right leaf go there.
#[derive(Debug, Clone, Copy)]
struct Cut {
    stay: usize,
    come: usize,
}

/// Moves entries of a latched, full leaf to its right neighbour, if that has the same parent and room
/// to spare, and nothing of it is long. Returns whether it did. `falls`: whether keys that descend come
/// to the leaf's start, so that all is moved that fits.
pub(super) fn lend<'a>(
    tree: &'a ByteTree,
    (node, left): At<'a>,
    held: &mut HeldLatch<'a>,
    falls: bool,
    strings: &mut Strings,
) -> bool {
    let (right, most) = (left.link(), if falls { 7 } else { 5 });
    // A first look, without its latch.
    if right.is_nil() || !takes_at_most(tree.store.at(right).1, most) {
        return false;
    }
    tree.store.prefetch().used(right, tree.store.at(right).1.shape());
    let ((_, right_leaf), mut right_held) = tree.store.latch(tree.store.at(right));
    if !takes_at_most(right_leaf, most) {
        return false;
    }
    let pair = [(left, held), (right_leaf, &mut right_held)];
    let nodes = [node, right];
    if falls {
        return share(tree, nodes, pair, strings, |both, separator| both.lend_all(separator));
    }
    share(tree, nodes, pair, strings, |Neighbours { leaves: [left, right], .. }, _| {
        Some(Cut { stay: cut_to_lend(left, right)?, come: 0 })
    })
}

/// Moves entries of a full leaf, at whose end `key` shows that keys grow, to its left neighbour, if that
/// has the same parent and room. Returns whether it did.
pub(super) fn lend_back(tree: &ByteTree, full: NodeRef, key: &[u8], strings: &mut Strings) -> bool {
    let (at, held) = tree.store.latch(tree.store.at(full));
    strings.other.clear();
    at.1.low_to(&mut strings.other);
    // Latches are taken from left to right: this one has to go first.
    drop(held);
    let Some(left) = tree.store.descend::<Scalar>(0, &strings.other, Toward::Before) else { return false };
    let ((node, left), mut left_held) = tree.store.latch(tree.store.at(left));
    if left.link() != full || !takes_at_most(left, 7) {
        return false;
    }
    let (right, mut right_held) = tree.store.latch(tree.store.at(full));
    let pair = [(left, &mut left_held), (right.1, &mut right_held)];
    right.1.side(key) == Side::Here
        && share(tree, [node, full], pair, strings, |both, separator| both.lend_back(separator))
}

/// Moves entries between two latched neighbours; `choose` selects them. Returns whether it did.
fn share<'a>(
    tree: &'a ByteTree,
    [left_node, right]: [NodeRef; 2],
    [(left, left_held), (right_leaf, right_held)]: Pair<'_, 'a>,
    strings: &mut Strings,
    choose: impl FnOnce(Neighbours<'_>, &mut Vec<u8>) -> Option<Cut>,
) -> bool {
    if left.shape().has(Shape::HIGH_LONG) || left.shape().has(Shape::DEAD) {
        return false;
    }
    let [mut left_image, mut right_image] = [[0; WORDS]; 2];
    tree.store.copy_node(left, &mut left_image);
    tree.store.copy_node(right_leaf, &mut right_image);
    let [one, two] = [&left_image, &right_image].map(|words| Node { words, long: tree.store.long() });
    let Strings { low, high, separator, other } = strings;
    [&mut *low, &mut *high, &mut *other].into_iter().for_each(Vec::clear);
    one.low_to(low);
    two.low_to(other);
    let high = two.high_to(high).then_some(&high[..]);
    let (low, other) = (&low[..], &other[..]);
    let both = Neighbours { leaves: [one, two], lows: [low, other], high, seed: tree.store.seed_of(0) };
    let Some(cut) = choose(both, &mut *separator) else { return false };
    let (from, from_low, first) = if cut.come == 0 { (one, low, cut.stay) } else { (two, other, cut.come) };
    if !separate(from, from_low, first, separator) {
        return false;
    }
    let separator = &separator[..];
    let Some((parent, mut parent_held)) = tree.store.latch_covering(1, other) else { return false };
    let shape = parent.1.shape();
    let (rank, is_there) = parent.1.rank::<Scalar>(shape, other);
    let is_named = is_there && rank > 0 && parent.1.length(shape, rank) != LONG;
    // After its neighbour in the same parent it begins with that parent's prefix.
    let suffix = separator.get(shape.prefix()..).unwrap_or(&[]);
    if !is_named || suffix.len() > SUFFIX_MAX || !shape.has_words(entry_words(suffix.len() as u8)) {
        return false;
    }
    let own = Fence { bytes: separator, long: None };
    let left_fences = Fences { high: Some(own), ..fences_of(one, low, None) };
    let right_fences = Fences { low: own, ..fences_of(two, other, high) };
    let of_one = |entries: Range<usize>| both.part(0, entries);
    let of_two = |entries: Range<usize>| both.part(1, entries);
    let (first, second) = (one.shape().len(), two.shape().len());
    let [mut left_image, mut right_image] = [[0; WORDS]; 2];
    let parts = [of_one(0..cut.stay), of_two(0..cut.come)];
    let new_left = build(&tree.finder, &mut left_image, &left_fences, one.link(), &parts);
    let parts = [of_one(cut.stay..first), of_two(cut.come..second)];
    let new_right = build(&tree.finder, &mut right_image, &right_fences, two.link(), &parts);
    let (Some(new_left), Some(new_right)) = (new_left, new_right) else { return false };
    [left_held, right_held, &mut parent_held].into_iter().for_each(|held| held.changing());
    right_leaf.write(new_right.image());
    left.write(new_left.image());
    parent.1.remove::<Scalar>(rank);
    let has_gone_in = parent.1.insert::<Scalar>(rank, Entry::short(suffix, 0, u64::from(right.to_word())));
    debug_assert!(has_gone_in, "there was room for another separator");
    tree.finder.name_both([left_node, right], [low, separator], high);
    true
}

/// How many entries stay in the left leaf when half of the difference is lent: of the cuts near there the
/// one with the shortest separator. None: there is nothing to be lent.
fn cut_to_lend(left: Private<'_>, right: Private<'_>) -> Option<usize> {
    let (shape, len) = (left.shape(), left.shape().len());
    let half = (8 * taken(left)).saturating_sub(8 * taken(right)) / 2;
    let (mut lent, mut best) = (0, None);
    for at in (1..len).rev() {
        lent += weight(left.words_of_entry(shape, at));
        if lent > half {
            break;
        }
        // Not much less than half of the difference.
        if lent * 4 >= half * 3 {
            let cost = separator_bytes(left, 0, at);
            if best.is_none_or(|(least, _)| cost <= least) {
                best = Some((cost, at));
            }
        }
    }
    best.map(|(_, at)| at)
}

impl<'c> Neighbours<'c> {
    /// Entries of the left leaf, or of the right one.
    fn part(&self, which: usize, entries: Range<usize>) -> Part<'c> {
        Part { node: self.leaves[which], low: self.lows[which], entries, seed: self.seed }
    }

    /// As many entries of the right leaf go to the left one as fit, but not the last of them.
    fn lend_back(self, separator: &mut Vec<u8>) -> Option<Cut> {
        let [stay, all] = self.leaves.map(|leaf| leaf.shape().len());
        let come = most_that_fit(all.saturating_sub(1), |come| self.fit_left(come, separator));
        (come > 0).then_some(Cut { stay, come })
    }

    /// As many entries of the left leaf go to the right one as fit, but not the first of them.
    fn lend_all(self, separator: &mut Vec<u8>) -> Option<Cut> {
        let all = self.leaves[0].shape().len();
        let lent = most_that_fit(all.saturating_sub(1), |lent| self.fit_right(lent, separator));
        (lent > 0).then_some(Cut { stay: all - lent, come: 0 })
    }

    /// Whether the first `come` entries of the right leaf fit the left one.
    fn fit_left(self, come: usize, separator: &mut Vec<u8>) -> bool {
        let Self { leaves: [left, right], lows: [low, right_low], .. } = self;
        let is_short = separate(right, right_low, come, separator);
        let (own, more) = (self.part(0, 0..left.shape().len()), self.part(1, 0..come));
        let high = Some(Fence { bytes: separator, long: None });
        is_short && fit(&[own, more], &Fences { high, ..fences_of(left, low, None) })
    }

    /// Whether the last `lent` entries of the left leaf fit the right one.
    fn fit_right(self, lent: usize, separator: &mut Vec<u8>) -> bool {
        let Self { leaves: [left, right], lows: [low, right_low], high, .. } = self;
        let len = left.shape().len();
        let is_short = separate(left, low, len - lent, separator);
        let (more, own) = (self.part(0, len - lent..len), self.part(1, 0..right.shape().len()));
        let low = Fence { bytes: separator, long: None };
        is_short && fit(&[more, own], &Fences { low, ..fences_of(right, right_low, high) })
    }
}

/// The largest number up to `most` that fits, where each one fits that is smaller than one that does.
fn most_that_fit(mut most: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    let mut fit = 0;
    while fit < most {
        let half = (fit + most).div_ceil(2);
        if fits(half) {
            fit = half;
        } else {
            most = half - 1;
        }
    }
    fit
}

/// Makes `separator` the shortest string between the entries before and after `cut`. Returns `false` if it
/// would be long.
fn separate(node: Private<'_>, low: &[u8], cut: usize, separator: &mut Vec<u8>) -> bool {
    let shape = node.shape();
    if [cut - 1, cut].into_iter().any(|at| node.length(shape, at) == LONG) {
        return false;
    }
    let [mut one, mut two] = [[0; SUFFIX_ROOM]; 2];
    let (last, first) = (node.suffix(shape, cut - 1, &mut one), node.suffix(shape, cut, &mut two));
    separator.clear();
    separator.extend_from_slice(&low[..shape.prefix()]);
    separator.extend_from_slice(&first[..separator_len(last, first)]);
    separator.len() <= FENCE_MAX
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use crate::blink::Edit;
    use latchless_core::testing::Rng;

    const KEYS: u64 = if cfg!(miri) { 160 } else { 20_000 };

    /// A key that has 40 bytes, of which those around it have 24 or more.
    fn address(number: u64) -> Vec<u8> {
        format!("https://example.com/section/{number:08}/it").into_bytes()
    }

    #[test]
    fn leaves_of_random_keys_are_fuller_than_splits_alone_leave_them() {
        let (tree, mut random) = (tree(), Rng(11));
        for number in 0..KEYS {
            tree.edit(&random.next().to_be_bytes(), Edit::Put(number)).unwrap();
        }
        tree.check_invariants().unwrap();
        let fill = tree.stats().leaf_fill;
        // 0.69 without lending.
        assert!(cfg!(any(miri, latchless_small_nodes)) || fill > 0.71, "{fill}");
    }

    #[test]
    fn long_keys_that_ascend_leave_full_leaves() {
        let tree = tree();
        for number in 0..KEYS {
            tree.edit(&address(number), Edit::Put(number)).unwrap();
        }
        tree.check_invariants().unwrap();
        // Records take less room than slots, from which they are lent: so leaves are counted. 0.9 of a leaf
        // of slots is 91 keys, and without lending it has 0.6 of that.
        let per_leaf = KEYS as f64 / tree.stats().leaves as f64;
        assert!(cfg!(any(miri, latchless_small_nodes)) || per_leaf > 91.0, "{per_leaf}");
        assert!((0..KEYS).all(|number| tree.get(&address(number)) == Some(number)));
    }

    #[test]
    fn leaves_with_few_long_keys_are_merged() {
        let tree = tree();
        for number in 0..KEYS {
            tree.edit(&address(number * 7 % KEYS), Edit::Put(number)).unwrap();
        }
        let before = tree.live_bytes();
        for number in (0..KEYS).filter(|number| number % 10 != 0) {
            assert!(tree.edit(&address(number), Edit::Remove).unwrap().applied);
        }
        tree.check_invariants().unwrap();
        let after = tree.live_bytes();
        assert!(cfg!(any(miri, latchless_small_nodes)) || 3 * after < before, "{before} bytes, then {after}");
    }

    #[test]
    fn readers_beside_lending_writers_find_all_that_stays() {
        let tree = tree();
        let kept = |number: u64| address(number * 16);
        (0..KEYS / 16)
            .for_each(|number| assert!(tree.edit(&kept(number), Edit::Put(number)).unwrap().applied));
        std::thread::scope(|scope| {
            for own in 1..3u64 {
                let tree = &tree;
                scope.spawn(move || {
                    let mut random = Rng(own);
                    for _ in 0..KEYS {
                        let number = random.below(KEYS / 16) * 16 + own;
                        let edit = if random.below(3) == 0 { Edit::Remove } else { Edit::Put(number) };
                        tree.edit(&address(number), edit).unwrap();
                    }
                });
            }
            let mut random = Rng(3);
            for _ in 0..KEYS {
                let number = random.below(KEYS / 16);
                assert_eq!(tree.get(&kept(number)), Some(number));
            }
        });
        tree.check_invariants().unwrap();
    }
}
