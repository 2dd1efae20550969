//! A file's rows in pieces, so that a file of any length takes little memory.

use super::dialect::{Dialect, Names};
use super::error::QueryError;
use super::progress::Progress;
use super::source::{self, ARROW, BYTE_ORDER_MARK, Content, PARQUET};
use super::table::{Head, Table};
use super::unpacked::unpacked;
use super::wanted::Wanted;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Bytes that are read at once, at least.
const PIECE_BYTES: usize = 1 << 20;

/// The rows of a file, one piece after the other.
pub struct Stream {
    file: PathBuf,
    from: Box<dyn Read>,
    /// What was read and not consumed yet.
    text: String,
    /// Bytes after the text that are the beginning of a character.
    cut: Vec<u8>,
    /// Lines that were consumed.
    lines: u64,
    is_end: bool,
    is_done: bool,
    head: Option<Head>,
}

/// How a file is read.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The separator of fields that an argument names.
    pub delimiter: Option<u8>,
    /// Whether the first line of CSV names the columns.
    pub is_named: bool,
}

impl Stream {
    /// Opens a file, or standard input for `-`, and reads its head.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`], [`QueryError::Packed`], [`QueryError::IsIndex`], those of
    /// [`source::text`], of [`Table::of`] and of Parquet files.
    pub fn open(file: &Path, how: How, progress: &Progress) -> Result<Self, QueryError> {
        let (from, is_csv) = open(file, how, progress)?;
        let mut stream = Self {
            file: file.to_owned(),
            from,
            text: String::new(),
            cut: Vec::new(),
            lines: 0,
            is_end: false,
            is_done: false,
            head: None,
        };
        let blank = |character: char| character == BYTE_ORDER_MARK || character.is_ascii_whitespace();
        while !stream.is_end && stream.text.trim_start_matches(blank).is_empty() {
            stream.read_on()?;
        }
        let marks = stream.text.len() - stream.text.trim_start_matches(BYTE_ORDER_MARK).len();
        stream.text.drain(..marks);
        let dialect = if is_csv {
            Dialect::csv(b',', how.is_named)
        } else {
            Dialect::of(file, &stream.text, how.delimiter, how.is_named)
        };
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
    /// [`QueryError::Unreadable`], [`QueryError::NotUtf8`].
    pub fn consumed(&mut self, rest: u64) -> Result<(), QueryError> {
        self.is_done = self.is_end;
        self.consume(rest);
        if self.is_end { Ok(()) } else { self.read_on() }
    }

    fn consume(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).map_or(self.text.len(), |bytes| bytes.min(self.text.len()));
        self.lines += self.text.as_bytes()[..bytes].iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.text.drain(..bytes);
    }

    /// Appends to the text what follows in the file, at least as much as is there already: a row may be long.
    fn read_on(&mut self) -> Result<(), QueryError> {
        let unreadable = |cause| QueryError::Unreadable { file: source::name(&self.file), cause };
        let mut bytes = std::mem::take(&mut self.cut);
        let wanted = self.text.len().max(PIECE_BYTES) as u64;
        let read = self.from.by_ref().take(wanted).read_to_end(&mut bytes).map_err(unreadable)?;
        self.is_end = read == 0;
        if self.lines == 0
            && self.text.is_empty()
            && let Some(encoding) = source::utf16(&bytes)
        {
            return Err(QueryError::Utf16 { file: source::name(&self.file), encoding });
        }
        let good = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && !self.is_end => {
                self.cut = bytes[error.valid_up_to()..].to_vec();
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => {
                let lines = self.lines + self.text.bytes().filter(|&byte| byte == b'\n').count() as u64;
                return Err(source::not_utf8(&bytes, error.valid_up_to(), lines, &self.file));
            }
        };
        self.text.push_str(good);
        Ok(())
    }
}

/// A reader of a file's content, and whether it is CSV that was made from another format.
fn open(file: &Path, how: How, progress: &Progress) -> Result<(Box<dyn Read>, bool), QueryError> {
    let unreadable = |cause| QueryError::Unreadable { file: source::name(file), cause };
    let mut raw: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let open = File::open(file).map_err(unreadable)?;
        if open.metadata().map_err(unreadable)?.is_dir() {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()));
        }
        Box::new(BufReader::new(open))
    };
    let begins = raw.fill_buf().map_err(unreadable)?;
    if begins.starts_with(ARROW) {
        return Err(QueryError::IsIndex { file: source::name(file) });
    }
    if begins.starts_with(PARQUET) {
        let (mut bytes, wanted) = (Vec::new(), Wanted { header: how.is_named, columns: None });
        raw.read_to_end(&mut bytes).map_err(unreadable)?;
        return match source::content(bytes, file, wanted, progress)? {
            Content::Text(text) => Ok((Box::new(Cursor::new(text.text)), true)),
            Content::Arrow(_) => Err(QueryError::IsIndex { file: source::name(file) }),
        };
    }
    let begins = begins.to_vec();
    Ok(match unpacked(&begins, raw, || source::name(file))? {
        Ok(unpacked) => (unpacked, false),
        Err(raw) => (Box::new(raw), false),
    })
}
