//! Tables for people, JSON and CSV for programs: one set of rows, three forms.
//!
//! [`table`] prints a table while its rows arrive, in columns that `fit` chooses and with cells that
//! [`visible`] has made harmless; [`terminal`] gives the width.

mod fit;
pub mod table;
pub mod terminal;
mod visible;

pub use visible::visible;

use crate::failure::Failure;
use serde_json::Value;
use std::io::Write;
use table::{Column, Table, TooLong};

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// A table for people.
    #[default]
    Table,
    /// One JSON object a line.
    Json,
    /// Comma-separated values with a header line.
    Csv,
}

/// Prints to standard output. A reader that closes the pipe early ends the printing quietly.
///
/// # Errors
/// When standard output can't be written to.
pub fn print(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_ref()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Rows under named columns.
#[derive(Debug, Default)]
pub struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// No rows yet, under these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// One more row; it has a cell for every column.
    pub fn push(&mut self, row: Vec<Value>) {
        assert_eq!(row.len(), self.columns.len(), "a cell for every column");
        self.rows.push(row);
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints to standard output. A reader that closes the pipe early ends the printing quietly.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn print(&self, format: Format) -> Result<(), Failure> {
        let text = match format {
            Format::Table => self.to_table(terminal::room())?,
            Format::Json => self.to_json_lines(),
            Format::Csv => self.to_csv()?,
        };
        print(text)
    }

    fn to_table(&self, room: Option<usize>) -> Result<String, Failure> {
        let numeric =
            |column: usize| self.rows.iter().all(|row| row[column].is_number() || row[column].is_null());
        let columns = self.columns.iter().enumerate();
        let columns = columns.map(|(at, name)| Column { name: name.clone(), right: numeric(at) }).collect();
        let mut text = Vec::new();
        let mut table = Table::new(&mut text, columns, room, TooLong::Wrap);
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(plain).collect();
            table.row(cells.iter().map(String::as_str))?;
        }
        table.finish()?;
        String::from_utf8(text).map_err(Failure::run)
    }

    /// The same table for a page.
    pub fn to_html(&self) -> String {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = String>| {
            cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(&cell))).collect::<String>()
        };
        let head = cells("th", &mut self.columns.iter().cloned());
        let row = |row: &Vec<Value>| format!("<tr>{}</tr>", cells("td", &mut row.iter().map(plain)));
        let body: String = self.rows.iter().map(row).collect();
        format!("<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    }

    /// The same table in Markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<_> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let head = line(&mut self.columns.iter().cloned());
        let rule = line(&mut self.columns.iter().map(|_| "---".to_owned()));
        let rows: String = self.rows.iter().map(|row| line(&mut row.iter().map(plain))).collect();
        head + &rule + &rows
    }

    fn to_json_lines(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let object: serde_json::Map<String, Value> =
                self.columns.iter().cloned().zip(row.iter().cloned()).collect();
            text.push_str(&Value::Object(object).to_string());
            text.push('\n');
        }
        text
    }

    fn to_csv(&self) -> Result<String, Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns).map_err(Failure::run)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(plain)).map_err(Failure::run)?;
        }
        let bytes = writer.into_inner().map_err(Failure::run)?;
        String::from_utf8(bytes).map_err(Failure::run)
    }
}

/// Text with the characters escaped that mean something in a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn plain(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
