//! An index in a file: what `--save` writes, and how such a file answers the next question.
//!
//! The file is a snapshot ([`latchless::snapshot`]) with a row for each row of the table, sorted by key:
//! the key, and the byte that the table's row starts at. Its metadata says which file that is in
//! ([`Origin`]), and how its columns are called. So a question reads the index, and of the table only the
//! rows of its answer.
//!
//! A snapshot that another program saved has no such metadata: its own columns are the table then, and
//! either of them can be asked about.

use super::args::Args;
use super::column::Column;
use super::error::QueryError;
use super::key::{KeyType, Rule};
use super::keys::Keys;
use super::kind::{Kind, Named, Part};
use super::origin::Origin;
use super::source;
use super::table::{self, Table};
use csv::{ByteRecord, Position, Writer};
use latchless::snapshot::{DataType, Layout, Snapshot};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const DELIMITER: &str = "query.delimiter";
const COLUMNS: &str = "query.columns";
const NAMED: &str = "query.named";
const KEY: &str = "query.key";
const INFERRED: &str = "query.key_type_inferred";

/// Why an index over several columns isn't saved.
const OF_SEVERAL: &str = "a saved index is over one column, and --key names several";
/// Why an index over texts isn't saved.
const OF_TEXTS: &str = "a saved index has keys that are numbers, and these are texts";

/// The columns of a snapshot that another program saved.
const ENTRIES: &str = "key,value\n";

/// Where `--save` puts the index, and which file its rows are in.
#[derive(Debug)]
pub struct Saving<'a> {
    to: &'a Path,
    origin: Origin,
}

impl<'a> Saving<'a> {
    /// What the arguments ask for. Looks at the file before it is read.
    ///
    /// # Errors
    /// [`QueryError::CannotSave`] if the keys aren't numbers, the rows couldn't be found again, or the file
    /// itself would be replaced.
    pub fn new(args: &'a Args) -> Result<Option<Self>, QueryError> {
        let Some(to) = args.save.as_deref() else { return Ok(None) };
        let refused = |why| QueryError::CannotSave { file: source::name(&args.file), why };
        if args.key_columns().len() > 1 {
            return Err(refused(OF_SEVERAL));
        }
        if args.key_type.contains(&Named::Text) {
            return Err(refused(OF_TEXTS));
        }
        if args.file == Path::new("-") {
            return Err(refused("its rows can't be read again; save it in a file first"));
        }
        let origin = Origin::of(&args.file, to)?;
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

    /// Saves an index over a table whose text is the file's, perhaps without its first bytes. `rows`: the
    /// table's, sorted by key.
    ///
    /// # Errors
    /// [`QueryError::Save`]; [`QueryError::CannotSave`] if the keys aren't numbers or the text isn't the
    /// file's.
    pub fn save(mut self, table: &Table, column: &Column, rows: &[u32]) -> Result<u64, QueryError> {
        let [Part { column: key, kind: Kind::Number(rule), .. }] = column.parts[..] else {
            let file = self.origin.file().display().to_string();
            return Err(QueryError::CannotSave { file, why: OF_TEXTS });
        };
        // What comes before the text is a byte order mark.
        let before = self.origin.bytes().checked_sub(table.bytes()).filter(|before| before % 3 == 0);
        let Some(before) = before.filter(|_| self.origin.read_as(table.text())) else {
            let file = self.origin.file().display().to_string();
            return Err(QueryError::CannotSave { file, why: "it was changed while it was read" });
        };
        let columns = table::line(table.delimiter(), table.columns());
        let layout = Layout::new(rule.key_type.data_type(), DataType::UInt64);
        let layout = self
            .origin
            .put(layout)
            .with_metadata(DELIMITER, char::from(table.delimiter()))
            .with_metadata(COLUMNS, columns)
            .with_metadata(NAMED, table.is_named().to_string())
            .with_metadata(KEY, (key + 1).to_string())
            .with_metadata(INFERRED, rule.inferred.to_string());
        let row = |&row: &u32| {
            let (bits, start) = (column.keys.number(row as usize), column.starts[row as usize]);
            (rule.key_type.cell(bits), before + start)
        };
        layout
            .save_rows(self.to, rows.iter().map(row))
            .map_err(|cause| QueryError::Save { file: self.to.display().to_string(), cause })
    }
}

/// Where the rows of a saved index are.
#[derive(Debug)]
enum Rows {
    /// In a file, each at the byte that is its value.
    InFile(Origin),
    /// They are the entries themselves.
    Entries,
}

/// A file that an index was saved in.
#[derive(Debug)]
pub struct Saved {
    file: PathBuf,
    snapshot: Snapshot,
    rows: Rows,
    delimiter: u8,
    /// A line with the names of the columns, or their numbers if they have no names.
    columns: String,
    /// Whether the columns have names.
    pub is_named: bool,
    /// The number of the key column, from 0.
    key: usize,
    /// How the keys were read.
    rule: Rule,
}

impl Saved {
    /// Takes the bytes of a file.
    ///
    /// # Errors
    /// [`QueryError::Snapshot`]; [`QueryError::OtherKeyType`]; [`QueryError::TooManyRows`];
    /// [`QueryError::SavedIsOfOne`].
    pub fn new(bytes: Vec<u8>, args: &Args) -> Result<Self, QueryError> {
        let (file, name) = (args.file.clone(), source::name(&args.file));
        let columns = args.key_columns();
        if columns.len() > 1 {
            return Err(QueryError::SavedIsOfOne { file: name });
        }
        let snapshot = Snapshot::from_bytes(bytes)
            .map_err(|cause| QueryError::Snapshot { file: name.clone(), cause })?;
        if u32::try_from(snapshot.len()).is_err() {
            return Err(QueryError::TooManyRows { limit: u32::MAX });
        }
        let is_over_table = Origin::is_in(|name| text(&snapshot, name));
        // Of entries either column can be asked about.
        let asked = columns.first().filter(|_| !is_over_table);
        let key = asked.map_or(Ok(0), |name| Table::new(ENTRIES, b',', true)?.column("--key", name))?;
        let found = [snapshot.key_type(), snapshot.value_type()][key];
        let key_type =
            KeyType::of(found).ok_or_else(|| QueryError::UnknownKeys { file: name.clone(), found })?;
        let other = args.key_type.iter().find(|&&asked| asked != Named::Number(key_type));
        if let Some(&asked) = other {
            return Err(QueryError::OtherKeyType { file: name, found: key_type, asked });
        }
        let entries = Self {
            file,
            rows: Rows::Entries,
            delimiter: b',',
            columns: ENTRIES.to_owned(),
            is_named: true,
            key,
            rule: Rule { key_type, inferred: false },
            snapshot,
        };
        if is_over_table { entries.of_table() } else { Ok(entries) }
    }

    /// The same with what `--save` added.
    fn of_table(self) -> Result<Self, QueryError> {
        let bad = || QueryError::BadMetadata { file: source::name(&self.file) };
        let text = |name: &str| text(&self.snapshot, name).ok_or_else(bad);
        let number = |name: &str| text(name)?.parse::<usize>().map_err(|_| bad());
        let is_it = |name: &str| text(name)?.parse::<bool>().map_err(|_| bad());
        let origin = Origin::from(|name| text(name).ok()).ok_or_else(bad)?;
        let delimiter = match text(DELIMITER)?.as_bytes() {
            &[byte] => byte,
            _ => return Err(bad()),
        };
        let columns = text(COLUMNS)?.to_owned();
        let key = number(KEY)?.checked_sub(1).filter(|&key| {
            Table::new(&columns, delimiter, true).is_ok_and(|table| key < table.columns().count())
        });
        let (Some(key), DataType::UInt64) = (key, self.snapshot.value_type()) else { return Err(bad()) };
        let (is_named, inferred) = (is_it(NAMED)?, is_it(INFERRED)?);
        let rule = Rule { inferred, ..self.rule };
        Ok(Self { rows: Rows::InFile(origin), delimiter, columns, is_named, key, rule, ..self })
    }

    /// The column of the key.
    pub fn part(&self) -> Part {
        Part { column: self.key, kind: Kind::Number(self.rule), may_be_text: false }
    }

    /// Every row's key.
    pub fn keys(&self) -> Keys {
        let of_value = matches!(self.rows, Rows::Entries) && self.key == 1;
        let from = if of_value { self.snapshot.value_type() } else { self.snapshot.key_type() };
        let bits = |row| {
            let (key, value) = self.snapshot.row(row);
            self.rule.key_type.bits_of_cell(from, if of_value { value } else { key })
        };
        let all = (0..self.snapshot.len()).map(bits);
        if self.rule.key_type.is_narrow() {
            Keys::Narrow(all.map(|bits| bits as u32).collect())
        } else {
            Keys::Wide(all.collect())
        }
    }

    /// The error for a question about another column than that of the keys.
    pub fn other_key(&self, called: String) -> QueryError {
        let origin = match &self.rows {
            Rows::InFile(origin) => origin.file(),
            Rows::Entries => &self.file,
        };
        let (file, origin) = (source::name(&self.file), origin.display().to_string());
        QueryError::OtherKey { file, column: called, origin }
    }

    /// The text of a table without rows: the names of the columns, for [`Table::new`].
    pub fn header(&self) -> &str {
        &self.columns
    }

    /// What separates the fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The text of a table of these rows alone. Where the columns have no names, it has a row even without
    /// them, so that the number of columns is known.
    ///
    /// # Errors
    /// [`QueryError::Changed`] if the file isn't as it was; [`QueryError::Unreadable`].
    pub fn fetch(&self, rows: &[u32]) -> Result<String, QueryError> {
        if rows.is_empty() {
            return Ok(self.columns.clone());
        }
        let mut writer = csv::WriterBuilder::new().delimiter(self.delimiter).from_writer(Vec::new());
        match &self.rows {
            Rows::InFile(origin) => self.copy(origin, rows, &mut writer)?,
            Rows::Entries => {
                let (key_type, value_type) = (self.snapshot.key_type(), self.snapshot.value_type());
                for &row in rows {
                    let (key, value) = self.snapshot.row(row as usize);
                    writer.write_record([shown(key_type, key), shown(value_type, value)])?;
                }
            }
        }
        let header = if self.is_named { &self.columns } else { "" };
        Ok(format!("{header}{}", table::finished(writer)))
    }

    /// Copies rows of a file that is still as it was.
    fn copy(&self, origin: &Origin, rows: &[u32], into: &mut Writer<Vec<u8>>) -> Result<(), QueryError> {
        let place = origin.find(&self.file)?;
        let name = || place.display().to_string();
        let changed = || QueryError::Changed { file: name(), index: source::name(&self.file) };
        let file = File::open(&place).map_err(|cause| QueryError::Unreadable { file: name(), cause })?;
        let mut reader = table::builder(self.delimiter).has_headers(false).from_reader(file);
        let mut record = ByteRecord::new();
        let columns = Table::new(&self.columns, self.delimiter, true)?.columns().count();
        for &row in rows {
            let (key, start) = self.snapshot.row(row as usize);
            let mut position = Position::new();
            position.set_byte(start);
            reader.seek(position)?;
            reader.read_byte_record(&mut record)?;
            // A change that left size and time as they were is found by the key.
            let fields: Option<Vec<&str>> =
                record.iter().map(|field| std::str::from_utf8(field).ok()).collect();
            let fields = fields.ok_or_else(changed)?;
            let bits = fields.get(self.key).and_then(|cell| self.rule.read(cell).ok());
            if fields.len() != columns
                || bits != Some(self.rule.key_type.bits_of_cell(self.snapshot.key_type(), key))
            {
                return Err(changed());
            }
            into.write_record(fields)?;
        }
        Ok(())
    }
}

/// The text under a name in a snapshot's metadata.
fn text<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s str> {
    let mut there = snapshot.metadata().iter().filter(|(there, _)| there == name);
    there.next().map(|(_, text)| &text[..])
}

/// A cell as text; times as the numbers that they are stored as.
fn shown(data_type: DataType, cell: u64) -> String {
    match data_type {
        DataType::Int8 => (cell as i8).to_string(),
        DataType::Int16 => (cell as i16).to_string(),
        DataType::Int32 => (cell as i32).to_string(),
        DataType::Int64 | DataType::Timestamp(_) | DataType::Duration(_) => (cell as i64).to_string(),
        DataType::Float32 => f32::from_bits(cell as u32).to_string(),
        DataType::Float64 => f64::from_bits(cell).to_string(),
        _ => cell.to_string(),
    }
}
