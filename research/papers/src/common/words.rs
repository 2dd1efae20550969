//! Searches in words that may be written concurrently, over relaxed loads: halving, free of branches or with
//! them, and one by one.

use core::hint::{black_box, select_unpredictable};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::BitsWord;

/// Returns how many of these words, which ascend, are smaller than `key` (the lower bound). Equal ones may
/// be adjacent. If they are written concurrently, or don't ascend, the result is some number of at most
/// their length.
#[inline(always)]
pub fn words_below<B: Bits, T: Trace>(words: &[B::Word], key: B) -> usize {
    spaced_words_below::<B, T, 1>(words, key)
}

/// Returns how many keys are smaller than `key`, like [`words_below`], in words of which every `STEP`-th is
/// a key, the first one among them.
#[inline(always)]
pub fn spaced_words_below<B: Bits, T: Trace, const STEP: usize>(words: &[B::Word], key: B) -> usize {
    spaced_halving::<T, _, STEP>(words, |word| word.load_relaxed() < key)
}

/// Returns how many items go before, by halving; those that do come first. If they don't, the result is some
/// number of at most their length.
#[inline(always)]
pub fn halving<T: Trace, I>(items: &[I], goes_before: impl Fn(&I) -> bool) -> usize {
    spaced_halving::<T, I, 1>(items, goes_before)
}

/// [`halving`] of every `STEP`-th item, the first one among them.
#[inline(always)]
fn spaced_halving<T: Trace, I, const STEP: usize>(items: &[I], goes_before: impl Fn(&I) -> bool) -> usize {
    let (mut base, mut size) = (0, items.len().div_ceil(const { STEP }));
    while size > 0 {
        let half = size / 2;
        // SAFETY: `base + size <= items.len().div_ceil(STEP)` holds at first and after each step, and
        // `half < size` because `size` isn't 0. So `(base + half) * STEP < items.len()`.
        let middle = unsafe { items.get_unchecked((base + half) * STEP) };
        T::read(core::ptr::from_ref(middle).cast(), size_of::<I>());
        T::work(Work::Probe);
        // For an even number the upper half is one short: it includes the middle again, so that both ways
        // leave equally many and only `base` depends on the item.
        let (before, upper) = (goes_before(middle), base + (size - half));
        base = if T::BRANCHING {
            branched(before, upper, base)
        } else {
            select_unpredictable(before, upper, base)
        };
        size = half;
    }
    base
}

/// Returns how many of these words from the front on are at most `key`, comparing [one by one](one_by_one).
#[inline(always)]
pub fn words_up_to_one_by_one<B: Bits, T: Trace>(words: &[B::Word], key: B) -> usize {
    one_by_one::<T, _>(words, |word| word.load_relaxed() <= key)
}

/// Returns how many items from the front on are passed, comparing one after the other, with a branch at each.
#[inline(always)]
pub fn one_by_one<T: Trace, I>(items: &[I], is_passed: impl Fn(&I) -> bool) -> usize {
    let mut passed = 0;
    for item in items {
        T::read(core::ptr::from_ref(item).cast(), size_of::<I>());
        T::work(Work::Compare(1));
        if !is_passed(item) {
            break;
        }
        passed += 1;
    }
    // It is known only now at which of them the loop ends.
    T::work(Work::Branch(items.len() + 1));
    passed
}

/// Selects one of the two with a branch: the black box keeps the compiler from turning it into a
/// conditional move.
#[inline(always)]
fn branched(first: bool, one: usize, other: usize) -> usize {
    if first { black_box(one) } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::{Branching, NoTrace};
    use latchless_core::sync::{Word, Word32};
    use latchless_core::testing::sample;

    #[test]
    fn counts_what_is_below_at_every_length() {
        for len in (0..if cfg!(miri) { 20u64 } else { 70 }).step_by(sample(3)) {
            let wide: Vec<Word> = (0..len).map(|i| Word::new(i / 2 * 10 + 5)).collect();
            let narrow: Vec<Word32> = (0..len).map(|_| Word32::default()).collect();
            narrow.iter().zip(&wide).for_each(|(to, from)| to.store_relaxed(from.load_relaxed() as u32));
            for key in (0..len * 5 + 12).step_by(sample(4)).chain([u64::from(u32::MAX)]) {
                let expected = wide.iter().filter(|word| word.load_relaxed() < key).count();
                assert_eq!(words_below::<u64, NoTrace>(&wide, key), expected, "{key} in {len}");
                assert_eq!(words_below::<u64, Branching>(&wide, key), expected, "{key} in {len}, branching");
                assert_eq!(words_below::<u32, NoTrace>(&narrow, key as u32), expected, "{key} in {len}");
                let up_to = wide.iter().filter(|word| word.load_relaxed() <= key).count();
                assert_eq!(words_up_to_one_by_one::<u64, NoTrace>(&wide, key), up_to, "{key} in {len}");
            }
        }
        assert_eq!(words_below::<u64, NoTrace>(&[Word::new(u64::MAX)], u64::MAX), 0);
        assert_eq!(words_up_to_one_by_one::<u64, NoTrace>(&[Word::new(u64::MAX)], u64::MAX), 1);
    }

    #[test]
    fn words_between_keys_are_not_compared() {
        for len in (0..if cfg!(miri) { 12u64 } else { 41 }).step_by(sample(3)) {
            // Keys at even places; what is between them is smaller than all, or larger.
            let words: Vec<Word> = (0..len)
                .map(|i| Word::new(if i % 2 == 0 { 10 * i + 5 } else { i % 4 / 2 * u64::MAX }))
                .collect();
            for key in (0..len * 10 + 12).step_by(sample(4)) {
                let keys = words.iter().step_by(2).map(Word::load_relaxed);
                let expected = keys.filter(|&word| word < key).count();
                assert_eq!(spaced_words_below::<u64, NoTrace, 2>(&words, key), expected, "{key} in {len}");
            }
        }
    }
}
