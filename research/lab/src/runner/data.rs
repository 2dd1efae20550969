//! Keys and requests, generated from fixed seeds before anything is timed.

use crate::model::PAGE_BYTES;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;

/// Every stream starts from here: the same requests on the model and natively, for every index.
const SEED: u64 = 2001;

/// A mature tree is loaded with one of this many keys.
const LOADED_OF: usize = 10;

/// The keys of an index as numbers: how many there are, and how far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spaced {
    /// The number of keys.
    pub count: u32,
    stride: u32,
}

impl Spaced {
    /// Returns the key of that rank. An answer may have any rank, a wrong one included.
    pub fn at(self, rank: u32) -> u32 {
        rank.wrapping_add(1).wrapping_mul(self.stride)
    }
}

/// The sorted keys of an index, distributed evenly over all 4-byte keys, so that there is room to insert
/// between any two. The tuple identifier of a key is its rank.
#[derive(Debug, Clone)]
pub struct Keys {
    entries: Vec<(u32, u32)>,
    spaced: Spaced,
}

impl Keys {
    /// Creates that many keys; at most half of all 4-byte numbers.
    pub fn new(count: usize) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX / 2).min(u32::MAX / 2);
        let stride = (u32::MAX / (count + 1)).max(2);
        let spaced = Spaced { count, stride };
        Self { entries: (0..count).map(|rank| (spaced.at(rank), rank)).collect(), spaced }
    }

    /// Returns the keys as numbers.
    pub fn spaced(&self) -> Spaced {
        self.spaced
    }

    /// Returns the entries for a bulk load.
    pub fn entries(&self) -> &[(u32, u32)] {
        &self.entries
    }

    /// The entries that a mature tree is loaded with: every tenth.
    pub fn loaded_first(&self) -> Vec<(u32, u32)> {
        self.entries.iter().copied().step_by(LOADED_OF).collect()
    }

    /// The entries that are inserted into a mature tree: all others, in random order.
    pub fn inserted_after(&self) -> Vec<(u32, u32)> {
        let others = self.entries.iter().enumerate().filter(|(rank, _)| rank % LOADED_OF != 0);
        let mut others: Vec<_> = others.map(|(_, &entry)| entry).collect();
        others.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(SEED + 4));
        others
    }

    /// Returns random present keys, with repetition.
    pub fn present(&self, count: usize) -> Vec<u32> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        (0..count).map(|_| self.entries[random.random_range(0..self.entries.len())].0).collect()
    }

    /// Returns random present keys, each once; at most all of them.
    pub fn distinct(&self, count: usize) -> Vec<u32> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + 1);
        distinct(count.min(self.entries.len()), || self.entries[random.random_range(0..self.entries.len())].0)
    }

    /// Random keys that are not there, each once; at most as many as keys that are.
    pub fn absent(&self, count: usize) -> Vec<u32> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + 2);
        distinct(count.min(self.entries.len()), || {
            let slot = random.random_range(0..self.entries.len() as u32 + 1);
            slot * self.spaced.stride + random.random_range(1..self.spaced.stride)
        })
    }

    /// Returns random ranks with at least `room` keys from there on; the first one if there are fewer.
    pub fn starts(&self, count: usize, room: usize) -> Vec<usize> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + 3);
        let last = self.entries.len().saturating_sub(room);
        (0..count).map(|_| random.random_range(0..=last)).collect()
    }
}

fn distinct(count: usize, mut draw: impl FnMut() -> u32) -> Vec<u32> {
    let mut seen = HashSet::with_capacity(count);
    let mut keys = Vec::with_capacity(count);
    while keys.len() < count {
        let key = draw();
        if seen.insert(key) {
            keys.push(key);
        }
    }
    keys
}

/// A return buffer that starts a page, so that its lines fall into the same cache sets wherever
/// the allocator puts it.
#[derive(Debug)]
pub struct ReturnBuffer {
    memory: Vec<u32>,
    start: usize,
    len: usize,
}

impl ReturnBuffer {
    /// Creates room for `len` tuple identifiers.
    pub fn new(len: usize) -> Self {
        // Written, so that the system's first-touch page faults aren't timed.
        let memory = vec![u32::MAX; len + PAGE_BYTES / size_of::<u32>()];
        let start = memory.as_ptr().align_offset(PAGE_BYTES).min(memory.len() - len);
        Self { memory, start, len }
    }

    /// The buffer.
    pub fn as_mut_slice(&mut self) -> &mut [u32] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_with_gaps() {
        for count in [1, 1000, 10_000_000] {
            let keys = Keys::new(count);
            assert_eq!(keys.entries().len(), count);
            assert!(keys.entries().windows(2).all(|pair| pair[1].0 - pair[0].0 >= 2));
        }
    }

    #[test]
    fn present_is_there_and_absent_is_not() {
        let keys = Keys::new(1000);
        let there: HashSet<u32> = keys.entries().iter().map(|entry| entry.0).collect();
        assert!(keys.present(5000).iter().all(|key| there.contains(key)));
        let (out, new) = (keys.distinct(1000), keys.absent(1000));
        assert!(out.iter().all(|key| there.contains(key)));
        assert!(new.iter().all(|key| !there.contains(key)));
        for keys in [out, new] {
            assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1000, "each once");
        }
    }

    #[test]
    fn a_mature_tree_gets_every_key_once() {
        let keys = Keys::new(1005);
        let (first, after) = (keys.loaded_first(), keys.inserted_after());
        assert_eq!((first.len(), after.len()), (101, 904));
        assert!(!after.is_sorted(), "in random order");
        let mut all: Vec<_> = first.into_iter().chain(after).collect();
        all.sort_unstable();
        assert_eq!(all, keys.entries());
    }

    #[test]
    fn requests_are_the_same_in_every_run() {
        assert_eq!(Keys::new(1000).present(10), Keys::new(1000).present(10));
        assert_eq!(Keys::new(1000).absent(10), Keys::new(1000).absent(10));
    }

    #[test]
    fn scans_have_room() {
        let keys = Keys::new(1000);
        assert!(keys.starts(500, 900).iter().all(|&start| start + 900 <= 1000));
        assert_eq!(keys.starts(3, 5000), [0, 0, 0]);
    }

    #[test]
    fn a_return_buffer_starts_a_page() {
        for len in [1, 10, 100_000] {
            let mut buffer = ReturnBuffer::new(len);
            let slice = buffer.as_mut_slice();
            assert_eq!((slice.len(), slice.as_ptr().addr() % PAGE_BYTES), (len, 0));
        }
    }
}
