//! The snapshots of a table's indexes, which change nothing past the table, and those of one moment.

use super::TableKey;
use crate::versions::{Snapshot, VersionedIndex, View};
use core::ops::Deref;
use std::sync::Arc;

/// The rows of one moment by a key that one row has at most: the primary key, or that of a
/// [`Unique`](super::Unique) index. It has every read of a [`Snapshot`].
pub type RowSnapshot<'t, K, R> = Snapshot<K, Arc<R>, View<&'t VersionedIndex<K, Arc<R>>>>;

/// A [`RowSnapshot`] that owns the table's rows: it can be kept and sent.
pub type OwnedRowSnapshot<K, R> = Snapshot<K, Arc<R>, View<Arc<VersionedIndex<K, Arc<R>>>>>;

/// The index `index` at the moment of another index's snapshot.
///
/// # Panics
/// If the two aren't of one table.
pub(super) fn at<'t, K, R, P, H>(
    index: &'t VersionedIndex<K, Arc<R>>,
    moment: &Snapshot<P, Arc<R>, H>,
) -> RowSnapshot<'t, K, R>
where
    K: TableKey<R>,
    R: Send + Sync + 'static,
    P: TableKey<R>,
    H: Deref<Target = VersionedIndex<P, Arc<R>>>,
{
    assert!(moment.has_clock_of(index), "the snapshot is of another table than the index");
    Snapshot::at(View::of(index), moment.number()).expect("the number of a snapshot that is there")
}
