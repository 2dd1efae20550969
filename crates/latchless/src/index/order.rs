//! What every engine can do by the order of keys, besides single neighbours and ranges. Keys, values and
//! ranges are named as in an [`Index`](super::Index). The caller checks the lengths of slices.

use crate::tree::Own;
use core::fmt;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

/// Positions and counts.
pub trait Ranked<K: IndexKey, V> {
    /// Returns the entry before which there are `position` others.
    fn nth(&self, position: usize) -> Option<(K, V)>;
    /// Returns ascending keys that partition the entries into `parts` parts of about equal size.
    fn split_points(&self, parts: usize) -> Vec<K>;
    /// Counts the keys in each of many ranges.
    fn count_many<'q, R: RangeBounds<K::Probe<'q>>>(&self, ranges: &[R], counts: &mut [usize]);
}

/// The neighbours of many keys, and the nearer one of two.
pub trait Neighbours<K: IndexKey, V> {
    /// Finds the neighbour of each key on this side.
    fn near_many(&self, side: Side, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]);
    /// Finds the nearer one of the entries on both sides of a key, the lower one if they are equally far,
    /// with the key's own entry or without it.
    fn nearest_by<D: Ord>(
        &self,
        key: K::Probe<'_>,
        own: Own,
        distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D,
    ) -> Option<(K, V)>;
    /// Calls `answer` with the position of each key and its nearest entry.
    fn nearest_each<D: Ord>(
        &self,
        keys: &[K::Probe<'_>],
        own: Own,
        distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D,
        mut answer: impl FnMut(usize, Option<(K, V)>),
    ) {
        for (at, &key) in keys.iter().enumerate() {
            answer(at, self.nearest_by(key, own, &distance));
        }
    }
}

/// Returns the nearer one of the neighbours of a key; the one before it, if they are equally far.
pub fn nearer<K: IndexKey, T, D: Ord>(
    key: K::Probe<'_>,
    [before, after]: [Option<(K, T)>; 2],
    distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D,
) -> Option<(K, T)> {
    let (Some(low), Some(high)) = (&before, &after) else { return before.or(after) };
    let to = |(other, _): &(K, T)| distance(key, other.probe());
    if to(high) < to(low) { after } else { before }
}

/// Reads that lend entries. Concurrent changes are visible as in the engine's iterators.
pub trait Scanned<K: IndexKey, V: IndexValue> {
    /// The form in which keys are lent: the key itself, or its bytes.
    type KeyRef<'k>: Copy + fmt::Debug;

    /// Returns the key that is lent in this form.
    fn own_key(key: Self::KeyRef<'_>) -> K;
    /// Calls `see` with the entry that [`Engine::near`](super::engine::Engine::near) returns.
    fn near_with<R>(
        &self,
        from: Bound<K::Probe<'_>>,
        direction: Direction,
        see: impl FnOnce(Self::KeyRef<'_>, V::Lent<'_>) -> R,
    ) -> Option<R>;
    /// Calls `see` with every entry of a range, in a direction, until it breaks.
    fn scan_lent<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        direction: Direction,
        see: impl FnMut(Self::KeyRef<'_>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
    /// Calls `see` with every entry of a range, ascending, until it breaks.
    fn scan<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        mut see: impl FnMut(K, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.scan_lent(range, Forward, |key, value| see(Self::own_key(key), value))
    }
    /// Folds the entries of a range, ascending, into one result.
    fn fold<'q, A>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        start: A,
        mut fold: impl FnMut(A, K, V::Lent<'_>) -> A,
    ) -> A {
        let mut folded = Some(start);
        let _ = self.scan(range, |key, value| {
            folded = folded.take().map(|so_far| fold(so_far, key, value));
            ControlFlow::Continue(())
        });
        folded.expect("it is put back after each entry")
    }
    /// Calls `see` with the entries of each of many ranges, until it breaks off this range.
    fn scan_many<'q, R: RangeBounds<K::Probe<'q>>>(
        &self,
        ranges: &[R],
        mut see: impl FnMut(usize, K, V::Lent<'_>) -> ControlFlow<()>,
    ) {
        for (at, range) in ranges.iter().enumerate() {
            let _ = self.scan(span(range), |key, value| see(at, key, value));
        }
    }
}

/// Returns the ends of a range.
pub fn span<P: Copy>(range: &impl RangeBounds<P>) -> (Bound<P>, Bound<P>) {
    (range.start_bound().cloned(), range.end_bound().cloned())
}

/// The side on which a key's neighbour is.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    pub direction: Direction,
    /// Whether the key's own entry is excluded.
    pub strict: bool,
}

impl Side {
    pub const FLOOR: Self = Self { direction: Reverse, strict: false };
    pub const CEILING: Self = Self { direction: Forward, strict: false };
    pub const LOWER: Self = Self { direction: Reverse, strict: true };
    pub const HIGHER: Self = Self { direction: Forward, strict: true };

    /// Returns where the neighbour of a key is looked for.
    #[inline]
    pub fn of<P>(self, key: P) -> Bound<P> {
        if self.strict { Bound::Excluded(key) } else { Bound::Included(key) }
    }
}
