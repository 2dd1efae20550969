//! The subject of a scene: an index of words, of byte strings, or of versions of one key.

use latchless::index::{Group, Options, Own};
use latchless::{Index, Kernel, Stats, VersionedKey};
use std::num::NonZeroUsize;

/// An index with numbers as keys and values. The operations that have a body here aren't in the scenes of
/// every subject.
pub trait Subject: Send + Sync + 'static {
    fn empty() -> Self;
    fn get(&self, key: u64) -> Option<u64>;
    fn floor(&self, key: u64) -> Option<(u64, u64)>;
    fn insert(&self, key: u64, value: u64) -> Option<u64>;
    fn remove(&self, key: u64) -> Option<u64>;
    fn range(&self, low: u64, high: u64) -> Vec<(u64, u64)>;
    fn stats(&self) -> Stats;
    fn check(&self);

    fn get_two_together(&self, keys: &[u64]) -> Vec<Option<u64>> {
        unreachable!("get {keys:?}")
    }

    fn floors_together(&self, keys: &[u64]) -> Vec<Option<(u64, u64)>> {
        unreachable!("floors of {keys:?}")
    }

    fn nearest(&self, key: u64) -> Option<(u64, u64)> {
        unreachable!("nearest to {key}")
    }

    fn nearest_together(&self, keys: &[u64]) -> Vec<Option<(u64, u64)>> {
        unreachable!("nearest to {keys:?}")
    }

    fn pop_last(&self) -> Option<(u64, u64)> {
        unreachable!("pop the last entry")
    }

    fn replace(&self, key: u64, value: u64) -> Option<u64> {
        unreachable!("replace {key} by {value}")
    }

    fn remove_range(&self, low: u64, high: u64) -> usize {
        unreachable!("remove {low} to {high}")
    }
}

fn options() -> Options {
    let (limit_bytes, kernel) = (Some(1 << 17), Some(Kernel::Scalar));
    Options { limit_bytes, huge_pages: false, kernel, ..Options::default() }
}

impl Subject for Index<u64, u64> {
    fn empty() -> Self {
        Self::with_options(options()).expect("one leaf finds room")
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.get(key)
    }

    fn get_two_together(&self, keys: &[u64]) -> Vec<Option<u64>> {
        let (mut found, two) = (vec![None; keys.len()], NonZeroUsize::new(2).expect("not zero"));
        self.get_many_with(Group::Of(two), keys, &mut found).expect("there is room for the answers");
        found
    }

    fn floor(&self, key: u64) -> Option<(u64, u64)> {
        self.floor(key)
    }

    fn floors_together(&self, keys: &[u64]) -> Vec<Option<(u64, u64)>> {
        let mut found = vec![None; keys.len()];
        self.floor_many(keys, &mut found).expect("there is room for the answers");
        found
    }

    fn nearest(&self, key: u64) -> Option<(u64, u64)> {
        self.nearest(key)
    }

    fn nearest_together(&self, keys: &[u64]) -> Vec<Option<(u64, u64)>> {
        let mut found = vec![None; keys.len()];
        self.nearest_many(keys, &mut found).expect("there is room for the answers");
        found
    }

    fn pop_last(&self) -> Option<(u64, u64)> {
        self.pop_last()
    }

    fn insert(&self, key: u64, value: u64) -> Option<u64> {
        self.insert(key, value).expect("there is memory")
    }

    fn replace(&self, key: u64, value: u64) -> Option<u64> {
        self.replace(key, value)
    }

    fn remove(&self, key: u64) -> Option<u64> {
        self.remove(key)
    }

    fn remove_range(&self, low: u64, high: u64) -> usize {
        self.remove_range(low..=high).expect("the range is in order")
    }

    fn range(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        self.range(low..=high).collect()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }

    fn check(&self) {
        self.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    }
}

/// Keys of any length: those of two numbers in three are stored outside of nodes, and their fences, too.
fn key_of(number: u64) -> Vec<u8> {
    let after = if number.is_multiple_of(3) { 0 } else { 60 };
    [&b"key"[..], &number.to_be_bytes(), &vec![b'-'; after]].concat()
}

fn number(key: &[u8]) -> u64 {
    u64::from_be_bytes(*key[3..].first_chunk().expect("a key of a number"))
}

/// An index of keys of any length.
pub struct Bytes(Index<Vec<u8>, u64>);

impl Subject for Bytes {
    fn empty() -> Self {
        Self(Index::with_options(options()).expect("one leaf finds room"))
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(&key_of(key))
    }

    fn get_two_together(&self, keys: &[u64]) -> Vec<Option<u64>> {
        let keys: Vec<_> = keys.iter().map(|&key| key_of(key)).collect();
        keys.chunks(2)
            .flat_map(|two| self.0.get_all(&two.iter().map(Vec::as_slice).collect::<Vec<_>>()))
            .collect()
    }

    fn floor(&self, key: u64) -> Option<(u64, u64)> {
        // Equal numbers have one key, so all greater ones come after it.
        let (key, value) = self.0.floor(&key_of(key))?;
        Some((number(&key), value))
    }

    fn nearest(&self, key: u64) -> Option<(u64, u64)> {
        let apart = |one: &[u8], other: &[u8]| number(one).abs_diff(number(other));
        let (key, value) = self.0.nearest_by(&key_of(key), Own::Counts, apart)?;
        Some((number(&key), value))
    }

    fn insert(&self, key: u64, value: u64) -> Option<u64> {
        self.0.insert(&key_of(key), value).expect("there is memory")
    }

    fn replace(&self, key: u64, value: u64) -> Option<u64> {
        self.0.replace(&key_of(key), value)
    }

    fn remove(&self, key: u64) -> Option<u64> {
        self.0.remove(&key_of(key))
    }

    fn range(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        let range = self.0.range(&*key_of(low)..=&*key_of(high));
        range.map(|(key, value)| (number(&key), value)).collect()
    }

    fn stats(&self) -> Stats {
        self.0.stats()
    }

    fn check(&self) {
        self.0.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    }
}

/// The versions of one key, by their numbers. The floor of a number is the newest version up to it.
pub struct Versions(Index<VersionedKey<u64>, u64>);

/// The key.
const KEY: u64 = 7;

impl Subject for Versions {
    fn empty() -> Self {
        Self(Index::with_options(options()).expect("one leaf finds room"))
    }

    fn get(&self, number: u64) -> Option<u64> {
        self.0.get(VersionedKey(KEY, number))
    }

    fn floor(&self, number: u64) -> Option<(u64, u64)> {
        self.0.newest(KEY, number)
    }

    fn insert(&self, number: u64, value: u64) -> Option<u64> {
        self.0.insert(VersionedKey(KEY, number), value).expect("there is memory")
    }

    fn remove(&self, number: u64) -> Option<u64> {
        self.0.remove(VersionedKey(KEY, number))
    }

    fn range(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        // The newest one is the first.
        let range = self.0.range(VersionedKey(KEY, high)..=VersionedKey(KEY, low));
        range.rev().map(|(VersionedKey(_, number), value)| (number, value)).collect()
    }

    fn stats(&self) -> Stats {
        self.0.stats()
    }

    fn check(&self) {
        self.0.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    }
}
