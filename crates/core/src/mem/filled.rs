//! Arrays of entries whose types have no default value to initialize them with.

use core::fmt;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts;

/// Arrays of `N` keys and their values, of which only those that were filled are accessible.
///
/// ```
/// use latchless_core::mem::filled::Filled;
/// use std::num::NonZero;
///
/// let mut room = Filled::<NonZero<u8>, char, 4>::new();
/// let (keys, values) = room.fill(&[3u8, 5], &[b'c', b'e'], |key| NonZero::new(key).unwrap(), char::from);
/// assert_eq!((keys[1].get(), values), (5, ['c', 'e'].as_slice()));
/// ```
pub struct Filled<K, V, const N: usize> {
    keys: [MaybeUninit<K>; N],
    values: [MaybeUninit<V>; N],
}

impl<K: Copy, V: Copy, const N: usize> Filled<K, V, N> {
    /// Creates empty arrays. Writes nothing.
    #[inline(always)]
    pub fn new() -> Self {
        Self { keys: [const { MaybeUninit::uninit() }; N], values: [const { MaybeUninit::uninit() }; N] }
    }

    /// Decodes keys and values until one of the slices or the arrays end, and returns what was decoded.
    #[inline(always)]
    pub fn fill<B: Copy>(
        &mut self,
        keys: &[B],
        values: &[B],
        key: impl Fn(B) -> K,
        value: impl Fn(B) -> V,
    ) -> (&[K], &[V]) {
        let count = keys.len().min(values.len()).min(N);
        let (to_keys, to_values) = (&mut self.keys[..count], &mut self.values[..count]);
        // One loop: the compiler turns two into two calls that copy memory, which takes longer for a leaf.
        for at in 0..count {
            to_keys[at].write(key(keys[at]));
            to_values[at].write(value(values[at]));
        }
        // SAFETY: `MaybeUninit<T>` is laid out as `T` is. The loop has run to its end, so each of the first
        // `count` places of both arrays was written. The slices borrow `self` mutably, so no place changes
        // while they are in use.
        unsafe {
            (
                from_raw_parts(self.keys.as_ptr().cast(), count),
                from_raw_parts(self.values.as_ptr().cast(), count),
            )
        }
    }
}

impl<K: Copy, V: Copy, const N: usize> Default for Filled<K, V, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V, const N: usize> fmt::Debug for Filled<K, V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filled").field("room", &N).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZero;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn number(n: u64) -> NonZero<u64> {
        NonZero::new(n).expect("not zero")
    }

    /// Fills the arrays with numbers and ten times themselves, and returns those that are accessible.
    fn filled<const N: usize>(room: &mut Filled<NonZero<u64>, NonZero<u64>, N>, numbers: &[u64]) -> Vec<u64> {
        let tens: Vec<u64> = numbers.iter().map(|n| 10 * n).collect();
        let (keys, values) = room.fill(numbers, &tens, number, number);
        assert!(values.iter().map(|value| value.get()).eq(keys.iter().map(|key| 10 * key.get())));
        keys.iter().map(|key| key.get()).collect()
    }

    #[test]
    fn only_what_was_put_there_is_seen() {
        let mut room = Filled::<_, _, 3>::new();
        assert_eq!(filled(&mut room, &[]), []);
        assert_eq!(filled(&mut room, &[7, 9]), [7, 9]);
        assert_eq!(filled(&mut room, &[1, 2, 3, 4]), [1, 2, 3], "as far as there is room");
        assert_eq!(filled(&mut room, &[5]), [5]);
        assert_eq!(filled(&mut Filled::<_, _, 0>::new(), &[5]), []);
        let (keys, values) = room.fill(&[1, 2], &[1], number, number);
        assert_eq!((keys.len(), values.len()), (1, 1), "the shorter one says");
    }

    #[test]
    fn a_panic_half_way_shows_nothing() {
        let mut room = Filled::<_, _, 3>::new();
        assert!(catch_unwind(AssertUnwindSafe(|| filled(&mut room, &[1, 0, 2]))).is_err());
        assert_eq!(filled(&mut room, &[4]), [4]);
    }
}
