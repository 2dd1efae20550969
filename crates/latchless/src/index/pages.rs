//! An iterator over a range that owns what it reads.
//!
//! It reads some entries at a time, so that it borrows nothing between two steps.

use super::Index;
use super::ahead::Ahead;
use super::engine::{Engine, KeyFor};
use crate::frozen::Frozen;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use std::sync::Arc;

/// The lengths of the first page and of the longest ones. Each is twice as long as the one before: values
/// that are read and not taken may be cache misses, as many as a search is.
const PAGE: usize = 4;
const PAGE_MAX: usize = 256;

/// The bounds of a range of keys.
pub(crate) type Bounds<'q, K> = (Bound<<K as IndexKey>::Probe<'q>>, Bound<<K as IndexKey>::Probe<'q>>);

/// A map that is read page by page: an `Arc<Index>`, a [`Frozen`] one, or a snapshot that owns its index.
/// Sealed.
pub trait Pages: sealed::Sealed {
    /// The map's keys.
    type Key: IndexKey;
    /// The map's values.
    type Value: IndexValue;
    /// Calls `each` with the first `max` entries of a range, in a direction.
    #[doc(hidden)]
    fn page<'q>(
        &self,
        range: Bounds<'q, Self::Key>,
        direction: Direction,
        max: usize,
        each: impl FnMut(Self::Key, Self::Value),
    );
}

pub(crate) mod sealed {
    /// Restricts [`super::Pages`] to indexes and their snapshots.
    pub trait Sealed {}
}

/// Calls `each` with `max` entries, or all that there are. `steps` looks at up to so many further entries,
/// passes on those that have a value, and returns whether there may be more.
pub(crate) fn first<K, V>(
    max: usize,
    mut each: impl FnMut(K, V),
    mut steps: impl FnMut(usize, &mut dyn FnMut(K, V)) -> bool,
) {
    let mut left = max;
    while left > 0 {
        let most = left;
        let may_be_more = steps(most, &mut |key, value| {
            left -= 1;
            each(key, value);
        });
        if !may_be_more {
            return;
        }
    }
}

macro_rules! pages {
    ($($holder:ty;)*) => {$(
        impl<K: KeyFor<V>, V: IndexValue> sealed::Sealed for $holder {}

        impl<K: KeyFor<V>, V: IndexValue> Pages for $holder {
            type Key = K;
            type Value = V;

            fn page<'q>(
                &self,
                range: Bounds<'q, K>,
                direction: Direction,
                max: usize,
                each: impl FnMut(K, V),
            ) {
                let mut entries = self.range(range);
                first(max, each, |most, each| K::Engine::page(&mut entries, direction, most, each));
            }
        }
    )*};
}
pages! {
    Arc<Index<K, V>>;
    Frozen<Index<K, V>>;
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
    ahead: Ahead<S::Key, S::Value>,
}

impl<S: Pages> OwnedRange<S> {
    pub(crate) fn new<'q>(source: S, range: impl RangeBounds<<S::Key as IndexKey>::Probe<'q>>) -> Self {
        let low = range.start_bound().map(|&low| S::Key::own(low));
        let high = range.end_bound().map(|&high| S::Key::own(high));
        Self { source, low, high, ahead: Ahead::new(PAGE, 2, PAGE_MAX) }
    }

    fn take(&mut self, direction: Direction) -> Option<(S::Key, S::Value)> {
        let Self { source, low, high, ahead } = self;
        ahead.take(direction, |max, each| {
            let (mut read, mut last) = (0, None);
            let range = (low.as_ref().map(S::Key::probe), high.as_ref().map(S::Key::probe));
            source.page(range, direction, max, |key, value| {
                read += 1;
                if read == max {
                    last = Some(Bound::Excluded(S::Key::own(key.probe())));
                }
                each(key, value);
            });
            let is_more = last.is_some();
            if let Some(rest) = last {
                *(if direction == Forward { &mut *low } else { &mut *high }) = rest;
            }
            is_more
        })
    }
}

impl<S: Pages> Iterator for OwnedRange<S> {
    type Item = (S::Key, S::Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.take(Forward)
    }
}

impl<S: Pages> DoubleEndedIterator for OwnedRange<S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.take(Reverse)
    }
}

impl<S: Pages> FusedIterator for OwnedRange<S> {}

impl<S: Pages + Clone> Clone for OwnedRange<S> {
    fn clone(&self) -> Self {
        let copied = |end: &Bound<S::Key>| end.as_ref().map(|key| S::Key::own(key.probe()));
        let (low, high) = (copied(&self.low), copied(&self.high));
        Self { source: self.source.clone(), low, high, ahead: self.ahead.clone() }
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
