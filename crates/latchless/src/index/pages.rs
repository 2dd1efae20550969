//! An iterator over a range that owns what it reads.
//!
//! It reads some entries at a time, so that it borrows nothing between two steps: a page in front, and one
//! at the back, each twice as long as the one before it.

use super::Index;
use super::engine::KeyFor;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use std::collections::VecDeque;
use std::sync::Arc;

/// The lengths of the first page and of the longest ones.
const PAGE: usize = 8;
const PAGE_MAX: usize = 256;

/// The bounds of a range of keys.
pub(crate) type Bounds<'q, K> = (Bound<<K as IndexKey>::Probe<'q>>, Bound<<K as IndexKey>::Probe<'q>>);

/// A map that is read page by page: an `Arc<Index>`, or a snapshot that owns its index. Sealed.
pub trait Pages: sealed::Sealed {
    /// The map's keys.
    type Key: IndexKey;
    /// The map's values.
    type Value: IndexValue;
    /// Appends the first entries of a range, in a direction.
    #[doc(hidden)]
    fn page<'q>(
        &self,
        range: Bounds<'q, Self::Key>,
        direction: Direction,
        max: usize,
        page: &mut VecDeque<(Self::Key, Self::Value)>,
    );
}

pub(crate) mod sealed {
    /// Restricts [`super::Pages`] to indexes and their snapshots.
    pub trait Sealed {}
}

/// Appends at most `max` entries of a range, from the end of a direction.
pub(crate) fn append<E>(
    mut range: impl DoubleEndedIterator<Item = E>,
    direction: Direction,
    max: usize,
    page: &mut VecDeque<E>,
) {
    match direction {
        Forward => page.extend(range.take(max)),
        Reverse => page.extend(core::iter::from_fn(|| range.next_back()).take(max)),
    }
}

impl<K: KeyFor<V>, V: IndexValue> sealed::Sealed for Arc<Index<K, V>> {}

impl<K: KeyFor<V>, V: IndexValue> Pages for Arc<Index<K, V>> {
    type Key = K;
    type Value = V;

    fn page<'q>(&self, range: Bounds<'q, K>, direction: Direction, max: usize, page: &mut VecDeque<(K, V)>) {
        append(self.range(range), direction, max, page);
    }
}

/// The entries of a range, from both ends, by an iterator that owns the index together with others: it can
/// be stored, sent, and cloned. Weakly consistent, like [`Index::range`]; entries are as they were when
/// their page of at most 256 entries was read.
///
/// ```
/// use latchless::Index;
/// use std::sync::Arc;
///
/// let index: Arc<Index<u64, u32>> = Arc::new((0..1000).map(|key| (key, 7)).collect());
/// let mut range = index.range_owned(100..200);
/// drop(index);
/// let walker = std::thread::spawn(move || (range.next(), range.next_back(), range.count()));
/// assert_eq!(walker.join().unwrap(), (Some((100, 7)), Some((199, 7)), 98));
/// ```
pub struct OwnedRange<S: Pages> {
    source: S,
    /// The part of the range that no page has.
    low: Bound<S::Key>,
    high: Bound<S::Key>,
    front: VecDeque<(S::Key, S::Value)>,
    /// From the end of the range on.
    back: VecDeque<(S::Key, S::Value)>,
    page: usize,
    /// Whether every entry of the range was read.
    is_read: bool,
}

impl<S: Pages> OwnedRange<S> {
    pub(crate) fn new<'q>(source: S, range: impl RangeBounds<<S::Key as IndexKey>::Probe<'q>>) -> Self {
        let low = range.start_bound().map(|&low| S::Key::own(low));
        let high = range.end_bound().map(|&high| S::Key::own(high));
        Self { source, low, high, front: VecDeque::new(), back: VecDeque::new(), page: PAGE, is_read: false }
    }

    /// Reads the next page in a direction, unless an earlier one has come to the end of what is left.
    fn read(&mut self, direction: Direction) {
        if self.is_read {
            return;
        }
        let page = if direction == Forward { &mut self.front } else { &mut self.back };
        let range = (self.low.as_ref().map(S::Key::probe), self.high.as_ref().map(S::Key::probe));
        self.source.page(range, direction, self.page, page);
        self.is_read = page.len() < self.page;
        self.page = (2 * self.page).min(PAGE_MAX);
        if let Some((last, _)) = page.back() {
            let rest = Bound::Excluded(S::Key::own(last.probe()));
            *(if direction == Forward { &mut self.low } else { &mut self.high }) = rest;
        }
    }
}

impl<S: Pages> Iterator for OwnedRange<S> {
    type Item = (S::Key, S::Value);

    fn next(&mut self) -> Option<Self::Item> {
        if self.front.is_empty() {
            self.read(Forward);
        }
        self.front.pop_front().or_else(|| self.back.pop_back())
    }
}

impl<S: Pages> DoubleEndedIterator for OwnedRange<S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.back.is_empty() {
            self.read(Reverse);
        }
        self.back.pop_front().or_else(|| self.front.pop_back())
    }
}

impl<S: Pages> FusedIterator for OwnedRange<S> {}

impl<S: Pages<Key: Clone> + Clone> Clone for OwnedRange<S> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            low: self.low.clone(),
            high: self.high.clone(),
            front: self.front.clone(),
            back: self.back.clone(),
            ..*self
        }
    }
}

impl<S: Pages> fmt::Debug for OwnedRange<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedRange").finish_non_exhaustive()
    }
}

impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns an iterator over the entries of a range that owns the index together with others. O(log n)
    /// per page of at most 256 entries. See [`OwnedRange`].
    pub fn range_owned<'q>(self: &Arc<Self>, range: impl RangeBounds<K::Probe<'q>>) -> OwnedRange<Arc<Self>> {
        OwnedRange::new(Arc::clone(self), range)
    }
}
