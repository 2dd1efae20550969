//! An index in a file: the format that `--save` writes, and the answers from such a file.
//!
//! The file is a snapshot ([`latchless::snapshot`]) with a row for each row of the table, sorted by key:
//! the key, and the byte offset of the table's row. A key that is no number is saved as the bytes that the
//! index has. The metadata names the file with the rows ([`Origin`]), its columns and their types. So a
//! question reads the index, and of the table only the rows of its answer.
//!
//! A snapshot that another program saved has no such metadata: then its own columns are the table, and each
//! of them that has numbers or texts can be queried.

use super::args::{Args, Ask};
use super::origin::Origin;
use super::saving::{COLUMNS, DELIMITER, INFERRED, KEY, KEYS, NAMED, THIS_VERSION, TYPES, VERSION, rule_of};
use crate::rows::dialect::Dialect;
use crate::rows::error::QueryError;
use crate::rows::key::{KeyType, Rule};
use crate::rows::keys::{Keys, Strings};
use crate::rows::kind::{Kind, Named, Part};
use crate::rows::line;
use crate::rows::mapped::{Mapped, number};
use crate::rows::source;
use crate::rows::table::Table;
use csv::{ByteRecord, Position};
use latchless::snapshot::{self, DataType, Rows as SortedRows, Snapshot, strings};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Files from this size on are mapped, and then not compared with their checksums. To read a smaller one
/// takes less than a millisecond.
const MAPPED_BYTES_MIN: u64 = 1 << 20;

/// The columns of a snapshot that another program saved.
const ENTRIES: &str = "key,value\n";

/// Where the rows of a saved index are.
#[derive(Debug)]
enum Rows {
    /// In a file, each at the byte that is its value.
    InFile(Origin),
    /// They are the entries themselves.
    Entries,
}

/// A file's two columns.
#[derive(Debug)]
enum Cells {
    Numbers(Snapshot),
    /// Keys that are strings, and the bytes of the values.
    Strings(DataType, Strings, Strings),
    /// Both columns where the file lies.
    Mapped(Mapped),
}

impl Cells {
    fn value_type(&self) -> DataType {
        match self {
            Self::Numbers(snapshot) => snapshot.value_type(),
            &Self::Strings(value_type, ..) => value_type,
            Self::Mapped(mapped) => mapped.rows().value_type(),
        }
    }

    /// The cell of a row's value, which is a number.
    fn value(&self, row: u32) -> u64 {
        match self {
            Self::Numbers(snapshot) => snapshot.row(row as usize).1,
            Self::Strings(_, _, values) => number(values.get(row as usize)),
            Self::Mapped(mapped) => mapped.rows().row(row as usize).map_or(0, |(_, value)| number(value)),
        }
    }

    /// A row's entry as texts.
    fn shown(&self, row: u32) -> [String; 2] {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Numbers(snapshot) => {
                let (key, value) = snapshot.row(row as usize);
                [shown(snapshot.key_type(), key), shown(snapshot.value_type(), value)]
            }
            Self::Strings(value_type, keys, values) => {
                [text(keys.get(row as usize)), shown_bytes(*value_type, values.get(row as usize))]
            }
            Self::Mapped(mapped) => {
                let rows = mapped.rows();
                let (key, value) = rows.row(row as usize).unwrap_or_default();
                let key =
                    if rows.key_name().is_some() { text(key) } else { shown_bytes(rows.key_type(), key) };
                [key, shown_bytes(rows.value_type(), value)]
            }
        }
    }
}

/// A file that an index was saved in.
#[derive(Debug)]
pub struct Saved {
    file: PathBuf,
    cells: Cells,
    metadata: Vec<(String, String)>,
    rows: Rows,
    delimiter: u8,
    /// A line with the names of the columns, or their numbers if they have no names.
    columns: String,
    /// Whether the columns have names.
    pub is_named: bool,
    /// The columns of the key.
    pub parts: Vec<Part>,
    /// Every row's key.
    pub keys: Keys,
}

impl Saved {
    /// Takes the bytes of a file.
    ///
    /// # Errors
    /// [`QueryError::Snapshot`]; [`QueryError::OtherKeyType`]; [`QueryError::TooManyRows`];
    /// [`QueryError::KeyTypes`].
    pub fn new(bytes: Vec<u8>, args: &Args) -> Result<Self, QueryError> {
        let (file, name) = (args.from.first().to_owned(), source::name(args.from.first()));
        let bad = |cause| QueryError::Snapshot { file: name.clone(), cause };
        let key_type = snapshot::key_type(&bytes).map_err(bad)?;
        let (cells, metadata) = if matches!(key_type, DataType::Binary | DataType::Utf8) {
            let found = strings::Snapshot::from_bytes(bytes).map_err(bad)?;
            let keys = found.rows().map(|(key, _)| key).collect();
            let values = found.byte_rows().map(|(_, value)| value).collect();
            (Cells::Strings(found.value_type(), keys, values), found.metadata().to_vec())
        } else {
            let found = Snapshot::from_bytes(bytes).map_err(bad)?;
            let metadata = found.metadata().to_vec();
            (Cells::Numbers(found), metadata)
        };
        Self::of(file, cells, metadata, key_type, args)
    }

    /// Maps the file, if it is large and can be asked where it lies.
    ///
    /// # Errors
    /// Those of [`Saved::new`].
    pub fn map(args: &Args) -> Result<Option<Self>, QueryError> {
        let file = args.from.first();
        if fs::metadata(file).map_or(0, |about| about.len()) < MAPPED_BYTES_MIN {
            return Ok(None);
        }
        // SAFETY: the manual demands that the file isn't changed in place, and saves replace it.
        let Ok(rows) = (unsafe { SortedRows::open(file) }) else { return Ok(None) };
        let (key_type, metadata) = (rows.key_type(), rows.metadata().to_vec());
        let text = |name: &str| metadata.iter().find(|(there, _)| there == name).map(|(_, text)| &text[..]);
        let is_table = Origin::is_in(text);
        // Narrower numbers are asked in 32 bits, and floats of another program may have two zeros.
        let is_as_asked = match key_type {
            DataType::Utf8 | DataType::Binary => true,
            DataType::Float32 | DataType::Float64 => is_table,
            _ => key_type.width_bytes() >= size_of::<u32>(),
        };
        let of_keys = args.ask.key_columns().iter().all(|column| column == "key");
        let keys = if is_table { text(KEYS).and_then(|keys| keys.parse().ok()) } else { Some(rows.len()) };
        let Some(keys) = keys.filter(|_| is_as_asked && (is_table || of_keys)) else { return Ok(None) };
        let mapped = Mapped::new(rows, KeyType::of(key_type), keys);
        Self::of(file.to_owned(), Cells::Mapped(mapped), metadata, key_type, args).map(Some)
    }

    fn of(
        file: PathBuf,
        cells: Cells,
        metadata: Vec<(String, String)>,
        key_type: DataType,
        args: &Args,
    ) -> Result<Self, QueryError> {
        let name = source::name(&file);
        let saved = Self {
            file,
            cells,
            metadata,
            rows: Rows::Entries,
            delimiter: b',',
            columns: ENTRIES.to_owned(),
            is_named: true,
            parts: Vec::new(),
            keys: Keys::Narrow(Vec::new()),
        };
        let mut saved = if Origin::is_in(|name| saved.text(name)) {
            saved.of_table(key_type)?
        } else {
            saved.of_entries(key_type, &args.ask)?
        };
        let rows = saved.mapped().map_or(saved.keys.len(), |mapped| mapped.rows().len());
        if u32::try_from(rows).is_err() {
            return Err(QueryError::TooManyRows { limit: u32::MAX });
        }
        let named = args.ask.key_types.named(saved.parts.len())?;
        for (part, asked) in saved.parts.iter_mut().zip(named) {
            match asked {
                Some(asked) if !asked.is_of(part.kind) => {
                    return Err(QueryError::OtherKeyType { file: name, found: part.kind, asked });
                }
                Some(Named::Text) => part.kind = Kind::Text { guessed: false },
                _ => {}
            }
        }
        Ok(saved)
    }

    /// The rows of a file that is mapped; its keys aren't in memory.
    pub fn mapped(&self) -> Option<&Mapped> {
        if let Cells::Mapped(mapped) = &self.cells { Some(mapped) } else { None }
    }

    /// Whether this one key is that of a row.
    fn is_key(&self, key: &Keys, row: u32) -> bool {
        let Some(mapped) = self.mapped() else { return key.same(0, &self.keys, row as usize) };
        let Some((bytes, _)) = mapped.rows().row(row as usize) else { return false };
        let mut there = Keys::of(&self.parts);
        match there {
            Keys::Bytes(_) => there.push_bytes(bytes),
            _ => {
                let key_type = rule_of(&self.parts[0]).key_type;
                there.push_number(key_type.bits_of_cell(mapped.rows().key_type(), number(bytes)));
            }
        }
        key.same(0, &there, 0)
    }

    /// The text under a name in the metadata.
    fn text(&self, name: &str) -> Option<&str> {
        self.metadata.iter().find(|(there, _)| there == name).map(|(_, text)| &text[..])
    }

    /// As a table of its own, both columns of which can be queried.
    fn of_entries(mut self, key_type: DataType, ask: &Ask) -> Result<Self, QueryError> {
        let asked = ask.key_columns();
        let column = asked.first().map(|name| Table::new(ENTRIES, b',', true)?.column("--key", name));
        let column = column.unwrap_or(Ok(0))?;
        let found = [key_type, self.cells.value_type()][column];
        let unknown = || QueryError::UnknownKeys { file: source::name(&self.file), found };
        let kind = match (found, KeyType::of(found)) {
            (DataType::Utf8, _) => Kind::Text { guessed: true },
            (_, Some(key_type)) => Kind::Number(Rule { key_type, inferred: false }),
            (_, None) => return Err(unknown()),
        };
        self.parts = vec![Part::new(column, kind)];
        self.keys = match &mut self.cells {
            Cells::Mapped(_) => Keys::of(&self.parts),
            Cells::Strings(_, keys, _) if column == 0 => Keys::Bytes(keys.iter().collect()),
            Cells::Strings(DataType::Utf8, _, values) => Keys::Bytes(values.iter().collect()),
            Cells::Strings(value_type, _, values) => {
                numbers(&self.parts[0], *value_type, values.iter().map(number))
            }
            Cells::Numbers(snapshot) => {
                let cell = |row| <[u64; 2]>::from(snapshot.row(row))[column];
                numbers(&self.parts[0], found, (0..snapshot.len()).map(cell))
            }
        };
        Ok(self)
    }

    /// With the metadata that `--save` added.
    fn of_table(mut self, key_type: DataType) -> Result<Self, QueryError> {
        let bad = || QueryError::BadMetadata { file: source::name(&self.file) };
        let text = |name: &str| self.text(name).ok_or_else(bad);
        let origin = Origin::from(|name| self.text(name)).ok_or_else(bad)?;
        let delimiter = match text(DELIMITER)?.as_bytes() {
            &[byte] => byte,
            _ => return Err(bad()),
        };
        let columns = text(COLUMNS)?.to_owned();
        let count = Table::new(&columns, delimiter, true)?.columns().count();
        // Files of before texts were saved don't name the type of their numbers.
        let of_column = KeyType::of(key_type).map(|key_type| key_type.to_string()).unwrap_or_default();
        let types = self.text(TYPES).unwrap_or(&of_column);
        let version = self.text(VERSION);
        if let Some(version) = version.filter(|&version| version != THIS_VERSION) {
            let version = version.to_owned();
            return Err(QueryError::LaterVersion { file: source::name(&self.file), version });
        }
        let each = text(KEY)?.split(',').zip(types.split(',')).zip(text(INFERRED)?.split(','));
        let parts: Option<Vec<Part>> =
            each.map(|((key, kind), inferred)| part(count, key, kind, inferred, version.is_some())).collect();
        let parts = parts.filter(|parts| parts.len() == text(KEY).map_or(0, |keys| keys.split(',').count()));
        let (Some(parts), DataType::UInt64) = (parts, self.cells.value_type()) else { return Err(bad()) };
        let keys = match &self.cells {
            Cells::Numbers(snapshot) if matches!(parts[..], [Part { kind: Kind::Number(rule), .. }] if Some(rule.key_type) == KeyType::of(key_type)) => {
                numbers(&parts[0], key_type, (0..snapshot.len()).map(|row| snapshot.row(row).0))
            }
            Cells::Mapped(mapped)
                if match Keys::of(&parts) {
                    Keys::Bytes(_) => KeyType::of(key_type).is_none(),
                    _ => {
                        KeyType::of(key_type) == Some(rule_of(&parts[0]).key_type)
                            && mapped.rows().key_name().is_none()
                    }
                } =>
            {
                Keys::of(&parts)
            }
            Cells::Strings(_, keys, _) if matches!(Keys::of(&parts), Keys::Bytes(_)) => {
                Keys::Bytes(keys.iter().collect())
            }
            _ => return Err(bad()),
        };
        self.is_named = text(NAMED)?.parse().map_err(|_| bad())?;
        Ok(Self { rows: Rows::InFile(origin), delimiter, columns, parts, keys, ..self })
    }

    /// The error for a question about other columns than those of the keys.
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

    /// The separator of fields.
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
        let mut text = if self.is_named { self.columns.clone() } else { String::new() };
        match &self.rows {
            Rows::InFile(origin) => self.copy(origin, rows, &mut text)?,
            Rows::Entries => {
                for &row in rows {
                    for (cell, end) in self.cells.shown(row).iter().zip([',', '\n']) {
                        line::push_cell(&mut text, self.delimiter, Some(cell));
                        text.push(end);
                    }
                }
            }
        }
        Ok(text)
    }

    /// Copies rows of a file that is still as it was.
    fn copy(&self, origin: &Origin, rows: &[u32], into: &mut String) -> Result<(), QueryError> {
        let place = origin.find(&self.file)?;
        let name = || place.display().to_string();
        let changed = || QueryError::Changed { file: name(), index: source::name(&self.file) };
        let unreadable = |cause| QueryError::Unreadable { file: name(), cause };
        let open = || File::open(&place).map_err(unreadable);
        let (mut raw, mut bytes) = (open()?, Vec::new());
        let mut reader =
            line::builder(Dialect::csv(self.delimiter, true)).has_headers(false).from_reader(open()?);
        let mut record = ByteRecord::new();
        let columns = Table::new(&self.columns, self.delimiter, true)?.columns().count();
        for &row in rows {
            let start = self.cells.value(row);
            let mut position = Position::new();
            position.set_byte(start);
            reader.seek(position)?;
            reader.read_byte_record(&mut record)?;
            // A change that left size and time as they were is found by the key.
            let fields: Option<Vec<&str>> =
                record.iter().map(|field| std::str::from_utf8(field).ok()).collect();
            let fields = fields.filter(|fields| fields.len() == columns).ok_or_else(changed)?;
            let mut key = Keys::of(&self.parts);
            let read = key.push(&self.parts, |column| fields[column].as_bytes());
            if read.is_err() || !self.is_key(&key, row) {
                return Err(changed());
            }
            // As it is written there, so that quotes stay where they are.
            let length = reader.position().byte().saturating_sub(start);
            bytes.clear();
            raw.seek(SeekFrom::Start(start)).map_err(unreadable)?;
            raw.by_ref().take(length).read_to_end(&mut bytes).map_err(unreadable)?;
            into.push_str(std::str::from_utf8(&bytes).map_err(|_| changed())?);
            into.push('\n');
        }
        Ok(())
    }
}

/// A column of the key, as the metadata has it: its number, its type, and whether that was guessed.
///
/// A file of the first version took ids with leading zeros for numbers, and rounded decimals: it is
/// queried as if its type of numbers had been named. It doesn't record which texts were guessed: all of
/// them, to be safe.
fn part(columns: usize, number: &str, kind: &str, guessed: &str, is_of_now: bool) -> Option<Part> {
    let column = number.parse::<usize>().ok()?.checked_sub(1).filter(|&column| column < columns)?;
    let guessed: bool = guessed.parse().ok()?;
    let guessed = if is_of_now { guessed } else { kind == "text" };
    Some(Part::new(column, Kind::named(kind, guessed)?))
}

/// The keys in cells of numbers.
fn numbers(part: &Part, from: DataType, cells: impl Iterator<Item = u64>) -> Keys {
    let key_type = rule_of(part).key_type;
    let all = cells.map(|cell| key_type.bits_of_cell(from, cell));
    if key_type.is_narrow() {
        Keys::Narrow(all.map(|bits| bits as u32).collect())
    } else {
        Keys::Wide(all.collect())
    }
}

/// The bytes of a cell as text.
fn shown_bytes(data_type: DataType, bytes: &[u8]) -> String {
    match data_type {
        DataType::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        DataType::Binary | DataType::FixedSizeBinary(_) => bytes.escape_ascii().to_string(),
        _ => shown(data_type, number(bytes)),
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
