//! Numbers as the pages of claims show them.

/// Returns a number with three significant digits; sizes in K and M.
pub fn number(value: f64) -> String {
    if value >= 1e4 && value % 1e3 == 0.0 {
        return if value >= 1e6 {
            format!("{}M", general(value / 1e6, 6))
        } else {
            format!("{}K", general(value / 1e3, 6))
        };
    }
    if value >= 1000.0 { format!("{value:.0}") } else { general(value, 3) }
}

/// Returns the least and the greatest of some numbers, or the only one, as `number` writes them.
pub fn span(values: impl Iterator<Item = f64> + Clone, number: impl Fn(f64) -> String) -> String {
    let least = number(values.clone().fold(f64::INFINITY, f64::min));
    let most = number(values.fold(f64::NEG_INFINITY, f64::max));
    if least == most { least } else { format!("{least} to {most}") }
}

/// Returns a number with that many significant digits, without zeros at its end, as C's `%g` writes it.
fn general(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_string() } else { value.to_string() };
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    let behind = (digits as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{value:.behind$}")).to_string()
}

/// Returns a number's text without zeros after the point at its end.
pub fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_sizes_a_letter() {
        let forms = [
            (0.0, "0"),
            (1.0, "1"),
            (0.651, "0.651"),
            (0.012345, "0.0123"),
            (0.000_012_3, "1.23e-05"),
            (9.999, "10"),
            (999.6, "1e+03"),
            (1234.4, "1234"),
            (10_000.0, "10K"),
            (2_097_152.0, "2097152"),
            (16_000_000.0, "16M"),
            (1_500_000.0, "1.5M"),
            (-0.5, "-0.5"),
        ];
        for (value, text) in forms {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_span_of_numbers_that_look_alike_is_one() {
        assert_eq!(span([1.0, 1.001].into_iter(), number), "1");
        assert_eq!(span([3.0, 1.0, 2.0].into_iter(), number), "1 to 3");
    }
}
