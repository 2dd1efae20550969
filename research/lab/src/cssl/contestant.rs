//! What all contestants answer: the same lookups and ranges.

use std::hint::black_box;
use std::slice::from_ref;

/// Something that answers lookups and ranges.
pub(super) trait Contestant: Send + Sync {
    /// Returns how many of these keys are present.
    fn lookups(&self, keys: &[u32]) -> u64;

    /// The same with dependent keys: lookups that a processor can't overlap.
    fn chained(&self, keys: &[u32]) -> u64;

    /// Returns the number of keys in these ranges, both ends included, in total.
    fn ranges(&self, ranges: &[(u32, u32)]) -> u64;

    /// Returns the number of keys that these lookups and ranges find, in total, one after the other.
    fn mixed(&self, queries: &[Query]) -> u64 {
        let found = |query: &Query| match query {
            Query::Lookup(key) => self.lookups(from_ref(key)),
            Query::Range(range) => self.ranges(from_ref(range)),
        };
        queries.iter().map(found).sum()
    }

    /// Bytes that it takes, where it counts them.
    fn bytes(&self) -> Option<usize>;

    /// Bytes that it requested of the allocator, where it counts these as well.
    fn requested_bytes(&self) -> Option<usize> {
        None
    }
}

/// One query of a mix.
#[derive(Debug, Clone, Copy)]
pub(super) enum Query {
    Lookup(u32),
    Range((u32, u32)),
}

/// Looks up keys, one after the other: the last answer adds zero to a key, which a processor doesn't know
/// before it has that answer.
pub(super) fn chain(keys: &[u32], get: impl Fn(u32) -> Option<u32>) -> u64 {
    let nothing = black_box(0);
    let (mut found, mut last) = (0, 0);
    for &key in keys {
        let answer = get(key ^ (last & nothing));
        last = answer.unwrap_or(0);
        found += u64::from(answer.is_some());
    }
    found
}
