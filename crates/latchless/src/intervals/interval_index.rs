//! The index itself: changes, and single questions.

use super::queries::{Near, Side};
use super::source::{Entry, Key, Source, Tree};
use super::span::{Position, Span};
use crate::bytes::ByteStrings;
use crate::index::{Incomplete, Options};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{ControlFlow, RangeBounds, RangeInclusive};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::fill::FillFactor;

/// A set of intervals in groups, each with an id, for many readers and many writers at once.
///
/// `G` is a key of any type, named as in [`MultiIndex`](crate::bytes::MultiIndex): `&str` for `String`, and
/// `&()` if there are no groups. Positions are integers. [The module](crate::intervals) has the costs and the
/// guarantees.
///
/// ```
/// use latchless::intervals::IntervalIndex;
///
/// let meetings = IntervalIndex::<(), i64>::new()?;
/// for (id, hours) in [9..10, 9..12, 14..15].into_iter().enumerate() {
///     meetings.insert(&(), hours, id as u64)?;
/// }
/// assert_eq!(meetings.containing(&(), 11), [(9..=11, 1)]);
/// assert_eq!(meetings.count(&(), 10..), 2);
/// assert!(meetings.remove(&(), 9..12, 1));
/// assert_eq!(meetings.coverage(&(), 8..18), 2);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct IntervalIndex<G: BytesKey, P: Position> {
    tree: Tree<G>,
    /// A bit for each lane that has had an interval. It is set before the first one is inserted.
    used: AtomicU64,
    of: PhantomData<fn() -> P>,
}

/// An interval as it is stored.
fn key<Q>(group: Q, span: Span, id: u64) -> Key<Q> {
    (group, span.lane(), span.first, span.last, id)
}

fn empty(position: usize) -> Error {
    Error::EmptyInterval { position }
}

/// Changes.
impl<G: BytesKey, P: Position> IntervalIndex<G, P> {
    /// Creates an empty index.
    ///
    /// # Errors
    /// Those of [`Index::new`](crate::Index::new).
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// Creates an empty index with these [`Options`].
    ///
    /// # Errors
    /// Those of [`Index::with_options`](crate::Index::with_options).
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { tree: ByteStrings::with_options(options)?, used: AtomicU64::new(0), of: PhantomData })
    }

    /// Fills an empty index with intervals in any order, also with equal ones. O(n log n), and much faster
    /// than inserting them.
    ///
    /// # Errors
    /// [`Error::EmptyInterval`] has the position of the first one that is empty; those of
    /// [`Index::bulk_load`](crate::Index::bulk_load). The index is then unchanged.
    ///
    /// ```
    /// use latchless::{Error, FillFactor, intervals::IntervalIndex};
    ///
    /// let mut index = IntervalIndex::<String, i64>::new()?;
    /// index.bulk_load([("chr2", 5..9, 0), ("chr1", 7..8, 1), ("chr2", 5..9, 0)], FillFactor::default())?;
    /// assert_eq!(index.len(), 2);
    /// let mut other = IntervalIndex::<u32, i64>::new()?;
    /// let loaded = other.bulk_load([(1, 5..9, 0), (1, 9..9, 1)], FillFactor::FULL);
    /// assert_eq!(loaded, Err(Error::EmptyInterval { position: 1 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bulk_load<Q: BytesKey<G> + Ord, R: RangeBounds<P>>(
        &mut self,
        intervals: impl IntoIterator<Item = (Q, R, u64)>,
        fill: FillFactor,
    ) -> Result<()> {
        let (mut keys, mut used) = (Vec::new(), 0);
        for (position, (group, range, id)) in intervals.into_iter().enumerate() {
            let span = Span::of(&range).ok_or(empty(position))?;
            used |= 1 << span.lane();
            keys.push(key(group, span, id));
        }
        keys.sort_unstable();
        keys.dedup();
        self.tree.bulk_load(keys.into_iter().map(|key| (key, ())), fill)?;
        self.used.fetch_or(used, Relaxed);
        Ok(())
    }

    /// Inserts an interval. Returns whether it is new. O(log n), one atomic step.
    ///
    /// # Errors
    /// [`Error::EmptyInterval`] if it has no position; those of [`Index::insert`](crate::Index::insert). The
    /// index is then unchanged.
    pub fn insert<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        interval: impl RangeBounds<P>,
        id: u64,
    ) -> Result<bool> {
        let span = Span::of(&interval).ok_or(empty(0))?;
        self.use_lane(span);
        Ok(self.tree.insert(&key(group, span, id), ())?.is_none())
    }

    /// Inserts many intervals, in order. Returns how many are new.
    ///
    /// # Errors
    /// [`Incomplete`] has the positions of exactly the intervals that were refused, because they are empty or
    /// for want of memory; all others were inserted.
    ///
    /// ```
    /// # use latchless::{Error, intervals::IntervalIndex};
    /// let index = IntervalIndex::<u32, i64>::new()?;
    /// assert_eq!(index.insert_many(&[(1, 5..9, 0), (1, 5..9, 1), (1, 5..9, 0)]), Ok(2));
    /// let refused = index.insert_many(&[(2, 9..5, 0), (2, 5..9, 0)]).unwrap_err();
    /// assert_eq!((refused.refused, index.len()), (vec![0], 3));
    /// assert_eq!(refused.error, Error::EmptyInterval { position: 0 });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn insert_many<Q: BytesKey<G>, R: RangeBounds<P>>(
        &self,
        intervals: &[(Q, R, u64)],
    ) -> Result<usize, Incomplete> {
        let (mut keys, mut positions, mut incomplete) = (Vec::new(), Vec::new(), None);
        for (position, (group, range, id)) in intervals.iter().enumerate() {
            match Span::of(range) {
                Some(span) => {
                    self.use_lane(span);
                    keys.push((key(group, span, *id), ()));
                    positions.push(position);
                }
                None => Incomplete::add(&mut incomplete, position, empty(position)),
            }
        }
        let mut replaced = vec![None; keys.len()];
        if let Err(refused) = self.tree.insert_many(&keys, &mut replaced) {
            let refusals = refused.refused.iter().map(|&at| positions[at]);
            refusals.for_each(|at| Incomplete::add(&mut incomplete, at, refused.error.clone()));
        }
        Incomplete::or(incomplete, replaced.iter().filter(|before| before.is_none()).count())
    }

    /// Removes an interval. Returns whether it was there. O(log n), one atomic step.
    pub fn remove<Q: BytesKey<G> + ?Sized>(&self, group: &Q, interval: impl RangeBounds<P>, id: u64) -> bool {
        Span::of(&interval).is_some_and(|span| self.tree.remove(&key(group, span, id)).is_some())
    }

    /// Removes many intervals. Returns how many were there. Not atomic as a whole.
    ///
    /// ```
    /// # let index = latchless::intervals::IntervalIndex::<u32, i64>::new()?;
    /// index.insert_many(&[(1, 5..9, 0), (1, 5..9, 1)]).expect("there is memory");
    /// assert_eq!((index.remove_many(&[(1, 5..9, 1), (1, 5..8, 0)]), index.len()), (1, 1));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove_many<Q: BytesKey<G>, R: RangeBounds<P>>(&self, intervals: &[(Q, R, u64)]) -> usize {
        let is_removed = |(group, range, id): &&(Q, R, u64)| {
            self.remove(group, (range.start_bound().cloned(), range.end_bound().cloned()), *id)
        };
        intervals.iter().filter(is_removed).count()
    }

    /// Removes all intervals.
    pub fn clear(&mut self) {
        self.tree.clear();
        *self.used.get_mut() = 0;
    }

    /// Moves the intervals to new nodes, and returns the memory of the old ones to the system: see
    /// [`Index::shrink`](crate::Index::shrink).
    ///
    /// # Errors
    /// Those of [`Index::shrink`](crate::Index::shrink); the index is then unchanged.
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.tree.shrink(fill)
    }

    /// Readers look at a lane whose bit is set. A thread that sees an interval of a lane, because its insert
    /// came before, sees the bit: it was set, or seen, earlier in the inserting thread.
    fn use_lane(&self, span: Span) {
        let bit = 1 << span.lane();
        if self.used.load(Relaxed) & bit == 0 {
            self.used.fetch_or(bit, Relaxed);
        }
    }
}

/// Questions. One that is empty, as a range that starts after its end, overlaps nothing and is near nothing.
impl<G: BytesKey, P: Position> IntervalIndex<G, P> {
    pub(super) fn tree(&self) -> &Tree<G> {
        &self.tree
    }

    /// The intervals of a group.
    pub(super) fn source<'a, Q: BytesKey<G> + ?Sized>(&'a self, group: &'a Q) -> Source<'a, G, Q> {
        Source::Tree { tree: &self.tree, used: self.used.load(Relaxed), group }
    }

    /// Returns the number of intervals; exact when no thread changes that meanwhile. O(1).
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns `true` if there is no interval, as exactly as [`IntervalIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Returns the bytes that the index holds: see [`Index::memory_bytes`](crate::Index::memory_bytes).
    pub fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes()
    }

    /// Checks the tree's invariants, for tests. See
    /// [`Index::check_invariants`](crate::Index::check_invariants).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.tree.check_invariants()
    }

    /// Returns whether an interval is there. O(log n).
    pub fn contains<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        interval: impl RangeBounds<P>,
        id: u64,
    ) -> bool {
        Span::of(&interval).is_some_and(|span| self.tree.contains_key(&key(group, span, id)))
    }

    /// Returns all intervals with their groups and ids: the groups in order, and those of a group by classes
    /// of their length, ascending in each.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (G, RangeInclusive<P>, u64)> + '_ {
        let interval = |((group, _, first, last, id), ())| (group, Span { first, last }.positions::<P>(), id);
        self.tree.iter().map(interval)
    }

    /// Shows the intervals that overlap a range and their ids, in no order, until `see` breaks. Returns the
    /// last result of `see`. Nothing is allocated.
    ///
    /// ```
    /// # let index = latchless::intervals::IntervalIndex::<String, i64>::new()?;
    /// use core::ops::ControlFlow;
    ///
    /// index.insert("chr1", 5..9, 7)?;
    /// let is_free = index.scan_overlaps("chr1", 8..20, |_, _| ControlFlow::Break(())).is_continue();
    /// assert!(!is_free);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn scan_overlaps<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        range: impl RangeBounds<P>,
        mut see: impl FnMut(RangeInclusive<P>, u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(asked) = Span::of(&range) else { return ControlFlow::Continue(()) };
        self.source(group).overlaps(asked, |Entry { span, id }| see(span.positions(), id))
    }

    /// Returns the intervals that overlap a range, and their ids, ascending.
    pub fn overlaps<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        range: impl RangeBounds<P>,
    ) -> Vec<(RangeInclusive<P>, u64)> {
        let mut found = Vec::new();
        let _ = self.scan_overlaps(group, range, |interval, id| {
            found.push((interval, id));
            ControlFlow::Continue(())
        });
        found.sort_unstable_by_key(|(interval, id)| (*interval.start(), *interval.end(), *id));
        found
    }

    /// Returns the intervals that contain a position, and their ids, ascending.
    pub fn containing<Q: BytesKey<G> + ?Sized>(&self, group: &Q, at: P) -> Vec<(RangeInclusive<P>, u64)> {
        self.overlaps(group, at..=at)
    }

    /// Returns the number of intervals that overlap a range.
    pub fn count<Q: BytesKey<G> + ?Sized>(&self, group: &Q, range: impl RangeBounds<P>) -> usize {
        Span::of(&range).map_or(0, |asked| self.source(group).count_overlaps(asked))
    }

    /// Returns the number of positions of a range that are in any interval: each counts once, however many
    /// intervals it is in. All 2^64 positions are `u64::MAX`.
    pub fn coverage<Q: BytesKey<G> + ?Sized>(&self, group: &Q, range: impl RangeBounds<P>) -> u64 {
        Span::of(&range).map_or(0, |asked| self.source(group).coverage(asked, &mut Vec::new()))
    }

    /// Returns the nearest interval to a range: one that overlaps it, or else the nearer one of those before
    /// and after it. Of equally near ones it is the one that begins first, ends first, has the least id.
    pub fn nearest<Q: BytesKey<G> + ?Sized>(&self, group: &Q, range: impl RangeBounds<P>) -> Option<Near<P>> {
        self.near(group, &range, Side::Any)
    }

    /// Returns the nearest interval that ends before a range. See [`IntervalIndex::nearest`].
    ///
    /// ```
    /// # let index = latchless::intervals::IntervalIndex::<(), i64>::new()?;
    /// index.insert(&(), 5..9, 7)?;
    /// assert_eq!(index.nearest_before(&(), 9..10).map(|near| near.distance), Some(1));
    /// assert_eq!(index.nearest_before(&(), 8..10), None);
    /// assert_eq!(index.nearest_after(&(), 0..1).map(|near| near.interval), Some(5..=8));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn nearest_before<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        range: impl RangeBounds<P>,
    ) -> Option<Near<P>> {
        self.near(group, &range, Side::Before)
    }

    /// Returns the nearest interval that begins after a range. See [`IntervalIndex::nearest`].
    pub fn nearest_after<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        range: impl RangeBounds<P>,
    ) -> Option<Near<P>> {
        self.near(group, &range, Side::After)
    }

    fn near<Q: BytesKey<G> + ?Sized>(
        &self,
        group: &Q,
        range: &impl RangeBounds<P>,
        side: Side,
    ) -> Option<Near<P>> {
        self.source(group).nearest(Span::of(range)?, side).map(Near::of)
    }
}

impl<G: BytesKey, P: Position> fmt::Debug for IntervalIndex<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalIndex").field("len", &self.len()).finish_non_exhaustive()
    }
}
