//! The map behind the ordered indexes: a `BTreeMap` while it has few keys, then an index of latchless.
//!
//! Keys of every type but [`AlgebraicValue`] have a form that latchless orders as `Ord` does. Those of up to
//! 64 bits are stored in words, and all others as bytes.

use super::bytes_key::RangeCompatBytesKey;
use crate::indexes::RowPointer;
use core::borrow::Borrow;
use core::fmt;
use core::mem;
use core::ops::RangeBounds;
use latchless::bytes::{BytesEntries, BytesValues};
use latchless::index::Range;
use latchless::{FillFactor, Index, IndexKey, KeyFor, TryInsertError};
use spacetimedb_sats::memory_usage::MemoryUsage;
use spacetimedb_sats::{AlgebraicValue, F32, F64, i256, sum_value::SumTag, u256};
use std::collections::btree_map::{self, BTreeMap, Entry};

/// The number of keys up to which a map is a `BTreeMap`.
///
/// Every transaction has indexes of its own, for the rows that it inserts. Most of them are tiny and soon
/// cleared, and an index of latchless isn't made for that: an empty one takes microseconds and kilobytes.
// Tests have few keys, and should see both forms.
const FEW: usize = if cfg!(all(test, debug_assertions)) { 2 } else { 2048 };

/// A key, or a borrowed form of it, by which a map is asked.
pub trait Lookup: Ord {
    /// The type of the key in latchless.
    type Stored: KeyFor<u64>;

    /// Returns the key as latchless takes it.
    fn probe(&self) -> Probe<'_, Self>;
}

type Probe<'k, Q> = <<Q as Lookup>::Stored as IndexKey>::Probe<'k>;

/// A key of an [`OrderedMap`].
pub trait MapKey: Lookup + Clone {
    /// Whether latchless has keys of this type. Otherwise a map of any size is a `BTreeMap`.
    const IS_STORED: bool = true;

    /// The values of a range in latchless.
    type Values<'a>: Iterator<Item = u64> + Clone;

    fn values(range: Range<'_, Self::Stored, u64>) -> Self::Values<'_>;

    fn from_stored(stored: Self::Stored) -> Self;

    // A map has a single writer, for whom latchless needs no latches where keys are words.

    fn try_insert(
        index: &mut Stored<Self>,
        key: Probe<'_, Self>,
        ptr: u64,
    ) -> Result<(), TryInsertError<u64>>;

    fn replace(index: &mut Stored<Self>, key: Probe<'_, Self>, ptr: u64) -> Option<u64>;

    fn remove(index: &mut Stored<Self>, key: Probe<'_, Self>) -> Option<u64>;
}

type Stored<K> = Index<<K as Lookup>::Stored, u64>;

/// The values of a range of keys in words.
#[derive(Clone)]
pub struct WordValues<'a, S: KeyFor<u64>>(Range<'a, S, u64>);

impl<S: KeyFor<u64>> Iterator for WordValues<'_, S> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.0.next().map(|(_, value)| value)
    }
}

type InWords<'a, S> = WordValues<'a, S>;
type InBytes<'a, S> = BytesValues<'a, S, u64>;

macro_rules! alone {
    (InWords, $index:ident) => {
        $index.exclusive()
    };
    (InBytes, $index:ident) => {
        $index
    };
}

macro_rules! writes {
    ($form:ident) => {
        fn try_insert(
            index: &mut Stored<Self>,
            key: Probe<'_, Self>,
            ptr: u64,
        ) -> Result<(), TryInsertError<u64>> {
            alone!($form, index).try_insert(key, ptr)
        }

        fn replace(index: &mut Stored<Self>, key: Probe<'_, Self>, ptr: u64) -> Option<u64> {
            alone!($form, index).replace(key, ptr)
        }

        fn remove(index: &mut Stored<Self>, key: Probe<'_, Self>) -> Option<u64> {
            alone!($form, index).remove(key)
        }
    };
}

macro_rules! map_keys {
    ($form:ident by $values:expr; $($key:ty as $stored:ty: $probe:expr, $back:expr;)*) => {$(
        impl Lookup for $key {
            type Stored = $stored;

            #[inline]
            fn probe(&self) -> Probe<'_, Self> {
                let probe: fn(&Self) -> Probe<'_, Self> = $probe;
                probe(self)
            }
        }

        impl MapKey for $key {
            type Values<'a> = $form<'a, $stored>;

            fn values(range: Range<'_, $stored, u64>) -> Self::Values<'_> {
                $values(range)
            }

            fn from_stored(stored: $stored) -> Self {
                let back: fn($stored) -> Self = $back;
                back(stored)
            }

            writes!($form);
        }
    )*};
}

map_keys! { InWords by WordValues;
    bool as bool: |key| *key, |stored| stored;
    u8 as u8: |key| *key, |stored| stored;
    SumTag as u8: |key| key.0, SumTag;
    i8 as i8: |key| *key, |stored| stored;
    u16 as u16: |key| *key, |stored| stored;
    i16 as i16: |key| *key, |stored| stored;
    u32 as u32: |key| *key, |stored| stored;
    i32 as i32: |key| *key, |stored| stored;
    u64 as u64: |key| *key, |stored| stored;
    i64 as i64: |key| *key, |stored| stored;
    // Both zeros are one key, and all NaNs another one, the last. The sum makes a negative zero positive.
    F32 as f32: |key| if *key == F32::from(f32::NAN) { f32::NAN } else { key.into_inner() + 0.0 }, F32::from;
    F64 as f64: |key| if *key == F64::from(f64::NAN) { f64::NAN } else { key.into_inner() + 0.0 }, F64::from;
    RangeCompatBytesKey<7> as u64: |key| key.to_word(), RangeCompatBytesKey::from_word;
}

map_keys! { InBytes by BytesEntries::values;
    u128 as u128: |key| *key, |stored| stored;
    i128 as i128: |key| *key, |stored| stored;
    u256 as (u128, u128): |key| key.into_words(), |(high, low)| u256::from_words(high, low);
    i256 as (i128, u128): signed_words, |(high, low)| i256::from_words(high, low as i128);
    Box<str> as Box<str>: |key| key, |stored| stored;
    RangeCompatBytesKey<15> as Vec<u8>: |key| key, |stored| Self::from_slice(&stored);
    RangeCompatBytesKey<31> as Vec<u8>: |key| key, |stored| Self::from_slice(&stored);
    RangeCompatBytesKey<63> as Vec<u8>: |key| key, |stored| Self::from_slice(&stored);
    RangeCompatBytesKey<127> as Vec<u8>: |key| key, |stored| Self::from_slice(&stored);
}

fn signed_words(key: &i256) -> (i128, u128) {
    let (high, low) = key.into_words();
    (high, low as u128)
}

impl Lookup for str {
    type Stored = Box<str>;

    fn probe(&self) -> &str {
        self
    }
}

/// Its order is that of a tree of values, which no bytes have.
impl Lookup for AlgebraicValue {
    type Stored = u64;

    fn probe(&self) -> u64 {
        unreachable!("a map of these is a `BTreeMap`")
    }
}

impl MapKey for AlgebraicValue {
    const IS_STORED: bool = false;

    type Values<'a> = InWords<'a, u64>;

    fn values(range: Range<'_, u64, u64>) -> Self::Values<'_> {
        WordValues(range)
    }

    fn from_stored(_: u64) -> Self {
        unreachable!("a map of these is a `BTreeMap`")
    }

    writes!(InWords);
}

/// A map from keys to row pointers, in the order of the keys.
pub struct OrderedMap<K: MapKey>(Form<K>);

enum Form<K: MapKey> {
    Few(BTreeMap<K, RowPointer>),
    Many(Box<Index<K::Stored, u64>>),
}

impl<K: MapKey> OrderedMap<K> {
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Few(map) => map.len(),
            Form::Many(index) => index.len(),
        }
    }

    pub fn get<Q>(&self, key: &Q) -> Option<RowPointer>
    where
        Q: ?Sized + Lookup<Stored = K::Stored>,
        K: Borrow<Q>,
    {
        match &self.0 {
            Form::Few(map) => map.get(key).copied(),
            Form::Many(index) => index.get(key.probe()).map(RowPointer),
        }
    }

    /// Inserts `key -> ptr` if the key isn't there. Otherwise `present` computes another one from the
    /// pointer that is there, which is returned.
    pub fn upsert(
        &mut self,
        key: K,
        ptr: RowPointer,
        present: impl FnOnce(RowPointer) -> RowPointer,
    ) -> Option<RowPointer> {
        if let Form::Many(index) = &mut self.0 {
            match K::try_insert(index, key.probe(), ptr.0) {
                Ok(()) => return None,
                Err(TryInsertError::Present { present: old, .. }) => {
                    let (old, new) = (RowPointer(old), present(RowPointer(old)));
                    if new != old {
                        K::replace(index, key.probe(), new.0);
                    }
                    return Some(old);
                }
                // A text of more than 16 MiB is too long for a key, but not for a row.
                Err(TryInsertError::Refused { .. }) => self.0 = Form::Few(self.entries().collect()),
            }
        }
        let Form::Few(map) = &mut self.0 else {
            unreachable!("an index either takes a key or has become a `BTreeMap`")
        };
        match map.entry(key) {
            Entry::Vacant(entry) => _ = entry.insert(ptr),
            Entry::Occupied(mut entry) => {
                let old = *entry.get();
                entry.insert(present(old));
                return Some(old);
            }
        }
        if K::IS_STORED && map.len() == FEW + 1 {
            self.grow();
        }
        None
    }

    /// Makes an index of a `BTreeMap`, unless latchless refuses one of the keys.
    #[cold]
    fn grow(&mut self) {
        let entries: Vec<_> = self.entries().map(|(key, ptr)| (K::Stored::own(key.probe()), ptr.0)).collect();
        if let Ok(index) = Index::from_sorted(&entries, FillFactor::default()) {
            self.0 = Form::Many(Box::new(index));
        }
    }

    /// Replaces the pointer of a key that is there.
    pub fn replace<Q>(&mut self, key: &Q, ptr: RowPointer)
    where
        Q: ?Sized + Lookup<Stored = K::Stored>,
        K: Borrow<Q>,
    {
        match &mut self.0 {
            Form::Few(map) => _ = map.get_mut(key).map(|old| *old = ptr),
            Form::Many(index) => _ = K::replace(index, key.probe(), ptr.0),
        }
    }

    pub fn remove<Q>(&mut self, key: &Q) -> Option<RowPointer>
    where
        Q: ?Sized + Lookup<Stored = K::Stored>,
        K: Borrow<Q>,
    {
        match &mut self.0 {
            Form::Few(map) => map.remove(key),
            Form::Many(index) => K::remove(index, key.probe()).map(RowPointer),
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the pointers of a range, in the order of their keys.
    pub fn range<Q>(&self, range: &impl RangeBounds<Q>) -> Pointers<'_, K>
    where
        Q: ?Sized + Lookup<Stored = K::Stored>,
        K: Borrow<Q>,
    {
        let (start, end) = (range.start_bound(), range.end_bound());
        match &self.0 {
            Form::Few(map) => Pointers::Few(map.range((start, end))),
            Form::Many(index) => {
                Pointers::Many(Box::new(K::values(index.range((start.map(Q::probe), end.map(Q::probe))))))
            }
        }
    }

    /// Returns all pointers, in the order of their keys.
    pub fn pointers(&self) -> Pointers<'_, K> {
        match &self.0 {
            Form::Few(map) => Pointers::Few(map.range::<K, _>(..)),
            Form::Many(index) => Pointers::Many(Box::new(K::values(index.iter()))),
        }
    }

    /// Returns all keys and their pointers, for what is done seldom.
    pub fn entries(&self) -> Box<dyn Iterator<Item = (K, RowPointer)> + '_> {
        match &self.0 {
            Form::Few(map) => Box::new(map.iter().map(|(key, ptr)| (key.clone(), *ptr))),
            Form::Many(index) => {
                Box::new(index.iter().map(|(key, ptr)| (K::from_stored(key), RowPointer(ptr))))
            }
        }
    }
}

impl<K: MapKey> Default for OrderedMap<K> {
    fn default() -> Self {
        Self(Form::Few(<_>::default()))
    }
}

impl<K: MapKey> Clone for OrderedMap<K> {
    fn clone(&self) -> Self {
        let mut clone = Self(Form::Few(self.entries().collect()));
        if matches!(self.0, Form::Many(_)) {
            clone.grow();
        }
        clone
    }
}

impl<K: MapKey + fmt::Debug> fmt::Debug for OrderedMap<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}

impl<K: MapKey> PartialEq for OrderedMap<K> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.entries().eq(other.entries())
    }
}

impl<K: MapKey> Eq for OrderedMap<K> {}

impl<K: MapKey + MemoryUsage> MemoryUsage for OrderedMap<K> {
    fn heap_usage(&self) -> usize {
        match &self.0 {
            Form::Few(map) => map.heap_usage(),
            Form::Many(index) => mem::size_of_val(&**index) + index.memory_bytes(),
        }
    }
}

/// The row pointers of a range of an [`OrderedMap`].
#[derive(Clone)]
pub enum Pointers<'a, K: MapKey> {
    Few(btree_map::Range<'a, K, RowPointer>),
    /// An iterator that has copies of entries, so that it's large.
    Many(Box<K::Values<'a>>),
}

impl<K: MapKey> Iterator for Pointers<'_, K> {
    type Item = RowPointer;

    #[inline]
    fn next(&mut self) -> Option<RowPointer> {
        match self {
            Self::Few(range) => range.next().map(|(_, ptr)| *ptr),
            Self::Many(values) => values.next().map(RowPointer),
        }
    }
}
