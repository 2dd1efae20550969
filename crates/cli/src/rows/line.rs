//! Lines of CSV: readers of them, and single ones that are written or given as arguments.

use super::dialect::Dialect;
use super::fields::text;
use csv::{ByteRecord, ReaderBuilder, Terminator, Writer};

/// Readers that take the first row for the header and don't mind how many fields a row has.
pub fn builder(dialect: Dialect) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    let (quoting, remark) = (dialect.has_quotes(), dialect.remark());
    builder.delimiter(dialect.delimiter).quoting(quoting).comment(remark).flexible(true);
    builder
}

/// Appends a field to a line: nothing if there is none, and quotes around an empty text, so that
/// [`value`](super::fields::Fields::value) can distinguish them.
pub fn push_cell(line: &mut String, delimiter: u8, cell: Option<&str>) {
    let Some(cell) = cell else { return };
    let is_plain = |&byte: &u8| !matches!(byte, b'"' | b'\r' | b'\n') && byte != delimiter;
    if !cell.is_empty() && cell.as_bytes().iter().all(is_plain) {
        line.push_str(cell);
        return;
    }
    line.push('"');
    line.push_str(&cell.replace('"', "\"\""));
    line.push('"');
}

/// Appends a line of cells. See [`push_cell`].
pub fn push_line<'c>(
    text: &mut String,
    delimiter: u8,
    cells: impl ExactSizeIterator<Item = Option<&'c str>>,
) {
    let is_alone = cells.len() == 1;
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            text.push(char::from(delimiter));
        }
        // A line with nothing in it would be no row.
        push_cell(text, delimiter, cell.or(is_alone.then_some("")));
    }
    text.push('\n');
}

/// Fields as a line of text.
pub fn line(delimiter: u8, fields: impl IntoIterator<Item: AsRef<[u8]>>) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(fields).unwrap_or_else(|error| unreachable!("memory refused: {error}"));
    finished(writer)
}

/// A writer's output, of texts.
pub fn finished(writer: Writer<Vec<u8>>) -> String {
    let bytes = writer.into_inner().unwrap_or_else(|error| unreachable!("memory refused: {error}"));
    String::from_utf8(bytes).unwrap_or_else(|error| unreachable!("made of texts: {error}"))
}

/// The fields of an argument, which are separated and quoted as in a line of CSV; one at the least.
pub fn fields(argument: &str) -> Vec<String> {
    // No argument has a zero byte, so that a line end is as good as any character.
    let mut builder = builder(Dialect::csv(b',', false));
    let mut reader =
        builder.has_headers(false).terminator(Terminator::Any(0)).from_reader(argument.as_bytes());
    let mut record = ByteRecord::new();
    reader.read_byte_record(&mut record).unwrap_or_else(|error| unreachable!("memory refused: {error}"));
    let fields: Vec<String> = record.iter().map(|field| text(field).to_owned()).collect();
    if fields.is_empty() { vec![String::new()] } else { fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_lines_of_csv() {
        for (argument, expected) in [
            ("a", &["a"][..]),
            ("", &[""]),
            ("a,", &["a", ""]),
            (",", &["", ""]),
            ("-5, b c", &["-5", " b c"]),
            ("\"a, b\",\"say \"\"hi\"\"\"", &["a, b", "say \"hi\""]),
            ("a\nb\r\n,é", &["a\nb\r\n", "é"]),
            ("\"a,b", &["a,b"]),
        ] {
            assert_eq!(fields(argument), expected, "{argument}");
        }
    }
}
