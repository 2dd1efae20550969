//! A set of small numbers whose least and greatest members are found in a few steps.
//!
//! A tree of words. Each number has a bit on the lowest level; on every other level, each word below that
//! isn't zero has one.

/// Levels for numbers of 32 bits, 6 bits each.
const LEVELS: usize = 6;

/// A set of numbers. Takes one bit for each number up to the greatest that was ever in it.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    levels: [Vec<u64>; LEVELS],
}

impl Numbers {
    /// Inserts a number.
    #[inline]
    pub(super) fn insert(&mut self, number: u32) {
        match self.levels[0].get_mut(number as usize / 64) {
            // The levels above have the word's bit already.
            Some(word) if *word != 0 => *word |= 1 << (number % 64),
            _ => self.insert_from(0, number as usize),
        }
    }

    #[inline(never)]
    fn insert_from(&mut self, lowest: usize, number: usize) {
        let mut at = number;
        for level in &mut self.levels[lowest..] {
            let (word, bit) = (at / 64, 1 << (at % 64));
            if level.len() <= word {
                level.resize(word + 1, 0);
            }
            let before = level[word];
            level[word] |= bit;
            if before != 0 {
                return;
            }
            at = word;
        }
    }

    /// Removes a number, if it is there.
    pub(super) fn remove(&mut self, number: u32) {
        self.remove_from(0, number as usize);
    }

    fn remove_from(&mut self, lowest: usize, number: usize) {
        let mut at = number;
        for level in &mut self.levels[lowest..] {
            let Some(word) = level.get_mut(at / 64) else { return };
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// Removes the least numbers, at most this many, and passes them to `taken`, ascending.
    pub(super) fn take_first(&mut self, most: usize, mut taken: impl FnMut(u32)) {
        let mut left = most;
        while left > 0 {
            let Some(at) = self.first().map(|first| first as usize / 64) else { return };
            let word = &mut self.levels[0][at];
            while left > 0 && *word != 0 {
                taken(at as u32 * 64 + word.trailing_zeros());
                *word &= *word - 1;
                left -= 1;
            }
            if *word == 0 {
                self.remove_from(1, at);
            }
        }
    }

    /// Returns the least number.
    pub(super) fn first(&self) -> Option<u32> {
        self.edge(u64::trailing_zeros)
    }

    /// Returns the greatest number.
    pub(super) fn last(&self) -> Option<u32> {
        self.edge(|word| 63 - word.leading_zeros())
    }

    fn edge(&self, bit_of: impl Fn(u64) -> u32) -> Option<u32> {
        // Above a level of a single word all have one.
        let top = self.levels.iter().position(|level| level.len() <= 1)?;
        self.levels[..=top].iter().rev().try_fold(0, |at, level| {
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
        for most in (0..100).cycle() {
            numbers.take_first(most, |number| assert_eq!(model.pop_first(), Some(number)));
            assert_eq!(numbers.first(), model.first().copied());
            if model.is_empty() {
                break;
            }
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
