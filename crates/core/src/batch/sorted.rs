//! Sorting a batch by key, stably (§3.2.4 of PI says why a query set is sorted).
//!
//! One pass distributes the keys to about as many buckets as there are keys, by the highest bits in which
//! they differ; then each bucket is sorted. Evenly distributed keys need hardly any comparison. Other keys
//! end up in few buckets, which are sorted as fast as by the standard library.

use super::order::Order;
use crate::base::key::Bits;

/// Below this length a comparison sort is faster.
const SPREAD_FROM: usize = 96;
/// The maximum number of bits of a bucket's number: all counts should fit the second-level cache.
const BUCKET_BITS_MAX: u32 = 16;

/// Returns the keys `0..len` in ascending order, each with its number. O(n) for evenly distributed keys,
/// otherwise O(n log n).
///
/// ```
/// use latchless_core::batch::sorted;
/// let keys = [30u64, 10, 20, 10];
/// assert_eq!(sorted(keys.len(), |at| keys[at]), [(10, 1), (10, 3), (20, 2), (30, 0)]);
/// ```
///
/// # Panics
/// If `len` is over 2^32, because positions have four bytes.
pub fn sorted<B: Bits>(len: usize, key_at: impl Fn(usize) -> B) -> Order<B> {
    assert!(u32::try_from(len).is_ok(), "a batch of {len}");
    let mut keys: Order<B> = (0..len).map(|at| (key_at(at), at as u32)).collect();
    if len < SPREAD_FROM {
        keys.sort_unstable();
        return keys;
    }
    let (mut low, mut high) = (B::MAX.to_u64(), 0);
    let mut ascending = true;
    let mut before = 0;
    for (key, _) in &keys {
        let key = key.to_u64();
        (low, high) = (low.min(key), high.max(key));
        ascending &= before <= key;
        before = key;
    }
    if !ascending {
        spread(&mut keys, low, high);
    }
    keys
}

fn spread<B: Bits>(keys: &mut Order<B>, low: u64, high: u64) {
    let bits = (usize::BITS - keys.len().leading_zeros()).min(BUCKET_BITS_MAX);
    let differing = u64::BITS - (high - low).leading_zeros();
    let shift = differing.saturating_sub(bits);
    let bucket = |key: B| ((key.to_u64() - low) >> shift) as usize;
    let mut ends = vec![0u32; bucket(B::truncate(high)) + 1];
    keys.iter().for_each(|&(key, _)| ends[bucket(key)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        (*end, sum) = (sum, sum + *end);
    }
    // From here on an entry is the position of the bucket's next key; after all keys are placed, the
    // bucket's end.
    let mut placed = vec![(B::MIN, 0); keys.len()];
    for &(key, number) in &*keys {
        let at = &mut ends[bucket(key)];
        placed[*at as usize] = (key, number);
        *at += 1;
    }
    let mut begin = 0;
    for &end in &ends {
        let end = end as usize;
        if end - begin > 1 {
            placed[begin..end].sort_unstable();
        }
        begin = end;
    }
    *keys = placed;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds<B: Bits>(name: &str, keys: Vec<B>) {
        let mut expected: Vec<(B, u32)> = keys.iter().copied().zip(0..).collect();
        expected.sort();
        assert_eq!(sorted(keys.len(), |at| keys[at]), expected, "{} {name} keys", keys.len());
    }

    #[test]
    fn every_shape_of_batch_is_sorted() {
        let scrambled = |nth: u64| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ nth << 7;
        let lens: &[u64] = if cfg!(miri) { &[1, 96, 130] } else { &[0, 1, 2, 95, 96, 97, 500, 70_000] };
        for &len in lens {
            holds("spread", (0..len).map(scrambled).collect());
            holds("narrow", (0..len).map(|nth| scrambled(nth) as u32).collect());
            holds("ascending", (0..len).collect());
            holds("descending", (0..len).rev().collect());
            holds("equal", vec![7u64; len as usize]);
            holds("few", (0..len).map(|nth| scrambled(nth) % 3).collect());
            holds(
                "two clusters",
                (0..len).map(|nth| scrambled(nth) % 50 + (nth % 2) * (u64::MAX - 60)).collect(),
            );
            holds("extreme", (0..len).map(|nth| if nth % 2 == 0 { u64::MAX } else { 0 }).collect());
        }
    }
}
