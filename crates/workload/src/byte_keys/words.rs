//! Generated words: syllables of a first consonant, a vowel and perhaps a last consonant.

use crate::ask::Ask;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::ops::RangeInclusive;

const FIRST: [&str; 20] =
    ["b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "ch", "st", "tr", "pl"];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ai"];
const LAST: [&str; 10] = ["", "", "", "n", "r", "s", "t", "l", "nd", "ck"];

/// Appends a word of this many syllables.
pub fn push_word(text: &mut Vec<u8>, random: &mut Xoshiro256PlusPlus, syllables: RangeInclusive<usize>) {
    for _ in 0..random.random_range(syllables) {
        for part in [&FIRST[..], &VOWELS, &LAST] {
            text.extend_from_slice(one_of(part, random).as_bytes());
        }
    }
}

/// One of these, each as likely.
pub fn one_of<'a>(all: &[&'a str], random: &mut Xoshiro256PlusPlus) -> &'a str {
    all[random.random_range(0..all.len())]
}

/// A number below 2^`bits`, the small ones much likelier: 0 is drawn once in (`bits` + 1) / 2 times, 1 to 3
/// about once in `bits`, and so is every further range of twice the size. Much as by Zipf's law with θ = 1.
pub fn skewed(bits: u32, random: &mut Xoshiro256PlusPlus) -> usize {
    let bits = random.random_range(0..=bits);
    random.random_range(0..1usize << bits)
}

/// 2^`bits` texts, of which the first ones are drawn most.
pub struct Stock {
    texts: Vec<Vec<u8>>,
    bits: u32,
}

impl Stock {
    /// Makes each text by `make`; `purpose` keeps stocks of one seed apart.
    pub fn new(
        bits: u32,
        ask: Ask,
        purpose: u64,
        make: impl Fn(&mut Vec<u8>, &mut Xoshiro256PlusPlus),
    ) -> Self {
        let mut random = ask.generator(purpose);
        let text = |_| {
            let mut text = Vec::new();
            make(&mut text, &mut random);
            text
        };
        Self { texts: (0..1 << bits).map(text).collect(), bits }
    }

    /// One of them, the first ones much likelier.
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> &[u8] {
        &self.texts[skewed(self.bits, random)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_drawn_most_and_all_are_drawn() {
        let mut random = Ask { loaded: 1, fresh: 0, seed: 5 }.generator(0);
        let mut drawn = [0u32; 64];
        (0..140_000).for_each(|_| drawn[skewed(6, &mut random)] += 1);
        // A seventh of them from each of 1, 2, 4, … 64 numbers.
        let expected = [39_688.0, 19_688.0, 9_688.0, 9_688.0];
        for (drawn, expected) in drawn.iter().zip(expected) {
            assert!((f64::from(*drawn) / expected - 1.0).abs() < 0.05, "{drawn}, not {expected}");
        }
        assert!(drawn.iter().all(|&drawn| drawn > 200), "{drawn:?}");
    }

    #[test]
    fn words_are_lower_case_and_have_their_syllables() {
        let mut random = Ask { loaded: 1, fresh: 0, seed: 5 }.generator(0);
        for _ in 0..1000 {
            let mut word = Vec::new();
            push_word(&mut word, &mut random, 2..=2);
            assert!((4..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase));
        }
    }
}
