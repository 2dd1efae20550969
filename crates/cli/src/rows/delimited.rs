//! Files whose rows are text with separated fields: CSV, TSV, BED, GFF and VCF.

use super::decoder::Decoder;
use super::dialect::Dialect;
use super::error::QueryError;
use super::how::How;
use super::reader::{About, RowReader};
use encoding_rs::UTF_8;
use std::path::{Path, PathBuf};

/// Reads text as it is.
pub struct Delimited {
    file: PathBuf,
    decoder: Decoder,
    how: How<'static>,
    /// Whether the file wasn't unpacked.
    is_plain: bool,
}

impl Delimited {
    /// The text of a file.
    pub fn new(file: &Path, decoder: Decoder, is_plain: bool, how: How) -> Self {
        let how = How { columns: None, names: None, ..how };
        Self { file: file.to_owned(), decoder, how, is_plain }
    }
}

impl RowReader for Delimited {
    fn read_on(&mut self, into: &mut String, bytes: usize, lines: u64) -> Result<bool, QueryError> {
        self.decoder.read_on(into, bytes, lines)
    }

    fn about(&self, begins: &str) -> About {
        let dialect = Dialect::of(&self.file, begins, self.how);
        About { dialect, kinds: None, is_own: self.is_plain && self.decoder.encoding() == UTF_8 }
    }
}
