//! The keys, in the forms in which the subjects take them.

use latchless::versions::Version;
use latchless::{IndexKey, KeyFor};
use latchless_terminal::failure::Failure;
use latchless_workload::BytesKeySet;
use std::str::FromStr;

/// A prime number: its multiples visit all entries.
const STRIDE: u64 = 2_654_435_761;
/// Of so many entries, one is requested by each operation on samples in a round.
pub const SHARE: usize = 8;
/// The seed of the sets that are drawn.
const SEED: u64 = 42;

/// A key, and the number of one of its versions, the highest one first.
#[cfg(feature = "versions")]
pub type Pair<K> = (K, std::cmp::Reverse<u64>);

/// A type of keys that every subject has.
pub trait Key: IndexKey + KeyFor<u64> + KeyFor<Version<u64>> + Ord + Clone + Send + Sync + 'static {
    /// The key as a trie owns it.
    #[cfg(feature = "versions")]
    type Owned: artmap::AsBytes + std::borrow::Borrow<[u8]> + Send + Sync + 'static;

    #[cfg(feature = "versions")]
    fn owned(&self) -> Self::Owned;

    /// Calls `serve` with the bytes of the key, whose order is that of the keys.
    #[cfg(feature = "versions")]
    fn with_bytes<R>(&self, serve: impl FnOnce(&[u8]) -> R) -> R;

    /// Calls `serve` with the key and a falling number, as a list of pairs is searched for them.
    #[cfg(feature = "versions")]
    fn with_pair<R>(&self, number: u64, serve: impl FnOnce(&Pair<Self>) -> R) -> R;
}

impl Key for u64 {
    #[cfg(feature = "versions")]
    type Owned = [u8; 8];

    #[cfg(feature = "versions")]
    fn owned(&self) -> [u8; 8] {
        self.to_be_bytes()
    }

    #[cfg(feature = "versions")]
    fn with_bytes<R>(&self, serve: impl FnOnce(&[u8]) -> R) -> R {
        serve(&self.to_be_bytes())
    }

    #[cfg(feature = "versions")]
    fn with_pair<R>(&self, number: u64, serve: impl FnOnce(&Pair<Self>) -> R) -> R {
        serve(&(*self, std::cmp::Reverse(number)))
    }
}

impl Key for Vec<u8> {
    #[cfg(feature = "versions")]
    type Owned = Self;

    #[cfg(feature = "versions")]
    fn owned(&self) -> Self {
        self.clone()
    }

    #[cfg(feature = "versions")]
    fn with_bytes<R>(&self, serve: impl FnOnce(&[u8]) -> R) -> R {
        serve(self)
    }

    /// A pair can't be borrowed from its parts, and a user wouldn't allocate one for every search: one is
    /// kept and filled.
    #[cfg(feature = "versions")]
    fn with_pair<R>(&self, number: u64, serve: impl FnOnce(&Pair<Self>) -> R) -> R {
        use std::{cell::RefCell, cmp::Reverse};
        thread_local! {
            static PAIR: RefCell<(Vec<u8>, Reverse<u64>)> = const { RefCell::new((Vec::new(), Reverse(0))) };
        }
        PAIR.with_borrow_mut(|pair| {
            pair.0.clear();
            pair.0.extend_from_slice(self);
            pair.1 = Reverse(number);
            serve(pair)
        })
    }
}

/// A named set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Random numbers.
    Random,
    /// Numbers with no gaps between them but those that absent keys need.
    Dense,
    /// Byte strings.
    Bytes(BytesKeySet),
}

impl FromStr for Set {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "u64" => Ok(Self::Random),
            "u64-dense" => Ok(Self::Dense),
            _ => text.parse().map(Self::Bytes).map_err(|error: latchless_workload::Error| error.to_string()),
        }
    }
}

/// The keys of a run, in the order in which they arrive.
pub struct Keys<K> {
    /// Those that are inserted.
    pub all: Vec<K>,
    /// One in [`SHARE`] of them, in another order.
    pub sample: Vec<K>,
    /// As many that are never inserted.
    pub absent: Vec<K>,
}

impl<K: Clone> Keys<K> {
    fn new(all: Vec<K>, absent: Vec<K>) -> Self {
        let place = |at: usize| (at as u64 * SHARE as u64 + 1).wrapping_mul(STRIDE) % all.len() as u64;
        let sample = (0..all.len() / SHARE).map(|at| all[place(at) as usize].clone()).collect();
        Self { all, sample, absent }
    }

    /// The places of all keys in an order unlike that in which they arrived, so that second versions aren't
    /// written where the last write was.
    pub fn again(&self) -> impl Iterator<Item = usize> + use<'_, K> {
        let len = self.all.len() as u64;
        (0..len).map(move |at| (at.wrapping_mul(STRIDE) % len) as usize)
    }
}

impl Keys<u64> {
    /// Random numbers, or dense ones in the order of a stride.
    pub fn numbers(records: usize, is_dense: bool) -> Result<Self, Failure> {
        if is_dense {
            let key = |at: usize| 2 * ((at as u64).wrapping_mul(STRIDE) % records as u64);
            let absent = (0..records / SHARE).map(|at| key(at) + 1).collect();
            return Ok(Self::new((0..records).map(key).collect(), absent));
        }
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        drawn(BytesKeySet::Int8, records, number)
    }
}

impl Keys<Vec<u8>> {
    /// The keys of a set of byte strings.
    pub fn bytes(records: usize, set: BytesKeySet) -> Result<Self, Failure> {
        drawn(set, records, <[u8]>::to_vec)
    }
}

fn drawn<K: Clone>(set: BytesKeySet, records: usize, key: fn(&[u8]) -> K) -> Result<Keys<K>, Failure> {
    let drawn = set.draw(records, records / SHARE, SEED).map_err(Failure::usage)?;
    let mut keys = drawn.iter().map(key);
    Ok(Keys::new(keys.by_ref().take(records).collect(), keys.collect()))
}
