//! Searches of runs word by word: for processors without vectors, and for the words behind the last one.

use latchless_core::base::key::Bits;
use latchless_core::sync::BitsWord;

/// [`Runs::group_up_to`](super::Runs::group_up_to) word by word.
#[inline(always)]
pub(super) fn count_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
    words.iter().fold(0, |count, word| count + usize::from(word.load_relaxed() <= key))
}

/// [`Runs::run_up_to`](super::Runs::run_up_to) word by word.
#[inline(always)]
pub(super) fn step_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
    let mut at = 0;
    while at < words.len() && words[at].load_relaxed() <= key {
        at += 1;
    }
    at
}
