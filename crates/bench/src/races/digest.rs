//! A running checksum over answers, cheap enough for a timed loop.

use super::word::{Word, number};
use latchless_core::base::index::Sum;

/// A checksum that depends on every answer and on their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest(u64);

/// The number for "absent"; as a value it is no more likely than any other number.
const ABSENT: u64 = 0x9e37_79b9_7f4a_7c15;

impl Digest {
    /// Adds a number: one rotation and one addition, which no lookup depends on.
    #[inline(always)]
    pub fn number(&mut self, number: u64) {
        self.0 = self.0.rotate_left(7).wrapping_add(number);
    }

    /// Adds the answer to a get, an insert or a removal.
    #[inline(always)]
    pub fn answer<L: Word>(&mut self, answer: Option<L>) {
        self.number(answer.map_or(ABSENT, number));
    }

    /// Adds the answer to a scan: the number of entries, and the first, the middle and the last of them.
    /// Reading all of them would cost more than some scans do; all entries are checked at the end of a
    /// race.
    #[inline(always)]
    pub fn scan<L: Word>(&mut self, keys: &[L], values: &[L]) {
        self.range(keys.len(), |at| (keys[at], values[at]));
    }

    /// Adds the answer to a scan whose keys and values are in one slice; see [`Digest::scan`].
    #[inline(always)]
    pub fn scanned<L: Word>(&mut self, entries: &[(L, L)]) {
        self.range(entries.len(), |at| entries[at]);
    }

    #[inline(always)]
    fn range<L: Word>(&mut self, len: usize, entry: impl Fn(usize) -> (L, L)) {
        self.number(len as u64);
        if let Some(last) = len.checked_sub(1) {
            for at in [0, last / 2, last] {
                let (key, value) = entry(at);
                self.number(number(key));
                self.number(number(value));
            }
        }
    }

    /// Adds the answer to a sum.
    #[inline(always)]
    pub fn sum(&mut self, sum: Sum) {
        self.number(sum.entries as u64);
        self.number(sum.total);
    }

    /// Adds every entry of a part of an index.
    pub fn entries<L: Word>(&mut self, keys: &[L], values: &[L]) {
        for (&key, &value) in keys.iter().zip(values) {
            self.number(number(key));
            self.number(number(value));
        }
    }

    /// Returns the checksum over several threads, which doesn't depend on their order.
    pub fn together(digests: impl IntoIterator<Item = Self>) -> Self {
        Self(digests.into_iter().fold(0, |sum, Self(digest)| sum.wrapping_add(digest)))
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_absence_and_every_entry_matter() {
        let digest = |answers: &[Option<u64>]| {
            let mut digest = Digest::default();
            answers.iter().for_each(|&answer| digest.answer(answer));
            digest
        };
        assert_ne!(digest(&[Some(1), Some(2)]), digest(&[Some(2), Some(1)]));
        assert_ne!(digest(&[None]), digest(&[Some(0)]));
        let scanned = |keys: &[u64], values: &[u64]| {
            let mut digest = Digest::default();
            digest.scan(keys, values);
            digest
        };
        assert_ne!(scanned(&[1, 2, 3], &[4, 5, 6]), scanned(&[1, 2, 3], &[4, 7, 6]));
        assert_ne!(scanned(&[1, 2, 3], &[4, 5, 6]), scanned(&[1, 2], &[4, 5]));
        let mut pairs = Digest::default();
        pairs.scanned(&[(1u64, 4), (2, 5), (3, 6)]);
        assert_eq!(scanned(&[1, 2, 3], &[4, 5, 6]), pairs);
        assert_ne!(scanned(&[], &[]), Digest::default().tap_number(1));
    }

    impl Digest {
        fn tap_number(mut self, number: u64) -> Self {
            self.number(number);
            self
        }
    }
}
