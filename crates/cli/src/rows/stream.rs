//! A file's rows in pieces, so that a file of any length takes little memory.

use super::decoder::line_ends;
use super::dialect::Names;
use super::error::QueryError;
use super::how::How;
use super::progress::Progress;
use super::ragged::Ragged;
use super::reader::RowReader;
use super::source::{self, Opened, PIECE_BYTES};
use super::table::{Head, Table};
use std::path::Path;

/// The rows of a file, one piece after the other.
pub struct Stream {
    reader: Box<dyn RowReader>,
    /// What was read and not consumed yet.
    text: String,
    /// Lines that were consumed.
    lines: u64,
    is_end: bool,
    is_done: bool,
    head: Option<Head>,
}

impl Stream {
    /// Opens a file, or standard input for `-`, and reads its head.
    ///
    /// # Errors
    /// [`QueryError::IsIndex`], [`QueryError::Empty`], those of [`source::open`], of [`RowReader::read_on`]
    /// and of [`Table::of`].
    pub fn open(file: &Path, how: How, progress: &Progress) -> Result<Self, QueryError> {
        let Opened::Rows(reader, _) = source::open(file, how, progress)? else {
            return Err(QueryError::IsIndex { file: source::name(file) });
        };
        let mut stream =
            Self { reader, text: String::new(), lines: 0, is_end: false, is_done: false, head: None };
        while !stream.is_end && stream.text.trim_ascii().is_empty() {
            stream.read_on()?;
        }
        let dialect = source::about(&*stream.reader, &stream.text, file, how).dialect;
        // The head of a VCF file may be long.
        while dialect.names == Names::Vcf && !stream.is_end && !stream.text.contains("\n#CHROM") {
            stream.read_on()?;
        }
        if stream.is_end && stream.text.trim_ascii().is_empty() {
            return Err(QueryError::Empty { file: source::name(file) });
        }
        let table = Table::of(&stream.text, dialect, stream.is_end);
        let table = table.map_err(|error| error.in_file(source::name(file)))?;
        let (head, body) = (table.head().clone(), table.body());
        stream.head = Some(head);
        stream.consume(body);
        Ok(stream)
    }

    /// A table with its columns and no rows.
    pub fn header(&self) -> Table<'static> {
        Table::continued("", self.head(), 0, true)
    }

    fn head(&self) -> Head {
        self.head.clone().unwrap_or_else(|| unreachable!("it was read when the file was opened"))
    }

    /// The next piece; `None` after the last. [`Stream::consumed`] has to follow.
    pub fn piece(&self) -> Option<Table<'_>> {
        (!self.is_done).then(|| Table::continued(&self.text, self.head(), self.lines, self.is_end))
    }

    /// Reads on, after the walk over a piece has ended. `rest`: [`super::table::Walk::rest`].
    ///
    /// # Errors
    /// Those of [`RowReader::read_on`].
    pub fn consumed(&mut self, rest: u64) -> Result<(), QueryError> {
        self.is_done = self.is_end;
        self.consume(rest);
        if self.is_end { Ok(()) } else { self.read_on() }
    }

    /// Says on which line of the file a cell is that an error is about.
    pub fn locate(&self, error: QueryError) -> QueryError {
        self.reader.lines().locate(error)
    }

    /// The line of the file that a line of its text is.
    pub fn line(&self, line: u64) -> u64 {
        self.reader.lines().place(line).0
    }

    /// Rows that were cut before they were in a piece.
    pub fn ragged(&self) -> Ragged {
        self.reader.ragged()
    }

    fn consume(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).map_or(self.text.len(), |bytes| bytes.min(self.text.len()));
        self.lines += line_ends(&self.text[..bytes]);
        self.text.drain(..bytes);
    }

    /// Appends to the text what follows in the file, at least as much as is there already: a row may be long.
    fn read_on(&mut self) -> Result<(), QueryError> {
        let wanted = self.text.len().max(PIECE_BYTES);
        self.is_end = !self.reader.read_on(&mut self.text, wanted, self.lines)?;
        Ok(())
    }
}
