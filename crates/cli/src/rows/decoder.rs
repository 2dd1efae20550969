//! Text from a file's bytes, whatever its encoding.

use super::error::QueryError;
use super::input::{self, Input};
use encoding_rs::{DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

/// The character that some programs write in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Text, one piece after the other.
pub struct Decoder {
    file: PathBuf,
    from: Box<dyn BufRead>,
    encoding: &'static Encoding,
    decoder: encoding_rs::Decoder,
    bytes: Vec<u8>,
    /// Whether no text has been read, so that byte order marks may be in front of the next.
    at_start: bool,
    is_end: bool,
}

impl Decoder {
    /// The text of a file in this encoding.
    pub fn new(input: Input, file: &Path, encoding: &'static Encoding) -> Self {
        Self {
            file: file.to_owned(),
            from: input.from,
            encoding,
            // Byte order marks are characters like others, and removed as such.
            decoder: encoding.new_decoder_without_bom_handling(),
            bytes: Vec::new(),
            at_start: true,
            is_end: false,
        }
    }

    /// The encoding.
    pub fn encoding(&self) -> &'static Encoding {
        self.encoding
    }

    /// Appends the text of the next bytes, so many unless the file ends before. Returns `false` once it has
    /// ended. `lines`: how many lines precede what is in `into`.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`], [`QueryError::Undecodable`].
    pub fn read_on(&mut self, into: &mut String, bytes: usize, lines: u64) -> Result<bool, QueryError> {
        if self.is_end {
            return Ok(false);
        }
        let start = into.len();
        self.bytes.clear();
        let read = self.from.by_ref().take(bytes as u64).read_to_end(&mut self.bytes);
        let read = read.map_err(|cause| QueryError::Unreadable { file: input::name(&self.file), cause })?;
        self.is_end = read == 0;
        let mut rest = &self.bytes[..];
        loop {
            let room = self.decoder.max_utf8_buffer_length_without_replacement(rest.len());
            into.reserve(room.unwrap_or(rest.len()));
            let (result, used) = self.decoder.decode_to_string_without_replacement(rest, into, self.is_end);
            rest = &rest[used..];
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    return Err(self.undecodable(lines + 1 + line_ends(into)));
                }
            }
        }
        if self.at_start {
            let marks = into[start..].len() - into[start..].trim_start_matches(BYTE_ORDER_MARK).len();
            into.drain(start..start + marks);
            self.at_start = into.len() == start;
        }
        Ok(!self.is_end)
    }

    fn undecodable(&self, line: u64) -> QueryError {
        let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
        let may_be_latin = self.encoding == UTF_8 && !self.bytes.iter().any(is_control);
        let (file, encoding) = (input::name(&self.file), self.encoding.name());
        QueryError::Undecodable { file, line, encoding, may_be_latin }
    }
}

/// How many lines end in a text.
pub fn line_ends(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// The encoding of a file that begins so, and whether it is a guess. `named`: the one that an argument names.
pub fn encoding(begins: &[u8], named: Option<&'static Encoding>) -> (&'static Encoding, bool) {
    let is_utf16 = |encoding| encoding == UTF_16LE || encoding == UTF_16BE;
    match (named, Encoding::for_bom(begins)) {
        // Of its two kinds, the mark says which it is.
        (Some(named), Some((marked, _))) if is_utf16(named) && is_utf16(marked) => (marked, false),
        (Some(named), _) => (named, false),
        (None, _) => utf16(begins).map_or((UTF_8, false), |encoding| (encoding, true)),
    }
}

/// The kind of UTF-16, if it is one: it has a byte order mark, or a zero in every other byte.
fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let zeros = |first: usize| bytes.iter().skip(first).step_by(2);
    let all_zero = |first| zeros(first).len() > 1 && zeros(first).all(|&byte| byte == 0);
    match bytes {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        _ if all_zero(1) && !all_zero(0) => Some(UTF_16LE),
        _ if all_zero(0) && !all_zero(1) => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// The text of these bytes, read in pieces of so many.
    fn decoded(bytes: &[u8], named: Option<&'static Encoding>, piece: usize) -> Result<String, QueryError> {
        let from = Box::new(Cursor::new(bytes.to_vec()));
        let input = Input { begins: Vec::new(), from, bytes: 0, is_own: true };
        let mut decoder = Decoder::new(input, Path::new("f"), encoding(bytes, named).0);
        let mut text = String::new();
        while decoder.read_on(&mut text, piece, 0)? {}
        assert!(!decoder.read_on(&mut text, piece, 0)?);
        Ok(text)
    }

    fn units(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn byte_order_marks_are_dropped_at_the_start_alone() {
        for piece in [1, 2, 100] {
            let text = decoded("\u{feff}\u{feff}a\u{feff}".as_bytes(), None, piece).unwrap();
            assert_eq!(text, "a\u{feff}");
            assert_eq!(decoded("\u{feff}".as_bytes(), None, piece).unwrap(), "");
        }
    }

    #[test]
    fn every_encoding_is_read_in_pieces_of_any_size() {
        let text = "k,v\n1,é€\n2,\u{1f980}\n";
        let marked = format!("\u{feff}{text}");
        for piece in [1, 2, 3, 5, 100] {
            assert_eq!(decoded(text.as_bytes(), None, piece).unwrap(), text);
            for order in [u16::to_le_bytes, u16::to_be_bytes] {
                assert_eq!(decoded(&units(&marked, order), None, piece).unwrap(), text);
                // Its mark says more than the argument.
                assert_eq!(decoded(&units(&marked, order), Some(UTF_16LE), piece).unwrap(), text);
            }
            let latin = decoded(b"caf\xe9,\x80\x81\n", Some(encoding_rs::WINDOWS_1252), piece).unwrap();
            assert_eq!(latin, "café,€\u{81}\n");
        }
    }

    #[test]
    fn utf_16_is_known_by_its_mark_or_its_zeros() {
        let bytes = |order| units("k,v\n1,é\n", order);
        let (little, big) = (bytes(u16::to_le_bytes), bytes(u16::to_be_bytes));
        for (bytes, expected) in [
            (little.clone(), Some(UTF_16LE)),
            (big.clone(), Some(UTF_16BE)),
            ([&[0xff, 0xfe][..], &little].concat(), Some(UTF_16LE)),
            ([&[0xfe, 0xff][..], &big].concat(), Some(UTF_16BE)),
            (b"k,v\n\0,\0\n".to_vec(), None),
            (b"\0\0\0\0".to_vec(), None),
            (b"k".to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(utf16(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_wrong_byte_is_found_on_its_line() {
        for piece in [1, 4, 100] {
            let line = |bytes: &[u8], named| match decoded(bytes, named, piece) {
                Err(QueryError::Undecodable { line, encoding, .. }) => (line, encoding),
                other => panic!("{other:?}"),
            };
            assert_eq!(line(b"a,b\n1,2\n3,\xff\n", None), (3, "UTF-8"));
            assert_eq!(line(b"a,b\n1,\xc3", None), (2, "UTF-8"));
            // Half a pair, and half a unit.
            assert_eq!(line(b"\xff\xfea\0\n\0\x3d\xd8b\0", None), (2, "UTF-16LE"));
            assert_eq!(line(b"\xff\xfea\0\n\0b", None), (2, "UTF-16LE"));
        }
    }
}
