//! Several files as one text: their rows one after the other, under the header of the first.

use super::dialect::Dialect;
use super::error::QueryError;
use super::progress::Progress;
use super::source::{self, Content, Text};
use super::stream::How;
use super::table::Table;
use super::wanted::Wanted;
use std::path::PathBuf;

/// The lines of several files in one text.
#[derive(Debug, Default)]
pub struct Lines(Vec<Part>);

/// The rows of a file.
#[derive(Debug)]
struct Part {
    /// The line of the text, and that of the file, that the rows begin on.
    in_text: u64,
    in_file: u64,
    name: String,
}

impl Lines {
    /// Says in which file and on which of its lines a cell is that an error is about.
    pub fn locate(&self, error: QueryError) -> QueryError {
        match error {
            QueryError::Key { line, column, complaint } => {
                let part = self.0.iter().rev().find(|part| part.in_text <= line);
                let line = part.map_or(line, |part| line - part.in_text + part.in_file);
                let error = QueryError::Key { line, column, complaint };
                match part {
                    Some(part) => error.in_file(part.name.clone()),
                    None => error,
                }
            }
            other => other,
        }
    }
}

/// The rows of several files, whose columns and notations are the same.
///
/// # Errors
/// Those of [`source::read`] and of a walk over the rows, for each file; [`QueryError::IsIndex`],
/// [`QueryError::OtherColumns`].
pub fn gather(
    files: &[PathBuf],
    how: How,
    wanted: Wanted,
    progress: &Progress,
) -> Result<(Text, Lines), QueryError> {
    let mut all: Option<(Text, Table<'static>)> = None;
    let mut lines = Lines::default();
    for file in files {
        let name = || source::name(file);
        let Content::Text(text) = source::read(file, wanted, progress)? else {
            return Err(QueryError::IsIndex { file: name() });
        };
        let dialect = match text.kinds {
            Some(_) => Dialect::csv(b',', how.is_named),
            None => Dialect::of(file, &text.text, how.delimiter, how.is_named),
        };
        let table = Table::of(&text.text, dialect, true).map_err(|error| error.in_file(name()))?;
        // A quote that one file leaves open would swallow the rows of the next.
        let mut walk = table.walk().map_err(|error| error.in_file(name()))?;
        while walk.advance().map_err(|error| error.in_file(name()))? {}
        let is_alike = |(first, header): &(Text, Table)| {
            first.kinds == text.kinds && header.dialect() == dialect && header.columns().eq(table.columns())
        };
        if !all.as_ref().is_none_or(is_alike) {
            return Err(QueryError::OtherColumns { file: name(), first: source::name(&files[0]) });
        }
        let Some((gathered, _)) = &mut all else {
            lines.0.push(Part { in_text: 1, in_file: 1, name: name() });
            let header = Table::continued("", table.head().clone(), 0, true);
            all = Some((Text { is_own: false, ..text }, header));
            continue;
        };
        if !gathered.text.ends_with('\n') {
            gathered.text.push('\n');
        }
        let in_text = 1 + gathered.text.bytes().filter(|&byte| byte == b'\n').count() as u64;
        lines.0.push(Part { in_text, in_file: table.body_line(), name: name() });
        gathered.text.push_str(&text.text[table.body() as usize..]);
    }
    all.map(|(text, _)| (text, lines)).ok_or_else(|| unreachable!("one file at the least was given"))
}
