//! A set of small numbers whose least and greatest members are found in a few steps.
//!
//! A tree of words. Each number has a bit on the lowest level; on every other level, each word below that
//! isn't zero has one.

/// Levels for numbers of 32 bits, 6 bits each.
const LEVELS: usize = 6;

/// A set of numbers. Takes a bit for each number up to the greatest that was ever in it.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    levels: [Vec<u64>; LEVELS],
}

impl Numbers {
    /// Puts a number in.
    pub(super) fn insert(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            let (word, bit) = (at / 64, 1 << (at % 64));
            if level.len() <= word {
                level.resize(word + 1, 0);
            }
            let before = level[word];
            level[word] |= bit;
            // The levels above know of the word already.
            if before != 0 {
                return;
            }
            at = word;
        }
    }

    /// Removes a number, if it is there.
    pub(super) fn remove(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            let Some(word) = level.get_mut(at / 64) else { return };
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least number.
    pub(super) fn first(&self) -> Option<u32> {
        self.edge(u64::trailing_zeros)
    }

    /// The greatest number.
    pub(super) fn last(&self) -> Option<u32> {
        self.edge(|word| 63 - word.leading_zeros())
    }

    fn edge(&self, bit_of: impl Fn(u64) -> u32) -> Option<u32> {
        self.levels.iter().rev().try_fold(0, |at, level| {
            let word = level.get(at as usize).copied().filter(|&word| word != 0)?;
            Some(at * 64 + bit_of(word))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_set_is_as_the_model() {
        let (mut numbers, mut model) = (Numbers::default(), BTreeSet::new());
        let mut seed = 7u64;
        for step in 0..if cfg!(miri) { 300 } else { 20_000 } {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = (seed >> 33) as u32 % [70, 5000, 300_000][step % 3];
            if seed >> 63 == 0 {
                numbers.insert(number);
                model.insert(number);
            } else {
                numbers.remove(number);
                model.remove(&number);
            }
            assert_eq!((numbers.first(), numbers.last()), (model.first().copied(), model.last().copied()));
        }
        while let Some(number) = numbers.first() {
            assert_eq!(model.pop_first(), Some(number));
            numbers.remove(number);
        }
        assert!(model.is_empty() && numbers.last().is_none());
    }

    #[test]
    fn the_greatest_number_has_a_place_on_the_upper_levels() {
        // The lowest level would take half a gigabyte.
        let mut numbers = Numbers::default();
        let number = if cfg!(miri) { 1 << 16 } else { 1 << 24 };
        numbers.remove(u32::MAX);
        numbers.insert(number);
        numbers.insert(3);
        assert_eq!((numbers.first(), numbers.last()), (Some(3), Some(number)));
        numbers.remove(number);
        assert_eq!(numbers.last(), Some(3));
    }
}
