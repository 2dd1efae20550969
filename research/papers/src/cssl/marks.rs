//! Marks of changed things in a sequence: bits, and above them bits for the words that have some.
//!
//! # Thread safety
//! 1. Bits are only ever set, those above before those below: a thread that sees a thing marked sees the
//!    whole path to it.
//! 2. A thread that changes a thing marks it first. So a thread that finds no mark knows that no change
//!    was complete by then.

use latchless_core::sync::Word;

/// Bits of a word, and so the things that a bit of the next level represents.
const BITS: usize = u64::BITS as usize;

/// See the file's head.
#[derive(Debug)]
pub struct Marks {
    /// A bit for each thing.
    lowest: Box<[Word]>,
    /// A bit for each word of that, then one for each word of these, and so on up to a single word.
    above: Vec<Box<[Word]>>,
}

impl Marks {
    /// Creates marks for that many things, none of which is marked.
    pub fn new(len: usize) -> Self {
        let words = |bits: usize| (0..bits.div_ceil(BITS).max(1)).map(|_| Word::default()).collect();
        let (lowest, mut above): (Box<[Word]>, Vec<Box<[Word]>>) = (words(len), Vec::new());
        let mut bits = lowest.len();
        while bits > 1 {
            above.push(words(bits));
            bits = bits.div_ceil(BITS);
        }
        Self { lowest, above }
    }

    /// Marks a thing, unless it is marked.
    #[inline(always)]
    pub fn mark(&self, at: usize) {
        if self.lowest[at / BITS].follow() >> (at % BITS) & 1 == 0 {
            self.set(at);
        }
    }

    #[cold]
    fn set(&self, at: usize) {
        for height in (0..=self.above.len()).rev() {
            let at = above(at, height);
            if let Some(words) = self.level(height) {
                words[at / BITS].publish_bits(1 << (at % BITS));
            }
        }
    }

    /// The bits of a height, if there are any so high.
    fn level(&self, height: usize) -> Option<&[Word]> {
        match height {
            0 => Some(&self.lowest),
            _ => self.above.get(height - 1).map(|words| &**words),
        }
    }

    /// Returns the first one of `from..=to` that is marked. To be called after reading the things. O(log
    /// things).
    pub fn first(&self, from: usize, to: usize) -> Option<usize> {
        let (mut at, mut height) = (from, 0);
        // Everything further left at this height has no mark. Climbs if a word has none to the right of
        // it, and descends if it has one.
        loop {
            let word = self.level(height)?.get(at / BITS)?;
            let right = word.load_after_fence() >> (at % BITS) << (at % BITS);
            if right == 0 {
                (at, height) = (at / BITS + 1, height + 1);
                continue;
            }
            at = at / BITS * BITS + right.trailing_zeros() as usize;
            if at > above(to, height) {
                return None;
            }
            if height == 0 {
                return Some(at);
            }
            (at, height) = (at * BITS, height - 1);
        }
    }
}

/// The bit of that height which represents a thing.
fn above(at: usize, height: usize) -> usize {
    at >> (height * BITS.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_first_mark_of_a_range_is_found_however_far_it_is() {
        for len in [1, 63, 64, 65, 5000, if cfg!(miri) { 5001 } else { 300_000 }] {
            let (marks, mut model) = (Marks::new(len), BTreeSet::new());
            assert_eq!(marks.first(0, len - 1), None);
            let mut random = 7usize;
            let mut below = |end: usize| {
                random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (random >> 33) % end
            };
            for _ in 0..if cfg!(miri) { 10 } else { 100 } {
                let at = below(len);
                marks.mark(at);
                model.insert(at);
                for _ in 0..20 {
                    let from = below(len);
                    let to = from + below(len - from);
                    assert_eq!(
                        marks.first(from, to),
                        model.range(from..=to).next().copied(),
                        "{from} to {to}"
                    );
                }
                assert_eq!(marks.first(0, len - 1), model.first().copied());
            }
        }
    }
}
