//! How rows are read from files: what the command line says, and what a question needs of them.

use super::error::QueryError;
use clap::Args;
use encoding_rs::Encoding;

/// How a file's rows are read.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has columns one by one"))]
pub struct How<'a> {
    /// The separator of fields that an argument names.
    pub delimiter: Option<u8>,
    /// The encoding that an argument names.
    pub encoding: Option<&'static Encoding>,
    /// Whether rows may have fewer or more fields than there are columns.
    pub is_ragged: bool,
    /// Whether the first line of CSV names the columns.
    pub is_named: bool,
    /// Whether standard error says what was guessed.
    pub says_guesses: bool,
    /// The columns that are needed, where that isn't all of them. Others may be left out if that saves work.
    pub columns: Option<[&'a str; 2]>,
    /// The columns of an earlier file, whose rows these follow.
    pub names: Option<&'a [String]>,
}

/// Options of the reading of files.
#[derive(Debug, Clone, Default, Args)]
pub struct ReadOptions {
    /// The separator of fields: one ASCII character, or `tab`. Without it: a tab if the file's name ends in
    /// `.tsv`, else a comma, semicolon, tab or `|` if the first line has only one of these, else a comma.
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    delimiter: Option<String>,

    /// The encoding of the files' text, such as utf-8, utf-16, windows-1252 or latin1, by its name on the
    /// web; one for all files, or one for each, as utf-8,latin1. Without it: UTF-16 if the first bytes say
    /// so, else UTF-8, in which a wrong byte is refused by its line.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = encoding)]
    encoding: Vec<&'static Encoding>,

    /// Take rows with fewer or more fields than there are columns: missing cells are empty, excess ones are
    /// left out, and so are keys of JSON lines that are no columns. Standard error says how many rows those
    /// were.
    #[arg(long)]
    ragged: bool,
}

impl ReadOptions {
    /// How each of this many files is read, if its columns have names.
    ///
    /// # Errors
    /// [`QueryError::Delimiter`], [`QueryError::Encodings`].
    pub fn how(&self, files: usize) -> Result<Vec<How<'static>>, QueryError> {
        let delimiter = delimiter(self.delimiter.as_deref())?;
        let all = How { delimiter, is_ragged: self.ragged, is_named: true, ..How::default() };
        let with = |&encoding| How { encoding: Some(encoding), ..all };
        match &self.encoding[..] {
            [] => Ok(vec![all; files]),
            [one] => Ok(vec![with(one); files]),
            each if each.len() == files => Ok(each.iter().map(with).collect()),
            each => Err(QueryError::Encodings { found: each.len(), files }),
        }
    }
}

/// The byte that separates fields, if an argument says it.
///
/// # Errors
/// [`QueryError::Delimiter`] for anything that can't separate fields.
fn delimiter(given: Option<&str>) -> Result<Option<u8>, QueryError> {
    let Some(given) = given else { return Ok(None) };
    match given.as_bytes() {
        b"tab" | b"\\t" => Ok(Some(b'\t')),
        &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Ok(Some(byte)),
        _ => Err(QueryError::Delimiter { given: given.to_owned() }),
    }
}

/// The encoding of this name.
fn encoding(name: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label_no_replacement(name.as_bytes()).ok_or_else(|| {
        "no encoding of this name; usual ones are utf-8, utf-16le, utf-16be, windows-1252, latin1, iso-8859-15, \
         windows-1251, shift_jis and gb18030"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_for_all_files_or_for_each() {
        let how = |names: &[&str], files| {
            let encoding = names.iter().map(|name| encoding(name).unwrap()).collect();
            ReadOptions { encoding, ..ReadOptions::default() }.how(files)
        };
        let names =
            |hows: Vec<How>| hows.iter().map(|how| how.encoding.map(Encoding::name)).collect::<Vec<_>>();
        assert_eq!(names(how(&[], 2).unwrap()), [None, None]);
        assert_eq!(names(how(&["latin1"], 2).unwrap()), [Some("windows-1252"); 2]);
        assert_eq!(names(how(&["UTF8", "Latin1"], 2).unwrap()), [Some("UTF-8"), Some("windows-1252")]);
        assert!(matches!(how(&["utf-8"; 3], 2), Err(QueryError::Encodings { found: 3, files: 2 })));
        assert!(encoding("utf-9").is_err() && encoding("iso-2022-kr").is_err());
    }
}
