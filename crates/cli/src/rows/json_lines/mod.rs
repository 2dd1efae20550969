//! JSON lines: an object a line, as text with separated fields, so that one path serves all files.
//!
//! The columns are the keys of the objects in the first mebibyte, in the order of their appearance. A key
//! that an object lacks, or that is null there, is an empty cell. Numbers, and arrays and objects inside of
//! the object, are the text that the file has for them.

mod object;

use super::decoder::{Decoder, line_ends};
use super::dialect;
use super::error::QueryError;
use super::how::How;
use super::input;
use super::line;
use super::lines::Lines;
use super::ragged::Ragged;
use super::reader::{About, RowReader};
use object::{Cells, Columns};
use std::path::{Path, PathBuf};

/// Bytes of the file that decide on the columns.
const FIRST_BYTES: usize = 1 << 20;

/// The separator of fields.
const DELIMITER: u8 = b',';

/// Whether a file has JSON, by its name or, if that says nothing, by its first characters.
pub fn is_json(file: &Path, begins: &str, how: How) -> bool {
    match dialect::ending(file).as_str() {
        "jsonl" | "ndjson" | "json" => true,
        "csv" | "tsv" | "bed" | "gff" | "gff3" | "gtf" | "vcf" => false,
        _ => how.is_named && how.delimiter.is_none() && begins_as_json(begins),
    }
}

fn begins_as_json(begins: &str) -> bool {
    let begins = begins.trim_start_matches('\u{feff}').trim_ascii_start();
    let after = |first| begins.strip_prefix(first).map(str::trim_ascii_start);
    after('{').is_some_and(|after| after.starts_with(['"', '}']))
        || after('[').is_some_and(|after| after.starts_with('{'))
}

/// Reads objects as CSV.
pub struct JsonLines {
    file: PathBuf,
    decoder: Decoder,
    columns: Columns,
    is_ragged: bool,
    /// What was decoded and isn't rows yet.
    text: String,
    /// Lines of the file, and of the text that was made of them.
    lines_read: u64,
    lines_made: u64,
    lines: Lines,
    ragged: Ragged,
    has_begun: bool,
}

impl JsonLines {
    /// The objects of a file.
    pub fn new(file: &Path, decoder: Decoder, how: How) -> Self {
        Self {
            file: file.to_owned(),
            decoder,
            columns: how.names.map_or_else(Columns::default, Columns::of),
            is_ragged: how.is_ragged,
            text: String::new(),
            lines_read: 0,
            lines_made: 0,
            lines: Lines::default(),
            ragged: Ragged::default(),
            has_begun: false,
        }
    }

    /// Decides on the columns by the lines up to `end`, and writes their names.
    fn begin(&mut self, end: usize, into: &mut String) -> Result<(), QueryError> {
        if !self.columns.are_fixed() {
            for (at, line) in self.text[..end].lines().enumerate().filter(|(_, line)| !is_blank(line)) {
                let added = self.columns.add_keys(line);
                added.map_err(|cause| self.refused(1 + at as u64, cause))?;
            }
            self.columns.fix();
        }
        self.has_begun = true;
        line::push_line(into, DELIMITER, self.columns.names().map(Some));
        self.lines_made += 1 + self.columns.names().map(line_ends).sum::<u64>();
        Ok(())
    }

    /// Appends the rows of the lines up to `end`.
    fn rows(&mut self, end: usize, into: &mut String) -> Result<(), QueryError> {
        let mut text = std::mem::take(&mut self.text);
        let mut cells = Cells::default();
        for line in text[..end].lines() {
            self.lines_read += 1;
            if is_blank(line) {
                continue;
            }
            let excess =
                cells.read(line, &self.columns).map_err(|cause| self.refused(self.lines_read, cause))?;
            if let Some(key) = excess {
                if !self.is_ragged {
                    let (file, line) = (input::name(&self.file), self.lines_read);
                    return Err(QueryError::NewKey { file, line, key: key.into_owned() });
                }
                self.ragged.count(self.lines_made + 1, 1, 0);
            }
            self.lines.push(self.lines_made + 1, self.lines_read);
            let start = into.len();
            let texts = cells.texts().map_err(|cause| self.refused(self.lines_read, cause))?;
            line::push_line(into, DELIMITER, texts.iter().map(Option::as_deref));
            self.lines_made += line_ends(&into[start..]);
        }
        text.drain(..end);
        self.text = text;
        Ok(())
    }

    fn refused(&self, line: u64, cause: serde_json::Error) -> QueryError {
        QueryError::Json { file: input::name(&self.file), line, cause }
    }
}

impl RowReader for JsonLines {
    fn read_on(&mut self, into: &mut String, bytes: usize, _: u64) -> Result<bool, QueryError> {
        let mut wanted = bytes;
        if !self.has_begun {
            wanted = wanted.max(FIRST_BYTES);
        }
        let (mut has_more, mut end) = (true, 0);
        // A line may be longer than all that was wanted.
        while has_more && self.text[..end].trim_ascii().is_empty() {
            let bytes = wanted.max(self.text.len());
            has_more = self.decoder.read_on(&mut self.text, bytes, self.lines_read)?;
            end = if has_more { self.text.rfind('\n').map_or(0, |end| end + 1) } else { self.text.len() };
        }
        if self.text[..end].trim_ascii().is_empty() {
            return Ok(false);
        }
        if !self.has_begun {
            self.begin(end, into)?;
        }
        self.rows(end, into)?;
        Ok(has_more)
    }

    fn about(&self, _: &str) -> About {
        About::made(true, None)
    }

    fn lines(&self) -> Lines {
        self.lines.clone()
    }

    fn ragged(&self) -> Ragged {
        self.ragged
    }
}

fn is_blank(line: &str) -> bool {
    line.trim_ascii().is_empty()
}
