//! Numbers on charts.

use crate::claims::number::trimmed;

/// A number as an axis shows it: `30K`, `1M`, `0.2`.
pub fn short(number: f64) -> String {
    for (unit, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "K")] {
        let scaled = number / unit;
        if scaled.abs() >= 1.0 && (scaled * 100.0).fract() == 0.0 {
            return format!("{scaled}{letter}");
        }
    }
    // Sizes that are powers of two.
    for (unit, letter) in [(1_048_576.0, "M"), (1024.0, "K")] {
        if number >= unit && (number / unit).fract() == 0.0 {
            return format!("{}{letter}", number / unit);
        }
    }
    if number != 0.0 && number.abs() < 0.001 {
        return format!("{number:.0e}");
    }
    let text = format!("{number:.3}");
    trimmed(&text).to_string()
}

/// A number with three digits, for a place among other numbers.
pub fn brief(number: f64) -> String {
    let (scaled, letter) = [(1e9, "G"), (1e6, "M"), (1e4, "K")]
        .into_iter()
        .find(|(unit, _)| number.abs() >= *unit)
        .map_or((number, ""), |(unit, letter)| (number / if letter == "K" { 1e3 } else { unit }, letter));
    let digits = match scaled.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 || size == 0.0 => 2,
        _ => 3,
    };
    format!("{}{letter}", trimmed(&format!("{scaled:.digits$}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_letters_for_thousands_and_millions() {
        let forms = [
            (30_000.0, "30K"),
            (1e6, "1M"),
            (1_234.0, "1234"),
            (2_097_152.0, "2M"),
            (0.25, "0.25"),
            (8.0, "8"),
            (2_500.0, "2.5K"),
            (0.0001, "1e-4"),
            (0.0, "0"),
            (-2.0, "-2"),
        ];
        for (number, text) in forms {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn brief_numbers_have_three_digits() {
        let forms = [
            (0.98765, "0.988"),
            (12.345, "12.3"),
            (5888.6, "5889"),
            (58_886.0, "58.9K"),
            (1.07e9, "1.07G"),
            (0.0, "0"),
        ];
        for (number, text) in forms {
            assert_eq!(brief(number), text);
        }
    }
}
