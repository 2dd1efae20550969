//! Segments: the positions of keys that are smoothly, but not evenly distributed.
//!
//! Examples are normal and lognormal numbers, floating-point numbers, a few dense ranges and a few far keys:
//! with slots of one width most keys of such a set would have no prediction. So the range of all keys is
//! partitioned into segments with about the same number of leaves, and each segment has its own slot width.
//! A binary search among the segments' fences finds a key's segment.
//!
//! Keys that cluster again within each segment, as runs of nearly equal keys do, need [the
//! directory](super::super::directory).

use core::hint::select_unpredictable;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

/// Bits of a key's position within its slot.
pub(super) const PLACE_BITS: u32 = 12;

/// A power of two.
pub(crate) const SEGMENTS: usize = 64;
/// Segments are used if more than one in this many would have slots of less than half of the mean width.
const NARROW_SHARE: usize = 32;

/// A partition of the range of all keys. See the module documentation.
#[derive(Debug)]
pub(crate) struct Segments {
    /// The last key of each segment.
    fences: [Word; SEGMENTS],
    /// For each segment: its first key, slots per key in 2^-64, and the position of the first key. With a
    /// fourth word, an element's address is a shift away.
    scales: [[Word; 4]; SEGMENTS],
}

impl Segments {
    pub(crate) fn blank() -> Box<Self> {
        let fences = [const { Word::new(u64::MAX) }; SEGMENTS];
        let scales = [const { [const { Word::new(0) }; 4] }; SEGMENTS];
        Box::new(Self { fences, scales })
    }

    /// Returns the position of a key, counted from the start of the first slot. Keys before the first
    /// segment are far after the end.
    #[inline(always)]
    pub(super) fn place(&self, key: u64) -> u128 {
        // Without branches. Vectors need fewer steps, but their result arrives later.
        let (mut at, mut step) = (0, SEGMENTS / 2);
        while step > 0 {
            at += step * usize::from(self.fences[at + step - 1].load_relaxed() < key);
            step /= 2;
        }
        let [first, scale, place, _] = &self.scales[at];
        let (first, scale) = (first.load_relaxed(), scale.load_relaxed());
        let inside = places(key.wrapping_sub(first), scale);
        select_unpredictable(key < first, u128::MAX >> PLACE_BITS, inside + u128::from(place.load_relaxed()))
    }

    /// Partitions the range of these inner nodes except the last, each of which gets `slots_per_node` slots;
    /// a segment may have one more.
    pub(crate) fn cut(&self, nodes: &[(u64, NodeRef)], slots_per_node: f64) {
        let mut slots = 0;
        for at in 0..SEGMENTS {
            let (begin, end) = (start(nodes, at), start(nodes, at + 1));
            let (first, behind) = (nodes[begin].0, nodes[end].0);
            let own = ((end - begin) as f64 * slots_per_node).ceil() as usize;
            let scale = ((own as u128) << 64) / u128::from(behind - first);
            let words = [first, u64::try_from(scale).unwrap_or(u64::MAX), (slots as u64) << PLACE_BITS];
            self.scales[at].iter().zip(words).for_each(|(word, to)| word.store_relaxed(to));
            slots += own;
            self.fences[at].store_relaxed(behind - 1);
        }
    }
}

/// Returns the distance between two keys in positions, at `scale` slots per key, in 2^-64.
#[inline(always)]
pub(super) fn places(distance: u64, scale: u64) -> u128 {
    (u128::from(distance) * u128::from(scale)) >> (64 - PLACE_BITS)
}

/// Returns the first node of a segment.
fn start(nodes: &[(u64, NodeRef)], segment: usize) -> usize {
    segment * (nodes.len() - 1) / SEGMENTS
}

/// Returns whether the keys of these nodes, except the last, are distributed so evenly that slots of one
/// width are enough, or are too few for more.
pub(crate) fn are_even(nodes: &[(u64, NodeRef)]) -> bool {
    let last = nodes.len() - 1;
    if last < SEGMENTS {
        return true;
    }
    let range = u128::from(nodes[last].0 - nodes[0].0);
    let is_narrow = |&at: &usize| {
        let (begin, end) = (start(nodes, at), start(nodes, at + 1));
        let width = u128::from(nodes[end].0 - nodes[begin].0);
        2 * width * (last as u128) < range * (end - begin) as u128
    };
    (0..SEGMENTS).filter(is_narrow).count() <= SEGMENTS / NARROW_SHARE
}
