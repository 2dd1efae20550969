//! Which types refer to an index, or own one, for an iterator, a scan or a cursor over it.

use super::access::{Holder, Shares, Words, sealed};
use super::alone::ExclusiveIndex;
use super::exclusive::Exclusive;
use super::shared::Index;
use crate::frozen::{Frozen, Reader};
use crate::tree;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;
use std::sync::Arc;

macro_rules! holder {
    ($($holder:ty, $mode:ty, $index:ident => $path:expr;)*) => {$(
        impl<K: Key, V: Value> sealed::Sealed for $holder {}

        impl<K: Key, V: Value> Holder for $holder {
            type Key = K;
            type Value = V;
            type Mode = $mode;

            #[inline(always)]
            fn words(&self) -> &Words<K, V> {
                let $index = self;
                $path
            }
        }
    )*};
}
holder! {
    &Words<K, V>, tree::Shared, holder => holder;
    &Index<K, V>, tree::Shared, holder => &holder.engine;
    Arc<Index<K, V>>, tree::Shared, holder => &holder.engine;
    &Reader<Index<K, V>>, tree::Shared, holder => &holder.0.engine;
    Frozen<Index<K, V>>, tree::Shared, holder => &holder.held().engine;
    // The owner of an index has exclusive access.
    Index<K, V>, tree::Exclusive, holder => &holder.engine;
    Words<K, V>, tree::Exclusive, holder => holder;
    &Exclusive<'_, K, V>, tree::Exclusive, holder => &Exclusive::index(holder).engine;
    &ExclusiveIndex<K, V>, tree::Exclusive, holder => &holder.0.engine;
}

macro_rules! shares {
    ($($holder:ty;)*) => {$(
        impl<K: Key, V: Value> Shares for $holder {}
    )*};
}
shares! {
    &Words<K, V>;
    &Index<K, V>;
    Arc<Index<K, V>>;
    &Reader<Index<K, V>>;
    Frozen<Index<K, V>>;
    &Exclusive<'_, K, V>;
    &ExclusiveIndex<K, V>;
}
