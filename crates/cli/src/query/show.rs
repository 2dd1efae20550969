//! The file's own text for row numbers.

use super::args::Ask;
use super::question::Answer;
use crate::rows::error::QueryError;
use crate::rows::key::Rule;
use crate::rows::kind::{Kind, Part};
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
    /// The columns that are printed of rows; `None`: all.
    pub columns: Option<Vec<usize>>,
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
    pub fn print(&self, args: &Ask, answer: &Answer) -> Result<(), Failure> {
        match answer {
            Answer::Count(rows) => {
                let mut count = Rows::new([if args.rank.is_some() { "rank" } else { "count" }]);
                count.push(vec![json!(rows)]);
                count.print(args.format)
            }
            answer if answer.rows().is_empty() => Ok(()),
            answer => match self.print_rows(args, answer) {
                Err(QueryError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                other => Ok(other?),
            },
        }
    }

    fn print_rows(&self, args: &Ask, answer: &Answer) -> Result<(), QueryError> {
        let counts = match answer {
            Answer::Groups { counts, .. } if args.count_by => Some(counts),
            _ => None,
        };
        let shown = match (answer, &self.columns) {
            (Answer::Groups { .. }, _) => self.parts.iter().map(|part| part.column).collect(),
            (_, Some(columns)) => columns.clone(),
            (_, None) => (0..self.table.columns().count()).collect::<Vec<usize>>(),
        };
        let names: Vec<&str> = self.table.columns().collect();
        let heading = |&column: &usize| Heading {
            name: names[column],
            kind: self.parts.iter().find(|part| part.column == column).map(|part| part.kind),
        };
        let kind = Some(Kind::Number(Rule::new(None)));
        let count = counts.map(|_| Heading { name: "count", kind });
        let headings = shown.iter().map(heading).chain(count).collect();
        let mut printer = Printer::new(args.format, headings, self.table.is_named())?;
        let mut fetch = self.table.fetch();
        for (place, &row) in answer.rows().iter().enumerate() {
            let fields = fetch.row(self.starts[row as usize])?;
            let count = counts.map(|counts| counts[place].to_string());
            printer
                .row(shown.iter().map(|&column| fields.value(column)).chain(count.as_deref().map(Some)))?;
        }
        let hidden = printer.finish()?;
        if hidden > 0 {
            let all = shown.len();
            say::note(format_args!(
                "the terminal has no room for {hidden} of {all} columns; --select NAMES or --format csv shows them"
            ));
        }
        Ok(())
    }
}
