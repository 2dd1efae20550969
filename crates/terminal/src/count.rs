//! Counts on the command line, in human notation.

/// A count: `1000000`, `1_000_000`, `1M`, `250k`, `2G`.
///
/// # Errors
/// The notations of counts.
pub fn parse(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let (digits, scale) = match plain.as_bytes().last() {
        Some(b'k' | b'K') => (&plain[..plain.len() - 1], 1_000),
        Some(b'M' | b'm') => (&plain[..plain.len() - 1], 1_000_000),
        Some(b'G' | b'g') => (&plain[..plain.len() - 1], 1_000_000_000),
        _ => (&plain[..], 1),
    };
    let count: usize = digits.parse().map_err(|_| "not a number (try 1000000, 1M or 250k)".to_owned())?;
    count.checked_mul(scale).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_people_write_them() {
        assert_eq!(parse("10000000"), Ok(10_000_000));
        assert_eq!(parse("10M"), Ok(10_000_000));
        assert_eq!(parse("1_000k"), Ok(1_000_000));
        for bad in ["", "M", "-1", "1.5M", "ten", "99999999999G"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
