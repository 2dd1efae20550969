//! The distance between keys, by which the nearest entry is found.

use super::key::Key;
use super::nanos::Nanos;
use core::cmp::Reverse;
use core::net::Ipv4Addr;

/// Keys on a line: any two of them have a distance.
///
/// The distance grows with the number of keys in between: where `a < b < c`, `b` is no farther from `a` than
/// `c` is. So the nearest entry to a key is one of its two neighbours.
///
/// ```
/// # mod latchless { pub use latchless_core::base::distance::Distance; }
/// use latchless::Distance;
/// assert_eq!((-3i64).distance(4), 7);
/// assert_eq!(i64::MIN.distance(i64::MAX), u64::MAX);
/// assert!(1f64.distance(1.5) < 1f64.distance(0.25));
/// assert!(1f64.distance(f64::INFINITY) < 1f64.distance(f64::NAN));
/// ```
#[diagnostic::on_unimplemented(
    message = "keys of type `{Self}` have no distance",
    label = "no way to say which of two keys is nearer",
    note = "numbers, `char`, IPv4 addresses and `latchless::Nanos` have a distance; a `latchless::Key` of your own \
            has one once it implements `latchless::Distance`",
    note = "`nearest_by` and `nearest_columns_by` take keys of any type, and the distance as a closure"
)]
pub trait Distance: Key {
    /// Returns the distance between two keys. For integers it is their difference, for times the difference
    /// in nanoseconds. For floats it has no unit: it is the bits of the difference as an `f64`, which sort
    /// as the differences do. NaN is farther from all other keys than infinities are.
    fn distance(self, other: Self) -> u64;
}

macro_rules! integers {
    ($($key:ty),*) => {$(
        impl Distance for $key {
            #[inline(always)]
            fn distance(self, other: Self) -> u64 {
                self.abs_diff(other) as u64
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

macro_rules! through {
    ($($key:ty: $number:expr;)*) => {$(
        impl Distance for $key {
            #[inline(always)]
            fn distance(self, other: Self) -> u64 {
                let number = $number;
                number(self).distance(number(other))
            }
        }
    )*};
}
through! {
    char: u32::from;
    Nanos: |Self(nanos)| nanos;
    Ipv4Addr: Self::to_bits;
    f32: f64::from;
}

impl Distance for f64 {
    #[inline(always)]
    fn distance(self, other: Self) -> u64 {
        // Two infinities have no difference, and neither has a NaN from itself.
        if Key::encode(self) == Key::encode(other) { 0 } else { (self - other).abs().to_bits() }
    }
}

/// The distance of the wrapped keys.
impl<K: Distance> Distance for Reverse<K> {
    #[inline(always)]
    fn distance(self, other: Self) -> u64 {
        self.0.distance(other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that distances grow along keys in ascending order.
    fn grows<K: Distance>(ordered: &[K]) {
        for (at, &key) in ordered.iter().enumerate() {
            assert_eq!(key.distance(key), 0, "{key:?}");
            let onward: Vec<u64> = ordered[at..].iter().map(|&other| key.distance(other)).collect();
            let back: Vec<u64> = ordered[..=at].iter().rev().map(|&other| other.distance(key)).collect();
            assert!(onward.is_sorted() && back.is_sorted(), "{key:?}: {onward:?}, {back:?}");
        }
    }

    #[test]
    fn keys_further_on_are_no_nearer() {
        grows(&[u64::MIN, 1, 2, 1 << 63, u64::MAX - 1, u64::MAX]);
        grows(&[i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX]);
        grows(&[i8::MIN, -1, 0, 1, i8::MAX]);
        grows(&['\0', 'a', '\u{D7FF}', '\u{E000}', char::MAX]);
        grows(&[Nanos(0), Nanos(7), Nanos(u64::MAX)]);
        grows(&[Ipv4Addr::UNSPECIFIED, Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST]);
        grows(&[Reverse(9u32), Reverse(3), Reverse(0)]);
        let floats =
            [f64::NEG_INFINITY, f64::MIN, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::MAX];
        grows(&floats);
        grows(&[1.0, f64::MAX, f64::INFINITY, f64::NAN]);
        grows(&[-f64::NAN, f64::NEG_INFINITY, -1.0]);
        grows(&[f32::NEG_INFINITY, f32::MIN, -0.0, 0.0, f32::MAX, f32::INFINITY, f32::NAN]);
    }
}
