//! Rows on standard output, one after the other: a long answer needs no memory for its text.

use super::form::Form;
use super::key::KeyType;
use super::kind::Kind;
use latchless_terminal::output::Format;
use latchless_terminal::output::table::{Column, Table, TooLong};
use latchless_terminal::output::terminal;
use serde_json::{Number, Value};
use std::io::{self, BufWriter, StdoutLock, Write};

/// One printed column.
#[derive(Debug)]
pub struct Heading<'t> {
    /// Its name.
    pub name: &'t str,
    /// For a column of the key, its type.
    pub kind: Option<Kind>,
}

impl Heading<'_> {
    /// The type of the numbers, for a column of the key that has numbers.
    fn key_type(&self) -> Option<KeyType> {
        match self.kind {
            Some(Kind::Number(rule)) => Some(rule.key_type),
            _ => None,
        }
    }

    /// Whether it has numbers.
    fn is_numbers(&self) -> bool {
        matches!(self.kind, Some(Kind::Number(_) | Kind::Form(Form::Decimal(_))))
    }

    /// A cell as JSON has it: a key that is a number as one, unless JSON lacks it (an infinity, NaN),
    /// every other cell as text, whatever it looks like, and null where nothing is.
    fn typed(&self, cell: Option<&str>) -> Value {
        let Some(cell) = cell else { return Value::Null };
        let text = cell.trim_ascii();
        let number = match self.key_type() {
            None => None,
            Some(KeyType::F32 | KeyType::F64) => float(text),
            Some(_) => {
                let unsigned = || text.parse::<u64>().ok().map(Number::from);
                let signed = || text.parse::<i64>().ok().map(Number::from);
                // In a join, the other file's cells may have a fraction.
                unsigned().or_else(signed).or_else(|| float(text))
            }
        };
        number.map_or_else(|| Value::from(cell), Value::Number)
    }
}

/// A finite float as JSON has it.
fn float(text: &str) -> Option<Number> {
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// Prints rows of text in the chosen form.
pub enum Printer<'t> {
    /// In columns, of which those of numbers keep to the right.
    Table(Table<BufWriter<StdoutLock<'static>>>),
    /// One object per line, each value after its column's name, as JSON has it.
    Json(Vec<(Heading<'t>, String)>, BufWriter<StdoutLock<'static>>),
    /// One record per line, after a header.
    Csv(Box<csv::Writer<StdoutLock<'static>>>),
}

impl<'t> Printer<'t> {
    /// Prints the header, where the form has one. `is_named`: whether the file has one; CSV then
    /// has it, too.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn new(format: Format, headings: Vec<Heading<'t>>, is_named: bool) -> io::Result<Self> {
        let names = headings.iter().map(|heading| heading.name);
        Ok(match format {
            Format::Table => {
                let column =
                    |heading: &Heading| Column { name: heading.name.to_owned(), right: heading.is_numbers() };
                let columns = headings.iter().map(column).collect();
                let out = BufWriter::new(io::stdout().lock());
                let key = headings.iter().position(|heading| heading.kind.is_some()).unwrap_or(0);
                Self::Table(Table::new(out, columns, terminal::room(), TooLong::Cut).keep(key))
            }
            Format::Json => {
                let escaped: Vec<_> = names.map(|name| Value::from(name).to_string()).collect();
                Self::Json(headings.into_iter().zip(escaped).collect(), BufWriter::new(io::stdout().lock()))
            }
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(io::stdout().lock());
                if is_named {
                    writer.write_record(names).map_err(cause)?;
                }
                Self::Csv(Box::new(writer))
            }
        })
    }

    /// Prints a row; it has a cell for every heading, or nothing where one is empty.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = Option<&'a str>>) -> io::Result<()> {
        match self {
            Self::Table(table) => table.row(cells.map(Option::unwrap_or_default))?,
            Self::Json(headings, out) => {
                let mut before = '{';
                for ((heading, name), cell) in headings.iter().zip(cells) {
                    write!(out, "{before}{name}:{}", heading.typed(cell))?;
                    before = ',';
                }
                out.write_all(b"}\n")?;
            }
            Self::Csv(writer) => {
                writer.write_record(cells.map(Option::unwrap_or_default)).map_err(cause)?;
            }
        }
        Ok(())
    }

    /// Prints the rest, and returns the number of columns that had no room.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn finish(self) -> io::Result<usize> {
        match self {
            Self::Table(table) => table.finish(),
            Self::Json(_, mut out) => out.flush().map(|()| 0),
            Self::Csv(mut writer) => writer.flush().map(|()| 0),
        }
    }
}

/// The system's own error, which `csv` wraps.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
