//! Numbers of few digits, which are nearly all: parsed from their bytes alone.

/// A number as it is written, with a point and no exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Few {
    is_negative: bool,
    /// All digits, as if there were no point.
    digits: u64,
    /// How many of them are after the point, if there is one.
    fraction: Option<usize>,
}

/// The most bytes of one: a sign, a point and so few digits that each number has a float of its own.
const BYTES_MAX: usize = f64::DIGITS as usize + 2;

/// Powers of ten that are floats.
const TENS: [f64; BYTES_MAX] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];

impl Few {
    /// The number in a cell; `None` if it is no number of this kind, or has leading zeros.
    pub fn read(cell: &[u8]) -> Option<Self> {
        let (is_negative, body) = match cell {
            [b'-', body @ ..] => (true, body),
            [b'+', body @ ..] => (false, body),
            body => (false, body),
        };
        if body.len() >= BYTES_MAX || matches!(body, [] | [b'.'] | [b'0', b'0'..=b'9', ..]) {
            return None;
        }
        let (mut digits, mut fraction) = (0, None);
        for (place, &byte) in body.iter().enumerate() {
            match byte {
                b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
                b'.' if fraction.is_none() => fraction = Some(body.len() - place - 1),
                _ => return None,
            }
        }
        Some(Self { is_negative, digits, fraction })
    }

    /// It, if it is an integer without a sign.
    pub fn unsigned(self) -> Option<u64> {
        (!self.is_negative && self.fraction.is_none()).then_some(self.digits)
    }

    /// It, if it is an integer.
    pub fn signed(self) -> Option<i64> {
        let digits = self.digits as i64;
        self.fraction.is_none().then_some(if self.is_negative { -digits } else { digits })
    }

    /// The float that is nearest to it, zero without a sign; `None` if it has too many digits for one of
    /// its own.
    pub fn float(self) -> Option<f64> {
        // Both are floats, so that their quotient is rounded once.
        let float = self.digits as f64 / TENS[self.fraction.unwrap_or(0)];
        let has_its_own = self.digits < 10u64.pow(f64::DIGITS);
        has_its_own.then_some(if self.is_negative { 0.0 - float } else { float })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_number_of_few_digits_is_left_to_others() {
        for none in
            ["", "-", ".", "-.", "01", "-00.5", "1e3", "1.2.3", "1234567890123456.7", "inf", "1,5", " 1", "é"]
        {
            assert_eq!(Few::read(none.as_bytes()), None, "{none}");
        }
        let number = |text: &str| Few::read(text.as_bytes()).unwrap();
        assert_eq!(
            (number("+7").unsigned(), number("-7").unsigned(), number("7.").unsigned()),
            (Some(7), None, None)
        );
        assert_eq!(
            (number("-0").signed(), number("-7").signed(), number("7.5").signed()),
            (Some(0), Some(-7), None)
        );
        assert_eq!(number("-0").float().map(f64::to_bits), Some(0));
        assert_eq!((number("5.").float(), number(".5").float()), (Some(5.0), Some(0.5)));
        assert_eq!(number("9999999999999999").float(), None);
    }

    proptest! {
        #[test]
        fn numbers_are_what_the_standard_library_reads(text in "[-+]?(0|[1-9][0-9]{0,14})(\\.[0-9]{0,14})?") {
            let Some(number) = Few::read(text.as_bytes()) else {
                prop_assert!(text.len() > BYTES_MAX - 1);
                return Ok(());
            };
            prop_assert_eq!(number.unsigned(), text.parse().ok().filter(|_| !text.starts_with('-')));
            prop_assert_eq!(number.signed(), text.parse().ok());
            if let Some(float) = number.float() {
                prop_assert_eq!(float.to_bits(), (text.parse::<f64>().unwrap() + 0.0).to_bits());
            }
        }
    }
}
