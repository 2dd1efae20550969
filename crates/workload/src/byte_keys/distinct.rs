//! Drawing until there are enough distinct keys.

use super::keys::BytesKeys;
use crate::ask::Ask;
use crate::keys::Lane;
use std::collections::HashSet;

/// Draws keys into `keys` until there are as many as requested. A key is dropped if its hash was there
/// before: no key occurs twice, and one in many billions is dropped that could have stayed.
pub fn distinct(ask: Ask, keys: &mut BytesKeys, mut draw: impl FnMut(&mut Vec<u8>)) {
    let mut seen = HashSet::with_capacity(ask.total());
    let mut key = Vec::new();
    while keys.len() < ask.total() {
        key.clear();
        draw(&mut key);
        if seen.insert(hash(&key)) {
            keys.push(&[&key]);
        }
    }
}

/// A hash of 64 bits, the same everywhere.
fn hash(key: &[u8]) -> u64 {
    let mixed =
        |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    key.iter().fold(key.len() as u64, mixed).scatter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_dropped() {
        let ask = Ask { loaded: 40, fresh: 0, seed: 0 };
        let mut keys = BytesKeys::new(ask);
        let mut number = 0u32;
        distinct(ask, &mut keys, |key| {
            number += 1;
            key.extend_from_slice(&(number / 3).to_be_bytes());
        });
        let expected: Vec<_> = (0..40u32).map(u32::to_be_bytes).collect();
        assert!(keys.iter().eq(expected.iter().map(|key| &key[..])));
    }

    #[test]
    fn hashes_of_like_keys_differ() {
        let keys =
            (0..100_000u64).flat_map(|key| [key.to_be_bytes().to_vec(), key.to_le_bytes()[..7].to_vec()]);
        let hashes: HashSet<u64> = keys.map(|key| hash(&key)).collect();
        assert_eq!(hashes.len(), 200_000);
    }
}
