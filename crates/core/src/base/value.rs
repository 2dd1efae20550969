//! Values that are `Copy` and fit four or eight bytes.

use super::key::Bits;
use core::fmt::Debug;

/// A value that is stored inline, next to its key.
///
/// Implemented for the numbers of up to 64 bits, `bool`, `char`, `()`, byte strings of fixed length up to
/// `[u8; 8]`, [`Ipv4Addr`](core::net::Ipv4Addr), [`NonZero`](core::num::NonZero)s, optional or not, other
/// `Option`s of at most 32 bits, [`Nanos`](crate::base::nanos::Nanos), and tuples of two, three or four
/// values of 32 bits that pack into 64 bits. Any other type can be a value by implementing this trait.
///
/// # Contract
/// `V::decode(v.encode())` returns `v`. An index calls `decode` only with the bits of values that were
/// stored, so an implementation may panic for any others.
///
/// A value's bits need not preserve any order, but operations that compare values
/// (`Index::compare_exchange`) compare their bits.
///
/// ```
/// # use latchless_core as latchless;
/// use latchless::Value;
///
/// assert_eq!(<i16 as Value>::decode(Value::encode(-3i16)), -3);
///
/// /// Where a record is: in which file, and at which of its pages.
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Place {
///     file: u16,
///     page: u32,
/// }
/// impl Value for Place {
///     type Bits = u64;
///     fn encode(self) -> u64 {
///         u64::from(self.file) << 32 | u64::from(self.page)
///     }
///     fn decode(bits: u64) -> Self {
///         Self { file: (bits >> 32) as u16, page: bits as u32 }
///     }
/// }
/// let place = Place { file: 3, page: 9 };
/// assert_eq!(Place::decode(place.encode()), place);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't fit a word: a `Value` is `Copy` and has at most 64 bits",
    label = "not a `Value`",
    note = "an `Index` of larger values has all operations but those that need words",
    note = "a `Duration` is a value as `latchless::Nanos`",
    note = "a type of your own that fits 64 bits is a value once it implements `latchless::Value`"
)]
pub trait Value: Copy + Debug + Send + Sync + 'static {
    /// The narrowest type that holds the encoded value. An index stores the value in the wider of this type
    /// and the type of its encoded keys.
    type Bits: Bits;
    /// The number of low bits in use: in every encoded value, all bits above are zero. It is the value's
    /// width in a tuple. The default is the full width.
    const WIDTH_BITS: u32 = 8 * Self::Bits::BYTES as u32;
    /// Returns the value's bits.
    fn encode(self) -> Self::Bits;
    /// Returns the value that has these bits, which come from [`Value::encode`].
    fn decode(bits: Self::Bits) -> Self;
}

/// A value whose encoding fits `B`. Every [`Value`] fits `u64`; those of at most 32 bits fit `u32`.
/// Implemented for all of them; indexes whose values are as wide as their encoded keys have it as a bound.
///
/// ```
/// # use latchless_core::Fits;
/// let bits: u64 = 7u16.encode_as();
/// assert_eq!((bits, u16::decode_from(bits)), (7, 7));
/// ```
pub trait Fits<B: Bits>: Value {
    /// Encodes the value in this width.
    fn encode_as(self) -> B;
    /// Decodes a value that was encoded in this width.
    fn decode_from(bits: B) -> Self;
}

impl<V: Value<Bits = u32>> Fits<u32> for V {
    #[inline(always)]
    fn encode_as(self) -> u32 {
        self.encode()
    }

    #[inline(always)]
    fn decode_from(bits: u32) -> Self {
        V::decode(bits)
    }
}

impl<V: Value> Fits<u64> for V {
    #[inline(always)]
    fn encode_as(self) -> u64 {
        self.encode().to_u64()
    }

    #[inline(always)]
    fn decode_from(bits: u64) -> Self {
        V::decode(V::Bits::truncate(bits))
    }
}

macro_rules! integer_value {
    ($bits:ty: $($value:ty as $unsigned:ty),*) => {$(
        impl Value for $value {
            type Bits = $bits;
            const WIDTH_BITS: u32 = <$value>::BITS;

            #[inline(always)]
            fn encode(self) -> $bits {
                // Unsigned first: a sign would fill the bits above.
                self as $unsigned as $bits
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
                bits as $value
            }
        }
    )*};
}
integer_value!(u32: u8 as u8, u16 as u16, u32 as u32, i8 as u8, i16 as u16, i32 as u32);
integer_value!(u64: u64 as u64, i64 as u64, usize as usize, isize as usize);

macro_rules! float_value {
    ($($value:ty => $bits:ty),*) => {$(
        impl Value for $value {
            type Bits = $bits;

            #[inline(always)]
            fn encode(self) -> $bits {
                <$value>::to_bits(self)
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
                <$value>::from_bits(bits)
            }
        }
    )*};
}
float_value!(f32 => u32, f64 => u64);

impl Value for () {
    type Bits = u32;
    const WIDTH_BITS: u32 = 0;

    #[inline(always)]
    fn encode(self) -> u32 {
        0
    }

    #[inline(always)]
    fn decode(_: u32) -> Self {}
}

/// Values that are keys as well, with the same bits.
macro_rules! value_as_key {
    ($($value:ty),*) => {$(
        impl Value for $value {
            type Bits = <$value as super::key::Key>::Bits;
            const WIDTH_BITS: u32 = <$value as super::key::Key>::WIDTH_BITS;

            #[inline(always)]
            fn encode(self) -> Self::Bits {
                super::key::Key::encode(self)
            }

            #[inline(always)]
            fn decode(bits: Self::Bits) -> Self {
                super::key::Key::decode(bits)
            }
        }
    )*};
}
value_as_key!(
    bool,
    char,
    core::net::Ipv4Addr,
    [u8; 1],
    [u8; 2],
    [u8; 3],
    [u8; 4],
    [u8; 5],
    [u8; 6],
    [u8; 7],
    [u8; 8]
);

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use core::num::NonZero;

    /// Checks that a value is decoded from its own bits and from every width that it fits.
    fn round_trip<V: Value + PartialEq>(value: V) {
        assert_eq!(V::decode(value.encode()), value);
        assert_eq!(value.encode().to_u64().checked_shr(V::WIDTH_BITS).unwrap_or(0), 0, "it is wider");
        assert_eq!(<V as Fits<u64>>::decode_from(value.encode_as()), value);
    }

    fn narrow_round_trip<V: Value<Bits = u32> + PartialEq>(value: V) {
        round_trip(value);
        assert_eq!(<V as Fits<u32>>::decode_from(value.encode_as()), value);
    }

    #[test]
    fn every_value_comes_back() {
        narrow_round_trip(-5i8);
        narrow_round_trip(i32::MIN);
        narrow_round_trip(f32::MIN_POSITIVE);
        narrow_round_trip(true);
        narrow_round_trip('ß');
        narrow_round_trip(());
        narrow_round_trip([1u8, 2, 3]);
        narrow_round_trip(NonZero::new(-1i32));
        narrow_round_trip(NonZero::new(-1i8).unwrap());
        narrow_round_trip(Ipv4Addr::LOCALHOST);
        narrow_round_trip(Some(-1i16));
        narrow_round_trip(None::<NonZero<u8>>);
        round_trip(i64::MIN);
        round_trip(u64::MAX);
        round_trip(-0.5f64);
        round_trip(usize::MAX);
        round_trip(isize::MIN);
        round_trip([1u8, 2, 3, 4, 5]);
        round_trip(*b"ABCDEFGH");
        round_trip((i32::MIN, 0.5f32));
        round_trip(('x', false));
        round_trip(NonZero::new(u64::MAX));
    }
}
