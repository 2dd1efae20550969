//! A Parquet file's rows as the text that they would be in CSV, so that one path serves both.
//!
//! This costs a pass over the text that a columnar reader wouldn't make. The rest of a query, keys and
//! single rows by number, is the same. A column's type accompanies the text, so that only cells of texts
//! are guessed. Nested columns are shown as their reader shows them.

mod cell;
mod column;

use super::error::QueryError;
use super::how::How;
use super::kind::Kind;
use super::line;
use super::reader::{About, RowReader};
use bytes::Bytes;
use cell::Meaning;
use column::Cells;
use parquet::basic::Type as PhysicalType;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use std::panic::{self, AssertUnwindSafe};

/// The separator of fields.
const DELIMITER: u8 = b',';

/// Rows that are read at a time.
const BATCH_ROWS: usize = 4096;

/// A text, and the types of its columns where the file has them.
type Typed = (String, Vec<Option<Kind>>);

/// Reads rows as CSV, all at once.
pub struct ParquetRows {
    text: String,
    kinds: Vec<Option<Kind>>,
    is_named: bool,
}

impl ParquetRows {
    /// The rows of a file with these bytes.
    ///
    /// # Errors
    /// Those of [`to_csv`].
    pub fn new(bytes: Vec<u8>, how: How) -> Result<Self> {
        let (text, kinds) = to_csv(bytes, how)?;
        Ok(Self { text, kinds, is_named: how.is_named })
    }
}

impl RowReader for ParquetRows {
    fn read_on(&mut self, into: &mut String, _: usize, _: u64) -> std::result::Result<bool, QueryError> {
        let text = std::mem::take(&mut self.text);
        let has_more = !text.is_empty();
        if into.is_empty() {
            *into = text;
        } else {
            into.push_str(&text);
        }
        Ok(has_more)
    }

    fn about(&self, _: &str) -> About {
        About::made(self.is_named, Some(self.kinds.clone()))
    }
}

/// The rows of a Parquet file after a header, as [`rows`] writes them.
///
/// The reader panics on some damaged files. Bad input is no bug, so a panic ends here, without its
/// message, and is an error like any other.
///
/// # Errors
/// If the file is damaged or uses features that the reader doesn't know.
fn to_csv(bytes: Vec<u8>, how: How) -> Result<Typed> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    // Nothing that the reader holds is seen again after a panic.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| rows(bytes, how)));
    panic::set_hook(hook);
    outcome.unwrap_or_else(|_| Err(ParquetError::General("the file is damaged".to_owned())))
}

/// The rows of a Parquet file after a header; null is an empty cell.
fn rows(bytes: Vec<u8>, how: How) -> Result<Typed> {
    let file = SerializedFileReader::new(Bytes::from(bytes))?;
    let chosen = chosen(&file, how)?;
    let mut text = String::new();
    if how.is_named {
        line::push_line(&mut text, DELIMITER, chosen.iter().map(|column| Some(column.name)));
    }
    for group in 0..file.num_row_groups() {
        push_group(&mut text, &*file.get_row_group(group)?, &chosen)?;
    }
    Ok((text, chosen.iter().map(Chosen::kind).collect()))
}

/// A column that is wanted.
struct Chosen<'f> {
    name: &'f str,
    /// Its number among those of values, and their meaning; `None` if it is nested.
    values: Option<(usize, Meaning)>,
    field: &'f Type,
}

impl Chosen<'_> {
    fn kind(&self) -> Option<Kind> {
        self.values.and_then(|(_, meaning)| meaning.kind())
    }
}

/// The columns that are needed if all of them are there, and otherwise all. If they aren't, the code that
/// looks for them names the ones there are.
fn chosen<'f>(file: &'f SerializedFileReader<Bytes>, how: How) -> Result<Vec<Chosen<'f>>> {
    let schema = file.metadata().file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let is_needed = |field: &Type| how.columns.is_none_or(|names| names.contains(&field.name()));
    let is_there = |name: &&str| fields.iter().any(|field| field.name() == *name);
    let all = how.columns.is_none_or(|names| !names.iter().all(is_there));
    let mut chosen = Vec::new();
    for (root, field) in fields.iter().enumerate() {
        if !all && !is_needed(field) {
            continue;
        }
        let mut leaves = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == root);
        if !field.is_primitive()
            && leaves.clone().any(|leaf| schema.column(leaf).physical_type() == PhysicalType::INT96)
        {
            // Their reader would cut them to milliseconds.
            let name = field.name();
            let why =
                format!("column {name:?} has INT96 times in its parts; --value NAME shows another alone");
            return Err(ParquetError::General(why));
        }
        let leaf = leaves.next();
        let values = leaf.filter(|&leaf| field.is_primitive() && schema.column(leaf).max_rep_level() == 0);
        let values = values.map(|leaf| (leaf, Meaning::of(&schema.column(leaf))));
        chosen.push(Chosen { name: field.name(), values, field });
    }
    Ok(chosen)
}

/// Appends the rows of a group.
fn push_group(text: &mut String, group: &dyn RowGroupReader, chosen: &[Chosen]) -> Result<()> {
    let mut flat = Vec::new();
    for column in chosen {
        let cells =
            column.values.map(|(leaf, meaning)| Ok(Cells::new(group.get_column_reader(leaf)?, meaning)));
        flat.push(cells.transpose().map_err(|error: ParquetError| error)?);
    }
    let mut deep = deep(group, chosen)?;
    let mut left = usize::try_from(group.metadata().num_rows()).map_err(external)?;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let read = |cells: &mut Option<Cells>| cells.as_mut().map(|cells| cells.read(rows)).transpose();
        let mut batch: Vec<_> = flat.iter_mut().map(read).collect::<Result<_>>()?;
        for row in 0..rows {
            let mut shown = deep.as_mut().map(|rows| next(rows)).transpose()?.unwrap_or_default().into_iter();
            let cells: Vec<Option<String>> = batch
                .iter_mut()
                .map(|column| {
                    column.as_mut().map_or_else(|| shown.next().flatten(), |cells| cells[row].take())
                })
                .collect();
            line::push_line(text, DELIMITER, cells.iter().map(Option::as_deref));
        }
        left -= rows;
    }
    Ok(())
}

/// The rows of the columns in which there are columns, if there are some.
fn deep<'g>(group: &'g dyn RowGroupReader, chosen: &[Chosen]) -> Result<Option<RowIter<'g>>> {
    let fields = chosen.iter().filter(|column| column.values.is_none());
    let fields: Vec<_> = fields.map(|column| column.field.clone().into()).collect();
    if fields.is_empty() {
        return Ok(None);
    }
    let root = group.metadata().schema_descr().root_schema().name().to_owned();
    group.get_row_iter(Some(Type::group_type_builder(&root).with_fields(fields).build()?)).map(Some)
}

/// The cells of the next row, as for people.
fn next(rows: &mut RowIter) -> Result<Vec<Option<String>>> {
    let row = rows.next().ok_or_else(column::too_short)??;
    let shown = |field: Field| (field != Field::Null).then(|| field.to_string());
    Ok(row.into_columns().into_iter().map(|(_, field)| shown(field)).collect())
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    ParquetError::External(Box::new(error))
}

#[cfg(test)]
mod tests;
