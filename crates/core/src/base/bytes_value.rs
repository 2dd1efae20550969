//! Values of an index of byte strings: one word, up to eight words, or a byte string.

use super::key::Bits;
use super::replacement::{Replacement, in_place, with_memory};
use super::value::Value;
use core::fmt::Debug;

/// The maximum length in words of a value that isn't a byte string.
pub const WORDS_MAX: usize = 8;

/// A value of an index whose keys are byte strings.
///
/// Implemented for every [`Value`]; for `u128`, `i128`, [`Ipv6Addr`](core::net::Ipv6Addr) and `Uuid`; for
/// `[u8; N]` of up to 64 bytes; for arrays of up to eight `u64`, `i64` or `f64`; for pairs of numbers of 32
/// or 64 bits and triples of 64-bit numbers; for the byte strings `Vec<u8>`, `Box<[u8]>`, `String` and
/// `Box<str>`; and by features for types of other crates (`bytes`, `chrono`, `jiff`, `time`, `uuid`).
///
/// Any `Copy` type of up to 64 bytes can be a value: implement its conversion to words.
///
/// ```
/// # mod latchless { pub use latchless_core::*; pub use latchless_core::base::bytes_value as bytes; }
/// use latchless::{BytesValue, WideValue, bytes::Words};
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Extent {
///     file: u32,
///     start: u64,
///     len: u64,
/// }
/// impl WideValue<3> for Extent {
///     fn to_words(self) -> [u64; 3] {
///         [self.file.into(), self.start, self.len]
///     }
///     fn from_words([file, start, len]: [u64; 3]) -> Self {
///         Self { file: file as u32, start, len }
///     }
/// }
/// impl BytesValue for Extent {
///     type Form = Words<3>;
/// }
/// let extent = Extent { file: 3, start: 1 << 40, len: 4096 };
/// assert_eq!(Extent::from_words(extent.to_words()), extent);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a value of an index: a value is `Copy` and has at most 64 bytes, or is a `String`, a \
               `Vec<u8>` or an `Arc`",
    label = "not a value",
    note = "a value of any type and size goes into an `Arc`: `Index<K, Arc<{Self}>>`; a clonable one \
            also into a `latchless::index::Slot`",
    note = "a `Duration` is a value as `latchless::Nanos`",
    note = "a type of your own is a value once it implements `latchless::IndexValue`, and a `Copy` one also once it \
            implements `latchless::WideValue` and `latchless::BytesValue`"
)]
pub trait BytesValue: Clone + Debug + Send + Sync + 'static {
    /// The form in which it is stored: [`Word`], [`Words`], [`ByteString`] or [`Text`].
    type Form: Form<Self>;
}

/// A `Copy` value of up to eight words.
///
/// # Contract
/// `V::from_words(v.to_words())` returns `v`. An index calls `from_words` only with words of values that
/// were stored, so an implementation may panic for any others. Operations that compare values compare their
/// words.
pub trait WideValue<const N: usize>: Copy + Debug + Send + Sync + 'static {
    /// Returns the value's words.
    fn to_words(self) -> [u64; N];
    /// Returns the value that has these words, which come from [`WideValue::to_words`].
    fn from_words(words: [u64; N]) -> Self;
}

/// The form of the values of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One word.
    Word,
    /// This many words.
    Words(usize),
    /// A byte string.
    Bytes,
}

/// A borrowed value as an index stores it.
#[derive(Debug, Clone, Copy)]
pub enum Raw<'v> {
    /// One word.
    Word(u64),
    /// As many words as the form has.
    Words(&'v [u64]),
    /// A byte string.
    Bytes(&'v [u8]),
}

/// A form of values of type `V`. Sealed: there are four, which only indexes use.
pub trait Form<V>: Replacement + sealed::Sealed + 'static {
    /// The type that operations take and scans lend: the value itself if it is `Copy`, otherwise a slice of
    /// the byte string.
    type Lent<'v>: Copy + Debug;
    /// A lent value as words or bytes.
    #[doc(hidden)]
    type Held<'v>: Copy + Debug;
    /// The kind of this form.
    #[doc(hidden)]
    const KIND: Kind;
    /// Lends a value.
    fn lend(value: &V) -> Self::Lent<'_>;
    /// Copies a lent value to an owned one.
    fn own(lent: Self::Lent<'_>) -> V;
    #[doc(hidden)]
    fn hold<'v>(lent: Self::Lent<'v>) -> Self::Held<'v>;
    #[doc(hidden)]
    fn raw<'h>(held: &'h Self::Held<'_>) -> Raw<'h>;
    /// Returns the value that was stored as `raw`, which is of the form's kind.
    #[doc(hidden)]
    fn lent<'v>(raw: Raw<'v>) -> Self::Lent<'v>;
}

/// A form whose values all have the same number of words, so replacing a value needs no memory. Sealed.
pub trait FixedForm: sealed::Sealed {}
impl FixedForm for Word {}
impl<const N: usize> FixedForm for Words<N> {}
in_place!([] Word);
in_place!([const N: usize] Words<N>);
with_memory!(ByteString);
with_memory!(Text);

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Word {}
    impl<const N: usize> Sealed for super::Words<N> {}
    impl Sealed for super::ByteString {}
    impl Sealed for super::Text {}
}

/// The form of each [`Value`]: one word.
#[derive(Debug, Clone, Copy)]
pub struct Word;

/// The form of a [`WideValue`]: `N` words, at most eight.
#[derive(Debug, Clone, Copy)]
pub struct Words<const N: usize>;

/// The form of `Vec<u8>`, `Box<[u8]>` and `Bytes`.
#[derive(Debug, Clone, Copy)]
pub struct ByteString;

/// The form of `String` and `Box<str>`.
#[derive(Debug, Clone, Copy)]
pub struct Text;

/// The panic message for a stored value of another kind than the form's.
const STORED: &str = "only values that were stored are decoded";

#[diagnostic::do_not_recommend]
impl<V: Value> BytesValue for V {
    type Form = Word;
}

impl<V: Value> Form<V> for Word {
    type Lent<'v> = V;
    type Held<'v> = u64;
    const KIND: Kind = Kind::Word;

    #[inline(always)]
    fn lend(value: &V) -> V {
        *value
    }

    #[inline(always)]
    fn own(lent: V) -> V {
        lent
    }

    #[inline(always)]
    fn hold<'v>(lent: Self::Lent<'v>) -> Self::Held<'v> {
        lent.encode().to_u64()
    }

    #[inline(always)]
    fn raw<'h>(held: &'h u64) -> Raw<'h> {
        Raw::Word(*held)
    }

    #[inline(always)]
    fn lent<'v>(raw: Raw<'v>) -> V {
        let Raw::Word(word) = raw else { unreachable!("{STORED}") };
        V::decode(V::Bits::truncate(word))
    }
}

impl<V: WideValue<N>, const N: usize> Form<V> for Words<N> {
    type Lent<'v> = V;
    type Held<'v> = [u64; N];
    const KIND: Kind = {
        assert!(N >= 1 && N <= WORDS_MAX, "a value has one word to eight");
        Kind::Words(N)
    };

    #[inline(always)]
    fn lend(value: &V) -> V {
        *value
    }

    #[inline(always)]
    fn own(lent: V) -> V {
        lent
    }

    #[inline(always)]
    fn hold<'v>(lent: Self::Lent<'v>) -> Self::Held<'v> {
        lent.to_words()
    }

    #[inline(always)]
    fn raw<'h>(held: &'h [u64; N]) -> Raw<'h> {
        Raw::Words(held)
    }

    #[inline(always)]
    fn lent<'v>(raw: Raw<'v>) -> V {
        let Raw::Words(words) = raw else { unreachable!("{STORED}") };
        V::from_words(words.try_into().expect(STORED))
    }
}

/// Byte strings and texts: the way from the bytes to what is lent, and from there to an owned value.
macro_rules! strings {
    ($form:ty, $lent:ty, $read:expr; $($(#[$condition:meta])* $value:ty: $own:expr;)*) => {$(
        $(#[$condition])*
        impl Form<$value> for $form {
            type Lent<'v> = &'v $lent;
            type Held<'v> = &'v [u8];
            const KIND: Kind = Kind::Bytes;

            #[inline]
            fn lend(value: &$value) -> &$lent {
                value
            }

            #[inline]
            fn own(lent: &$lent) -> $value {
                $own(lent)
            }

            #[inline(always)]
            fn hold<'v>(lent: Self::Lent<'v>) -> Self::Held<'v> {
                lent.as_ref()
            }

            #[inline(always)]
            fn raw<'h>(held: &'h &[u8]) -> Raw<'h> {
                Raw::Bytes(held)
            }

            #[inline]
            fn lent<'v>(raw: Raw<'v>) -> &'v $lent {
                let Raw::Bytes(bytes) = raw else { unreachable!("{STORED}") };
                let read: fn(&[u8]) -> &$lent = $read;
                read(bytes)
            }
        }

        $(#[$condition])*
        impl BytesValue for $value {
            type Form = $form;
        }
    )*};
}
strings! {
    ByteString, [u8], |bytes| bytes;
    Vec<u8>: <[u8]>::to_vec;
    Box<[u8]>: Box::from;
    #[cfg(feature = "bytes")]
    bytes::Bytes: bytes::Bytes::copy_from_slice;
}
strings! {
    Text, str, |bytes| core::str::from_utf8(bytes).expect(STORED);
    String: str::to_owned;
    Box<str>: Box::from;
}

/// Converts a string of up to `8 * N` bytes to words, padded with zeros.
fn words_of<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut own = [0; 8];
        own[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(own);
    }
    words
}

macro_rules! byte_arrays {
    ($($words:literal: $($len:literal)*;)*) => {$($(
        impl WideValue<$words> for [u8; $len] {
            #[inline]
            fn to_words(self) -> [u64; $words] {
                words_of(&self)
            }

            #[inline]
            fn from_words(words: [u64; $words]) -> Self {
                let bytes = words.map(u64::to_le_bytes);
                *bytes.as_flattened().first_chunk().expect(STORED)
            }
        }
        impl BytesValue for [u8; $len] {
            type Form = Words<$words>;
        }
    )*)*};
}
byte_arrays! {
    2: 9 10 11 12 13 14 15 16;
    3: 17 18 19 20 21 22 23 24;
    4: 25 26 27 28 29 30 31 32;
    5: 33 34 35 36 37 38 39 40;
    6: 41 42 43 44 45 46 47 48;
    7: 49 50 51 52 53 54 55 56;
    8: 57 58 59 60 61 62 63 64;
}

macro_rules! number_arrays {
    ($($number:ty: $($len:literal)*;)*) => {$($(
        impl WideValue<$len> for [$number; $len] {
            #[inline]
            fn to_words(self) -> [u64; $len] {
                self.map(|number| number.encode())
            }

            #[inline]
            fn from_words(words: [u64; $len]) -> Self {
                words.map(Value::decode)
            }
        }
        impl BytesValue for [$number; $len] {
            type Form = Words<$len>;
        }
    )*)*};
}
number_arrays! {
    u64: 1 2 3 4 5 6 7 8;
    i64: 1 2 3 4 5 6 7 8;
    f64: 1 2 3 4 5 6 7 8;
}

macro_rules! number_tuple {
    ($len:literal: $($at:tt $number:ty),*) => {
        impl WideValue<$len> for ($($number),*) {
            #[inline]
            fn to_words(self) -> [u64; $len] {
                [$(Value::encode(self.$at).to_u64()),*]
            }

            #[inline]
            fn from_words(words: [u64; $len]) -> Self {
                ($(<$number>::decode(Bits::truncate(words[$at]))),*)
            }
        }
        impl BytesValue for ($($number),*) {
            type Form = Words<$len>;
        }
    };
}
macro_rules! number_tuples {
    ($($number:ty),*) => {$(
        number_tuple!(2: 0 $number, 1 u32);
        number_tuple!(2: 0 $number, 1 i32);
        number_tuple!(2: 0 $number, 1 f32);
        number_tuple!(2: 0 u32, 1 $number);
        number_tuple!(2: 0 i32, 1 $number);
        number_tuple!(2: 0 f32, 1 $number);
        number_tuple!(2: 0 $number, 1 u64);
        number_tuple!(2: 0 $number, 1 i64);
        number_tuple!(2: 0 $number, 1 f64);
        number_tuple!(3: 0 $number, 1 u64, 2 u64);
        number_tuple!(3: 0 $number, 1 u64, 2 i64);
        number_tuple!(3: 0 $number, 1 u64, 2 f64);
        number_tuple!(3: 0 $number, 1 i64, 2 u64);
        number_tuple!(3: 0 $number, 1 i64, 2 i64);
        number_tuple!(3: 0 $number, 1 i64, 2 f64);
        number_tuple!(3: 0 $number, 1 f64, 2 u64);
        number_tuple!(3: 0 $number, 1 f64, 2 i64);
        number_tuple!(3: 0 $number, 1 f64, 2 f64);
    )*};
}
number_tuples!(u64, i64, f64);

macro_rules! of_bits {
    ($($(#[$condition:meta])* $value:ty: $to:expr, $from:expr;)*) => {$(
        $(#[$condition])*
        impl WideValue<2> for $value {
            #[inline]
            fn to_words(self) -> [u64; 2] {
                let to: fn($value) -> u128 = $to;
                let bits = to(self);
                [bits as u64, (bits >> 64) as u64]
            }

            #[inline]
            fn from_words([low, high]: [u64; 2]) -> Self {
                let from: fn(u128) -> $value = $from;
                from(u128::from(high) << 64 | u128::from(low))
            }
        }
        $(#[$condition])*
        impl BytesValue for $value {
            type Form = Words<2>;
        }
    )*};
}
of_bits! {
    u128: |value| value, |bits| bits;
    i128: |value| value as u128, |bits| bits as i128;
    core::net::Ipv6Addr: core::net::Ipv6Addr::to_bits, core::net::Ipv6Addr::from_bits;
    #[cfg(feature = "uuid")]
    uuid::Uuid: |value| value.as_u128(), uuid::Uuid::from_u128;
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv6Addr;

    /// Checks that a value survives its encoding, and that lending it changes nothing.
    fn comes_back<V: BytesValue + PartialEq>(value: V) {
        let lent = <V::Form as Form<V>>::lend(&value);
        let held = <V::Form as Form<V>>::hold(lent);
        let raw = <V::Form as Form<V>>::raw(&held);
        let is_its_kind = match (<V::Form as Form<V>>::KIND, raw) {
            (Kind::Word, Raw::Word(_)) | (Kind::Bytes, Raw::Bytes(_)) => true,
            (Kind::Words(count), Raw::Words(words)) => words.len() == count,
            _ => false,
        };
        assert!(is_its_kind, "{raw:?}");
        assert_eq!(<V::Form as Form<V>>::own(<V::Form as Form<V>>::lent(raw)), value);
    }

    #[test]
    fn every_value_comes_back() {
        comes_back(-3i8);
        comes_back(('x', 7u32));
        comes_back(u128::MAX - 5);
        comes_back(i128::MIN);
        comes_back(Ipv6Addr::new(1, 2, 3, 4, 5, 6, 7, 8));
        #[cfg(feature = "uuid")]
        comes_back(uuid::Uuid::from_u128(7 << 100 | 3));
        comes_back([1u64, 2, u64::MAX]);
        comes_back([-1i64; 8]);
        comes_back([0.5f64, -0.0]);
        comes_back((1u64, -2i64));
        comes_back((u64::MAX, f32::MIN));
        comes_back((-7i32, i64::MIN));
        comes_back((0.5f64, u64::MAX, -1i64));
        comes_back(Vec::<u8>::new());
        comes_back(vec![0u8, 255, 0]);
        comes_back(String::from("größer"));
        comes_back(Box::<str>::from("größer"));
        comes_back(Box::<[u8]>::from([0, 255]));
        #[cfg(feature = "bytes")]
        comes_back(bytes::Bytes::from_static(b"\0\xff"));
    }

    #[test]
    fn byte_arrays_of_every_length_come_back() {
        fn bytes<const N: usize>() -> [u8; N] {
            core::array::from_fn(|at| 255 - at as u8)
        }
        macro_rules! lengths {
            ($($len:literal)*) => {$( comes_back(bytes::<$len>()); )*};
        }
        lengths!(1 7 8 9 15 16 17 24 25 31 32 33 40 41 48 49 55 56 57 63 64);
        assert_eq!(
            <[u8; 9]>::to_words([1; 9]),
            [0x0101_0101_0101_0101, 1],
            "nothing else is in the last word"
        );
    }
}
