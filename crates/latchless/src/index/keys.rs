//! The keys of entries without values, for a set and for an index of pairs.

use core::iter::FusedIterator;

/// The keys of entries without values, from both ends.
#[derive(Debug, Clone)]
pub struct Keys<I>(pub(crate) I);

impl<K, I: Iterator<Item = (K, ())>> Iterator for Keys<I> {
    type Item = K;

    #[inline]
    fn next(&mut self) -> Option<K> {
        self.0.next().map(key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn count(self) -> usize {
        self.0.count()
    }

    fn nth(&mut self, n: usize) -> Option<K> {
        self.0.nth(n).map(key)
    }

    fn last(self) -> Option<K> {
        self.0.last().map(key)
    }

    #[inline]
    fn fold<A, F: FnMut(A, K) -> A>(self, start: A, mut fold: F) -> A {
        self.0.fold(start, |so_far, entry| fold(so_far, key(entry)))
    }
}

impl<K, I: DoubleEndedIterator<Item = (K, ())>> DoubleEndedIterator for Keys<I> {
    #[inline]
    fn next_back(&mut self) -> Option<K> {
        self.0.next_back().map(key)
    }
}

impl<K, I: FusedIterator<Item = (K, ())>> FusedIterator for Keys<I> {}

/// Returns the key of an entry.
pub fn key<K>((key, ()): (K, ())) -> K {
    key
}
