//! Ranges of keys that begin alike: texts and byte strings with a prefix, tuples with a first part.

use super::access::Words;
use super::engine::{Engine, KeyFor};
use super::{Entries, Index, Range};
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use core::ops::ControlFlow;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::value::Value;
use std::sync::Arc;

/// A key of an [`Index`] that may begin as others do: a text or a byte string with a prefix, or a tuple with
/// its first part.
#[diagnostic::on_unimplemented(
    message = "keys of type `{Self}` have no prefix",
    label = "no key of this type begins another one",
    note = "texts and byte strings have prefixes, and of a tuple its first part is one",
    note = "`range` returns a range of any keys"
)]
pub trait PrefixKey: IndexKey {
    /// The type of a prefix: `&str` of a text, `&[u8]` of a byte string; of a tuple, the type by which its
    /// first part is named.
    type Prefix<'q>: Copy;
}

/// Such a key that is stored in a word.
pub trait WordPrefix: PrefixKey + Key {
    /// Returns the smallest and the largest encoded key that begin so.
    fn ends(prefix: Self::Prefix<'_>) -> (u64, u64);
}

/// Such a key that is stored as bytes.
pub trait BytesPrefix: PrefixKey + BytesKey {
    /// Calls `serve` with the bytes that such keys begin with.
    fn with_prefix<R>(prefix: Self::Prefix<'_>, serve: impl FnOnce(&[u8]) -> R) -> R;
}

/// An engine of such keys.
pub trait Prefixed<K: PrefixKey, V: IndexValue>: Engine<K, V> {
    /// Returns the entries of the keys that begin with a prefix within these bounds. Of prefixes in an
    /// inverted order, none.
    fn between(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> Self::Entries<'_>;
    /// Calls `see` with the entries whose keys begin so, in a direction, until it breaks.
    fn scan_beginning(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(Self::KeyRef<'_>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
}

macro_rules! strings {
    ($($key:ty => $prefix:ty, $bytes:expr;)*) => {$(
        impl PrefixKey for $key {
            type Prefix<'q> = &'q $prefix;
        }

        impl BytesPrefix for $key {
            fn with_prefix<R>(prefix: &$prefix, serve: impl FnOnce(&[u8]) -> R) -> R {
                let bytes: fn(&$prefix) -> &[u8] = $bytes;
                serve(bytes(prefix))
            }
        }
    )*};
}
strings! {
    String => str, str::as_bytes;
    Arc<str> => str, str::as_bytes;
    Box<str> => str, str::as_bytes;
    Vec<u8> => [u8], |prefix| prefix;
    Arc<[u8]> => [u8], |prefix| prefix;
    Box<[u8]> => [u8], |prefix| prefix;
}

macro_rules! tuple {
    ($($part:ident),*) => {
        impl<A: IndexKey, $($part: IndexKey),*> PrefixKey for (A, $($part),*) {
            type Prefix<'q> = A::Probe<'q>;
        }

        impl<A, $($part),*> BytesPrefix for (A, $($part),*)
        where
            A: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<A>>,
            $($part: BytesKey + IndexKey,)*
        {
            fn with_prefix<R>(prefix: A::Probe<'_>, serve: impl FnOnce(&[u8]) -> R) -> R {
                // A last part without bytes.
                BytesKey::<(A, [u8; 0])>::with_bytes(&(prefix, [0; 0]), serve)
            }
        }
    };
}
tuple!(B);
tuple!(B, C);
tuple!(B, C, D);
tuple!(B, C, D, E);
tuple!(B, C, D, E, F);

macro_rules! packed {
    ($($part:ident),*) => {
        impl<A: Key<Bits = u32>, $($part: Key<Bits = u32>),*> WordPrefix for (A, $($part),*) {
            fn ends(first: A) -> (u64, u64) {
                let below: u32 = 0 $(+ $part::WIDTH_BITS)*;
                let low = first.encode().to_u64() << below;
                (low, low | !(u64::MAX << below))
            }
        }
    };
}
packed!(B);
packed!(B, C);
packed!(B, C, D);

impl<K: WordPrefix, V: Value> Prefixed<K, V> for Words<K, V> {
    fn between(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> Entries<&Self> {
        let range = words_between::<K>(low, high);
        Entries::within(self, range.map(|(low, high)| (Bits::truncate(low), Bits::truncate(high))))
    }

    fn scan_beginning(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (low, high) = K::ends(prefix);
        self.access().scan_towards(Some((Bits::truncate(low), Bits::truncate(high))), direction, see)
    }
}

/// Returns the smallest and the largest encoded key that begin with a prefix within these bounds.
fn words_between<K: WordPrefix>(low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> Option<(u64, u64)> {
    let low = match low {
        Included(prefix) => K::ends(prefix).0,
        Excluded(prefix) => K::ends(prefix).1.checked_add(1)?,
        Unbounded => 0,
    };
    let high = match high {
        Included(prefix) => K::ends(prefix).1,
        Excluded(prefix) => K::ends(prefix).0.checked_sub(1)?,
        Unbounded => u64::MAX,
    };
    (low <= high).then_some((low, high))
}

/// Keys that begin alike.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns an iterator over the entries whose keys begin with `prefix`, from both ends: texts with their
    /// first letters, byte strings with their first bytes, tuples with their first part. See
    /// [`Index::range`].
    ///
    /// ```
    /// use latchless::Index;
    ///
    /// let pages: Index<String, u32> = ["/a", "/a/b", "/b"].map(|page| (page.to_owned(), 7)).into();
    /// assert_eq!(pages.prefix("/a").map(|(page, _)| page).collect::<Vec<_>>(), ["/a", "/a/b"]);
    /// let stock: Index<(u32, i32), u64> = [((7, -1), 70), ((7, 9), 71), ((8, 0), 80)].into();
    /// assert_eq!(stock.prefix(7).map(|(_, items)| items).collect::<Vec<_>>(), [70, 71]);
    /// let series: Index<(String, u64), f64> =
    ///     [("ab", 1), ("a", 2), ("a", 1)].map(|(name, at)| ((name.to_owned(), at), 0.5)).into();
    /// assert_eq!(series.prefix("a").rev().map(|((_, at), _)| at).collect::<Vec<_>>(), [2, 1]);
    /// ```
    pub fn prefix(&self, prefix: K::Prefix<'_>) -> Range<'_, K, V>
    where
        K: PrefixKey,
        K::Engine: Prefixed<K, V>,
    {
        self.between(Included(prefix), Included(prefix))
    }

    /// Returns an iterator over the entries whose keys begin with a prefix within these bounds.
    pub(crate) fn between(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> Range<'_, K, V>
    where
        K: PrefixKey,
        K::Engine: Prefixed<K, V>,
    {
        self.engine.between(low, high)
    }
}
