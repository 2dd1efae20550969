//! Keys of any length, ordered by their bytes.
//!
//! An index of byte strings stores a key as bytes and compares keys as slices: by the first byte that
//! differs, and a key before all keys that it is a prefix of. This file defines the trait and implements it
//! for single values; [`parts`](super::parts) builds keys of several parts.

use super::key::Key;
use super::nanos::Nanos;
use core::any::type_name;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::num::NonZero;
use std::borrow::Cow;

/// A key of any length, ordered by its bytes.
///
/// An index stores keys of the type `K: BytesKey`, and a lookup takes any `Q: BytesKey<K>`: `str` for keys
/// of type `String`, `(u64, &str)` for `(u64, String)`.
///
/// # Contract
/// * For all keys `a` and `b` of one `Owned`, borrowed or owned: the bytes of `a` are less than those of `b`
///   exactly when `a` comes before `b`, and they are the same exactly when `a` and `b` are the same key.
/// * The same key has the same bytes at every call.
/// * `Self::from_bytes` returns the key that has the given bytes.
///
/// An index stays sound with a type that breaks this contract, but its results are then meaningless.
///
/// # Types
/// * byte strings: `[u8]`, `Vec<u8>`, `[u8; N]`, and texts: `str`, `String`; also in a `Box` or an `Arc`;
/// * the integers of 8 to 128 bits, also [`NonZero`], the floats (ordered as [`f64::total_cmp`] orders
///   them), `bool`, `()`, `char`, [`Ipv4Addr`], [`Ipv6Addr`], [`Nanos`], arrays of integers;
/// * by features: `uuid::Uuid`, `bytes::Bytes`, and the times and dates of `time`, `chrono` and `jiff`;
/// * `Option`s of keys (`None` comes first), [`Reverse`](core::cmp::Reverse) of keys, tuples of two to six
///   keys, also of tuples: see [`parts`](super::parts);
/// * references, boxes and [`Cow`]s of keys, for lookups.
///
/// ```
/// # use latchless_core as latchless;
/// use latchless::BytesKey;
///
/// fn bytes<K, Q: BytesKey<K> + ?Sized>(key: &Q) -> Vec<u8> {
///     key.with_bytes(<[u8]>::to_vec)
/// }
/// assert!(bytes("ab") < bytes("abc"));
/// assert!(bytes(&-1i128) < bytes(&1i128));
/// assert_eq!(bytes::<(u64, String), _>(&(7, "abc")), bytes(&(7u64, String::from("abc"))));
/// assert_eq!(String::from_bytes(&bytes("abc")), "abc");
/// ```
/// A type that has no implementation can use the bytes of another type with the same order:
/// ```
/// # use latchless_core as latchless;
/// use latchless::BytesKey;
/// use std::cmp::Reverse;
///
/// /// A table's key as a storage engine keeps it: by name, newest first.
/// #[derive(Debug, Clone, PartialEq)]
/// struct Versioned {
///     name: String,
///     sequence: u64,
/// }
/// impl BytesKey for Versioned {
///     const FIXED: Option<usize> = None;
///     fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
///         (&self.name, Reverse(self.sequence)).with_bytes(f)
///     }
///     fn from_bytes(bytes: &[u8]) -> Self {
///         let (name, Reverse(sequence)) = <(String, Reverse<u64>)>::from_bytes(bytes);
///         Self { name, sequence }
///     }
/// }
/// let newer = Versioned { name: "a".into(), sequence: 9 };
/// let older = Versioned { name: "a".into(), sequence: 3 };
/// assert!(newer.with_bytes(|newer| older.with_bytes(|older| newer < older)));
/// assert_eq!(newer.with_bytes(Versioned::from_bytes), newer);
/// ```
///
/// `Owned` is the type that an index stores and returns. All types with one `Owned` have the same bytes for
/// the same key: `str` and `String`, `(u64, &str)` and `(u64, String)`. A `&str` in a tuple may be a part of
/// several: where nothing else names the one that is meant, write `&String`, as above.
#[diagnostic::on_unimplemented(
    message = "`{Self}` isn't a key of an index whose keys are `{Owned}`",
    label = "not a `BytesKey<{Owned}>`",
    note = "keys are strings, byte strings, `[u8; N]`, numbers, `bool`, `char`, IP addresses, `latchless::Nanos`, and \
            `Option`s, `Reverse`s and tuples of these",
    note = "an index of `String` is asked by `&str`, one of `Vec<u8>` by `&[u8]` (`&b\"key\"[..]`), one of \
            `(String, u64)` by `&(\"key\", 7)`",
    note = "paths are stored as `String` or `Vec<u8>`, a `Duration` and the time since an epoch as \
            `latchless::Nanos`",
    note = "a type of your own is a key once it implements `latchless::BytesKey`"
)]
pub trait BytesKey<Owned = Self> {
    /// The length of every key in bytes, if all keys have the same length.
    const FIXED: Option<usize>;
    /// Whether keys are [`VersionedKey`](super::versioned::VersionedKey)s: the versions of a key then have one
    /// hash.
    #[doc(hidden)]
    const IS_VERSIONED: bool = false;
    /// Calls `f` with the key's bytes, which live on the stack or in the key. Nothing is allocated for keys
    /// of one part, nor for keys of several parts up to 128 bytes.
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R;
    /// Returns the bytes that [`Self::with_bytes`] passes on, if the key holds them contiguously; batches
    /// then copy no keys. `None`, the default, if the bytes are computed.
    fn held_bytes(&self) -> Option<&[u8]> {
        None
    }
    /// Returns the key with these bytes, which come from [`Self::with_bytes`]. An implementation may panic
    /// for any other bytes.
    fn from_bytes(bytes: &[u8]) -> Owned;

    /// Returns whether a key has these bytes, whatever their source: keys that are read from a file are
    /// checked first. The default calls [`Self::from_bytes`], and panics if that panics.
    fn is_key(bytes: &[u8]) -> bool
    where
        Owned: BytesKey,
    {
        Self::from_bytes(bytes).with_bytes(|own| own == bytes)
    }

    /// The name of this type in a file, so that its keys aren't mistaken for those of another type. `Self`
    /// and `Owned` have the same name. The default is the compiler's name for `Owned`, with the names of its
    /// modules; override it if files must stay readable after the type or its modules are renamed.
    fn type_name() -> Cow<'static, str> {
        type_name::<Owned>().into()
    }
}

/// The panic message for bytes that no key has.
pub(super) const STORED: &str = "only bytes of keys that were stored are decoded";

/// Converts the bytes of a key of fixed length to an array.
#[inline]
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect(STORED)
}

impl<const N: usize> BytesKey for [u8; N] {
    const FIXED: Option<usize> = Some(N);

    #[inline]
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(self)
    }

    #[inline]
    fn held_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }

    #[inline]
    fn from_bytes(bytes: &[u8]) -> Self {
        array(bytes)
    }

    fn is_key(bytes: &[u8]) -> bool {
        bytes.len() == N
    }

    fn type_name() -> Cow<'static, str> {
        format!("[u8; {N}]").into()
    }
}

/// References and boxes, for lookups: they have the bytes of the key that they point to.
macro_rules! pointer {
    ($([$($parameter:tt)*] $pointer:ty),*) => {$(
        impl<Owned: BytesKey, $($parameter)*> BytesKey<Owned> for $pointer {
            const FIXED: Option<usize> = T::FIXED;
            const IS_VERSIONED: bool = T::IS_VERSIONED;

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                T::with_bytes(self, f)
            }

            #[inline]
            fn held_bytes(&self) -> Option<&[u8]> {
                T::held_bytes(self)
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Owned {
                T::from_bytes(bytes)
            }

            fn is_key(bytes: &[u8]) -> bool {
                T::is_key(bytes)
            }

            fn type_name() -> Cow<'static, str> {
                T::type_name()
            }
        }
    )*};
}
pointer!(
    [T: BytesKey<Owned> + ?Sized] &T,
    [T: BytesKey<Owned> + ?Sized] Box<T>,
    [T: BytesKey<Owned> + ToOwned + ?Sized] Cow<'_, T>
);

/// Keys of fixed length: the conversion to the array that has the key's order, and back.
macro_rules! fixed {
    ($($(#[$condition:meta])* $key:ty: $name:literal, $bytes:literal, $encode:expr, $decode:expr;)*) => {$(
        $(#[$condition])*
        impl BytesKey for $key {
            const FIXED: Option<usize> = Some($bytes);

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                let encode: fn(&Self) -> [u8; $bytes] = $encode;
                f(&encode(self))
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let decode: fn([u8; $bytes]) -> Option<Self> = $decode;
                decode(array(bytes)).expect(STORED)
            }

            fn is_key(bytes: &[u8]) -> bool {
                let decode: fn([u8; $bytes]) -> Option<Self> = $decode;
                bytes.try_into().ok().and_then(decode).is_some()
            }

            fn type_name() -> Cow<'static, str> {
                $name.into()
            }
        }
    )*};
}
fixed! {
    (): "()", 0, |()| [], |[]| Some(());
    bool: "bool", 1, |key| [u8::from(*key)], |[byte]| (byte < 2).then_some(byte == 1);
    char: "char", 4, |key| u32::from(*key).to_be_bytes(), |bytes| char::from_u32(u32::from_be_bytes(bytes));
    f32: "f32", 4, |key| Key::encode(*key).to_be_bytes(), |bytes| Some(Key::decode(u32::from_be_bytes(bytes)));
    f64: "f64", 8, |key| Key::encode(*key).to_be_bytes(), |bytes| Some(Key::decode(u64::from_be_bytes(bytes)));
    Ipv4Addr: "ipv4", 4, Ipv4Addr::octets, |bytes| Some(bytes.into());
    Ipv6Addr: "ipv6", 16, Ipv6Addr::octets, |bytes| Some(bytes.into());
    #[cfg(feature = "uuid")]
    uuid::Uuid: "uuid", 16, |key| *key.as_bytes(), |bytes| Some(uuid::Uuid::from_bytes(bytes));
    Nanos: "nanos", 8, |key| key.0.to_be_bytes(), |bytes| Some(Nanos(u64::from_be_bytes(bytes)));
}

/// Integers, big-endian. Signed ones have their sign bit flipped, which moves the negative half below the
/// positive one. `usize` and `isize` take eight bytes on every machine, and have the type names of the
/// 64-bit integers.
macro_rules! integer {
    ($($key:ty: $name:literal, $wide:ty, $bits:ty, $bytes:literal;)*) => {
        fixed! {$(
            $key: $name, $bytes,
            |key| (*key as $wide as $bits ^ <$wide>::MIN as $bits).to_be_bytes(),
            |bytes| Some((<$bits>::from_be_bytes(bytes) ^ <$wide>::MIN as $bits) as $wide as $key);
            NonZero<$key>: $name, $bytes,
            |key| (key.get() as $wide as $bits ^ <$wide>::MIN as $bits).to_be_bytes(),
            |bytes| Self::new((<$bits>::from_be_bytes(bytes) ^ <$wide>::MIN as $bits) as $wide as $key);
        )*}
    };
}
integer! {
    u8: "u8", u8, u8, 1;
    u16: "u16", u16, u16, 2;
    u32: "u32", u32, u32, 4;
    u64: "u64", u64, u64, 8;
    u128: "u128", u128, u128, 16;
    usize: "u64", u64, u64, 8;
    i8: "i8", i8, u8, 1;
    i16: "i16", i16, u16, 2;
    i32: "i32", i32, u32, 4;
    i64: "i64", i64, u64, 8;
    i128: "i128", i128, u128, 16;
    isize: "i64", i64, u64, 8;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_are_lawful, bytes_of, random_cases};
    use core::cmp::Ordering;
    use core::fmt::Debug;
    use proptest::prelude::*;

    /// Checks all promises of a type, for two keys that compare by their own order.
    fn lawful<K: BytesKey + Ord + Debug>(a: &K, b: &K) {
        bytes_are_lawful(a, b, a.cmp(b));
    }

    #[test]
    fn the_ends_of_every_integer_keep_their_order() {
        macro_rules! ends {
            ($($key:ty),*) => {$({
                let ends = [<$key>::MIN, <$key>::MIN + 1, (0 as $key).wrapping_sub(1), 0, 1, <$key>::MAX - 1, <$key>::MAX];
                for a in ends {
                    for b in ends {
                        lawful(&a, &b);
                        if let (Some(a), Some(b)) = (NonZero::new(a), NonZero::new(b)) {
                            lawful(&a, &b);
                        }
                    }
                }
            })*};
        }
        ends!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);
        assert_eq!(bytes_of(&i128::MIN), [0; 16]);
        assert_eq!(bytes_of(&1u128)[15], 1);
    }

    #[test]
    fn floats_have_a_total_order() {
        let keys =
            [-f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, f64::INFINITY, f64::NAN];
        for (i, a) in keys.iter().enumerate() {
            for (j, b) in keys.iter().enumerate() {
                assert_eq!(bytes_of(a).cmp(&bytes_of(b)), i.cmp(&j));
            }
            assert_eq!(f64::from_bytes(&bytes_of(a)).to_bits(), a.to_bits());
        }
    }

    #[test]
    #[should_panic(expected = "keys that were stored")]
    fn bytes_of_no_text_are_refused() {
        let _ = String::from_bytes(&[0xff]);
    }

    #[test]
    #[should_panic(expected = "keys that were stored")]
    fn bytes_of_another_length_are_refused() {
        let _ = u64::from_bytes(&[0; 7]);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn keys_of_fixed_length(a: u128, b: u128, same_above in 0u32..17, c: char, d: char) {
            // Many of them differ in their later bytes alone.
            let above = u128::MAX.checked_shr(8 * same_above).map_or(u128::MAX, |low| !low);
            let b = a & above | b & !above;
            macro_rules! all {
                ($($key:ty),*) => {$( lawful(&(a as $key), &(b as $key)); )*};
            }
            all!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);
            lawful(&Ipv4Addr::from(a as u32), &Ipv4Addr::from(b as u32));
            lawful(&Ipv6Addr::from(a), &Ipv6Addr::from(b));
            lawful(&Nanos(a as u64), &Nanos(b as u64));
            #[cfg(feature = "uuid")]
            lawful(&uuid::Uuid::from_u128(a), &uuid::Uuid::from_u128(b));
            lawful(&(a % 2 == 0), &(b % 2 == 0));
            lawful(&c, &d);
            lawful(&a.to_be_bytes(), &b.to_be_bytes());
            lawful::<[u8; 3]>(&a.to_be_bytes()[..3].try_into().unwrap(), &b.to_be_bytes()[..3].try_into().unwrap());
            let (x, y) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
            prop_assert_eq!(bytes_of(&x).cmp(&bytes_of(&y)), x.total_cmp(&y));
            prop_assert_eq!(f64::from_bytes(&bytes_of(&x)).to_bits(), x.to_bits());
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            prop_assert_eq!(bytes_of(&x).cmp(&bytes_of(&y)), x.total_cmp(&y));
            prop_assert_eq!(f32::from_bytes(&bytes_of(&x)).to_bits(), x.to_bits());
        }
    }

    #[test]
    fn bytes_that_no_key_has_are_told() {
        for (no_key, key) in [([2], [1]), ([0xff], [0])] {
            assert!(!bool::is_key(&no_key) && bool::is_key(&key));
        }
        assert!(!String::is_key(&[0xff]) && <Box<str> as BytesKey>::is_key("é".as_bytes()));
        assert!(!char::is_key(&0xd800_u32.to_be_bytes()) && char::is_key(&0x10_ffff_u32.to_be_bytes()));
        assert!(!<NonZero<u16>>::is_key(&[0, 0]) && <NonZero<u16>>::is_key(&[0, 1]));
        assert!(!<NonZero<i16>>::is_key(&[0x80, 0]) && <NonZero<i16>>::is_key(&[0, 0]));
        assert!(!u64::is_key(&[0; 7]) && !u64::is_key(&[0; 9]) && u64::is_key(&[0xff; 8]));
        assert!(!<[u8; 3]>::is_key(&[0; 2]) && <[u8; 3]>::is_key(&[0; 3]));
    }

    #[test]
    fn integers_of_the_machine_have_the_names_of_their_bytes() {
        assert_eq!([usize::type_name(), isize::type_name(), i128::type_name()], ["u64", "i64", "i128"]);
    }

    #[test]
    fn keys_of_one_length_say_so() {
        assert_eq!((u128::FIXED, bool::FIXED, <[u8; 33]>::FIXED), (Some(16), Some(1), Some(33)));
        assert_eq!((<&u64>::FIXED, <&String>::FIXED), (Some(8), None));
        bytes_are_lawful(&[7u8; 300], &[7u8; 300], Ordering::Equal);
    }
}
