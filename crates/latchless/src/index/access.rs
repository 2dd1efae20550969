//! Access of all operations to the tree: keys and values are encoded, and the mode says whether other
//! threads may be in the tree. The operations themselves are written once, for both modes, in the files of
//! this folder. There [`operations`](mod@super::operations) names and documents them for
//! [`Index`](super::Index) and [`Exclusive`](super::Exclusive).

use super::options::Options;
use crate::tree::{BlinkTree, Group, Mode};
use core::marker::PhantomData;
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::encoded_range;
use latchless_core::base::value::Value;

/// The type of both encoded keys and encoded values.
pub(super) type Encoded<K, V> = <<K as Key>::Bits as Bits>::Wider<<V as Value>::Bits>;

/// The tree of an index from `K` to `V`.
pub(super) type Tree<K, V> = BlinkTree<Encoded<K, V>>;

/// The engine of an index whose keys and values fit words.
pub struct Words<K: Key, V: Value> {
    pub(super) tree: Tree<K, V>,
    pub(super) group: Group,
}

impl<K: Key, V: Value> Words<K, V> {
    pub(super) fn with_options(options: Options) -> Result<Self> {
        let group = options.group;
        Ok(Self { tree: Tree::<K, V>::new(options.of_tree())?, group })
    }
}

/// A range of encoded keys, both ends included.
pub(super) type EncodedRange<K, V> = (Encoded<K, V>, Encoded<K, V>);

/// Encodes a key. Widening preserves the order.
#[inline(always)]
pub(super) fn encode_key<K: Key, V: Value>(key: K) -> Encoded<K, V> {
    Bits::truncate(key.encode().to_u64())
}

/// Decodes a key.
#[inline(always)]
pub(super) fn decode_key<K: Key, V: Value>(bits: Encoded<K, V>) -> K {
    K::decode(Bits::truncate(bits.to_u64()))
}

/// Encodes a value.
#[inline(always)]
pub(super) fn encode_value<K: Key, V: Value>(value: V) -> Encoded<K, V> {
    Bits::truncate(value.encode().to_u64())
}

/// Decodes a value.
#[inline(always)]
pub(super) fn decode_value<K: Key, V: Value>(bits: Encoded<K, V>) -> V {
    V::decode(Bits::truncate(bits.to_u64()))
}

/// Decodes an entry.
#[inline(always)]
pub(super) fn decode_entry<K: Key, V: Value>((key, value): EncodedRange<K, V>) -> (K, V) {
    (decode_key::<K, V>(key), decode_value::<K, V>(value))
}

/// Encodes a range of keys, for operations that only read; `None` if it contains no key, or is inverted.
#[inline]
pub(super) fn encode_range<K: Key, V: Value>(range: &impl RangeBounds<K>) -> Option<EncodedRange<K, V>> {
    try_encode_range::<K, V>(range).unwrap_or_default()
}

/// Encodes a range of keys; `None` if it contains no key.
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

/// Returns the range of all keys, encoded.
pub(super) fn full_range<K: Key, V: Value>() -> EncodedRange<K, V> {
    (Bits::truncate(K::Bits::MIN.to_u64()), Bits::truncate(K::Bits::MAX.to_u64()))
}

/// Unwraps the outcome of an edit that adds no key: it needs no memory, so none can be refused.
#[inline(always)]
pub(super) fn expect_infallible<T>(edited: Result<T>) -> T {
    edited.unwrap_or_else(|error| unreachable!("an edit that adds no key was refused: {error}"))
}

/// A tree, accessed in a mode.
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
    pub(super) fn new(words: &'a Words<K, V>) -> Self {
        Self { tree: &words.tree, group: words.group, mode: PhantomData }
    }
}

/// A reference to an index, or its owner, for an iterator, a scan or a cursor over it: `&Index`,
/// `Arc<Index>`, `&Reader`, `Frozen`, `Index` itself, or `&Exclusive`. Sealed.
pub trait Holder: sealed::Sealed {
    /// The index's keys.
    type Key: Key;
    /// The index's values.
    type Value: Value;
    /// How the tree is accessed.
    type Mode: Mode;
    /// Returns the engine of the index.
    #[doc(hidden)]
    fn words(&self) -> &Words<Self::Key, Self::Value>;
}

/// A holder whose clones hold the same index: of one that owns an index, a clone would own another one, in
/// which positions of the first mean nothing.
///
/// ```compile_fail,E0599
/// use latchless::Index;
/// use latchless::index::Entries;
///
/// let entries = Entries::of(Index::<u64, u64>::from([(7, 70)]), ..);
/// let clone = entries.clone();
/// ```
pub trait Shares: Holder + Clone {}

pub(super) mod sealed {
    /// Restricts [`super::Holder`] to types whose mode is known to be right.
    pub trait Sealed {}
}

/// The type of encoded keys and values in a holder's index.
pub(super) type EncodedIn<H> = Encoded<<H as Holder>::Key, <H as Holder>::Value>;
