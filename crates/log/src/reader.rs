//! The read-only view of a durable index's index: all operations of its kind that change nothing. An
//! unlogged change would be lost with the process, so no path leads from here to a change.

use latchless::bytes::{MultiEntries, MultiIndex, MultiKeys};
use latchless::index::engine::Prefixed;
use latchless::index::{ByReference, Cursor, Group, LentKey, Own, Pinned, Range, Scan};
use latchless::snapshot::{self, multi};
use latchless::{Broken, BytesKey, Direction, Distance, Index, IndexValue, Key, KeyFor};
use latchless::{PrefixKey, Result, Stats, Value};
use std::fmt;
use std::io::Write;
use std::iter::FusedIterator;
use std::ops::{ControlFlow, RangeBounds};
use std::path::Path;

/// An index, for reading: every operation of an [`Index`] or a [`MultiIndex`] that leaves it as it is, with
/// the same answers, costs and errors, from any number of threads. Made of a reference by [`From`], which
/// [`DurableIndex::index`](crate::DurableIndex::index) does. It is as small as a reference and copied as one;
/// iterators and cursors live as long as the index.
///
/// ```
/// use latchless::Index;
/// use latchless_log::Reader;
///
/// let prices: Index<u64, u32> = [(99, 5), (101, 7), (105, 3)].into_iter().collect();
/// let reader = Reader::from(&prices);
/// assert_eq!((reader.get(99), reader.floor(104), reader.rank(105)), (Some(5), Some((101, 7)), 2));
/// assert_eq!(reader.iter().rev().next(), Some((105, 3)));
/// ```
///
/// It has no operation that changes the index:
///
/// ```compile_fail,E0599
/// # let prices: latchless::Index<u64, u32> = [(99, 5)].into_iter().collect();
/// latchless_log::Reader::from(&prices).insert(99, 6);
/// ```
pub struct Reader<'a, I>(pub(crate) &'a I);

impl<I> Clone for Reader<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Reader<'_, I> {}

impl<I: fmt::Debug> fmt::Debug for Reader<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reader").field(self.0).finish()
    }
}

impl<'a, I> From<&'a I> for Reader<'a, I> {
    fn from(index: &'a I) -> Self {
        Self(index)
    }
}

impl<'a, I> IntoIterator for Reader<'a, I>
where
    &'a I: IntoIterator,
{
    type Item = <&'a I as IntoIterator>::Item;
    type IntoIter = <&'a I as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Operations that are the index's own.
macro_rules! reads {
    ($index:ident: $(
        fn $name:ident $([$($generic:tt)*])? (self $(, $argument:ident: $type:ty)*) $(-> $returned:ty)?;
    )*) => {$(
        #[doc = concat!("As [`", stringify!($index), "::", stringify!($name), "`].")]
        #[inline]
        pub fn $name $(<$($generic)*>)? (self $(, $argument: $type)*) $(-> $returned)? {
            self.0.$name($($argument),*)
        }
    )*};
}

/// References to values that are stored outside of the tree.
impl<'a, K: KeyFor<V, Engine: ByReference<K, V>>, V: IndexValue> Reader<'a, Index<K, V>> {
    reads! { Index:
        fn pin(self) -> Pinned;
        fn get_ref(self, key: K::Probe<'_>, pin: &'a Pinned) -> Option<V::Lent<'a>>;
    }
}

/// Reads of every index with one value a key.
impl<'a, K: KeyFor<V>, V: IndexValue> Reader<'a, Index<K, V>> {
    reads! { Index:
        fn get(self, key: K::Probe<'_>) -> Option<V>;
        fn get_with[R](self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R>;
        fn contains_key(self, key: K::Probe<'_>) -> bool;
        fn get_many(self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()>;
        fn get_all(self, keys: &[K::Probe<'_>]) -> Vec<Option<V>>;
        fn get_each(self, keys: &[K::Probe<'_>], see: impl FnMut(usize, Option<V::Lent<'_>>));
        fn first(self) -> Option<(K, V)>;
        fn last(self) -> Option<(K, V)>;
        fn floor(self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn ceiling(self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn lower(self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn higher(self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn first_with[R](self, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn last_with[R](self, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn floor_with[R](self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn ceiling_with[R](self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn lower_with[R](self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn higher_with[R](self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn floor_many(self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn ceiling_many(self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn lower_many(self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn higher_many(self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn nearest_by[D: Ord](
            self, key: K::Probe<'_>, own: Own, distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D
        ) -> Option<(K, V)>;
        fn nearest_columns_by[D: Ord](
            self,
            keys: &[K::Probe<'_>],
            near: (Own, impl Fn(K::Probe<'_>, K::Probe<'_>) -> D),
            columns: (&mut [K], &mut [V], &mut [bool])
        ) -> Result<usize>;
        fn range['q](self, range: impl RangeBounds<K::Probe<'q>>) -> Range<'a, K, V>;
        fn try_range['q](self, range: impl RangeBounds<K::Probe<'q>>) -> Result<Range<'a, K, V>>;
        fn iter(self) -> Range<'a, K, V>;
        fn keys(self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + use<'a, K, V>;
        fn values(self) -> impl DoubleEndedIterator<Item = V> + FusedIterator + use<'a, K, V>;
        fn cursor(self) -> Cursor<&'a Index<K, V>>;
        fn fold['q, A](
            self, range: impl RangeBounds<K::Probe<'q>>, start: A, fold: impl FnMut(A, K, V::Lent<'_>) -> A
        ) -> A;
        fn for_each['q](self, range: impl RangeBounds<K::Probe<'q>>, each: impl FnMut(K, V::Lent<'_>));
        fn scan['q](
            self, range: impl RangeBounds<K::Probe<'q>>, see: impl FnMut(K, V::Lent<'_>) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn scan_lent['q](
            self, range: impl RangeBounds<K::Probe<'q>>, direction: Direction, see: impl FnMut(LentKey<'_, K, V>, V::Lent<'_>) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn scan_many['q, R: RangeBounds<K::Probe<'q>>](
            self, ranges: &[R], see: impl FnMut(usize, K, V::Lent<'_>) -> ControlFlow<()>
        );
        fn count['q](self, range: impl RangeBounds<K::Probe<'q>>) -> usize;
        fn count_many['q, R: RangeBounds<K::Probe<'q>>](self, ranges: &[R], counts: &mut [usize]) -> Result<()>;
        fn rank(self, key: K::Probe<'_>) -> usize;
        fn nth(self, position: usize) -> Option<(K, V)>;
        fn split_points(self, parts: usize) -> Vec<K>;
        fn len(self) -> usize;
        fn is_empty(self) -> bool;
        fn memory_bytes(self) -> usize;
        fn live_bytes(self) -> usize;
        fn mapped_bytes(self) -> usize;
        fn value_bytes(self) -> usize;
        fn stats(self) -> Stats;
        fn check_invariants(self) -> Result<(), Broken>;
    }
}

impl<'a, K: KeyFor<V, Engine: Prefixed<K, V>> + PrefixKey, V: IndexValue> Reader<'a, Index<K, V>> {
    reads! { Index:
        fn prefix(self, prefix: K::Prefix<'_>) -> Range<'a, K, V>;
        fn scan_prefix(
            self,
            prefix: K::Prefix<'_>,
            direction: Direction,
            see: impl FnMut(LentKey<'_, K, V>, V::Lent<'_>) -> ControlFlow<()>
        ) -> ControlFlow<()>;
    }
}

/// Reads of words.
impl<'a, K: Key, V: Value> Reader<'a, Index<K, V>> {
    reads! { Index:
        fn get_many_with(self, group: Group, keys: &[K], answers: &mut [Option<V>]) -> Result<()>;
        fn get_columns(self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize>;
        fn floor_columns(
            self, keys: &[K], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn ceiling_columns(
            self, keys: &[K], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn lower_columns(
            self, keys: &[K], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn higher_columns(
            self, keys: &[K], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn range_many[R: RangeBounds<K>](
            self, ranges: &[R], see: impl FnMut(usize, &[K], &[V]) -> ControlFlow<()>
        );
        fn scan_chunks(
            self, range: impl RangeBounds<K>, see: impl FnMut(&[K], &[V]) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn page(
            self, range: impl RangeBounds<K>, direction: Direction, keys: &mut [K], values: &mut [V]
        ) -> Result<usize>;
        fn range_columns(
            self, range: impl RangeBounds<K>, keys: &mut Vec<K>, values: &mut Vec<V>
        ) -> Result<usize>;
        fn scanner(self, range: impl RangeBounds<K>, direction: Direction) -> Scan<&'a Index<K, V>>;
        fn dump(self, out: &mut impl fmt::Write) -> fmt::Result;
    }
}

/// With the feature `metrics`.
#[cfg(feature = "metrics")]
impl<K: KeyFor<V>, V: IndexValue> Reader<'_, Index<K, V>> {
    reads! { Index:
        fn publish_metrics(self, name: &str);
    }
}

impl<K: KeyFor<V> + Distance, V: IndexValue> Reader<'_, Index<K, V>> {
    reads! { Index:
        fn nearest(self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn nearest_many(self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn nearest_columns(
            self, keys: &[K::Probe<'_>], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
    }
}

impl<'a, K: BytesKey> Reader<'a, MultiIndex<K>> {
    reads! { MultiIndex:
        fn contains_key[Q: BytesKey<K> + ?Sized](self, key: &Q) -> bool;
        fn contains[Q: BytesKey<K> + ?Sized](self, key: &Q, row: u64) -> bool;
        fn rows[Q: BytesKey<K> + ?Sized](
            self, key: &Q
        ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + use<'a, K, Q>;
        fn rows_from[Q: BytesKey<K> + ?Sized](
            self, key: &Q, row: u64
        ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + use<'a, K, Q>;
        fn scan_rows[Q: BytesKey<K> + ?Sized](
            self, key: &Q, see: impl FnMut(u64) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn count_rows[Q: BytesKey<K> + ?Sized](self, key: &Q) -> usize;
        fn floor[Q: BytesKey<K> + ?Sized](self, key: &Q) -> Option<(K, u64)>;
        fn ceiling[Q: BytesKey<K> + ?Sized](self, key: &Q) -> Option<(K, u64)>;
        fn lower[Q: BytesKey<K> + ?Sized](self, key: &Q) -> Option<(K, u64)>;
        fn higher[Q: BytesKey<K> + ?Sized](self, key: &Q) -> Option<(K, u64)>;
        fn floor_pair[Q: BytesKey<K> + ?Sized](self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn ceiling_pair[Q: BytesKey<K> + ?Sized](self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn lower_pair[Q: BytesKey<K> + ?Sized](self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn higher_pair[Q: BytesKey<K> + ?Sized](self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn keys(self) -> MultiKeys<'a, K>;
        fn range_keys[Q: BytesKey<K> + ?Sized](self, range: impl RangeBounds<Q>) -> MultiKeys<'a, K>;
        fn distinct_keys(self) -> usize;
        fn range_pairs[Q: BytesKey<K>](self, range: impl RangeBounds<(Q, u64)>) -> MultiEntries<'a, K>;
        fn range[Q: BytesKey<K> + ?Sized](
            self, range: impl RangeBounds<Q>
        ) -> MultiEntries<'a, K>;
        fn try_range[Q: BytesKey<K> + ?Sized](
            self, range: impl RangeBounds<Q>
        ) -> Result<MultiEntries<'a, K>>;
        fn count[Q: BytesKey<K> + ?Sized](self, range: impl RangeBounds<Q>) -> usize;
        fn first(self) -> Option<(K, u64)>;
        fn last(self) -> Option<(K, u64)>;
        fn iter(self) -> MultiEntries<'a, K>;
        fn len(self) -> usize;
        fn is_empty(self) -> bool;
        fn memory_bytes(self) -> usize;
        fn live_bytes(self) -> usize;
        fn stats(self) -> Stats;
        fn check_invariants(self) -> Result<(), Broken>;
    }
}

impl<K: BytesKey + 'static> Reader<'_, MultiIndex<K>> {
    /// Saves a snapshot as a file that [`multi::open`] opens.
    ///
    /// # Errors
    /// Those of [`multi::save`].
    pub fn save(self, path: impl AsRef<Path>) -> snapshot::Result<u64> {
        multi::save(self.0, path)
    }

    /// Writes a snapshot to a writer.
    ///
    /// # Errors
    /// Those of [`multi::write`].
    pub fn write(self, out: impl Write) -> snapshot::Result<u64> {
        multi::write(self.0, out)
    }
}
