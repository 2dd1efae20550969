//! Compressed files: read if a reader is built in, otherwise reported by the name of their format.

use super::error::QueryError;
use std::io::Read;

/// Ways to compress a file: how one begins, its name, and the program that unpacks it to standard output.
const PACKINGS: [(&[u8], &str, &str); 7] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "zstdcat"),
    (b"BZh", "bzip2", "bzcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"\x04\x22\x4d\x18", "LZ4", "lz4cat"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip", "7z x -so"),
];

/// The bytes in a compressed file; `None` if it isn't compressed. `name` is the file's, for messages.
///
/// # Errors
/// [`QueryError::Packed`] if it is in a way that this program doesn't read, [`QueryError::Unreadable`] if
/// it is damaged.
pub fn unpacked(bytes: &[u8], name: impl Fn() -> String) -> Result<Option<Vec<u8>>, QueryError> {
    let Some(&(_, packing, program)) = PACKINGS.iter().find(|(begins, ..)| bytes.starts_with(begins)) else {
        return Ok(None);
    };
    let reader: Option<Box<dyn Read + '_>> = match packing {
        // Files are often several of them one after the other, as bgzip makes them.
        "gzip" => Some(Box::new(flate2::read::MultiGzDecoder::new(bytes))),
        #[cfg(feature = "parquet")]
        "Zstandard" => zstd::Decoder::with_buffer(bytes).ok().map(|decoder| Box::new(decoder) as _),
        _ => None,
    };
    let Some(mut reader) = reader else {
        return Err(QueryError::Packed { file: name(), packing, program });
    };
    let mut text = Vec::new();
    reader.read_to_end(&mut text).map_err(|cause| QueryError::Unreadable { file: name(), cause })?;
    Ok(Some(text))
}
