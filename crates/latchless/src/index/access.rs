//! How every operation reaches the tree: keys and values are encoded, and the mode says whether
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

/// What holds both an encoded key `K` and an encoded value `V`.
pub(super) type Encoded<K, V> = <<K as Key>::Bits as Bits>::Wider<<V as Value>::Bits>;

/// The tree of an index from `K` to `V`.
pub(super) type Tree<K, V> = BlinkTree<Encoded<K, V>>;

/// A range of encoded keys, both ends included.
pub(super) type EncodedRange<K, V> = (Encoded<K, V>, Encoded<K, V>);

/// A key as the tree has it. Widening keeps the order.
#[inline(always)]
pub(super) fn encode_key<K: Key, V: Value>(key: K) -> Encoded<K, V> {
    Bits::truncate(key.encode().to_u64())
}

/// The key that was encoded.
#[inline(always)]
pub(super) fn decode_key<K: Key, V: Value>(bits: Encoded<K, V>) -> K {
    K::decode(Bits::truncate(bits.to_u64()))
}

/// A value as the tree has it.
#[inline(always)]
pub(super) fn encode_value<K: Key, V: Value>(value: V) -> Encoded<K, V> {
    Bits::truncate(value.encode().to_u64())
}

/// The value that was encoded.
#[inline(always)]
pub(super) fn decode_value<K: Key, V: Value>(bits: Encoded<K, V>) -> V {
    V::decode(Bits::truncate(bits.to_u64()))
}

/// The entry of an encoded key and value.
#[inline(always)]
pub(super) fn decode_entry<K: Key, V: Value>((key, value): EncodedRange<K, V>) -> (K, V) {
    (decode_key::<K, V>(key), decode_value::<K, V>(value))
}

/// A range of keys, encoded, for what only reads; `None` if no key lies in it, so of an inverted one as well.
#[inline]
pub(super) fn encode_range<K: Key, V: Value>(range: &impl RangeBounds<K>) -> Option<EncodedRange<K, V>> {
    try_encode_range::<K, V>(range).unwrap_or_default()
}

/// A range of keys, encoded; `None` if no key lies in it.
///
/// # Errors
/// [`Error::InvertedRange`](crate::Error::InvertedRange).
pub(super) fn try_encode_range<K: Key, V: Value>(
    range: &impl RangeBounds<K>,
) -> Result<Option<EncodedRange<K, V>>> {
    let span = (range.start_bound().cloned(), range.end_bound().cloned());
    let widen = |bits: K::Bits| Bits::truncate(bits.to_u64());
    Ok(encoded_range(&span)?.map(|(low, high)| (widen(low), widen(high))))
}

/// The range of all keys, encoded.
pub(super) fn full_range<K: Key, V: Value>() -> EncodedRange<K, V> {
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
    pub(super) tree: &'a Tree<K, V>,
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

/// What lends or owns an index, for an iterator, a scan or a cursor over it: `&Index`,
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

/// What holds a key or value of a holder's index, encoded.
pub(super) type EncodedIn<H> = Encoded<<H as Holder>::Key, <H as Holder>::Value>;

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
    // The owner of an index has it to itself.
    Index<K, V>, tree::Exclusive, holder => holder;
    &Exclusive<'_, K, V>, tree::Exclusive, holder => Exclusive::index(holder);
    &ExclusiveIndex<K, V>, tree::Exclusive, holder => &holder.0;
}
