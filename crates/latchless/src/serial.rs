//! `Serialize` and `Deserialize` for [`Index`], as a map in order, and for [`IndexSet`] and [`MultiIndex`],
//! as a sequence in order.
//!
//! Entries in any order are deserialized: they are sorted and loaded in bulk. Of an index that other threads
//! change, what is serialized is weakly consistent, as [`Index::iter`] is.

use crate::bytes::MultiIndex;
use crate::index::Index;
use crate::index::engine::KeyFor;
use crate::set::IndexSet;
use core::fmt;
use core::iter::from_fn;
use core::marker::PhantomData;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{Serialize, Serializer};

/// As a map, in the order of the keys. The entries are collected first, because many formats begin with
/// their number, and other threads may change it.
impl<K: KeyFor<V> + Serialize, V: IndexValue + Serialize> Serialize for Index<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().collect::<Vec<_>>())
    }
}

/// From a map in any order; of equal keys the last one stays.
///
/// # Errors
/// Those of the format, and as errors of the format those of [`Index::try_from_iter`]: memory was refused, or
/// a key or a value is too long.
impl<'de, K: KeyFor<V> + Deserialize<'de>, V: IndexValue + Deserialize<'de>> Deserialize<'de>
    for Index<K, V>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: KeyFor<V> + Deserialize<'de>, V: IndexValue + Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = Index<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Index<K, V>, A::Error> {
        let mut refused = None;
        let entries = from_fn(|| until_refused(map.next_entry(), &mut refused));
        let loaded = Index::try_from_iter(entries.fuse());
        finished(loaded, refused)
    }
}

/// As a sequence, in the order of the keys.
impl<K: KeyFor<()> + Serialize> Serialize for IndexSet<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().collect::<Vec<_>>())
    }
}

/// From a sequence in any order, also with duplicates.
///
/// # Errors
/// Those of an [`Index`].
impl<'de, K: KeyFor<()> + Deserialize<'de>> Deserialize<'de> for IndexSet<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Sequence(|elements| Self::try_from_iter(elements)))
    }
}

/// As a sequence of pairs, in order.
impl<K: BytesKey + Serialize> Serialize for MultiIndex<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().collect::<Vec<_>>())
    }
}

/// From a sequence of pairs in any order, also with duplicates.
///
/// # Errors
/// Those of an [`Index`].
impl<'de, K: BytesKey + Deserialize<'de>> Deserialize<'de> for MultiIndex<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Sequence::<(K, u64), _>(|elements| Self::try_from_iter(elements)))
    }
}

/// What is made from the elements of a sequence.
struct Sequence<T, I>(fn(&mut dyn Iterator<Item = T>) -> Result<I>);

impl<'de, T: Deserialize<'de>, I> Visitor<'de> for Sequence<T, I> {
    type Value = I;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<I, A::Error> {
        let mut refused = None;
        let elements = from_fn(|| until_refused(sequence.next_element(), &mut refused));
        let loaded = (self.0)(&mut elements.fuse());
        finished(loaded, refused)
    }
}

/// Returns what was loaded, unless the input ended with an error. The number of entries that an input tells
/// isn't used: it may be wrong.
fn finished<I, E: Error>(loaded: Result<I>, refused: Option<E>) -> Result<I, E> {
    refused.map_or_else(|| loaded.map_err(E::custom), Err)
}

/// Keeps the error of an input, which ends there.
fn until_refused<T, E>(item: Result<Option<T>, E>, refused: &mut Option<E>) -> Option<T> {
    item.unwrap_or_else(|error| {
        *refused = Some(error);
        None
    })
}
