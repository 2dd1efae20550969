//! Statistics on standard error, in the form that the answer has on standard output.

use super::line;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Prints named values, or, with a table, a text.
pub fn print(format: Format, fields: &[(&'static str, Value)], text: impl FnOnce() -> String) {
    match format {
        Format::Table => say::note(text()),
        Format::Json => {
            // Written out by hand to keep the fields in their order.
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            say::note(format_args!("{{{}}}", fields.join(",")));
        }
        Format::Csv => {
            let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
            let values: Vec<String> = fields.iter().map(|(_, value)| plain(value)).collect();
            say::note(format_args!("{}\n{}", names.join(","), line::line(b',', &values).trim_end()));
        }
    }
}

/// A time as a value.
pub fn nanoseconds(time: Duration) -> Value {
    json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// The result of `part`; the time that it took is added to `time`.
pub fn timed<T>(time: &mut Duration, part: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let made = part();
    *time += start.elapsed();
    made
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// A number with a comma between each three digits.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 10_376, 1_234_567].map(grouped),
            ["0", "999", "1,000", "10,376", "1,234,567"]
        );
    }
}
