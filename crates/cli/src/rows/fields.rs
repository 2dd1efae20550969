//! The fields of one row, and whether nothing at all is in them.

use super::dialect::Dialect;
use csv::ByteRecord;

/// The fields of one row.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'r> {
    /// The row.
    pub record: &'r ByteRecord,
    /// The text from the row on.
    pub raw: &'r str,
    /// The notation.
    pub dialect: Dialect,
}

impl<'r> Fields<'r> {
    /// The field in a column.
    pub fn field(self, column: usize) -> &'r str {
        self.record.get(column).map_or("", text)
    }

    /// The field in a column, unless nothing at all is there, not even quotes. A row that is too short ends
    /// before it.
    pub fn value(self, column: usize) -> Option<&'r str> {
        let field = text(self.record.get(column)?);
        Some(field).filter(|field| !field.is_empty() || self.is_quoted(column))
    }

    /// Whether a field begins with a quote.
    fn is_quoted(self, column: usize) -> bool {
        if !self.dialect.has_quotes() {
            return false;
        }
        let mut rest = self.raw.trim_start_matches(['\r', '\n']).as_bytes();
        for _ in 0..column {
            let Some(end) = end_of_field(rest, self.dialect.delimiter) else { return false };
            rest = &rest[end + 1..];
        }
        rest.first() == Some(&b'"')
    }
}

/// Where the delimiter is that ends the first field. Quotes count only where a field begins with one.
fn end_of_field(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut after = 0;
    if text.first() == Some(&b'"') {
        after = 1;
        loop {
            after += text[after..].iter().position(|&byte| byte == b'"')? + 1;
            if text.get(after) != Some(&b'"') {
                break;
            }
            after += 1;
        }
    }
    Some(after + text[after..].iter().position(|&byte| byte == delimiter)?)
}

/// Fields are cut at ASCII characters, so in a text that is UTF-8 they are UTF-8, too.
pub fn text(field: &[u8]) -> &str {
    std::str::from_utf8(field).unwrap_or_default()
}
