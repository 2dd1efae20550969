//! The versions of one key, from the newest to the oldest one that a reader may need.
//!
//! The newest version is in the slot of the key's value; each refers to the one before it. Everything but
//! the number of an abandoned version is immutable, so readers follow the references without a latch. A
//! version that is no longer needed disappears when a shorter chain replaces the whole one.

use latchless_core::base::index_value::{InBox, IndexValue};
use latchless_core::sync::Word;
use std::sync::Arc;

/// The number of a version whose commit failed: no reader has it.
const ABANDONED: u64 = u64::MAX;

/// A version of a value, and the versions before it. It is the value that the index of a
/// [`VersionedIndex`](super::VersionedIndex) stores; programs see only the bound `K: KeyFor<Version<V>>`.
pub struct Version<V> {
    /// The number of the commit that wrote it.
    number: Word,
    /// `None`: the commit removed the key.
    value: Option<V>,
    older: Option<Arc<Version<V>>>,
}

impl<V: IndexValue> Version<V> {
    /// Creates the first version of a key.
    pub(super) fn first(number: u64, value: V) -> Self {
        Self { number: Word::new(number), value: Some(value), older: None }
    }

    /// Creates the version that follows `newest`. Versions before it stay if a reader at `horizon` or later
    /// may need them; the one that such a reader sees always stays, and so do all newer ones.
    pub(super) fn after(newest: Option<&Self>, number: u64, value: Option<V>, horizon: u64) -> Self {
        let older = newest.and_then(Self::committed).and_then(|before| {
            if before.number() == number {
                return before.older.clone();
            }
            let is_last = before.number() <= horizon;
            let older = if is_last { None } else { before.older.clone() };
            // A removal that every reader sees is the same as no version.
            if is_last && before.value.is_none() {
                return None;
            }
            Some(Arc::new(Self { number: Word::new(before.number()), value: before.value.clone(), older }))
        });
        Self { number: Word::new(number), value, older }
    }

    fn number(&self) -> u64 {
        self.number.load_relaxed()
    }

    /// Returns this version and all before it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |version| version.older.as_deref())
    }

    /// Returns the newest version whose commit didn't fail.
    fn committed(&self) -> Option<&Self> {
        self.chain().find(|version| version.number() != ABANDONED)
    }

    /// Returns the value that a reader at this number sees.
    #[inline]
    pub(super) fn value_at(&self, reader: u64) -> Option<&V> {
        self.chain().find(|version| version.number() <= reader)?.value.as_ref()
    }

    /// Returns the newest value, whether its commit is visible or not.
    pub(super) fn newest_value(&self) -> Option<&V> {
        self.committed()?.value.as_ref()
    }

    /// Returns whether a commit after this number wrote the key.
    pub(super) fn has_changed_since(&self, number: u64) -> bool {
        self.committed().is_some_and(|version| version.number() > number)
    }

    /// Hides the version from all readers if a commit that fails wrote it, and returns whether the key then
    /// has no version. Needs no memory.
    pub(super) fn abandon(&self, number: u64) -> bool {
        if self.number() == number {
            self.number.store_relaxed(ABANDONED);
        }
        self.committed().is_none()
    }

    /// Returns whether it is one version only, and has a value: no shorter chain says the same.
    pub(super) fn is_alone(&self) -> bool {
        self.older.is_none() && self.value.is_some() && self.number() != ABANDONED
    }

    /// Returns the chain of the versions that readers need, and the number of those that aren't in it.
    /// Readers have the numbers `readers`, ascending, or a number from `floor` on. `None` if none needs any.
    pub(super) fn pruned(&self, readers: &[u64], floor: u64) -> (Option<Self>, usize) {
        let is_read_before = readers.first().is_some_and(|&reader| reader < floor);
        if !is_read_before && self.number() <= floor {
            // Every reader sees the newest version. A removal says nothing then.
            let (number, value) = (Word::new(self.number()), self.value.clone());
            let newest = value.is_some().then(|| Self { number, value, older: None });
            let dropped = self.chain().count() - usize::from(newest.is_some());
            return (newest, dropped);
        }
        let mut readers = readers.iter().copied().filter(|&reader| reader < floor).rev().peekable();
        let mut next = Some(floor);
        let (mut kept, mut all) = (Vec::new(), 0);
        for version in self.chain() {
            all += 1;
            let number = version.number();
            if number == ABANDONED {
                continue;
            }
            if number > floor {
                kept.push(version);
            } else if next.is_some_and(|reader| reader >= number) {
                kept.push(version);
                while next.is_some_and(|reader| reader >= number) {
                    next = readers.next();
                }
            }
        }
        // Before the oldest version there is no value, so a removal says nothing.
        while kept.pop_if(|version| version.value.is_none()).is_some() {}
        let dropped = all - kept.len();
        let chain = kept.into_iter().rev().fold(None, |older: Option<Self>, version| {
            let (number, value) = (Word::new(version.number()), version.value.clone());
            Some(Self { number, value, older: older.map(Arc::new) })
        });
        (chain, dropped)
    }
}

impl<V: Clone> Clone for Version<V> {
    fn clone(&self) -> Self {
        let number = Word::new(self.number.load_relaxed());
        Self { number, value: self.value.clone(), older: self.older.clone() }
    }
}

/// Drops the chain link by link: by recursion, a long one would overflow the stack.
impl<V> Drop for Version<V> {
    fn drop(&mut self) {
        let mut older = self.older.take();
        while let Some(mut version) = older.and_then(Arc::into_inner) {
            older = version.older.take();
        }
    }
}

impl<V: IndexValue> IndexValue for Version<V> {
    type Form = InBox;
    type Given<'v> = Self;
    type Lent<'v> = &'v Self;

    fn given(version: Self) -> Self {
        version
    }

    fn lend(&self) -> &Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of commits, each with its number and value, from the oldest.
    fn chain(versions: &[(u64, Option<u64>)]) -> Version<u64> {
        let mut newest: Option<Version<u64>> = None;
        for &(number, value) in versions {
            newest = Some(Version::after(newest.as_ref(), number, value, 0));
        }
        newest.expect("a version")
    }

    fn numbers(version: Option<&Version<u64>>) -> Vec<u64> {
        version.into_iter().flat_map(Version::chain).map(Version::number).collect()
    }

    #[test]
    fn a_reader_sees_the_newest_version_that_it_may_see() {
        let chain = chain(&[(3, Some(30)), (5, None), (9, Some(90))]);
        let seen = [0, 2, 3, 4, 5, 8, 9, 100].map(|reader| chain.value_at(reader).copied());
        let wanted = [None, None, Some(30), Some(30), None, None, Some(90), Some(90)];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn an_abandoned_version_is_seen_by_nobody_and_not_kept() {
        let failed = chain(&[(3, Some(30)), (5, Some(50))]);
        assert!(!failed.abandon(4));
        assert_eq!(failed.value_at(5), Some(&50), "another commit's");
        assert!(!failed.abandon(5) && Version::first(5, 50).abandon(5));
        assert_eq!((failed.value_at(5), failed.value_at(100)), (Some(&30), Some(&30)));
        assert!(!failed.has_changed_since(3) && failed.has_changed_since(2));
        let next = Version::after(Some(&failed), 5, Some(51), 0);
        assert_eq!((numbers(Some(&next)), next.value_at(5)), (vec![5, 3], Some(&51)));
    }

    #[test]
    fn a_commit_that_writes_a_key_twice_leaves_one_version() {
        let twice = chain(&[(3, Some(30)), (5, Some(50)), (5, Some(51))]);
        assert_eq!((numbers(Some(&twice)), twice.value_at(4)), (vec![5, 3], Some(&30)));
    }

    #[test]
    fn a_new_version_keeps_what_readers_from_the_horizon_on_may_see() {
        let before = chain(&[(1, Some(1)), (3, Some(3)), (5, Some(5))]);
        let after = |horizon| numbers(Some(&Version::after(Some(&before), 7, Some(7), horizon)));
        assert_eq!([after(0), after(4)], [[7, 5, 3, 1], [7, 5, 3, 1]]);
        assert_eq!([after(5), after(6)], [[7, 5], [7, 5]]);
        let removed = chain(&[(1, Some(1)), (3, None)]);
        assert_eq!(numbers(Some(&Version::after(Some(&removed), 7, Some(7), 3))), [7]);
        assert_eq!(numbers(Some(&Version::after(Some(&removed), 7, Some(7), 2))), [7, 3, 1]);
    }

    #[test]
    fn pruning_keeps_one_version_for_each_reader() {
        let all = chain(&[(1, Some(1)), (3, Some(3)), (5, Some(5)), (7, Some(7)), (9, Some(9))]);
        let pruned = |readers: &[u64], floor| {
            let (chain, dropped) = all.pruned(readers, floor);
            assert_eq!(numbers(chain.as_ref()).len() + dropped, 5);
            for reader in readers.iter().copied().chain(floor..12) {
                let seen = chain.as_ref().and_then(|chain| chain.value_at(reader));
                assert_eq!(seen, all.value_at(reader), "at {reader}");
            }
            numbers(chain.as_ref())
        };
        assert_eq!(pruned(&[], 9), [9]);
        assert_eq!(pruned(&[], 100), [9]);
        assert_eq!(pruned(&[], 6), [9, 7, 5]);
        assert_eq!(pruned(&[0, 3, 4, 8, 20], 9), [9, 7, 3]);
        assert_eq!(pruned(&[1, 2], 3), [9, 7, 5, 3, 1]);
        let gone = chain(&[(1, Some(1)), (3, None)]);
        assert_eq!((numbers(gone.pruned(&[], 3).0.as_ref()), gone.pruned(&[], 3).1), (vec![], 2));
        assert_eq!(numbers(gone.pruned(&[2], 3).0.as_ref()), [3, 1]);
        assert!(chain(&[(1, Some(1))]).is_alone() && !gone.is_alone() && !all.is_alone());
    }

    #[test]
    fn a_long_chain_is_dropped_without_recursion() {
        drop(chain(&(1..200_000).map(|number| (number, Some(number))).collect::<Vec<_>>()));
    }
}
