//! How every operation reaches the tree: keys and values become lanes, and the mode says whether
//! others may be in the tree. The operations themselves are written once, for both modes, in the
//! files beside this one. There [`operations`](super::operations) names and documents them for [`Index`] and
//! [`Exclusive`](super::Exclusive).

use super::Index;
use super::alone::ExclusiveIndex;
use super::exclusive::Exclusive;
use crate::tree::{self, BlinkTree, Group, Mode};
use core::marker::PhantomData;
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::encoded_range;
use latchless_core::base::value::Value;
use std::sync::Arc;

/// The lane that holds both a key `K` and a value `V`.
pub(super) type Lane<K, V> = <<K as Key>::Bits as Bits>::Wider<<V as Value>::Bits>;

/// The tree of an index from `K` to `V`.
pub(super) type LaneTree<K, V> = BlinkTree<Lane<K, V>>;

/// A range of lanes, both ends included.
pub(super) type Lanes<K, V> = (Lane<K, V>, Lane<K, V>);

/// A key as the tree's lane. Widening keeps the order.
#[inline(always)]
pub(super) fn key_lane<K: Key, V: Value>(key: K) -> Lane<K, V> {
    Bits::truncate(key.encode().to_u64())
}

/// The key of a lane.
#[inline(always)]
pub(super) fn key_of<K: Key, V: Value>(lane: Lane<K, V>) -> K {
    K::decode(Bits::truncate(lane.to_u64()))
}

/// A value as the tree's lane.
#[inline(always)]
pub(super) fn value_lane<K: Key, V: Value>(value: V) -> Lane<K, V> {
    Bits::truncate(value.encode().to_u64())
}

/// The value of a lane.
#[inline(always)]
pub(super) fn value_of<K: Key, V: Value>(lane: Lane<K, V>) -> V {
    V::decode(Bits::truncate(lane.to_u64()))
}

/// The entry of two lanes.
#[inline(always)]
pub(super) fn entry_of<K: Key, V: Value>((key, value): Lanes<K, V>) -> (K, V) {
    (key_of::<K, V>(key), value_of::<K, V>(value))
}

/// The lanes of a range of keys; `None` if no key lies in it.
///
/// # Errors
/// [`Error::InvertedRange`](crate::Error::InvertedRange).
pub(super) fn lanes<K: Key, V: Value>(range: &impl RangeBounds<K>) -> Result<Option<Lanes<K, V>>> {
    let span = (range.start_bound().cloned(), range.end_bound().cloned());
    let widen = |bits: K::Bits| Bits::truncate(bits.to_u64());
    Ok(encoded_range(&span)?.map(|(low, high)| (widen(low), widen(high))))
}

/// The lanes of all keys.
pub(super) fn all_lanes<K: Key, V: Value>() -> Lanes<K, V> {
    (Bits::truncate(K::Bits::MIN.to_u64()), Bits::truncate(K::Bits::MAX.to_u64()))
}

/// The outcome of an edit that adds no key: it needs no memory, so none can be refused.
#[inline(always)]
pub(super) fn expect_infallible<T>(edited: Result<T>) -> T {
    edited.unwrap_or_else(|error| unreachable!("an edit that adds no key was refused: {error}"))
}

/// A tree, entered in a mode.
#[derive(Debug)]
pub(super) struct Access<'a, K: Key, V: Value, M> {
    pub(super) tree: &'a LaneTree<K, V>,
    pub(super) group: Group,
    pub(super) mode: PhantomData<M>,
}

impl<K: Key, V: Value, M> Clone for Access<'_, K, V, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Key, V: Value, M> Copy for Access<'_, K, V, M> {}

impl<'a, K: Key, V: Value, M: Mode> Access<'a, K, V, M> {
    #[inline(always)]
    pub(super) fn new(index: &'a Index<K, V>) -> Self {
        Self { tree: &index.tree, group: index.group, mode: PhantomData }
    }
}

/// Whoever lends or owns an index, for an iterator, a scan or a cursor over it: `&Index`,
/// `Arc<Index>`, `Index` itself, or `&Exclusive`. Sealed.
pub trait Holder: sealed::Sealed {
    /// The index's keys.
    type Key: Key;
    /// The index's values.
    type Value: Value;
    /// How the tree is entered.
    type Mode: Mode;
    /// The index.
    fn index(&self) -> &Index<Self::Key, Self::Value>;
}

mod sealed {
    /// Keeps [`super::Holder`] to those of which the mode is known to be right.
    pub trait Sealed {}
}

/// The lane of a holder's index.
pub(super) type LaneOf<H> = Lane<<H as Holder>::Key, <H as Holder>::Value>;

macro_rules! holder {
    ($($holder:ty, $mode:ty, $index:ident => $path:expr;)*) => {$(
        impl<K: Key, V: Value> sealed::Sealed for $holder {}

        impl<K: Key, V: Value> Holder for $holder {
            type Key = K;
            type Value = V;
            type Mode = $mode;

            #[inline(always)]
            fn index(&self) -> &Index<K, V> {
                let $index = self;
                $path
            }
        }
    )*};
}
holder! {
    &Index<K, V>, tree::Shared, holder => holder;
    Arc<Index<K, V>>, tree::Shared, holder => holder;
    // Whoever owns the index has it to itself.
    Index<K, V>, tree::Exclusive, holder => holder;
    &Exclusive<'_, K, V>, tree::Exclusive, holder => Exclusive::index(holder);
    &ExclusiveIndex<K, V>, tree::Exclusive, holder => &holder.0;
}
