//! Numbers and ratios as the tables show them.

/// Formats a number with three significant digits.
pub fn shown(number: f64) -> String {
    match number {
        small if small < 10.0 => format!("{small:.2}"),
        middle if middle < 100.0 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

/// Formats a ratio, such as `4.50×`.
pub fn ratio(times: f64) -> String {
    if times < 10.0 { format!("{times:.2}×") } else { format!("{times:.1}×") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ratios_have_three_digits() {
        assert_eq!([0.123, 12.34, 1234.5].map(shown), ["0.12", "12.3", "1234"]);
        assert_eq!([4.5, 12.34].map(ratio), ["4.50×", "12.3×"]);
    }
}
