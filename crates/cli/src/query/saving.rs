//! Saves the index of a query: the format is described at [`super::saved`].

use super::args::Args;
use super::origin::Origin;
use crate::rows::column::Column;
use crate::rows::error::QueryError;
use crate::rows::key::Rule;
use crate::rows::keys::Keys;
use crate::rows::kind::{Kind, Part};
use crate::rows::line;
use crate::rows::postings::Groups;
use crate::rows::source;
use crate::rows::table::Table;
use latchless::snapshot::{DataType, Layout, strings};
use std::fs;
use std::path::Path;

pub const DELIMITER: &str = "query.delimiter";
pub const COLUMNS: &str = "query.columns";
pub const NAMED: &str = "query.named";
/// The columns of the key, counted from 1, their types, and whether these were inferred.
pub const KEY: &str = "query.key";
pub const TYPES: &str = "query.key_types";
pub const INFERRED: &str = "query.key_type_inferred";
/// How many distinct keys there are; absent from files that are only read whole.
pub const KEYS: &str = "query.keys";
/// The version of the format; absent from files of the first version.
pub const VERSION: &str = "query.version";
pub const THIS_VERSION: &str = "2";

/// The path of `--save`, and the file with the rows.
#[derive(Debug)]
pub struct Saving<'a> {
    to: &'a Path,
    origin: Origin,
}

impl<'a> Saving<'a> {
    /// The requested save, if any. Checks the file before it is read.
    ///
    /// # Errors
    /// [`QueryError::CannotSave`] if the rows couldn't be found again, or the file itself would be replaced.
    pub fn new(args: &'a Args) -> Result<Option<Self>, QueryError> {
        let Some(to) = args.ask.save.as_deref() else { return Ok(None) };
        let refused = |why| QueryError::CannotSave { file: source::name(args.from.first()), why };
        if args.from.first() == Path::new("-") {
            return Err(refused("its rows can't be read again; save it in a file first"));
        }
        let origin = Origin::of(args.from.first(), to)?;
        if !origin.file().is_file() {
            return Err(refused("it is no plain file, so its rows can't be read again"));
        }
        if let (Ok(from), Ok(to)) = (fs::canonicalize(origin.file()), fs::canonicalize(to))
            && from == to
        {
            return Err(refused("the index would take its place"));
        }
        if origin.file().to_str().is_none() {
            return Err(refused("its name isn't UTF-8"));
        }
        Ok(Some(Self { to, origin }))
    }

    /// Saves an index over a table whose text is the file's, perhaps without its first bytes. `groups`: the
    /// table's rows, sorted by key; `distinct`: how many keys these have.
    ///
    /// # Errors
    /// [`QueryError::Save`]; [`QueryError::CannotSave`] if the text isn't the file's.
    pub fn save(
        mut self,
        table: &Table,
        column: &Column,
        groups: &dyn Groups,
        distinct: usize,
    ) -> Result<u64, QueryError> {
        // Only a byte order mark can precede the text.
        let before = self.origin.bytes().checked_sub(table.bytes()).filter(|before| before % 3 == 0);
        let Some(before) = before.filter(|_| self.origin.read_as(table.text())) else {
            let file = self.origin.file().display().to_string();
            return Err(QueryError::CannotSave { file, why: "it was changed while it was read" });
        };
        let start = |row: u32| before + column.starts[row as usize];
        let mut about = self.metadata(table, &column.parts);
        about.push((KEYS, distinct.to_string()));
        let rows = (0..groups.len()).map(|position| groups.row(position));
        let saved = match (&column.keys, &column.parts[..]) {
            (Keys::Bytes(keys), parts) => {
                let named = |layout: strings::Layout, (name, text)| layout.with_metadata(name, text);
                let layout = about.into_iter().fold(strings::Layout::new(DataType::UInt64), named);
                let rows = rows.map(|row| (keys.get(row as usize), start(row)));
                match parts {
                    [part] if part.kind.is_text() => layout.save_rows::<String>(self.to, rows),
                    _ => layout.save_rows::<Vec<u8>>(self.to, rows),
                }
            }
            (keys, parts) => {
                let key_type = rule_of(&parts[0]).key_type;
                let named = |layout: Layout, (name, text)| layout.with_metadata(name, text);
                let layout = Layout::new(key_type.data_type(), DataType::UInt64);
                let layout = about.into_iter().fold(layout, named);
                let row = |row: u32| (key_type.cell(keys.number(row as usize)), start(row));
                layout.save_rows(self.to, rows.map(row))
            }
        };
        saved.map_err(|cause| QueryError::Save { file: self.to.display().to_string(), cause })
    }

    /// The metadata about the table.
    fn metadata(&self, table: &Table, parts: &[Part]) -> Vec<(&'static str, String)> {
        let each = |text: &dyn Fn(&Part) -> String| parts.iter().map(text).collect::<Vec<_>>().join(",");
        let mut metadata = self.origin.metadata().to_vec();
        metadata.extend([
            (DELIMITER, char::from(table.delimiter()).to_string()),
            (COLUMNS, line::line(table.delimiter(), table.columns())),
            (NAMED, table.is_named().to_string()),
            (KEY, each(&|part| (part.column + 1).to_string())),
            (TYPES, each(&|part| part.kind.to_string())),
            (INFERRED, each(&|part| part.kind.is_guessed().to_string())),
            (VERSION, THIS_VERSION.to_owned()),
        ]);
        metadata
    }
}

/// How a part that is a number is read.
pub fn rule_of(part: &Part) -> Rule {
    match part.kind {
        Kind::Number(rule) => rule,
        Kind::Form(_) | Kind::Text { .. } => unreachable!("these are bytes"),
    }
}
