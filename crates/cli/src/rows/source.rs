//! A file's rows as text, whole and in memory, whatever the format; and the formats.

use super::decoder::{self, Decoder};
use super::delimited::Delimited;
use super::error::QueryError;
use super::how::How;
use super::input::Input;
use super::json_lines::{self, JsonLines};
use super::lines::Lines;
use super::progress::Progress;
use super::ragged::Ragged;
use super::reader::{About, RowReader};
use latchless_terminal::say;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use super::input::name;

/// Bytes that are read at once.
pub const PIECE_BYTES: usize = 1 << 20;

/// The first bytes of an Arrow file.
const ARROW: &[u8] = b"ARROW1";

/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The contents of a file.
#[derive(Debug)]
pub enum Content {
    /// Rows, as text.
    Text(Text),
    /// An index.
    Arrow(Vec<u8>),
}

/// Rows as text.
#[derive(Debug)]
pub struct Text {
    /// The text, without a byte order mark.
    pub text: String,
    /// Its properties.
    pub about: About,
    /// Where its lines are in the file.
    pub lines: Lines,
    /// Rows that were cut already.
    pub ragged: Ragged,
}

/// A file on its way into memory.
pub enum Opened {
    /// Rows, and how many bytes they may be; 0 if that is unknown.
    Rows(Box<dyn RowReader>, u64),
    /// An index.
    Arrow(Vec<u8>),
}

/// Whether a file that can be read begins as Arrow files do.
pub fn is_arrow(file: &Path) -> bool {
    let mut begins = [0; ARROW.len()];
    File::open(file).and_then(|mut open| open.read_exact(&mut begins)).is_ok() && begins == ARROW
}

/// Opens `file`, or standard input for `-`, with the reader of its format.
///
/// # Errors
/// Those of [`Input::open`], and of a Parquet file.
pub fn open(file: &Path, how: How, progress: &Progress) -> Result<Opened, QueryError> {
    let input = Input::open(file)?;
    if input.begins.starts_with(ARROW) {
        return input.whole(file).map(Opened::Arrow);
    }
    if input.begins.starts_with(PARQUET) {
        return from_parquet(input, file, how, progress).map(|rows| Opened::Rows(rows, 0));
    }
    let (encoding, is_guess) = decoder::encoding(&input.begins, how.encoding);
    if is_guess && how.says_guesses {
        say::note(format_args!("{}: taken for {}; --encoding says otherwise", name(file), encoding.name()));
    }
    let (begins, _) = encoding.decode_without_bom_handling(&input.begins);
    let is_json = json_lines::is_json(file, &begins, how);
    let (bytes, is_plain) = (input.bytes, input.is_own);
    let decoder = Decoder::new(input, file, encoding);
    let reader: Box<dyn RowReader> = if is_json {
        Box::new(JsonLines::new(file, decoder, how))
    } else {
        Box::new(Delimited::new(file, decoder, is_plain, how))
    };
    Ok(Opened::Rows(reader, bytes))
}

/// The contents of `file`, or of standard input for `-`.
///
/// # Errors
/// Those of [`open`] and of [`RowReader::read_on`]; [`QueryError::Empty`].
pub fn read(file: &Path, how: How, progress: &Progress) -> Result<Content, QueryError> {
    match open(file, how, progress)? {
        Opened::Arrow(bytes) => Ok(Content::Arrow(bytes)),
        Opened::Rows(reader, bytes) => whole(reader, bytes, file, how, progress).map(Content::Text),
    }
}

/// All rows of a file.
fn whole(
    mut reader: Box<dyn RowReader>,
    bytes: u64,
    file: &Path,
    how: How,
    progress: &Progress,
) -> Result<Text, QueryError> {
    /// Room for what a decoder may have to write at the end, so that the text isn't moved for it.
    const SPARE_BYTES: usize = 64;
    progress.phase("reading", bytes);
    let mut text = String::new();
    let reserved = text.try_reserve_exact(usize::try_from(bytes).unwrap_or(0).saturating_add(SPARE_BYTES));
    reserved.map_err(|cause| QueryError::Unreadable { file: name(file), cause: io::Error::from(cause) })?;
    while reader.read_on(&mut text, PIECE_BYTES, 0)? {
        progress.reached(text.len() as u64);
    }
    if text.trim_ascii().is_empty() {
        return Err(QueryError::Empty { file: name(file) });
    }
    let about = about(&*reader, &text, file, how);
    Ok(Text { text, about, lines: reader.lines(), ragged: reader.ragged() })
}

/// The properties of a text that begins so. Says which separator was guessed.
pub fn about(reader: &dyn RowReader, begins: &str, file: &Path, how: How) -> About {
    let about = reader.about(begins);
    if how.says_guesses {
        about.dialect.note(how.delimiter, &name(file)).into_iter().for_each(say::note);
    }
    about
}

#[cfg(feature = "parquet")]
fn from_parquet(
    input: Input,
    file: &Path,
    how: How,
    progress: &Progress,
) -> Result<Box<dyn RowReader>, QueryError> {
    progress.phase("reading", 0);
    let bytes = input.whole(file)?;
    progress.phase("decoding", 0);
    match super::parquet_rows::ParquetRows::new(bytes, how) {
        Ok(rows) => Ok(Box::new(rows)),
        Err(cause) => Err(QueryError::Parquet { file: name(file), cause }),
    }
}

#[cfg(not(feature = "parquet"))]
fn from_parquet(_: Input, file: &Path, _: How, _: &Progress) -> Result<Box<dyn RowReader>, QueryError> {
    Err(QueryError::NeedsParquet { file: name(file) })
}

/// The text of these bytes, as a file's are read.
#[cfg(test)]
pub fn text(bytes: Vec<u8>) -> Result<String, QueryError> {
    let (file, from) = (Path::new("f"), Box::new(io::Cursor::new(bytes.clone())));
    let (encoding, _) = decoder::encoding(&bytes, None);
    let input = Input { begins: Vec::new(), from, bytes: 0, is_own: true };
    let reader = Box::new(Delimited::new(file, Decoder::new(input, file, encoding), true, How::default()));
    whole(reader, 0, file, How::default(), &Progress::start()).map(|text| text.text)
}
