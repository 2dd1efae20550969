//! The operations of a [`Reader`]: all operations of its kind of index that change nothing. No path leads
//! from here to a change: a [`Frozen`] has none by its name, and of a durable index an unlogged change would
//! be lost with the process.

use crate::bytes::{MultiEntries, MultiIndex, MultiKeys};
use crate::frozen::{Frozen, Reader};
#[cfg(feature = "rayon")]
use crate::index::ParallelRange;
use crate::index::engine::{KeyFor, Prefixed};
use crate::index::newest::Versions;
use crate::index::{
    ByReference, Cursor, Group, Index, LentKey, Own, OwnedRange, Pinned, PrefixKey, Range, Scan,
};
use crate::set::{IndexSet, Merged, SetRange};
use crate::table::{EntryKey, NonUnique, OwnedRowSnapshot, RowSnapshot, Table, TableKey, Unique};
use crate::versions::{NoSuchVersion, Snapshot, Version, VersionedIndex, View};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::distance::Distance;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Value;
use latchless_core::base::versioned::VersionedKey;
use std::sync::Arc;

/// Operations that are the index's own.
macro_rules! reads {
    ($index:ident: $(
        fn $name:ident $([$($generic:tt)*])? (&$($own:lifetime)? self $(, $argument:ident: $type:ty)*)
        $(-> $returned:ty)? $(where [$($bound:tt)*])?;
    )*) => {$(
        #[doc = concat!("As [`", stringify!($index), "::", stringify!($name), "`].")]
        #[inline]
        pub fn $name $(<$($generic)*>)? (&$($own)? self $(, $argument: $type)*) $(-> $returned)?
        $(where $($bound)*)? {
            self.0.$name($($argument),*)
        }
    )*};
}

/// `for entry in &frozen`. One by one: an implementation for every `I` whose references are iterated would
/// make the compiler look for readers of readers wherever the type of a reference isn't known yet.
macro_rules! iterated {
    ($([$($parameter:tt)*] $holder:ident<$index:ty>;)*) => {$(
        impl<'a, $($parameter)*> IntoIterator for &'a $holder<$index> {
            type Item = <&'a $index as IntoIterator>::Item;
            type IntoIter = <&'a $index as IntoIterator>::IntoIter;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }
    )*};
}
iterated! {
    [K: KeyFor<V>, V: IndexValue] Reader<Index<K, V>>;
    [K: KeyFor<()>] Reader<IndexSet<K>>;
    [K: BytesKey] Reader<MultiIndex<K>>;
    [K: KeyFor<V>, V: IndexValue] Frozen<Index<K, V>>;
    [K: KeyFor<()>] Frozen<IndexSet<K>>;
    [K: BytesKey] Frozen<MultiIndex<K>>;
}

/// Reads of every index with one value a key.
impl<K: KeyFor<V>, V: IndexValue> Reader<Index<K, V>> {
    reads! { Index:
        fn get(&self, key: K::Probe<'_>) -> Option<V>;
        fn get_with[R](&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R>;
        fn contains_key(&self, key: K::Probe<'_>) -> bool;
        fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()>;
        fn get_all(&self, keys: &[K::Probe<'_>]) -> Vec<Option<V>>;
        fn get_each(&self, keys: &[K::Probe<'_>], see: impl FnMut(usize, Option<V::Lent<'_>>));
        fn get_columns(&self, keys: &[K::Probe<'_>], values: &mut [V], found: &mut [bool]) -> Result<usize>;
        fn first(&self) -> Option<(K, V)>;
        fn last(&self) -> Option<(K, V)>;
        fn floor(&self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn ceiling(&self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn lower(&self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn higher(&self, key: K::Probe<'_>) -> Option<(K, V)>;
        fn first_with[R](&self, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn last_with[R](&self, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R>;
        fn floor_with[R](
            &self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R
        ) -> Option<R>;
        fn ceiling_with[R](
            &self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R
        ) -> Option<R>;
        fn lower_with[R](
            &self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R
        ) -> Option<R>;
        fn higher_with[R](
            &self, key: K::Probe<'_>, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R
        ) -> Option<R>;
        fn floor_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn ceiling_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn lower_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn higher_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>;
        fn floor_columns(
            &self, keys: &[K::Probe<'_>], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn ceiling_columns(
            &self, keys: &[K::Probe<'_>], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn lower_columns(
            &self, keys: &[K::Probe<'_>], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn higher_columns(
            &self, keys: &[K::Probe<'_>], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize>;
        fn nearest_by[D: Ord](
            &self, key: K::Probe<'_>, own: Own, distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D
        ) -> Option<(K, V)>;
        fn nearest_columns_by[D: Ord](
            &self,
            keys: &[K::Probe<'_>],
            near: (Own, impl Fn(K::Probe<'_>, K::Probe<'_>) -> D),
            columns: (&mut [K], &mut [V], &mut [bool])
        ) -> Result<usize>;
        fn nearest(&self, key: K::Probe<'_>) -> Option<(K, V)> where [K: Distance];
        fn nearest_many(
            &self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]
        ) -> Result<()> where [K: Distance];
        fn nearest_columns(
            &self, keys: &[K::Probe<'_>], found_keys: &mut [K], values: &mut [V], found: &mut [bool]
        ) -> Result<usize> where [K: Distance];
        fn range['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> Range<'_, K, V>;
        fn try_range['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<Range<'_, K, V>>;
        fn prefix(&self, prefix: K::Prefix<'_>) -> Range<'_, K, V> where [K: PrefixKey, K::Engine: Prefixed<K, V>];
        fn iter(&self) -> Range<'_, K, V>;
        fn keys(&self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + Clone;
        fn values(&self) -> impl DoubleEndedIterator<Item = V> + FusedIterator + Clone;
        fn cursor(&self) -> Cursor<&Index<K, V>>;
        fn fold['q, A](
            &self, range: impl RangeBounds<K::Probe<'q>>, start: A, fold: impl FnMut(A, K, V::Lent<'_>) -> A
        ) -> A;
        fn for_each['q](&self, range: impl RangeBounds<K::Probe<'q>>, each: impl FnMut(K, V::Lent<'_>));
        fn scan['q](
            &self, range: impl RangeBounds<K::Probe<'q>>, see: impl FnMut(K, V::Lent<'_>) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn scan_lent['q](
            &self,
            range: impl RangeBounds<K::Probe<'q>>,
            direction: Direction,
            see: impl FnMut(LentKey<'_, K, V>, V::Lent<'_>) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn scan_prefix(
            &self,
            prefix: K::Prefix<'_>,
            direction: Direction,
            see: impl FnMut(LentKey<'_, K, V>, V::Lent<'_>) -> ControlFlow<()>
        ) -> ControlFlow<()> where [K: PrefixKey, K::Engine: Prefixed<K, V>];
        fn scan_many['q, R: RangeBounds<K::Probe<'q>>](
            &self, ranges: &[R], see: impl FnMut(usize, K, V::Lent<'_>) -> ControlFlow<()>
        );
        fn range_columns['q](
            &self, range: impl RangeBounds<K::Probe<'q>>, keys: &mut Vec<K>, values: &mut Vec<V>
        ) -> Result<usize>;
        fn count['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> usize;
        fn count_many['q, R: RangeBounds<K::Probe<'q>>](&self, ranges: &[R], counts: &mut [usize]) -> Result<()>;
        fn rank(&self, key: K::Probe<'_>) -> usize;
        fn nth(&self, position: usize) -> Option<(K, V)>;
        fn split_points(&self, parts: usize) -> Vec<K>;
        fn pin(&self) -> Pinned where [K::Engine: ByReference<K, V>];
        fn get_ref['p](
            &'p self, key: K::Probe<'_>, pin: &'p Pinned
        ) -> Option<V::Lent<'p>> where [K::Engine: ByReference<K, V>];
        fn try_clone(&self) -> Result<Index<K, V>>;
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn memory_bytes(&self) -> usize;
        fn live_bytes(&self) -> usize;
        fn mapped_bytes(&self) -> usize;
        fn value_bytes(&self) -> usize;
        fn stats(&self) -> Stats;
        fn check_invariants(&self) -> Result<(), Broken>;
    }
}

/// Reads of words.
impl<K: Key, V: Value> Reader<Index<K, V>> {
    reads! { Index:
        fn get_many_with(&self, group: Group, keys: &[K], answers: &mut [Option<V>]) -> Result<()>;
        fn range_many[R: RangeBounds<K>](
            &self, ranges: &[R], see: impl FnMut(usize, &[K], &[V]) -> ControlFlow<()>
        );
        fn scan_chunks(
            &self, range: impl RangeBounds<K>, see: impl FnMut(&[K], &[V]) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn page(
            &self, range: impl RangeBounds<K>, direction: Direction, keys: &mut [K], values: &mut [V]
        ) -> Result<usize>;
        fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Scan<&Index<K, V>>;
        fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result;
    }
}

/// The newest versions of keys.
impl<K, V: IndexValue> Reader<Index<VersionedKey<K>, V>>
where
    K: IndexKey + BytesKey,
    VersionedKey<K>: KeyFor<V, Engine: Versions<K, V>>,
{
    reads! { Index:
        fn newest(&self, key: K::Probe<'_>, number: u64) -> Option<(u64, V)>;
        fn newest_with[R](
            &self, key: K::Probe<'_>, number: u64, see: impl FnOnce(u64, V::Lent<'_>) -> R
        ) -> Option<R>;
        fn newest_many(
            &self, keys: &[VersionedKey<K::Probe<'_>>], answers: &mut [Option<(u64, V)>]
        ) -> Result<()>;
    }
}

/// With the feature `metrics`.
#[cfg(feature = "metrics")]
impl<K: KeyFor<V>, V: IndexValue> Reader<Index<K, V>> {
    reads! { Index:
        fn publish_metrics(&self, name: &str);
    }
}

/// On rayon's threads, with the feature `rayon`.
#[cfg(feature = "rayon")]
impl<K: KeyFor<V>, V: IndexValue> Reader<Index<K, V>> {
    reads! { Index:
        fn par_range['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> ParallelRange<'_, K, V>;
        fn par_fold['q, A: Send](
            &self,
            range: impl RangeBounds<K::Probe<'q>>,
            start: impl Fn() -> A + Sync + Send,
            fold: impl Fn(A, K, V) -> A + Sync + Send,
            join: impl Fn(A, A) -> A + Sync + Send
        ) -> A where [K: Send];
        fn par_get_many['q](
            &self, keys: &[K::Probe<'q>], answers: &mut [Option<V>]
        ) -> Result<()> where [K::Probe<'q>: Sync];
        fn par_get_columns['q](
            &self, keys: &[K::Probe<'q>], values: &mut [V], found: &mut [bool]
        ) -> Result<usize> where [K::Probe<'q>: Sync];
        fn par_floor_many['q](
            &self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]
        ) -> Result<()> where [K: Send, K::Probe<'q>: Sync];
        fn par_ceiling_many['q](
            &self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]
        ) -> Result<()> where [K: Send, K::Probe<'q>: Sync];
        fn par_lower_many['q](
            &self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]
        ) -> Result<()> where [K: Send, K::Probe<'q>: Sync];
        fn par_higher_many['q](
            &self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]
        ) -> Result<()> where [K: Send, K::Probe<'q>: Sync];
    }
}

impl<K: KeyFor<V>, V: IndexValue> Frozen<Index<K, V>> {
    /// Returns an iterator over the entries of a range that owns the index together with others. See
    /// [`Index::range_owned`].
    pub fn range_owned<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> OwnedRange<Self> {
        OwnedRange::new(self.clone(), range)
    }
}

/// Reads of sets.
impl<K: KeyFor<()>> Reader<IndexSet<K>> {
    reads! { IndexSet:
        fn try_clone(&self) -> Result<IndexSet<K>>;
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn memory_bytes(&self) -> usize;
        fn contains(&self, key: K::Probe<'_>) -> bool;
        fn first(&self) -> Option<K>;
        fn last(&self) -> Option<K>;
        fn floor(&self, at: K::Probe<'_>) -> Option<K>;
        fn ceiling(&self, at: K::Probe<'_>) -> Option<K>;
        fn lower(&self, at: K::Probe<'_>) -> Option<K>;
        fn higher(&self, at: K::Probe<'_>) -> Option<K>;
        fn range['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> SetRange<'_, K>;
        fn try_range['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<SetRange<'_, K>>;
        fn iter(&self) -> SetRange<'_, K>;
        fn count['q](&self, range: impl RangeBounds<K::Probe<'q>>) -> usize;
    }

    /// As [`IndexSet::as_index`].
    #[inline]
    pub fn as_index(&self) -> &Reader<Index<K, ()>> {
        Reader::of(self.0.as_index())
    }

    /// As [`IndexSet::union`].
    pub fn union<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.0.union(&other.0)
    }

    /// As [`IndexSet::intersection`].
    pub fn intersection<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.0.intersection(&other.0)
    }

    /// As [`IndexSet::difference`].
    pub fn difference<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.0.difference(&other.0)
    }

    /// As [`IndexSet::symmetric_difference`].
    pub fn symmetric_difference<'s>(&'s self, other: &'s Self) -> Merged<SetRange<'s, K>> {
        self.0.symmetric_difference(&other.0)
    }

    /// As [`IndexSet::is_subset`].
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// As [`IndexSet::is_superset`].
    pub fn is_superset(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }

    /// As [`IndexSet::is_disjoint`].
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }
}

/// Reads of indexes with many rows a key.
impl<K: BytesKey> Reader<MultiIndex<K>> {
    reads! { MultiIndex:
        fn contains_key[Q: BytesKey<K> + ?Sized](&self, key: &Q) -> bool;
        fn contains[Q: BytesKey<K> + ?Sized](&self, key: &Q, row: u64) -> bool;
        fn rows['a, Q: BytesKey<K> + ?Sized](
            &'a self, key: &Q
        ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + Clone + use<'a, K, Q>;
        fn rows_from['a, Q: BytesKey<K> + ?Sized](
            &'a self, key: &Q, row: u64
        ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + Clone + use<'a, K, Q>;
        fn scan_rows[Q: BytesKey<K> + ?Sized](
            &self, key: &Q, see: impl FnMut(u64) -> ControlFlow<()>
        ) -> ControlFlow<()>;
        fn count_rows[Q: BytesKey<K> + ?Sized](&self, key: &Q) -> usize;
        fn floor[Q: BytesKey<K> + ?Sized](&self, key: &Q) -> Option<(K, u64)>;
        fn ceiling[Q: BytesKey<K> + ?Sized](&self, key: &Q) -> Option<(K, u64)>;
        fn lower[Q: BytesKey<K> + ?Sized](&self, key: &Q) -> Option<(K, u64)>;
        fn higher[Q: BytesKey<K> + ?Sized](&self, key: &Q) -> Option<(K, u64)>;
        fn floor_pair[Q: BytesKey<K> + ?Sized](&self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn ceiling_pair[Q: BytesKey<K> + ?Sized](&self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn lower_pair[Q: BytesKey<K> + ?Sized](&self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn higher_pair[Q: BytesKey<K> + ?Sized](&self, key: &Q, row: u64) -> Option<(K, u64)>;
        fn keys(&self) -> MultiKeys<'_, K>;
        fn range_keys[Q: BytesKey<K> + ?Sized](&self, range: impl RangeBounds<Q>) -> MultiKeys<'_, K>;
        fn distinct_keys(&self) -> usize;
        fn range_pairs[Q: BytesKey<K>](&self, range: impl RangeBounds<(Q, u64)>) -> MultiEntries<'_, K>;
        fn range[Q: BytesKey<K> + ?Sized](&self, range: impl RangeBounds<Q>) -> MultiEntries<'_, K>;
        fn try_range[Q: BytesKey<K> + ?Sized](
            &self, range: impl RangeBounds<Q>
        ) -> Result<MultiEntries<'_, K>>;
        fn count[Q: BytesKey<K> + ?Sized](&self, range: impl RangeBounds<Q>) -> usize;
        fn first(&self) -> Option<(K, u64)>;
        fn last(&self) -> Option<(K, u64)>;
        fn iter(&self) -> MultiEntries<'_, K>;
        fn try_clone(&self) -> Result<MultiIndex<K>>;
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn memory_bytes(&self) -> usize;
        fn live_bytes(&self) -> usize;
        fn stats(&self) -> Stats;
        fn check_invariants(&self) -> Result<(), Broken>;
    }
}

/// A snapshot that lives as long as its index.
type Viewed<'a, K, V> = Snapshot<K, V, View<&'a VersionedIndex<K, V>>>;

/// Reads of indexes that keep versions.
impl<K: KeyFor<Version<V>>, V: IndexValue> Reader<VersionedIndex<K, V>> {
    reads! { VersionedIndex:
        fn newest(&self) -> u64;
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn get(&self, key: K::Probe<'_>) -> Option<V>;
        fn get_with[R](&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R>;
        fn contains_key(&self, key: K::Probe<'_>) -> bool;
        fn memory_bytes(&self) -> usize;
        fn check_invariants(&self) -> Result<(), Broken>;
    }

    /// As [`VersionedIndex::snapshot`].
    pub fn snapshot(&self) -> Viewed<'_, K, V> {
        Snapshot::newest(View::of(&self.0))
    }

    /// As [`VersionedIndex::snapshot_at`].
    pub fn snapshot_at(&self, number: u64) -> Result<Viewed<'_, K, V>, NoSuchVersion> {
        Snapshot::at(View::of(&self.0), number)
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Frozen<VersionedIndex<K, V>> {
    /// Returns a snapshot of the newest commit that owns the index together with others. See
    /// [`VersionedIndex::snapshot_owned`].
    pub fn snapshot_owned(&self) -> Snapshot<K, V, View<Self>> {
        Snapshot::newest(View::of(self.clone()))
    }
}

/// Reads of tables. Their secondary indexes are read by the handles of these.
impl<K: TableKey<R>, R: Send + Sync + 'static> Reader<Table<K, R>> {
    reads! { Table:
        fn newest(&self) -> u64;
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn get(&self, key: K::Probe<'_>) -> Option<Arc<R>>;
        fn get_with[A](&self, key: K::Probe<'_>, see: impl FnOnce(&R) -> A) -> Option<A>;
        fn contains_key(&self, key: K::Probe<'_>) -> bool;
        fn snapshot(&self) -> RowSnapshot<'_, K, R>;
        fn snapshot_owned(&self) -> OwnedRowSnapshot<K, R>;
        fn unique[S: TableKey<R>](&self, name: &str) -> Option<Unique<S, R>>;
        fn index[E: EntryKey<R>](&self, name: &str) -> Option<NonUnique<E, R>>;
        fn memory_bytes(&self) -> usize;
        fn check_invariants(&self) -> Result<(), Broken>;
    }
}
