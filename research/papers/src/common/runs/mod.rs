//! Searches in long ascending arrays of words that may be written concurrently (CSSL's lanes): in a few
//! words at any position, or from the front up to the first larger one.
//!
//! Vectors are loaded by assembly, because the language has no vector of atomics; the load represents a
//! relaxed load of each word. Comparisons use intrinsics, in registers. A word that is being written
//! counts with its old or its new value. The vector search is written once (`vector.rs`) over the words of
//! [`InstructionSet`](latchless_core::search::InstructionSet).

mod scalar;
#[cfg(test)]
mod tests;
mod vector;

use latchless_core::base::key::Bits;
use latchless_core::search::Present;
use scalar::{count_up_to, step_up_to};
use vector::{Group, Run};

/// The searches of index layers in their lanes.
pub trait Runs {
    /// Returns how many of the `count` words from `at` on, which ascend, are at most `key`. May read, but
    /// doesn't count, words of the array after them.
    ///
    /// # Panics
    /// When they don't lie in the array.
    fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize;

    /// Returns how many words from the front on are at most `key`: reads every one of them, block by
    /// block, up to the first block that contains a larger one (CSSL, Algorithm 2, lines 17 to 28).
    fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize;
}

impl<K: Present> Runs for K {
    #[inline(always)]
    fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
        match K::with_vectors(Group { words, at, count, key }) {
            Ok(found) => found,
            Err(Group { .. }) => count_up_to(&words[at..at + count], key),
        }
    }

    #[inline(always)]
    fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
        match K::with_vectors(Run { words, key }) {
            Ok(found) => found,
            Err(Run { .. }) => step_up_to(words, key),
        }
    }
}
