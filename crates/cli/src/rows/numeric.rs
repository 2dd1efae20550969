//! The types that keys may have: how each is parsed, and the places of other numbers among its keys.

use super::number::Number;
use latchless::Key;
use latchless::snapshot::Native;

/// Why a text is no key of a type.
pub enum Unfit {
    /// It isn't written as that type's numbers are.
    Syntax,
    /// It is, but the type has none of that size.
    Size,
}

/// A type of keys, and the places of other numbers among its own.
pub trait Numeric: Key + Native {
    /// The smallest key that is a number or an infinity.
    const SMALLEST: Self;
    /// The largest key that is a number or an infinity.
    const LARGEST: Self;

    /// The one representative of all keys that are equal to this: zero has two signs, and NaN many forms.
    fn unified(self) -> Self;

    /// The key that a text is written for.
    fn read(text: &str) -> Result<Self, Unfit>;

    /// The largest key that is this number or smaller.
    fn at_most(number: &Number) -> Option<Self>;

    /// The smallest key that is this number or larger.
    fn at_least(number: &Number) -> Option<Self>;
}

macro_rules! integers {
    ($($int:ty)*) => { $(
        impl Numeric for $int {
            const SMALLEST: Self = Self::MIN;
            const LARGEST: Self = Self::MAX;

            fn unified(self) -> Self {
                self
            }

            fn read(text: &str) -> Result<Self, Unfit> {
                text.parse().map_err(|_| Unfit::Syntax)
            }

            fn at_most(number: &Number) -> Option<Self> {
                let floor = number.floor();
                (floor >= i128::from(Self::MIN)).then(|| Self::try_from(floor).unwrap_or(Self::MAX))
            }

            fn at_least(number: &Number) -> Option<Self> {
                let ceil = number.ceil();
                (ceil <= i128::from(Self::MAX)).then(|| Self::try_from(ceil).unwrap_or(Self::MIN))
            }
        }
    )* };
}

integers!(u32 u64 i32 i64);

macro_rules! floats {
    ($($float:ty)*) => { $(
        impl Numeric for $float {
            const SMALLEST: Self = Self::NEG_INFINITY;
            const LARGEST: Self = Self::INFINITY;

            fn unified(self) -> Self {
                if self.is_nan() { Self::NAN } else { self + 0.0 }
            }

            fn read(text: &str) -> Result<Self, Unfit> {
                let read: Self = text.parse().map_err(|_| Unfit::Syntax)?;
                if read.is_infinite() && text.contains(|digit: char| digit.is_ascii_digit()) {
                    return Err(Unfit::Size);
                }
                Ok(read.unified())
            }

            fn at_most(number: &Number) -> Option<Self> {
                let near = number.nearest::<Self>()?;
                let below = Number::of(near.into())? <= *number;
                Some(if below { near } else { near.next_down() } + 0.0)
            }

            fn at_least(number: &Number) -> Option<Self> {
                let near = number.nearest::<Self>()?;
                let above = Number::of(near.into())? >= *number;
                Some(if above { near } else { near.next_up() } + 0.0)
            }
        }
    )* };
}

floats!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of numbers around the ends, the gaps and the limits of every type.
    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?[0-9]{1,21}(\\.[0-9]{1,3})?",
            "-?[0-9]{1,3}(\\.[0-9]{1,25})?e-?[0-9]{1,3}",
            any::<f64>().prop_map(|float| float.to_string()),
            any::<f32>().prop_map(|float| float.to_string()),
            any::<i64>().prop_map(|whole| format!("{whole}.5")),
            (any::<u64>(), -2i128..3).prop_map(|(whole, more)| (i128::from(whole) + more).to_string()),
            prop::sample::select(
                &["0", "-0", "inf", "-inf", "1e400", "-1e400", "1e-400", "18446744073709551616"][..]
            )
            .prop_map(str::to_owned),
        ]
    }

    /// No key of the type is between the place that was found and the number: the next key is beyond it.
    fn check<K: Numeric>(
        text: &str,
        exact: impl Fn(K) -> Number,
        next: impl Fn(K) -> Option<K>,
        previous: impl Fn(K) -> Option<K>,
    ) {
        let Some(number) = Number::parse(text) else { return };
        match K::at_most(&number) {
            Some(key) => {
                assert!(exact(key) <= number, "{text}");
                assert!(next(key).is_none_or(|key| exact(key) > number), "{text}");
            }
            None => assert!(exact(K::SMALLEST) > number, "{text}"),
        }
        match K::at_least(&number) {
            Some(key) => {
                assert!(exact(key) >= number, "{text}");
                assert!(previous(key).is_none_or(|key| exact(key) < number), "{text}");
            }
            None => assert!(exact(K::LARGEST) < number, "{text}"),
        }
    }

    macro_rules! check_integer {
        ($int:ty, $text:expr) => {
            check::<$int>(
                $text,
                |key| Number::parse(&key.to_string()).unwrap(),
                |key| key.checked_add(1),
                |key| key.checked_sub(1),
            )
        };
    }

    macro_rules! check_float {
        ($float:ty, $text:expr) => {
            check::<$float>(
                $text,
                |key| Number::of(key.into()).unwrap(),
                |key| (key < <$float>::INFINITY).then(|| key.next_up()),
                |key| (key > <$float>::NEG_INFINITY).then(|| key.next_down()),
            )
        };
    }

    proptest! {
        #[test]
        fn a_number_lies_right_between_two_keys(text in texts()) {
            check_integer!(u32, &text);
            check_integer!(u64, &text);
            check_integer!(i32, &text);
            check_integer!(i64, &text);
            check_float!(f32, &text);
            check_float!(f64, &text);
        }
    }

    #[test]
    fn a_float_beyond_all_others_is_no_infinity() {
        assert!(matches!(f64::read("1e400"), Err(Unfit::Size)));
        assert!(matches!(f32::read("-1e39"), Err(Unfit::Size)));
        assert!(matches!(f64::read("-inf"), Ok(f64::NEG_INFINITY)));
        let huge = Number::parse("1e400").unwrap();
        assert_eq!((f64::at_most(&huge), f64::at_least(&huge)), (Some(f64::MAX), Some(f64::INFINITY)));
    }

    #[test]
    fn zero_is_one_key() {
        for zero in ["0", "-0", "-0.0"] {
            assert_eq!(f64::read(zero).ok().map(f64::to_bits), Some(0));
        }
    }
}
