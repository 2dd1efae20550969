//! The file's own text for row numbers.

use super::args::Args;
use super::question::Answer;
use crate::rows::error::QueryError;
use crate::rows::kind::Part;
use crate::rows::print::{Heading, Printer};
use crate::rows::table::Table;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Rows;
use latchless_terminal::say;
use serde_json::json;
use std::io::ErrorKind;

/// Where an answer's rows are found, and which of their columns are printed.
#[derive(Debug)]
pub struct Shown<'t> {
    /// The file's rows.
    pub table: &'t Table<'t>,
    /// The byte that each row starts at.
    pub starts: &'t [u64],
    /// The columns of the key.
    pub parts: &'t [Part],
    /// The number of the column that is printed with them; `None`: the whole row is printed.
    pub value: Option<usize>,
}

impl Shown<'_> {
    /// The key's name in messages.
    pub fn key_called(&self) -> String {
        let names: Vec<String> = self.parts.iter().map(|part| self.table.called(part.column)).collect();
        names.join(",")
    }

    /// The type of the keys, as `--key-type` names it.
    pub fn key_type(&self) -> String {
        let kinds: Vec<String> = self.parts.iter().map(|part| part.kind.to_string()).collect();
        kinds.join(",")
    }

    /// Prints the answer to standard output: nothing if it holds no row. A reader that has seen
    /// enough and closes the pipe ends the printing quietly.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn print(&self, args: &Args, answer: &Answer) -> Result<(), Failure> {
        match answer {
            Answer::Count(rows) => {
                let mut count = Rows::new(["count"]);
                count.push(vec![json!(rows)]);
                count.print(args.format)
            }
            Answer::Rows { rows, .. } if rows.is_empty() => Ok(()),
            Answer::Rows { rows, .. } => match self.print_rows(args, rows) {
                Err(QueryError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                other => Ok(other?),
            },
        }
    }

    fn print_rows(&self, args: &Args, rows: &[u32]) -> Result<(), QueryError> {
        let shown: Vec<usize> = match self.value {
            None => (0..self.table.columns().count()).collect(),
            Some(value) => {
                let mut shown = Vec::new();
                for column in self.parts.iter().map(|part| part.column).chain([value]) {
                    if !shown.contains(&column) {
                        shown.push(column);
                    }
                }
                shown
            }
        };
        let names: Vec<&str> = self.table.columns().collect();
        let heading = |&column: &usize| Heading {
            name: names[column],
            kind: self.parts.iter().find(|part| part.column == column).map(|part| part.kind),
        };
        let headings = shown.iter().map(heading).collect();
        let mut printer = Printer::new(args.format, headings, self.table.is_named())?;
        let mut fetch = self.table.fetch();
        for &row in rows {
            let fields = fetch.row(self.starts[row as usize])?;
            printer.row(shown.iter().map(|&column| fields.value(column)))?;
        }
        let hidden = printer.finish()?;
        if hidden > 0 {
            let all = shown.len();
            say::note(format_args!(
                "the terminal has no room for {hidden} of {all} columns; --value NAME or --format csv shows them"
            ));
        }
        Ok(())
    }
}
