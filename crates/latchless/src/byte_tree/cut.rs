//! Where a full node is cut.
//!
//! Near its middle, where the separator is shortest, unless keys grow at one place of a leaf: then each
//! further key goes to the same side, and the other one would stay half empty for ever. The order in which
//! keys came isn't recorded; growth is inferred from the keys themselves. It is assumed if the quarter of
//! the leaf's entries adjacent to the new key spans less than the gap on its other side. Random keys rarely
//! look like this; a false positive costs one uneven cut.

use super::fences::{Fence, Fences};
use super::node::{Node, Private, SUFFIX_ROOM, Words};
use super::part::{Part, fit};
use super::shape::{LONG, Shape, entry_words};
use super::text::{common, head, separator_len};
use latchless_core::search::Scalar;

/// Where keys grow in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// Each key comes right after the last one.
    Up,
    /// Each key comes right before the last one.
    Down,
}

/// Whether a string is nearer to one of two, which are on both sides of it, than to the other.
fn is_nearer(own: &[u8], near: &[u8], far: &[u8]) -> bool {
    let at = common(near, far);
    let [own, near, far] = [own, near, far].map(|bytes| head(bytes, at));
    own.abs_diff(near) < own.abs_diff(far)
}

impl<W: Words> Node<'_, W> {
    /// Whether keys grow at this place of a full leaf, which is that of `key`.
    pub(super) fn growth(self, key: &[u8], rank: usize) -> Option<Growth> {
        let (shape, len) = (self.shape(), self.shape().len());
        if rank == len && shape.has(Shape::NO_HIGH) {
            return Some(Growth::Up);
        }
        let (own, run) = (&key[shape.prefix()..], (len / 4).max(2));
        let [mut near, mut far] = [[0; SUFFIX_ROOM]; 2];
        let before = rank.checked_sub(run).map(|at| self.start(shape, at, &mut near));
        if let Some(before) = before {
            let beyond =
                if rank < len { Some(self.start(shape, rank, &mut far)) } else { self.short_high(&mut far) };
            if beyond.is_some_and(|beyond| is_nearer(own, before, beyond)) {
                return Some(Growth::Up);
            }
        }
        if rank + run > len {
            return None;
        }
        let behind = self.start(shape, rank + run - 1, &mut near);
        let beyond =
            if rank > 0 { Some(self.start(shape, rank - 1, &mut far)) } else { self.short_low(&mut far) };
        beyond.is_some_and(|beyond| is_nearer(own, behind, beyond)).then_some(Growth::Down)
    }

    /// The first bytes of an entry's suffix: the whole suffix, if it isn't long.
    fn start(self, shape: Shape, at: usize, to: &mut [u8; SUFFIX_ROOM]) -> &[u8] {
        let suffix = self.suffix(shape, at, to);
        if self.length(shape, at) == LONG { &suffix[..8] } else { suffix }
    }
}

/// A cut of a leaf: how many entries stay left, and whether the new key is one of these.
#[derive(Debug, Clone, Copy)]
struct LeafCut {
    stay: usize,
    key_stays: bool,
}

/// Where to cut a node: how many entries stay to the left. Sets `separator` to the string from which on the
/// right node is.
pub(super) fn cut(
    whole: &Part<'_>,
    level: usize,
    fences: &Fences<'_>,
    key: &[u8],
    separator: &mut Vec<u8>,
    other: &mut Vec<u8>,
) -> usize {
    let (node, shape, len) = (whole.node, whole.node.shape(), whole.entries.len());
    let whole_key = |at: usize, to: &mut Vec<u8>| {
        to.clear();
        to.extend_from_slice(&fences.low.bytes[..shape.prefix()]);
        node.key_to(shape, at, to);
    };
    let (rank, is_there) = node.rank::<Scalar>(shape, key);
    if level > 0 {
        // Separators that come in order leave full nodes.
        let grows = shape.has(Shape::NO_HIGH) && len > 2 && rank == len;
        let at = if grows { len - 1 } else { cheapest_cut(node, level) };
        whole_key(at, separator);
        return at;
    }
    // A key that is there grows by its value.
    let growth = if is_there { None } else { node.growth(key, rank) };
    if let Some(LeafCut { stay, key_stays }) = growth.map(|growth| growth.cut(rank, len)) {
        whole_key(if key_stays { stay } else { stay - 1 }, other);
        let (before, behind) = if key_stays { (key, &other[..]) } else { (&other[..], key) };
        separator.clear();
        separator.extend_from_slice(&behind[..separator_len(before, behind)]);
        if may_be_cut(whole, fences, stay, separator) {
            return stay;
        }
    }
    let at = cheapest_cut(node, level);
    whole_key(at, separator);
    whole_key(at - 1, other);
    separator.truncate(separator_len(other, separator));
    at
}

impl Growth {
    /// Where to cut a leaf of `len` entries with a new key at `rank`. It stays with those that it comes
    /// after or before, if they leave it room.
    fn cut(self, rank: usize, len: usize) -> LeafCut {
        let key_stays = match self {
            Self::Up => rank < len && rank <= len - len / 8,
            Self::Down => rank <= len / 8,
        };
        LeafCut { stay: rank, key_stays }
    }
}

/// Whether both parts of a leaf fit a leaf when it is cut there: fences take room, too.
fn may_be_cut(whole: &Part<'_>, fences: &Fences<'_>, stay: usize, separator: &[u8]) -> bool {
    let own = Fence { bytes: separator, long: None };
    fit(&[whole.of(0..stay)], &Fences { high: Some(own), ..*fences })
        && fit(&[whole.of(stay..whole.entries.len())], &Fences { low: own, ..*fences })
}

/// An entry's weight in eighths of a word: its slot and its words.
pub(super) fn weight(words: usize) -> usize {
    8 * words + 11
}

/// The cut near the middle, by weight, whose separator is shortest.
fn cheapest_cut(node: Private<'_>, level: usize) -> usize {
    let (shape, len) = (node.shape(), node.shape().len());
    let all = 8 * node.words_of_entries() + len * weight(0);
    // Where all weigh the same, it is known where the middle is.
    let (first, last, mut before) = match node.length_of_all(0..len) {
        Some(length) => {
            let first = (len / 3).max(1);
            (first, len - len / 3, (first - 1) * weight(entry_words(length)))
        }
        None => (1, len, 0),
    };
    let (mut best, mut least, mut nearest) = (len / 2, usize::MAX, usize::MAX);
    for at in first..last {
        before += weight(node.words_of_entry(shape, at - 1));
        let off = (2 * before).abs_diff(all);
        // Of cuts outside of the middle sixth, the one that is nearest to it.
        let is_near = off <= all / 6;
        let cost = if is_near { separator_bytes(node, level, at) } else { 1 << 20 };
        if (cost, off) < (least, nearest) {
            (best, least, nearest) = (at, cost, off);
        }
    }
    best
}

/// How long the separator before an entry is, after the prefix.
pub(super) fn separator_bytes(node: Private<'_>, level: usize, at: usize) -> usize {
    let shape = node.shape();
    let length = usize::from(node.length(shape, at));
    if level > 0 {
        return length;
    }
    let (last, first) = (node.head(shape, at - 1), node.head(shape, at));
    if last != first {
        return (last ^ first).leading_zeros() as usize / 8 + 1;
    }
    let [mut one, mut two] = [[0; SUFFIX_ROOM]; 2];
    common(node.suffix(shape, at - 1, &mut one), node.suffix(shape, at, &mut two)) + 1
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use crate::blink::Edit;
    use latchless_core::testing::Rng;

    /// How full leaves are after these keys came in, one by one, and how many keys each has.
    fn leaves_after(keys: impl Iterator<Item = Vec<u8>>) -> (f64, f64) {
        let tree = tree();
        keys.for_each(|key| assert!(tree.edit(&key, Edit::Put(1)).unwrap().before.is_none()));
        tree.check_invariants().unwrap();
        (tree.stats().leaf_fill, tree.len() as f64 / tree.stats().leaves as f64)
    }

    /// Keys that grow at many places, a random one of which gets its next key each time. `key`: of a place's
    /// number, the key that comes this many steps after its first.
    fn growing(places: u64, each: u64, key: impl Fn(u64, u64) -> Vec<u8>) -> impl Iterator<Item = Vec<u8>> {
        let (mut random, mut next) = (Rng(11), vec![0; places as usize]);
        (0..places * each).map(move |_| {
            let place = random.below(places);
            let at = &mut next[place as usize];
            *at += 1;
            key(place, *at)
        })
    }

    fn pair(one: u64, two: u64) -> Vec<u8> {
        [one.to_be_bytes(), two.to_be_bytes()].concat()
    }

    fn scattered(number: u64) -> u64 {
        Rng(number + 1).next()
    }

    #[test]
    #[cfg_attr(any(miri, latchless_small_nodes), ignore = "is about usual nodes, and many of them")]
    fn keys_that_grow_at_many_places_fill_leaves() {
        const NOW: u64 = 1_770_000_000_000_000_000;
        let text = |place, at| format!("host-{place:05}/cpu/{:010}", 37 * at).into_bytes();
        let user = |place| pair(scattered(place), scattered(place + 100));
        let behind = |place, at: u64| [user(place), at.to_be_bytes().to_vec()].concat();
        let fills = [
            ("up", leaves_after(growing(100, 900, |place, at| pair(scattered(place), at)))),
            ("side by side", leaves_after(growing(100, 900, |place, at| pair(place, NOW + 1000 * at)))),
            ("down", leaves_after(growing(100, 900, |place, at| pair(scattered(place), !at)))),
            ("texts", leaves_after(growing(100, 900, text))),
            ("after 16 bytes", leaves_after(growing(100, 900, behind))),
        ];
        for (name, (fill, keys)) in fills {
            // Texts of one length go to leaves of slots, and take less room as records when these are cut.
            // 0.85 of a leaf of slots are 83 of them.
            let is_full = if name == "texts" { keys >= 83.0 } else { fill >= 0.85 };
            assert!(is_full, "{name}: leaves are {fill:.3} full, and have {keys:.1} keys");
        }
    }

    /// A pattern that only looks like growth: such leaves are split in the middle.
    #[test]
    #[cfg_attr(any(miri, latchless_small_nodes), ignore = "is about usual nodes, and many of them")]
    fn keys_in_random_order_fill_leaves_as_ever() {
        let mut random = Rng(5);
        let uniform: Vec<_> = (0..40_000).map(|_| pair(random.next(), random.next())).collect();
        let mut users: Vec<_> = (0..40_000).map(|at| pair(scattered(at / 40), at % 40)).collect();
        let mut texts: Vec<_> = (0..40_000).map(|at| format!("order-{at:09}").into_bytes()).collect();
        for keys in [&mut users, &mut texts] {
            (1..keys.len()).rev().for_each(|at| keys.swap(at, random.below(at as u64 + 1) as usize));
        }
        for (name, keys) in [("uniform", uniform), ("users", users), ("texts", texts)] {
            let (fill, _) = leaves_after(keys.into_iter());
            assert!((0.69..0.78).contains(&fill), "{name}: leaves are {fill:.3} full");
        }
    }
}
