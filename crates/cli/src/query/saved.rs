//! An index in a file: what `--save` writes, and how such a file answers the next question.
//!
//! The file is a snapshot ([`latchless::snapshot`]) with a row for each row of the table, sorted by key: the
//! key, and the byte that the table's row starts at. Its metadata says which file that is in, and how its
//! columns are called. So a question reads the index, and of the table only the rows of its answer.
//!
//! A snapshot that another program saved has no such metadata: its own columns are the table then.

use super::args::Args;
use super::error::QueryError;
use super::key::{KeyType, Rule};
use super::source;
use super::table::{self, Table};
use csv::{ByteRecord, Position, Writer};
use latchless::Bits;
use latchless::snapshot::{DataType, Layout, Snapshot};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const FILE: &str = "query.file";
const BYTES: &str = "query.bytes";
const MODIFIED: &str = "query.modified_ns";
const DELIMITER: &str = "query.delimiter";
const COLUMNS: &str = "query.columns";
const NAMED: &str = "query.named";
const KEY: &str = "query.key";
const INFERRED: &str = "query.key_type_inferred";

/// A file, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    file: PathBuf,
    bytes: u64,
    modified_ns: u128,
}

impl Source {
    /// The file as it is now.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`].
    pub fn of(file: &Path) -> Result<Self, QueryError> {
        let about = std::path::absolute(file).and_then(|absolute| Ok((fs::metadata(&absolute)?, absolute)));
        let (about, absolute) =
            about.map_err(|cause| QueryError::Unreadable { file: source::name(file), cause })?;
        let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.map_or(0, |since| since.as_nanos());
        Ok(Self { file: absolute, bytes: about.len(), modified_ns })
    }
}

/// Where `--save` puts the index, and which file its rows are in.
#[derive(Debug)]
pub struct Saving<'a> {
    to: &'a Path,
    source: Source,
}

impl<'a> Saving<'a> {
    /// What the arguments ask for. Looks at the file before it is read.
    ///
    /// # Errors
    /// [`QueryError::CannotSave`] if the rows couldn't be found again, or the file itself would be replaced.
    pub fn new(args: &'a Args) -> Result<Option<Self>, QueryError> {
        let Some(to) = args.save.as_deref() else { return Ok(None) };
        let refused = |why| QueryError::CannotSave { file: source::name(&args.file), why };
        if args.file == Path::new("-") {
            return Err(refused("its rows can't be read again; save it in a file first"));
        }
        let source = Source::of(&args.file)?;
        if !source.file.is_file() {
            return Err(refused("it is no plain file, so its rows can't be read again"));
        }
        if let (Ok(from), Ok(to)) = (fs::canonicalize(&source.file), fs::canonicalize(to))
            && from == to
        {
            return Err(refused("the index would take its place"));
        }
        if source.file.to_str().is_none() {
            return Err(refused("its name isn't UTF-8"));
        }
        Ok(Some(Self { to, source }))
    }

    /// Saves an index over a table whose text is the file's, perhaps without its first bytes. `rows`: each
    /// row's key as order-keeping bits and the byte that it starts at, sorted by key.
    ///
    /// # Errors
    /// [`QueryError::Save`]; [`QueryError::CannotSave`] if the text isn't the file's.
    pub fn save(
        &self,
        table: &Table,
        key: usize,
        rule: Rule,
        rows: impl ExactSizeIterator<Item = (u64, u64)>,
    ) -> Result<u64, QueryError> {
        let refused = |why| QueryError::CannotSave { file: self.source.file.display().to_string(), why };
        // What comes before the text is a byte order mark.
        let before = self.source.bytes.checked_sub(table.bytes()).filter(|before| before % 3 == 0);
        let Some(before) = before else {
            return Err(refused("it was changed while it was read"));
        };
        if Source::of(&self.source.file)? != self.source {
            return Err(refused("it was changed while it was read"));
        }
        let columns = line(table.delimiter(), table.columns())?;
        let layout = Layout::new(rule.key_type.data_type(), DataType::UInt64)
            .with_metadata(FILE, self.source.file.to_str().unwrap_or_default())
            .with_metadata(BYTES, self.source.bytes.to_string())
            .with_metadata(MODIFIED, self.source.modified_ns.to_string())
            .with_metadata(DELIMITER, char::from(table.delimiter()))
            .with_metadata(COLUMNS, columns)
            .with_metadata(NAMED, table.is_named().to_string())
            .with_metadata(KEY, (key + 1).to_string())
            .with_metadata(INFERRED, rule.inferred.to_string());
        let rows = rows.map(|(bits, start)| (rule.key_type.cell(bits), before + start));
        layout
            .save_rows(self.to, rows)
            .map_err(|cause| QueryError::Save { file: self.to.display().to_string(), cause })
    }
}

/// Fields as a line of text.
fn line<'f>(delimiter: u8, fields: impl Iterator<Item = &'f str>) -> Result<String, QueryError> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(fields)?;
    Ok(finished(writer))
}

/// What a writer wrote, of texts.
fn finished(writer: Writer<Vec<u8>>) -> String {
    let bytes = writer.into_inner().unwrap_or_else(|error| unreachable!("memory refused: {error}"));
    String::from_utf8(bytes).unwrap_or_else(|error| unreachable!("made of texts: {error}"))
}

/// Where the rows of a saved index are.
#[derive(Debug)]
enum Rows {
    /// In a file, each at the byte that is its value.
    InFile(Source),
    /// They are the entries themselves.
    Entries,
}

/// A file that an index was saved in.
#[derive(Debug)]
pub struct Saved {
    /// Its name, for messages.
    name: String,
    snapshot: Snapshot,
    rows: Rows,
    delimiter: u8,
    /// A line with the names of the columns, or their numbers if they have no names.
    columns: String,
    /// Whether the columns have names.
    pub is_named: bool,
    /// The number of the key column, from 0.
    pub key: usize,
    /// How the keys were read.
    pub rule: Rule,
}

impl Saved {
    /// Takes the bytes of a file.
    ///
    /// # Errors
    /// [`QueryError::Snapshot`]; [`QueryError::OtherKeyType`]; [`QueryError::TooManyRows`].
    pub fn new(bytes: Vec<u8>, args: &Args) -> Result<Self, QueryError> {
        let name = source::name(&args.file);
        let snapshot = Snapshot::from_bytes(bytes)
            .map_err(|cause| QueryError::Snapshot { file: name.clone(), cause })?;
        if u32::try_from(snapshot.len()).is_err() {
            return Err(QueryError::TooManyRows { limit: u32::MAX });
        }
        let key_type = KeyType::of(snapshot.key_type())
            .ok_or_else(|| QueryError::UnknownKeys { file: name.clone(), found: snapshot.key_type() })?;
        if let Some(asked) = args.key_type.filter(|&asked| asked != key_type) {
            return Err(QueryError::OtherKeyType { file: name, found: key_type, asked });
        }
        let plain = Self {
            name,
            rows: Rows::Entries,
            delimiter: b',',
            columns: "key,value\n".to_owned(),
            is_named: true,
            key: 0,
            rule: Rule { key_type, inferred: false },
            snapshot,
        };
        if plain.text(FILE).is_none() { Ok(plain) } else { plain.of_table() }
    }

    /// The same with what `--save` added.
    fn of_table(self) -> Result<Self, QueryError> {
        let bad = || QueryError::BadMetadata { file: self.name.clone() };
        let text = |name| self.text(name).ok_or_else(bad);
        let number = |name| text(name)?.parse::<u128>().map_err(|_| bad());
        let is_it = |name| text(name)?.parse::<bool>().map_err(|_| bad());
        let source = Source {
            file: text(FILE)?.into(),
            bytes: u64::try_from(number(BYTES)?).map_err(|_| bad())?,
            modified_ns: number(MODIFIED)?,
        };
        let delimiter = match text(DELIMITER)?.as_bytes() {
            &[byte] => byte,
            _ => return Err(bad()),
        };
        let columns = text(COLUMNS)?.to_owned();
        let key = usize::try_from(number(KEY)?).ok().and_then(|number| number.checked_sub(1));
        let key = key.filter(|&key| {
            Table::new(&columns, delimiter, true).is_ok_and(|table| key < table.columns().count())
        });
        let (Some(key), DataType::UInt64) = (key, self.snapshot.value_type()) else { return Err(bad()) };
        let (is_named, inferred) = (is_it(NAMED)?, is_it(INFERRED)?);
        let rule = Rule { inferred, ..self.rule };
        Ok(Self { rows: Rows::InFile(source), delimiter, columns, is_named, key, rule, ..self })
    }

    /// The text under a name in the metadata.
    fn text(&self, name: &str) -> Option<&str> {
        let mut there = self.snapshot.metadata().iter().filter(|(there, _)| there == name);
        there.next().map(|(_, text)| &text[..])
    }

    /// Every row's key, as order-keeping bits.
    pub fn keys<B: Bits>(&self) -> Vec<B> {
        let (from, key_type) = (self.snapshot.key_type(), self.rule.key_type);
        let bits = |row| B::truncate(key_type.bits_of_cell(from, self.snapshot.row(row).0));
        (0..self.snapshot.len()).map(bits).collect()
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
            Rows::InFile(source) => self.copy(source, rows, &mut writer)?,
            Rows::Entries => {
                let (key_type, value_type) = (self.snapshot.key_type(), self.snapshot.value_type());
                for &row in rows {
                    let (key, value) = self.snapshot.row(row as usize);
                    writer.write_record([shown(key_type, key), shown(value_type, value)])?;
                }
            }
        }
        let header = if self.is_named { &self.columns } else { "" };
        Ok(format!("{header}{}", finished(writer)))
    }

    /// Copies rows of a file that is still as it was.
    fn copy(&self, source: &Source, rows: &[u32], into: &mut Writer<Vec<u8>>) -> Result<(), QueryError> {
        let changed =
            || QueryError::Changed { file: source.file.display().to_string(), index: self.name.clone() };
        let unreadable = |cause| QueryError::Unreadable { file: source.file.display().to_string(), cause };
        if Source::of(&source.file)? != *source {
            return Err(changed());
        }
        let file = File::open(&source.file).map_err(unreadable)?;
        let mut reader = table::builder(self.delimiter).has_headers(false).from_reader(file);
        let mut record = ByteRecord::new();
        let columns = Table::new(&self.columns, self.delimiter, true)?.columns().count();
        for &row in rows {
            let (key, start) = self.snapshot.row(row as usize);
            let mut place = Position::new();
            place.set_byte(start);
            reader.seek(place)?;
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
