//! The kinds of keys over which each test runs.

use latchless::bytes::{BoxedBytesIndex, ByteStrings};
use latchless::index::boxed::{Boxed, HandleIndex, KeyArg, KeyForm, SlotId};
use latchless::{BoxedIndex, Index};
use std::fmt::Debug;

/// A kind of keys. Keys are made from numbers, and have the order of these.
pub trait Kind: 'static {
    type Key: Ord + Clone + Debug + Send + Sync;
    type Arg<'k>: Copy;
    type Index: HandleIndex<Key = Self::Key>
        + KeyForm<Self::Key>
        + for<'k> KeyArg<Self::Arg<'k>>
        + Send
        + Sync;

    fn key(number: u64) -> Self::Key;
    /// Returns a key as an operation takes it.
    fn arg(key: &Self::Key) -> Self::Arg<'_>;
    fn number(key: &Self::Key) -> u64;
    /// Returns the number of a key as a closure gets it.
    fn shown(key: Shown<'_, Self>) -> u64;
}

/// The boxed index over a kind of keys.
pub type Of<K, T> = Boxed<<K as Kind>::Index, T>;
/// A key of a kind as closures and cursors get it.
pub type Shown<'k, K> = KeyRef<'k, <K as Kind>::Index>;
#[expect(type_alias_bounds, reason = "the bound names the type")]
type KeyRef<'k, I: HandleIndex> = I::KeyRef<'k>;

/// Returns an empty index.
pub fn empty<K: Kind + ?Sized, T: Send + Sync>() -> Of<K, T> {
    Of::<K, T>::new().expect("a first node")
}

/// Numbers. Handles have 64 bits, so that narrower ones take the same paths.
pub struct Wide;
/// Byte strings of uneven length: some of them are stored outside of their leaf.
pub struct Strings;

impl Kind for Wide {
    type Key = u64;
    type Arg<'k> = u64;
    type Index = Index<u64, SlotId>;

    fn key(number: u64) -> u64 {
        number
    }

    fn arg(key: &u64) -> u64 {
        *key
    }

    fn number(key: &u64) -> u64 {
        *key
    }

    fn shown(key: u64) -> u64 {
        key
    }
}

impl Kind for Strings {
    type Key = Vec<u8>;
    type Arg<'k> = &'k [u8];
    type Index = ByteStrings<Vec<u8>, SlotId>;

    fn key(number: u64) -> Vec<u8> {
        let rest = if number.is_multiple_of(7) { 250 } else { number as usize % 5 };
        [&number.to_be_bytes(), b"rest ".repeat(rest / 5).as_slice(), &vec![b'.'; rest % 5]].concat()
    }

    fn arg(key: &Vec<u8>) -> &[u8] {
        key
    }

    fn number(key: &Vec<u8>) -> u64 {
        Self::shown(key)
    }

    fn shown(key: &[u8]) -> u64 {
        let number = u64::from_be_bytes(*key.first_chunk().expect("a key of a number"));
        assert_eq!(key, Self::key(number), "the whole key");
        number
    }
}

/// The aliases are the types over which the tests run.
#[test]
fn the_two_kinds_are_the_aliases() {
    let _: BoxedIndex<u64, ()> = empty::<Wide, ()>();
    let _: BoxedBytesIndex<Vec<u8>, ()> = empty::<Strings, ()>();
}

/// The key of a number, as an operation takes it.
macro_rules! key {
    ($kind:ident, $number:expr) => {
        $kind::arg(&$kind::key($number))
    };
}

/// Runs each test over every kind of keys.
macro_rules! over_every_kind {
    ($($test:ident),* $(,)?) => {
        mod wide {
            $(#[test] fn $test() { super::$test::<$crate::boxed::kinds::Wide>(); })*
        }
        mod strings {
            $(#[test] fn $test() { super::$test::<$crate::boxed::kinds::Strings>(); })*
        }
    };
}

pub(super) use {key, over_every_kind};
