//! Radix sort of rows by keys that are words: a few passes over them instead of one per halving.

use latchless::Bits;

/// Bits that a pass sorts by.
const DIGIT_BITS: usize = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Passes for a word.
const PASSES: usize = u64::BITS.div_ceil(DIGIT_BITS as u32) as usize;

/// Fewer rows than this are compared with each other.
const ROWS_MIN: usize = DIGITS;

/// Sorts pairs of a key and a row, which are given in the order of their rows, by key and then by row.
pub fn by_key<B: Bits>(pairs: &mut Vec<(B, u32)>) {
    if pairs.len() < ROWS_MIN {
        pairs.sort_unstable();
        return;
    }
    let digit = |key: B, pass: usize| (key.to_u64() >> (pass * DIGIT_BITS)) as usize % DIGITS;
    let mut counts = vec![[0u32; DIGITS]; PASSES];
    for &(key, _) in &*pairs {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, pass)] += 1;
        }
    }
    let mut sorted = pairs.clone();
    for (pass, counts) in counts.iter_mut().enumerate() {
        // All keys have the same digit here.
        if counts[digit(pairs[0].0, pass)] as usize == pairs.len() {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        // Each digit's pairs keep the order that they have by the lower digits.
        for &pair in &*pairs {
            let place = &mut counts[digit(pair.0, pass)];
            sorted[*place as usize] = pair;
            *place += 1;
        }
        std::mem::swap(pairs, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<B: Bits>(keys: impl Iterator<Item = B>) {
        let mut pairs: Vec<(B, u32)> = keys.zip(0..).collect();
        let mut expected = pairs.clone();
        expected.sort_unstable();
        by_key(&mut pairs);
        assert!(pairs == expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn pairs_are_as_comparisons_sort_them(
            keys in prop::collection::vec(any::<u64>(), 0..2 * ROWS_MIN),
            shift in 0u32..64,
            mask: u64,
        ) {
            check(keys.iter().copied());
            check(keys.iter().map(|key| key >> shift));
            check(keys.iter().map(|key| key & mask));
            check(keys.iter().map(|&key| key as u32));
            check(keys.iter().map(|&key| (key >> shift) as u32));
        }
    }
}
