//! What an index does for its users.

use crate::witness::{Boxed, number};
use latchless::bytes::MultiIndex;
use latchless::index::Slot;
use latchless::versions::VersionedIndex;
use latchless::{Index, Result};
use std::collections::BTreeMap;
use std::hint::black_box;

/// A type of keys.
pub trait Key: Ord + Clone + Send + Sync + 'static {
    /// Returns the key of this number. Their order is arbitrary.
    fn of(number: usize) -> Self;
}

impl Key for u64 {
    fn of(at: usize) -> Self {
        number(at)
    }
}

impl Key for String {
    fn of(at: usize) -> Self {
        text(at)
    }
}

/// Returns a short name for each number.
pub fn text(at: usize) -> String {
    format!("user-{:012x}", number(at) >> 16)
}

/// An index, called as its users call it.
pub trait Subject<K>: Sized {
    fn create() -> Result<Self>;
    fn insert(&mut self, key: &K, value: u64) -> Result<()>;
    fn len(&self) -> usize;
    /// Returns the value of a key that is present.
    fn get(&self, key: &K) -> u64;
    /// Adds up the values of all entries.
    fn sum(&self) -> u64;
    /// Adds up the values of the first entries from a key on.
    fn sum_from(&self, low: &K, entries: usize) -> u64;
}

impl<K: Key> Subject<K> for BTreeMap<K, u64> {
    fn create() -> Result<Self> {
        Ok(Self::new())
    }

    fn insert(&mut self, key: &K, value: u64) -> Result<()> {
        black_box(Self::insert(self, key.clone(), value));
        Ok(())
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn get(&self, key: &K) -> u64 {
        Self::get(self, key).copied().unwrap_or(0)
    }

    fn sum(&self) -> u64 {
        self.iter().fold(0, |sum, (_, value)| sum.wrapping_add(*value))
    }

    fn sum_from(&self, low: &K, entries: usize) -> u64 {
        self.range(low..).take(entries).fold(0, |sum, (_, value)| sum.wrapping_add(*value))
    }
}

/// Adds up values.
fn total(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::wrapping_add)
}

/// Calls one of our indexes as its users do: how it is created and changed, how a key is looked up, and the
/// iterators over the values of all entries and of those from a key on.
macro_rules! subject {
    ($subject:ty, $key:ty, $create:expr;
     insert |$to:ident, $new:ident, $value:ident| $insert:expr;
     read |$of:ident, $low:ident| $len:expr, $get:expr, $all:expr, $from:expr) => {
        impl Subject<$key> for $subject {
            fn create() -> Result<Self> {
                $create
            }

            fn insert(&mut self, $new: &$key, $value: u64) -> Result<()> {
                let $to = self;
                $insert.map(|before| _ = black_box(before))
            }

            fn len(&self) -> usize {
                let $of = self;
                $len
            }

            fn get(&self, $low: &$key) -> u64 {
                let $of = self;
                $get.unwrap_or(0)
            }

            fn sum(&self) -> u64 {
                let $of = self;
                total($all)
            }

            fn sum_from(&self, $low: &$key, entries: usize) -> u64 {
                let $of = self;
                total($from.take(entries))
            }
        }
    };
}

subject! {
    Index<u64, u64>, u64, Self::new();
    insert |index, key, value| Self::insert(index, *key, value);
    read |index, key|
        Self::len(index),
        Self::get(index, *key),
        index.iter().map(|(_, value)| value),
        index.range(*key..).map(|(_, value)| value)
}

subject! {
    Index<String, u64>, String, Self::new();
    insert |index, key, value| Self::insert(index, key, value);
    read |index, key|
        Self::len(index),
        Self::get(index, key),
        index.iter().map(|(_, value)| value),
        index.range(key.as_str()..).map(|(_, value)| value)
}

/// An index that is filled by exclusive access.
pub struct Alone(Index<u64, u64>);

subject! {
    Alone, u64, Ok(Self(Index::new()?));
    insert |index, key, value| index.0.exclusive().insert(*key, value);
    read |index, key|
        index.0.len(),
        index.0.get(*key),
        index.0.iter().map(|(_, value)| value),
        index.0.range(*key..).map(|(_, value)| value)
}

subject! {
    Index<u64, Slot<Boxed>>, u64, Self::new();
    insert |index, key, value| Self::insert(index, *key, [value; 4]);
    read |index, key|
        Self::len(index),
        index.get_with(*key, |value| value[0]),
        index.iter().map(|(_, value)| value.0[0]),
        index.range(*key..).map(|(_, value)| value.0[0])
}

subject! {
    MultiIndex<u64>, u64, Self::new();
    insert |index, key, value| Self::insert(index, key, value);
    read |index, key|
        Self::len(index),
        index.range(*key..=*key).next().map(|(_, row)| row),
        index.iter().map(|(_, row)| row),
        index.range(*key..).map(|(_, row)| row)
}

subject! {
    VersionedIndex<u64, u64>, u64, Self::new();
    insert |index, key, value| Self::insert(index, *key, value);
    read |index, key|
        Self::len(index),
        Self::get(index, *key),
        index.snapshot().iter().map(|(_, value)| value),
        index.snapshot().range(*key..).map(|(_, value)| value)
}
