//! Which types are keys of a table's indexes.

use crate::KeyFor;
use crate::index::{PrefixKey, Prefixed};
use crate::versions::Version;
use std::sync::Arc;

/// A type of keys that one row of the type `R` has at most: any [`IndexKey`](crate::IndexKey) that is
/// `Ord`, in the order of the index. Sealed.
pub trait TableKey<R: Send + Sync + 'static>: KeyFor<Version<Arc<R>>> + Ord {}

impl<K: KeyFor<Version<Arc<R>>> + Ord, R: Send + Sync + 'static> TableKey<R> for K {}

/// A pair of a key that many rows may have, and a row's primary key. Sealed.
pub trait EntryKey<R: Send + Sync + 'static>:
    TableKey<R> + PrefixKey + KeyFor<Version<Arc<R>>, Engine: Prefixed<Self, Version<Arc<R>>>>
{
}

impl<E, R: Send + Sync + 'static> EntryKey<R> for E where
    E: TableKey<R> + PrefixKey + KeyFor<Version<Arc<R>>, Engine: Prefixed<E, Version<Arc<R>>>>
{
}
