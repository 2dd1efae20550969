//! An index that a snapshot reads and doesn't lend.

use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use crate::frozen::Frozen;
use core::ops::Deref;
use latchless_core::base::index_value::IndexValue;
use std::sync::Arc;

/// How a [`Snapshot`](super::Snapshot) of an index holds it, if that must not be changed: one that is frozen,
/// one of a [`Table`](crate::table::Table), or one that has a log, past which a commit would be lost.
#[derive(Debug, Clone, Copy)]
pub struct View<H>(H);

impl<H> View<H> {
    /// Of an index: a reference to it, an `Arc` of it, or a [`Frozen`] one.
    pub fn of(holder: H) -> Self {
        Self(holder)
    }
}

macro_rules! view {
    ($($holder:ty, $view:ident => $index:expr;)*) => {$(
        impl<K: KeyFor<Version<V>>, V: IndexValue> Deref for View<$holder> {
            type Target = VersionedIndex<K, V>;

            fn deref(&self) -> &VersionedIndex<K, V> {
                let $view = self;
                $index
            }
        }
    )*};
}
view! {
    &VersionedIndex<K, V>, view => view.0;
    Arc<VersionedIndex<K, V>>, view => &view.0;
    Frozen<VersionedIndex<K, V>>, view => view.0.held();
}
