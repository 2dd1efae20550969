//! A file's text, whole and in memory; a Parquet file's rows as the text that they would be in CSV.

use super::error::QueryError;
use super::kind::Kind;
use super::progress::Progress;
use super::unpacked::unpacked;
use super::wanted::Wanted;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The three bytes that some programs put in front of UTF-8.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Bytes that are read between two updates of the progress bar.
const CHUNK_BYTES: u64 = 16 << 20;

/// The first bytes of an Arrow file.
pub const ARROW: &[u8] = b"ARROW1";

/// The first bytes of a Parquet file.
pub const PARQUET: &[u8] = b"PAR1";

/// The contents of a file.
#[derive(Debug)]
pub enum Content {
    /// Rows, as text without a byte order mark.
    Text(Text),
    /// An index.
    Arrow(Vec<u8>),
}

/// Rows as text.
#[derive(Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Whether it is the file's own, and not made here.
    pub is_own: bool,
    /// The types of the columns, if the file has them; its fields are separated by commas then.
    pub kinds: Option<Vec<Option<Kind>>>,
}

/// Whether a file that can be read begins as Arrow files do.
pub fn is_arrow(file: &Path) -> bool {
    let mut begins = [0; ARROW.len()];
    File::open(file).and_then(|mut open| open.read_exact(&mut begins)).is_ok() && begins == ARROW
}

/// The contents of `file`, or of standard input for `-`.
///
/// # Errors
/// [`QueryError::Unreadable`], [`QueryError::Packed`], those of [`text`], and the errors of a Parquet file.
pub fn read(file: &Path, wanted: Wanted, progress: &Progress) -> Result<Content, QueryError> {
    let bytes = if file == Path::new("-") {
        gather(io::stdin().lock(), 0, progress)
    } else {
        File::open(file).and_then(|open| {
            let about = open.metadata()?;
            if about.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            gather(open, about.len(), progress)
        })
    };
    content(
        bytes.map_err(|cause| QueryError::Unreadable { file: name(file), cause })?,
        file,
        wanted,
        progress,
    )
}

/// The contents of a file that has these bytes.
///
/// # Errors
/// Those of [`read`].
pub fn content(
    bytes: Vec<u8>,
    file: &Path,
    wanted: Wanted,
    progress: &Progress,
) -> Result<Content, QueryError> {
    let mut content = Vec::new();
    let is_own = match unpacked(&bytes, &bytes[..], || name(file))? {
        Ok(mut unpacked) => {
            let read = unpacked.read_to_end(&mut content);
            read.map_err(|cause| QueryError::Unreadable { file: name(file), cause })?;
            false
        }
        Err(_) => true,
    };
    let bytes = if is_own { bytes } else { content };
    Ok(if bytes.starts_with(ARROW) {
        Content::Arrow(bytes)
    } else if bytes.starts_with(PARQUET) {
        Content::Text(from_parquet(bytes, file, wanted, progress)?)
    } else {
        Content::Text(Text { text: text(bytes, file)?, is_own, kinds: None })
    })
}

#[cfg(feature = "parquet")]
fn from_parquet(
    bytes: Vec<u8>,
    file: &Path,
    wanted: Wanted,
    progress: &Progress,
) -> Result<Text, QueryError> {
    progress.phase("decoding", 0);
    super::parquet_rows::to_csv(bytes, wanted)
        .map(|(text, kinds)| Text { text, is_own: false, kinds: Some(kinds) })
        .map_err(|cause| QueryError::Parquet { file: name(file), cause })
}

#[cfg(not(feature = "parquet"))]
fn from_parquet(_: Vec<u8>, file: &Path, _: Wanted, _: &Progress) -> Result<Text, QueryError> {
    Err(QueryError::NeedsParquet { file: name(file) })
}

/// The file's name in a message.
pub fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

fn gather(mut from: impl Read, expected_bytes: u64, progress: &Progress) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    progress.phase("reading", expected_bytes);
    bytes.try_reserve_exact(usize::try_from(expected_bytes).unwrap_or(0))?;
    while from.by_ref().take(CHUNK_BYTES).read_to_end(&mut bytes)? > 0 {
        progress.reached(bytes.len() as u64);
    }
    Ok(bytes)
}

/// The bytes as text without a byte order mark; `file` is their origin, for messages.
///
/// # Errors
/// [`QueryError::Empty`], [`QueryError::Utf16`], [`QueryError::NotUtf8`].
pub fn text(bytes: Vec<u8>, file: &Path) -> Result<String, QueryError> {
    if let Some(encoding) = utf16(&bytes) {
        return Err(QueryError::Utf16 { file: name(file), encoding });
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|error| not_utf8(error.as_bytes(), error.utf8_error().valid_up_to(), 0, file))?;
    let marks_bytes = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
    text.drain(..marks_bytes);
    if text.trim_ascii().is_empty() { Err(QueryError::Empty { file: name(file) }) } else { Ok(text) }
}

/// The error of a text that isn't UTF-8 from this byte on. `lines_before`: how many lines are before it.
pub fn not_utf8(bytes: &[u8], from: usize, lines_before: u64, file: &Path) -> QueryError {
    let line = lines_before + 1 + bytes[..from].iter().filter(|&&byte| byte == b'\n').count() as u64;
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    QueryError::NotUtf8 { file: name(file), line, is_text: !bytes.iter().any(is_control) }
}

/// The kind of UTF-16, if it is one: it has a byte order mark, or a zero in every other byte.
pub fn utf16(bytes: &[u8]) -> Option<&'static str> {
    const LOOKED_AT: usize = 512;
    let zeros = |first: usize| bytes.iter().take(LOOKED_AT).skip(first).step_by(2);
    let all_zero = |first| zeros(first).len() > 1 && zeros(first).all(|&byte| byte == 0);
    match bytes {
        [0xff, 0xfe, ..] => Some("UTF-16LE"),
        [0xfe, 0xff, ..] => Some("UTF-16BE"),
        _ if all_zero(1) && !all_zero(0) => Some("UTF-16LE"),
        _ if all_zero(0) && !all_zero(1) => Some("UTF-16BE"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_dropped() {
        let file = Path::new("f");
        assert_eq!(text("\u{feff}\u{feff}a\u{feff}".into(), file).unwrap(), "a\u{feff}");
        assert!(matches!(text("\u{feff}".into(), file), Err(QueryError::Empty { .. })));
        assert!(matches!(text("\r\n\n".into(), file), Err(QueryError::Empty { .. })));
    }

    #[test]
    fn utf_16_is_called_by_its_name() {
        let units: Vec<u16> = "k,v\n1,é\n".encode_utf16().collect();
        let bytes =
            |order: fn(u16) -> [u8; 2]| units.iter().flat_map(|&unit| order(unit)).collect::<Vec<u8>>();
        let (little, big) = (bytes(u16::to_le_bytes), bytes(u16::to_be_bytes));
        for (bytes, expected) in [
            (little.clone(), Some("UTF-16LE")),
            (big.clone(), Some("UTF-16BE")),
            ([&[0xff, 0xfe][..], &little].concat(), Some("UTF-16LE")),
            ([&[0xfe, 0xff][..], &big].concat(), Some("UTF-16BE")),
            (b"k,v\n\0,\0\n".to_vec(), None),
            (b"\0\0\0\0".to_vec(), None),
            (b"k".to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(utf16(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn broken_utf8_is_found_on_its_line() {
        let broken = text(b"a,b\n1,2\n3,\xff\n".to_vec(), Path::new("f"));
        assert!(matches!(broken, Err(QueryError::NotUtf8 { line: 3, .. })));
    }
}
