//! Several files as one text: their rows one after the other, under the header of the first.

use super::decoder::line_ends;
use super::error::QueryError;
use super::how::How;
use super::lines::Lines;
use super::progress::Progress;
use super::source::{self, Content, Text};
use super::table::Table;
use std::path::PathBuf;

/// The rows of several files, whose columns and notations are the same; `hows`: how each is read.
///
/// # Errors
/// Those of [`source::read`] and of a walk over the rows, for each file; [`QueryError::IsIndex`],
/// [`QueryError::OtherColumns`].
pub fn gather(files: &[PathBuf], hows: &[How], progress: &Progress) -> Result<Text, QueryError> {
    let mut all: Option<(Text, Table<'static>)> = None;
    let mut names: Vec<String> = Vec::new();
    for (file, how) in files.iter().zip(hows) {
        let name = || source::name(file);
        let how = How { names: Some(&names[..]).filter(|names| !names.is_empty()), ..*how };
        let Content::Text(mut text) = source::read(file, how, progress)? else {
            return Err(QueryError::IsIndex { file: name() });
        };
        let in_file = |error: QueryError| text.lines.locate(error).in_file(name());
        let table = Table::of(&text.text, text.about.dialect, true).map_err(in_file)?;
        // A quote that one file leaves open would swallow the rows of the next.
        let mut walk = table.walk().map_err(in_file)?;
        while walk.advance().map_err(in_file)? {}
        let is_alike = |(first, header): &(Text, Table)| {
            let (dialect, kinds) = (text.about.dialect, &text.about.kinds);
            first.about.kinds == *kinds && header.dialect() == dialect && header.columns().eq(table.columns())
        };
        if !all.as_ref().is_none_or(is_alike) {
            return Err(QueryError::OtherColumns { file: name(), first: source::name(&files[0]) });
        }
        let Some((gathered, _)) = &mut all else {
            names = table.columns().map(str::to_owned).collect();
            let header = Table::continued("", table.head().clone(), 0, true);
            let mut lines = Lines::default();
            lines.append(1, name(), &text.lines, 1);
            text.lines = lines;
            text.about.is_own = false;
            all = Some((text, header));
            continue;
        };
        if !gathered.text.ends_with('\n') {
            gathered.text.push('\n');
        }
        let in_text = 1 + line_ends(&gathered.text);
        gathered.lines.append(in_text, name(), &text.lines, table.body_line());
        gathered.ragged.add(text.ragged.in_lines(|line| line - table.body_line() + in_text));
        gathered.text.push_str(&text.text[table.body() as usize..]);
    }
    all.map(|(text, _)| text).ok_or_else(|| unreachable!("one file at the least was given"))
}
