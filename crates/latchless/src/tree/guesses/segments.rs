//! Segments: which place a key has where keys are spread smoothly, but not evenly.
//!
//! Normal and lognormal numbers, floating-point ones, a few dense ranges or a few far keys: slots of one
//! width would leave most keys of such a set without a guess. So the range of all keys is cut into segments
//! with about as many leaves each, and each segment has slots of a width of its own. Which segment a key is
//! in, a binary search among the segments' fences tells.
//!
//! Keys that crowd in each segment anew, as runs of nearly equal keys do, need [more than
//! this](super::super::directory).

use super::*;

/// A power of two.
pub(crate) const SEGMENTS: usize = 64;
/// Of so many segments one may have slots of less than half of the mean width where one width serves all.
const NARROW_SHARE: usize = 32;

/// How the range of all keys is cut. See the module documentation.
#[derive(Debug)]
pub(crate) struct Segments {
    /// The last key of each segment.
    fences: [Word; SEGMENTS],
    /// Of each segment: its first key, slots a key in 2^-64, and the place of the first key. With a fourth
    /// word, an element's address is a shift away.
    scales: [[Word; 4]; SEGMENTS],
}

impl Segments {
    pub(crate) fn blank() -> Box<Self> {
        let fences = [const { Word::new(u64::MAX) }; SEGMENTS];
        let scales = [const { [const { Word::new(0) }; 4] }; SEGMENTS];
        Box::new(Self { fences, scales })
    }

    /// The place of a key, counted from the first slot's first. Keys before the first segment are far behind.
    #[inline(always)]
    pub(super) fn place(&self, key: u64) -> u128 {
        // Without branches. Vectors take fewer steps, and what follows them waits longer for their answer.
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

    /// Cuts the range of these inner nodes but the last, each of which gets so many slots; of a segment's
    /// slots one may be more.
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

/// The first node of a segment.
fn start(nodes: &[(u64, NodeRef)], segment: usize) -> usize {
    segment * (nodes.len() - 1) / SEGMENTS
}

/// Whether the keys of these nodes, of which the last one doesn't count, are spread so evenly that slots of
/// one width serve all, or are too few for more.
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
