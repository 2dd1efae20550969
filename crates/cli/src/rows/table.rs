//! A CSV text in memory: the names of its columns, a walk over its rows, and single rows on demand.
//!
//! Only the text and the place of each row are kept, not the fields, so that a file of a gigabyte takes
//! little more memory than its text: fields are parsed again when a row is printed.

use super::delimiter;
use super::error::QueryError;
use csv::{ByteRecord, Position, Reader, ReaderBuilder, StringRecord, Terminator, Writer};
use latchless_terminal::output::visible;
use std::io::{Cursor, Read};

/// Bytes of the text that are read at once when a row is fetched.
const FETCH_BYTES: usize = 512;

/// A CSV text and its header.
#[derive(Debug)]
pub struct Table<'t> {
    text: &'t str,
    delimiter: u8,
    /// Whether the text's first row names the columns.
    is_named: bool,
    header: StringRecord,
}

impl<'t> Table<'t> {
    /// Reads the header, or, of a text whose columns aren't named, numbers the first row's fields.
    ///
    /// # Errors
    /// [`QueryError::UnclosedQuote`] if it never ends.
    pub fn new(text: &'t str, delimiter: u8, is_named: bool) -> Result<Self, QueryError> {
        let mut reader = builder(delimiter).from_reader(text.as_bytes());
        let header = reader.headers()?.clone();
        let numbered = || (1..=header.len()).map(|number| number.to_string()).collect();
        let header = if is_named { header } else { numbered() };
        let table = Self { text, delimiter, is_named, header };
        if table.ends_at(reader.position()) && !table.closes_quotes(0)? {
            return Err(QueryError::UnclosedQuote { line: 1 });
        }
        Ok(table)
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> + Clone {
        self.header.iter()
    }

    /// The separator of fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Whether the text's first row names the columns.
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// A column's name in messages.
    pub fn called(&self, column: usize) -> String {
        let name = self.header.get(column).unwrap_or_default();
        if self.is_named { visible(name).into_owned() } else { format!("column {name}") }
    }

    /// The column, counted from 0, for the argument of `option`: the one of exactly that name, or else the
    /// one of that name in other capitals, or else the one of that number, counted from 1.
    ///
    /// # Errors
    /// [`QueryError::MissingColumn`], [`QueryError::AmbiguousColumn`].
    pub fn column(&self, option: &'static str, name: &str) -> Result<usize, QueryError> {
        let folded = name.to_lowercase();
        let find = |is_it: &dyn Fn(&str) -> bool| {
            let mut there = self.columns().enumerate().filter(|(_, column)| is_it(column));
            (there.next().map(|(number, _)| number), there.next().is_some())
        };
        let found = match find(&|column| column == name) {
            (None, _) => find(&|column| column.to_lowercase() == folded),
            exactly => exactly,
        };
        match found {
            (Some(_), true) => Err(QueryError::AmbiguousColumn { option, name: name.to_owned() }),
            (Some(number), false) => Ok(number),
            (None, _) => self.numbered(name).ok_or_else(|| QueryError::MissingColumn {
                option,
                name: name.to_owned(),
                there: self.columns().map(str::to_owned).collect(),
                delimiter: delimiter::that_has(name, self.columns()),
            }),
        }
    }

    /// The column whose number this is.
    fn numbered(&self, name: &str) -> Option<usize> {
        let number: usize = name.parse().ok()?;
        (1..=self.header.len()).contains(&number).then(|| number - 1)
    }

    /// The text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// How long the text is, in bytes.
    pub fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    /// A walk over all rows.
    pub fn walk(&self) -> Walk<'_> {
        let reader = builder(self.delimiter).has_headers(self.is_named).from_reader(Cursor::new(self.text));
        Walk { table: self, reader, row: ByteRecord::new() }
    }

    /// Rows in any order, each by the byte that it starts at.
    pub fn fetch(&self) -> Fetch<'_> {
        let mut builder = builder(self.delimiter);
        // Every seek refills the buffer, so it holds a row or a few.
        let reader = builder.buffer_capacity(FETCH_BYTES).from_reader(Cursor::new(self.text));
        Fetch { text: self.text, delimiter: self.delimiter, reader, row: ByteRecord::new() }
    }

    fn from(&self, byte: u64) -> &'t [u8] {
        let bytes = self.text.as_bytes();
        &bytes[usize::try_from(byte).map_or(bytes.len(), |byte| byte.min(bytes.len()))..]
    }

    /// Whether no row follows.
    fn ends_at(&self, place: &Position) -> bool {
        self.from(place.byte()).iter().all(is_line_end)
    }

    /// Whether the last row, which starts at this byte, closes its quotes. A quote that is never closed
    /// swallows all rows after it without an error from the reader. With all quotes closed, one more line
    /// after the text's end is one more row.
    fn closes_quotes(&self, last_row: u64) -> Result<bool, QueryError> {
        let mut longer =
            builder(self.delimiter).has_headers(false).from_reader(self.from(last_row).chain(&b"\n0"[..]));
        let mut row = ByteRecord::new();
        longer.read_byte_record(&mut row)?;
        Ok(longer.read_byte_record(&mut row)?)
    }
}

/// Readers that take the first row for the header and don't mind how many fields a row has.
pub fn builder(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).flexible(true);
    builder
}

/// Appends a field to a line: nothing if there is none, and quotes around an empty text, so that
/// [`Fields::value`] can distinguish them.
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
    let mut builder = builder(b',');
    let mut reader =
        builder.has_headers(false).terminator(Terminator::Any(0)).from_reader(argument.as_bytes());
    let mut record = ByteRecord::new();
    reader.read_byte_record(&mut record).unwrap_or_else(|error| unreachable!("memory refused: {error}"));
    let fields: Vec<String> = record.iter().map(|field| text(field).to_owned()).collect();
    if fields.is_empty() { vec![String::new()] } else { fields }
}

/// A walk over all rows of a table, from the first to the last.
#[derive(Debug)]
pub struct Walk<'t> {
    table: &'t Table<'t>,
    reader: Reader<Cursor<&'t str>>,
    row: ByteRecord,
}

impl Walk<'_> {
    /// Advances to the next row; `false` after the last.
    ///
    /// # Errors
    /// [`QueryError::Ragged`], [`QueryError::UnclosedQuote`].
    pub fn advance(&mut self) -> Result<bool, QueryError> {
        let there = self.reader.read_byte_record(&mut self.row)?;
        if !there {
            return Ok(false);
        }
        if self.table.ends_at(self.reader.position()) && !self.table.closes_quotes(self.start())? {
            return Err(QueryError::UnclosedQuote { line: self.line() });
        }
        let (found, expected) = (self.row.len(), self.table.header.len());
        if found != expected {
            return Err(QueryError::Ragged { line: self.line(), found, expected });
        }
        Ok(true)
    }

    /// A field of the current row.
    pub fn field(&self, column: usize) -> &str {
        text(self.bytes(column))
    }

    /// The bytes of a field of the current row, which are UTF-8.
    pub fn bytes(&self, column: usize) -> &[u8] {
        self.row.get(column).unwrap_or_default()
    }

    /// The byte that the current row starts at, for [`Fetch::row`]. Empty lines before the row
    /// may be counted in.
    pub fn start(&self) -> u64 {
        self.row.position().map_or(0, Position::byte)
    }

    /// The line that the current row starts on, counted from 1.
    pub fn line(&self) -> u64 {
        // The reader places a row where the row before it ended: between the two bytes of a line
        // end, or before empty lines. The lines that begin in there come before this row.
        let before = self.row.position().map_or(1, Position::line);
        let skipped = self.table.from(self.start()).iter().take_while(|byte| is_line_end(byte));
        before + skipped.filter(|&&byte| byte == b'\n').count() as u64
    }
}

/// Rows of a table in any order.
#[derive(Debug)]
pub struct Fetch<'t> {
    text: &'t str,
    delimiter: u8,
    reader: Reader<Cursor<&'t str>>,
    row: ByteRecord,
}

impl Fetch<'_> {
    /// The fields of the row that starts at a byte, as [`Walk::start`] gave it. Rows that follow
    /// each other in the text are read without a seek.
    ///
    /// # Errors
    /// [`QueryError::Malformed`] if there is no row at that place.
    pub fn row(&mut self, start: u64) -> Result<Fields<'_>, QueryError> {
        let mut place = Position::new();
        place.set_byte(start);
        self.reader.seek(place)?;
        self.reader.read_byte_record(&mut self.row)?;
        let raw = self.text.get(usize::try_from(start).unwrap_or(usize::MAX)..).unwrap_or_default();
        Ok(Fields { record: &self.row, raw, delimiter: self.delimiter })
    }
}

/// The fields of one row.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'r> {
    record: &'r ByteRecord,
    /// The text from the row on.
    raw: &'r str,
    delimiter: u8,
}

impl<'r> Fields<'r> {
    /// The field in a column.
    pub fn field(self, column: usize) -> &'r str {
        self.record.get(column).map_or("", text)
    }

    /// The field in a column, unless nothing at all is there, not even quotes.
    pub fn value(self, column: usize) -> Option<&'r str> {
        Some(self.field(column)).filter(|field| !field.is_empty() || self.is_quoted(column))
    }

    /// Whether a field begins with a quote.
    fn is_quoted(self, column: usize) -> bool {
        let mut rest = self.raw.trim_start_matches(['\r', '\n']).as_bytes();
        for _ in 0..column {
            let Some(end) = end_of_field(rest, self.delimiter) else { return false };
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

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Fields are cut at ASCII characters, so in a text that is UTF-8 they are UTF-8, too.
fn text(field: &[u8]) -> &str {
    std::str::from_utf8(field).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every row's line, start and fields, or the error that ends the walk.
    fn rows(text: &str) -> Result<Vec<(u64, u64, Vec<String>)>, QueryError> {
        let table = Table::new(text, b',', true)?;
        let mut walk = table.walk();
        let mut rows = Vec::new();
        while walk.advance()? {
            let fields = (0..table.columns().count()).map(|column| walk.field(column).to_owned());
            rows.push((walk.line(), walk.start(), fields.collect()));
        }
        Ok(rows)
    }

    fn lines(text: &str) -> Vec<u64> {
        rows(text).unwrap().into_iter().map(|(line, ..)| line).collect()
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        assert_eq!(lines("a,b\n1,2\n3,4"), [2, 3]);
        assert_eq!(lines("a,b\r\n1,2\r\n3,4\r\n"), [2, 3]);
        assert_eq!(lines("\n\na,b\n\n1,2\n\r\n\n3,4\n\n"), [5, 8]);
        assert_eq!(lines("a,b\n1,\"x\ny\"\n3,4\n"), [2, 4]);
        assert_eq!(lines("a,\"b\n\"\r\n1,2\r\n3,4"), [3, 4]);
    }

    #[test]
    fn quotes_and_line_ends_are_taken_off_the_fields() {
        let rows = rows("a,b\r\n\"1,5\",\"say \"\"hi\"\"\"\r\n 2 ,\r\n").unwrap();
        let fields: Vec<_> = rows.iter().map(|(.., fields)| fields.join("|")).collect();
        assert_eq!(fields, ["1,5|say \"hi\"", " 2 |"]);
    }

    #[test]
    fn a_row_that_fits_no_header_is_named_by_its_line() {
        let ragged = |text| match rows(text) {
            Err(QueryError::Ragged { line, found, expected }) => (line, found, expected),
            other => panic!("{other:?}"),
        };
        assert_eq!(ragged("a,b\n1,2\n3\n4,5\n"), (3, 1, 2));
        assert_eq!(ragged("a,b\r\n1,2\r\n3,4,5"), (3, 3, 2));
    }

    #[test]
    fn a_quote_that_is_never_closed_is_seen() {
        for (text, expected) in [
            ("a,b\n1,\"x\n2,y\n3,z\n", 2),
            ("a,b\n1,x\n2,\"", 3),
            ("a,\"b\n1,x\n2,y\n", 1),
            ("a,b\n1,x\n\"2,y\n", 3),
        ] {
            assert!(
                matches!(rows(text), Err(QueryError::UnclosedQuote { line }) if line == expected),
                "{text:?}: {:?}",
                rows(text)
            );
        }
        assert!(rows("a,\"b\"").unwrap().is_empty());
        assert_eq!(lines("a,b\n1,\"x\"\n\n"), [2]);
    }

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

    #[test]
    fn without_a_header_every_row_is_one() {
        let table = Table::new("7,x\n8,y\n", b',', false).unwrap();
        assert_eq!(table.columns().collect::<Vec<_>>(), ["1", "2"]);
        let mut walk = table.walk();
        assert!(walk.advance().unwrap());
        assert_eq!((walk.line(), walk.start(), walk.field(1)), (1, 0, "x"));
        assert!(walk.advance().unwrap() && !walk.advance().unwrap());
        assert_eq!(table.fetch().row(0).unwrap().field(0), "7");
    }

    #[test]
    fn an_empty_text_is_not_nothing() {
        let mut line = String::new();
        for cell in [None, Some(""), Some("a,b"), Some("\"\n,"), None, Some("c"), Some(""), None] {
            push_cell(&mut line, b',', cell);
            line.push(',');
        }
        let text = format!("\n\r\n{line}\"x\"y\"z,w\"v,\n1\n");
        let table = Table::new(&text, b',', false).unwrap();
        let mut fetch = table.fetch();
        let row = fetch.row(0).unwrap();
        let expected = [
            None,
            Some(""),
            Some("a,b"),
            Some("\"\n,"),
            None,
            Some("c"),
            Some(""),
            None,
            Some("xy\"z"),
            Some("w\"v"),
            None,
        ];
        assert_eq!(std::array::from_fn(|column| row.value(column)), expected);
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let table = Table::new("a,b,b,\"c d\"\n", b',', true).unwrap();
        for (asked, found) in [("c d", 3), ("C D", 3), ("A", 0), ("2", 1), ("4", 3)] {
            assert_eq!(table.column("--key", asked).unwrap(), found, "{asked}");
        }
        let table = Table::new("3,b\n", b',', true).unwrap();
        assert_eq!(table.column("--key", "3").unwrap(), 0, "a name comes before a number");
        let table = Table::new("A,a\n", b',', true).unwrap();
        assert_eq!((table.column("--key", "a").unwrap(), table.column("--key", "A").unwrap()), (1, 0));
        let table = Table::new("a,b,b,\"c d\"\n", b',', true).unwrap();
        let missing = table.column("--key", "e").unwrap_err().to_string();
        assert_eq!(missing, "there is no column \"e\" for --key; the columns are a, b, b, c d");
        assert!(matches!(table.column("--key", "b"), Err(QueryError::AmbiguousColumn { .. })));
    }

    proptest! {
        /// Whatever the text, a walk ends without a panic, and each of its rows can be fetched
        /// again, in any order.
        #[test]
        fn rows_are_fetched_as_they_were_walked(
            text in prop_oneof![
                "[ab1,\"\n\r]{0,60}",
                "a,b\n([1-9]{1,3},[xyz\"]{0,3}(\r\n|\n|\r)){0,12}",
                any::<String>(),
            ],
        ) {
            let Ok(rows) = rows(&text) else { return Ok(()) };
            let table = Table::new(&text, b',', true).unwrap();
            let mut fetch = table.fetch();
            for (_, start, fields) in rows.iter().rev().chain(&rows) {
                let fetched = fetch.row(*start).unwrap();
                for (column, field) in fields.iter().enumerate() {
                    prop_assert_eq!(fetched.field(column), field);
                }
            }
        }
    }
}
