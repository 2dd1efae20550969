//! Rows as text in memory: the names of the columns, a walk over the rows, and single rows on demand.
//!
//! Only the text and the place of each row are kept, not the fields, so that a file of a gigabyte takes
//! little more memory than its text: fields are parsed again when a row is printed.

use super::delimiter;
use super::dialect::{self, Dialect, Names};
use super::error::QueryError;
use super::fields::{Fields, text};
use super::filter::Filter;
use super::heads;
use super::key::Complaint;
use super::line::builder;
use super::ragged::Ragged;
use csv::{ByteRecord, Position, Reader, StringRecord};
use latchless_terminal::output::visible;
use std::cell::Cell;
use std::io::{Cursor, Read};

/// Bytes of the text that are read at once when a row is fetched.
const FETCH_BYTES: usize = 512;

/// A notation, and the names of columns.
#[derive(Debug, Clone)]
pub struct Head {
    dialect: Dialect,
    header: StringRecord,
}

/// Rows as text, and their header.
#[derive(Debug, Clone)]
pub struct Table<'t> {
    text: &'t str,
    head: Head,
    /// Where the rows begin.
    body: Position,
    /// How many lines there are before the text.
    lines_before: u64,
    /// Whether the text ends where the file does; otherwise its last row may be cut.
    is_whole: bool,
    /// Conditions that all rows of walks meet.
    filter: Filter,
    /// The findings of the last walk.
    ragged: Cell<Ragged>,
}

impl<'t> Table<'t> {
    /// Reads the header of a CSV text, or, of a text whose columns aren't named, numbers the first row's
    /// fields.
    ///
    /// # Errors
    /// [`QueryError::UnclosedQuote`] if it never ends.
    pub fn new(text: &'t str, delimiter: u8, is_named: bool) -> Result<Self, QueryError> {
        Self::of(text, Dialect::csv(delimiter, is_named), true)
    }

    /// Reads the header of a text in any notation. `is_whole`: whether it is all of a file.
    ///
    /// # Errors
    /// [`QueryError::UnclosedQuote`] if it never ends; [`QueryError::NoVcfHeader`].
    pub fn of(text: &'t str, dialect: Dialect, is_whole: bool) -> Result<Self, QueryError> {
        let mut body = Position::new();
        let begins = match dialect.names {
            Names::Vcf => heads::vcf(text).ok_or(QueryError::NoVcfHeader)?,
            Names::Bed => heads::bed(text, dialect),
            Names::FirstLine | Names::Numbers | Names::Gff => 0,
        };
        let before = text.as_bytes()[..begins].iter().filter(|&&byte| byte == b'\n').count();
        body.set_byte(begins as u64).set_line(1 + before as u64);
        let mut reader = builder(dialect).from_reader(&text.as_bytes()[begins..]);
        let first = reader.headers()?.clone();
        let position = reader.position().clone();
        let header = match dialect.names {
            Names::FirstLine => {
                body = position.clone();
                first
            }
            Names::Numbers => (1..=first.len()).map(|number| number.to_string()).collect(),
            Names::Bed => heads::names(&dialect::BED, first.len().max(dialect::BED_MIN)),
            Names::Gff => heads::names(&dialect::GFF, dialect::GFF.len()),
            Names::Vcf => heads::vcf_names(&text[..begins]),
        };
        let table = Self {
            text,
            head: Head { dialect, header },
            body,
            lines_before: 0,
            is_whole,
            filter: Filter::default(),
            ragged: Cell::default(),
        };
        if table.ends_at(begins as u64 + position.byte()) && !table.closes_quotes(begins as u64)? {
            return Err(QueryError::UnclosedQuote { line: 1 });
        }
        Ok(table)
    }

    /// Rows that follow those of another text with this head, this many lines after the start of the file.
    pub fn continued(text: &'t str, head: Head, lines_before: u64, is_whole: bool) -> Self {
        let (body, filter, ragged) = (Position::new(), Filter::default(), Cell::default());
        Self { text, head, body, lines_before, is_whole, filter, ragged }
    }

    /// From now on, walks leave out rows that don't meet these conditions.
    pub fn only(&mut self, filter: Filter) {
        self.filter = filter;
    }

    /// The rows that had fewer or more fields than there are columns, in the last walk that reached its end.
    pub fn ragged(&self) -> Ragged {
        self.ragged.get()
    }

    /// Its notation and the names of its columns.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The line that the rows begin on, or the end of the line before it.
    pub fn body_line(&self) -> u64 {
        self.body.line()
    }

    /// Where the rows begin, in bytes.
    pub fn body(&self) -> u64 {
        self.body.byte()
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> + Clone {
        self.head.header.iter()
    }

    /// The notation.
    pub fn dialect(&self) -> Dialect {
        self.head.dialect
    }

    /// The separator of fields.
    pub fn delimiter(&self) -> u8 {
        self.dialect().delimiter
    }

    /// Whether the columns have names.
    pub fn is_named(&self) -> bool {
        self.dialect().names != Names::Numbers
    }

    /// A column's name in messages.
    pub fn called(&self, column: usize) -> String {
        let name = self.head.header.get(column).unwrap_or_default();
        if self.is_named() { visible(name).into_owned() } else { format!("column {name}") }
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
        (1..=self.head.header.len()).contains(&number).then(|| number - 1)
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
    ///
    /// # Errors
    /// [`QueryError::Malformed`]; the text is in memory, so there is no cause for it.
    pub fn walk(&self) -> Result<Walk<'_>, QueryError> {
        let mut reader = builder(self.dialect()).has_headers(false).from_reader(Cursor::new(self.text));
        if self.body.byte() > 0 {
            reader.seek(self.body.clone())?;
        }
        let rest = self.text.len() as u64;
        Ok(Walk { table: self, reader, row: ByteRecord::new(), rest, ragged: Ragged::default() })
    }

    /// Rows in any order, each by the byte that it starts at.
    pub fn fetch(&self) -> Fetch<'_> {
        let mut builder = builder(self.dialect());
        // Every seek refills the buffer, so it holds a row or a few.
        let reader = builder.buffer_capacity(FETCH_BYTES).from_reader(Cursor::new(self.text));
        Fetch { text: self.text, dialect: self.dialect(), reader, row: ByteRecord::new() }
    }

    fn from(&self, byte: u64) -> &'t [u8] {
        let bytes = self.text.as_bytes();
        &bytes[usize::try_from(byte).map_or(bytes.len(), |byte| byte.min(bytes.len()))..]
    }

    /// Whether no row follows.
    fn ends_at(&self, byte: u64) -> bool {
        let rest = self.from(byte);
        self.dialect().gap(rest) == rest.len()
    }

    /// Whether the last row, which starts at this byte, closes its quotes. A quote that is never closed
    /// swallows all rows after it without an error from the reader. With all quotes closed, one more line
    /// after the text's end is one more row.
    fn closes_quotes(&self, last_row: u64) -> Result<bool, QueryError> {
        if !self.dialect().has_quotes() {
            return Ok(true);
        }
        let mut longer =
            builder(self.dialect()).has_headers(false).from_reader(self.from(last_row).chain(&b"\n0"[..]));
        let mut row = ByteRecord::new();
        longer.read_byte_record(&mut row)?;
        Ok(longer.read_byte_record(&mut row)?)
    }
}

/// A walk over all rows of a table, from the first to the last.
#[derive(Debug)]
pub struct Walk<'t> {
    table: &'t Table<'t>,
    reader: Reader<Cursor<&'t str>>,
    row: ByteRecord,
    /// The byte after the rows that it has given.
    rest: u64,
    ragged: Ragged,
}

impl<'t> Walk<'t> {
    /// Advances to the next row that meets the table's conditions; `false` after the last. A row that may be
    /// cut is none.
    ///
    /// # Errors
    /// [`QueryError::Ragged`], [`QueryError::UnclosedQuote`]; [`QueryError::Key`] for a condition's cell.
    pub fn advance(&mut self) -> Result<bool, QueryError> {
        while self.step()? {
            let (found, expected) = (self.row.len(), self.table.head.header.len());
            if found != expected {
                if !self.table.dialect().is_ragged {
                    return Err(QueryError::Ragged { line: self.line(), found, expected });
                }
                self.ragged.count(self.line(), found, expected);
            }
            match self.table.filter.passes(|column| self.bytes(column)) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err((column, complaint)) => return Err(self.refused(column, complaint)),
            }
        }
        self.table.ragged.set(self.ragged);
        Ok(false)
    }

    fn step(&mut self) -> Result<bool, QueryError> {
        let (there, table) = (self.reader.read_byte_record(&mut self.row)?, self.table);
        // The reader gives a last remark without a line end as a row.
        if !there || table.ends_at(self.start()) {
            if !table.is_whole {
                // A line of remarks may be cut, too.
                self.rest = table.text.rfind('\n').map_or(0, |end| end as u64 + 1);
            }
            return Ok(false);
        }
        if table.ends_at(self.reader.position().byte()) {
            if !table.is_whole {
                self.rest = self.start();
                return Ok(false);
            }
            if !table.closes_quotes(self.start())? {
                return Err(QueryError::UnclosedQuote { line: self.line() });
            }
        }
        Ok(true)
    }

    /// The error of a cell of the current row.
    pub fn refused(&self, column: usize, complaint: Complaint) -> QueryError {
        QueryError::Key { line: self.line(), column: self.table.called(column), complaint }
    }

    /// Where the text begins, after the end of the walk, that has to be read again with more of the file.
    pub fn rest(&self) -> u64 {
        self.rest
    }

    /// The current row.
    pub fn fields(&self) -> Fields<'_> {
        let raw = self.table.text.get(usize::try_from(self.start()).unwrap_or(usize::MAX)..);
        Fields { record: &self.row, raw: raw.unwrap_or_default(), dialect: self.table.dialect() }
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
        // end, or before empty lines and remarks. The lines that begin in there come before this row.
        let before = self.row.position().map_or(1, Position::line);
        let from = self.table.from(self.start());
        let gap = &from[..self.table.dialect().gap(from)];
        self.table.lines_before + before + gap.iter().filter(|&&byte| byte == b'\n').count() as u64
    }
}

/// Rows of a table in any order.
#[derive(Debug)]
pub struct Fetch<'t> {
    text: &'t str,
    dialect: Dialect,
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
        Ok(Fields { record: &self.row, raw, dialect: self.dialect })
    }
}

#[cfg(test)]
mod tests;
