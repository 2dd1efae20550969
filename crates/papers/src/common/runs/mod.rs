//! Searching long ascending arrays of words that may be written meanwhile (CSSL's lanes): a few of them
//! anywhere, or all from the front on up to the first that is too large.
//!
//! As in `lines.rs`, vectors are loaded by one instruction each, which stands for relaxed loads of the
//! words, and compared in registers. A word that is being written counts as it was or as it becomes.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use latchless_core::base::key::Bits;
use latchless_core::search::Scalar;
use latchless_core::sync::LaneWord;

/// What index layers ask of their lanes.
pub trait Runs {
    /// How many of the `count` words from `at` on are at most `key`, of words that ascend. May read, but
    /// doesn't count, words of the array behind them.
    ///
    /// # Panics
    /// When they don't lie in the array.
    fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize;

    /// How many words from the front on are at most `key`: looks at every one of them, block by block, up
    /// to the first block that holds a larger one (CSSL, Algorithm 2, lines 17 to 28).
    fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize;
}

/// [`Runs::group_up_to`] word by word.
#[inline(always)]
pub(super) fn count_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
    words.iter().fold(0, |count, word| count + usize::from(word.peek() <= key))
}

/// [`Runs::run_up_to`] word by word.
#[inline(always)]
pub(super) fn step_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
    let mut at = 0;
    while at < words.len() && words[at].peek() <= key {
        at += 1;
    }
    at
}

impl Runs for Scalar {
    #[inline(always)]
    fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
        count_up_to(&words[at..at + count], key)
    }

    #[inline(always)]
    fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
        step_up_to(words, key)
    }
}

#[cfg(target_arch = "aarch64")]
impl Runs for latchless_core::search::Neon {
    #[inline(always)]
    fn group_up_to<B: Bits>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
        Scalar::group_up_to(words, at, count, key)
    }

    #[inline(always)]
    fn run_up_to<B: Bits>(words: &[B::Word], key: B) -> usize {
        Scalar::run_up_to(words, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::operation::{Operation, Run as _, Search};
    use latchless_core::search::{Dispatch, Kernel};

    struct Group<'a, B: Bits>(&'a [B::Word], usize, usize, B);

    impl<B: Bits> Operation for Group<'_, B> {
        type Output = usize;

        #[inline(always)]
        fn run<S: Search>(self) -> usize {
            S::group_up_to(self.0, self.1, self.2, self.3)
        }
    }

    struct Run<'a, B: Bits>(&'a [B::Word], B);

    impl<B: Bits> Operation for Run<'_, B> {
        type Output = usize;

        #[inline(always)]
        fn run<S: Search>(self) -> usize {
            S::run_up_to(self.0, self.1)
        }
    }

    fn kernels() -> impl Iterator<Item = Dispatch> {
        Kernel::ALL.into_iter().filter_map(|kernel| Dispatch::of(kernel).ok())
    }

    /// Lanes that ascend by 3, every fourth twice, the last one the largest there is.
    fn ascending<B: Bits>(len: usize) -> Vec<B::Word> {
        let words: Vec<B::Word> = (0..len).map(|_| B::Word::default()).collect();
        for (at, word) in words.iter().enumerate() {
            let lane = if at + 1 == len {
                B::MAX
            } else {
                B::truncate((at - usize::from(at % 4 == 3)) as u64 * 3 + 1)
            };
            word.poke(lane);
        }
        words
    }

    fn every_length_and_key<B: Bits>() {
        for len in (0..if cfg!(miri) { 20 } else { 90 }).chain([if cfg!(miri) { 40 } else { 300 }]) {
            let words = ascending::<B>(len);
            let keys = (0..3 * len as u64 + 3).step_by(if len < 40 && !cfg!(miri) { 1 } else { 7 });
            for key in keys.map(B::truncate).chain([B::MIN, B::MAX]) {
                let expected = words.iter().filter(|word| word.peek() <= key).count();
                for kernel in kernels() {
                    let found = kernel.run(Run::<B>(&words, key));
                    assert_eq!(found, expected, "{key:?} along {len} by {kernel:?}");
                }
            }
        }
    }

    #[test]
    fn runs_end_at_the_first_larger_word() {
        every_length_and_key::<u32>();
        every_length_and_key::<u64>();
    }

    fn every_group<B: Bits>() {
        let len = if cfg!(miri) { 12 } else { 40 };
        let words = ascending::<B>(len);
        for at in 0..=len {
            for count in 0..=(len - at).min(20) {
                for key in (0..3 * len as u64).step_by(5).map(B::truncate).chain([B::MIN, B::MAX]) {
                    let group = &words[at..at + count];
                    let expected = group.iter().filter(|word| word.peek() <= key).count();
                    for kernel in kernels() {
                        let found = kernel.run(Group::<B>(&words, at, count, key));
                        assert_eq!(found, expected, "{key:?} in {count} from {at} of {len} by {kernel:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn groups_are_counted_wherever_they_stand() {
        every_group::<u32>();
        every_group::<u64>();
    }
}
