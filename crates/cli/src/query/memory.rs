//! The rows of files in memory, and the indexes over them that questions have needed so far.

use super::args::Ask;
use super::run::{Loaded, Run};
use super::saving::Saving;
use super::show::Shown;
use crate::rows::column::{self, Column, Reading};
use crate::rows::error::QueryError;
use crate::rows::filter::Condition;
use crate::rows::guess::{Plan, Skip};
use crate::rows::kind::{Kind, Part};
use crate::rows::options::Options;
use crate::rows::report::timed;
use crate::rows::source::Text;
use crate::rows::table::Table;
use latchless_terminal::failure::Failure;

/// What an index is over.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Over {
    columns: Vec<(usize, Plan)>,
    conditions: Vec<Condition>,
    skip_bad: bool,
    options: Options,
}

impl Over {
    /// Whether an index over this, which has keys of these parts, is one over something else, too.
    fn serves(&self, other: &Self, parts: &[Part]) -> bool {
        let pairs = self.columns.iter().zip(&other.columns).zip(parts);
        let mut is_same = pairs.map(|((ours, theirs), part)| ours.1.finds_as(&theirs.1, part.kind));
        self.is_about(other) && is_same.all(|is_same| is_same)
    }

    /// Whether both are about the same columns of the same rows, whatever their types.
    fn is_about(&self, other: &Self) -> bool {
        let columns = |over: &Self| over.columns.iter().map(|&(column, _)| column).collect::<Vec<_>>();
        (&self.conditions, self.skip_bad, &self.options, columns(self))
            == (&other.conditions, other.skip_bad, &other.options, columns(other))
    }
}

/// An index, and what it is over: plans that find the same types are several.
struct Built {
    over: Vec<Over>,
    parts: Vec<Part>,
    starts: Vec<u64>,
    loaded: Loaded,
}

/// Rows in memory.
pub struct Memory<'t> {
    text: &'t Text,
    table: Table<'t>,
    kinds: &'t [Option<Kind>],
    built: Vec<Built>,
}

impl<'t> Memory<'t> {
    /// The rows of a text.
    ///
    /// # Errors
    /// Those of [`Table::of`].
    pub fn new(text: &'t Text) -> Result<Self, QueryError> {
        let table = Table::of(&text.text, text.about.dialect, true)?;
        let kinds = text.about.kinds.as_deref().unwrap_or_default();
        Ok(Self { text, table, kinds, built: Vec::new() })
    }

    /// The rows as a table.
    pub fn table(&self) -> &Table<'t> {
        &self.table
    }

    /// Answers a question, with an index that is there or else with a new one, which is saved if that is
    /// wanted.
    ///
    /// # Errors
    /// Those of the file, of the question, and of the index.
    pub fn answer(&mut self, mut run: Run, saving: Option<Saving>) -> Result<(), Failure> {
        let text = self.text;
        let located = |error| text.lines.locate(error);
        let mut table = self.table.clone();
        table.only(run.filter(&table, self.kinds).map_err(located)?);
        let (columns, shown) = run.columns(&table, self.kinds)?;
        let Ask { skip_bad, options, .. } = run.ask;
        let over = Over {
            columns,
            conditions: run.conditions.clone(),
            skip_bad: *skip_bad,
            options: options.clone(),
        };
        let serves = |built: &Built| built.over.iter().any(|there| there.serves(&over, &built.parts));
        let found = self.built.iter().position(serves).filter(|_| saving.is_none());
        let place = match found {
            Some(place) => place,
            None => self.build(&mut run, &table, over, saving)?,
        };
        let Built { parts, starts, loaded, .. } = &self.built[place];
        run.check(&table, parts)?;
        let answer = run.answer(parts, loaded)?;
        let shown = Shown { table: &table, starts, parts, columns: shown };
        run.tell(&shown, &answer, &answer, loaded)
    }

    /// Builds an index and keeps it. Returns its place among those that are there.
    fn build(
        &mut self,
        run: &mut Run,
        table: &Table,
        over: Over,
        saving: Option<Saving>,
    ) -> Result<usize, Failure> {
        let skip = Skip { bad: over.skip_bad, empty: false };
        let reading = Reading { columns: over.columns.clone(), skip };
        let column = timed(&mut run.times.parse, || column::read(table, &reading, &run.progress));
        let column = column.map_err(|error| self.text.lines.locate(error))?;
        run.check(table, &column.parts)?;
        // Another question was about something else, and yet the cells are of the same types.
        let is_there = |built: &Built| {
            built.parts == column.parts && built.over.first().is_some_and(|there| there.is_about(&over))
        };
        if let Some(place) = self.built.iter().position(is_there).filter(|_| saving.is_none()) {
            self.built[place].over.push(over);
            return Ok(place);
        }
        let mut ragged = self.text.ragged;
        ragged.add(table.ragged());
        let mut loaded = run.load(&column.keys, column.skipped)?;
        let called = |line| match self.text.lines.place(line) {
            (line, Some(file)) => format!("line {line} of {file}"),
            (line, None) => format!("line {line}"),
        };
        loaded.ragged = ([ragged.short, ragged.long], ragged.text(called));
        if let Some(saving) = saving {
            run.progress.phase("saving", 0);
            saving.save(table, &column, &*loaded.groups, loaded.index.keys())?;
        }
        let Column { keys, starts, parts, .. } = column;
        drop(keys);
        // Without rows, the types are what the question is about, so that it serves no other.
        self.built.retain(|built| !built.over.is_empty());
        let over = if starts.is_empty() { Vec::new() } else { vec![over] };
        self.built.push(Built { over, parts, starts, loaded });
        Ok(self.built.len() - 1)
    }
}
