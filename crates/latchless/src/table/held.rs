//! How the snapshots of a table refer to its indexes: so that they read, and change nothing past the table.

use super::TableKey;
use crate::versions::{Snapshot, VersionedIndex};
use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

/// A reference to an index of a [`Table`](super::Table), as the table's [`Snapshot`]s have it. `H` is a `&`
/// or an `Arc`.
#[derive(Clone, Copy)]
pub struct Held<H>(pub(super) H);

impl<H: Deref> Deref for Held<H> {
    type Target = H::Target;

    fn deref(&self) -> &H::Target {
        &self.0
    }
}

impl<H> fmt::Debug for Held<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

/// The rows of one moment by a key that one row has at most: the primary key, or that of a
/// [`Unique`](super::Unique) index. It has every read of a [`Snapshot`].
pub type RowSnapshot<'t, K, R> = Snapshot<K, Arc<R>, Held<&'t VersionedIndex<K, Arc<R>>>>;

/// A [`RowSnapshot`] that owns the table's rows: it can be kept and sent.
pub type OwnedRowSnapshot<K, R> = Snapshot<K, Arc<R>, Held<Arc<VersionedIndex<K, Arc<R>>>>>;

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
    Snapshot::at(Held(index), moment.number()).expect("the number of a snapshot that is there")
}
