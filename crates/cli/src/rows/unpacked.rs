//! Compressed files: read if a reader is built in, otherwise reported by the name of their format.

use super::error::QueryError;
use flate2::bufread::MultiGzDecoder;
use std::io::{BufRead, Read};

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

/// A reader of the content of a compressed file, or else `from` as it is. `begins`: the file's first bytes,
/// which `from` reads again; `name`: its name, for messages.
///
/// # Errors
/// [`QueryError::Packed`] if it is compressed in a way that this program doesn't read.
#[expect(clippy::type_complexity, reason = "two readers")]
pub fn unpacked(
    begins: &[u8],
    from: Box<dyn BufRead>,
    name: impl Fn() -> String,
) -> Result<Result<Box<dyn Read>, Box<dyn BufRead>>, QueryError> {
    let Some(&(_, packing, program)) = PACKINGS.iter().find(|(packed, ..)| begins.starts_with(packed)) else {
        return Ok(Err(from));
    };
    match packing {
        // Files are often several of them one after the other, as bgzip makes them.
        "gzip" => Ok(Ok(Box::new(MultiGzDecoder::new(from)))),
        #[cfg(feature = "zstd")]
        "Zstandard" => match zstd::Decoder::with_buffer(from) {
            Ok(decoder) => Ok(Ok(Box::new(decoder))),
            Err(cause) => Err(QueryError::Unreadable { file: name(), cause }),
        },
        _ => Err(QueryError::Packed { file: name(), packing, program }),
    }
}
