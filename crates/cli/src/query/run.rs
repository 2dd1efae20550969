//! A question on its way to its answer, whatever has the rows: a text in memory, or a saved index.

use super::args::Ask;
use super::asked::Asked;
use super::question::Answer;
use super::show::Shown;
use super::summary::{Summary, Times};
use crate::rows::column::{self, Reading};
use crate::rows::error::QueryError;
use crate::rows::filter::{Condition, Filter};
use crate::rows::form::Forms;
use crate::rows::guess::{Plan, Skip};
use crate::rows::keys::Keys;
use crate::rows::kind::{Kind, Named, Part};
use crate::rows::line;
use crate::rows::postings::Groups;
use crate::rows::progress::Progress;
use crate::rows::report::timed;
use crate::rows::runs::{self, Runs};
use crate::rows::table::Table;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use std::io::{self, IsTerminal};

/// A question whose arguments are good by themselves.
pub struct Run<'a> {
    /// The arguments.
    pub ask: &'a Ask,
    /// The columns of the key, as they were named.
    pub names: Vec<String>,
    /// The conditions on rows.
    pub conditions: Vec<Condition>,
    /// The keys of --get-from.
    pub keys: Option<&'a str>,
    /// The question.
    pub asked: Asked<'a>,
    /// Shows the current step.
    pub progress: Progress,
    /// How long each part took.
    pub times: Times,
    /// Whether the statistics are printed.
    pub has_summary: bool,
}

/// The loaded data: the index, the rows of its keys, and the counts of rows with a key and of others.
pub struct Loaded {
    /// From each key to its run.
    pub index: Box<dyn Runs>,
    /// The rows of each run.
    pub groups: Box<dyn Groups>,
    /// Rows with a key.
    pub rows: usize,
    /// Rows that were left out.
    pub skipped: usize,
    /// Rows with fewer, and with more fields than there are columns, and the statement about them.
    pub ragged: ([usize; 2], String),
}

impl Loaded {
    /// Without rows that were left out.
    pub fn of(index: Box<dyn Runs>, groups: Box<dyn Groups>, rows: usize) -> Self {
        Self { index, groups, rows, skipped: 0, ragged: Default::default() }
    }
}

impl<'a> Run<'a> {
    /// The question that the arguments ask. `keys`: those of --get-from.
    ///
    /// # Errors
    /// Those of [`Condition::parse`], of [`Asked::new`] and, if the arguments name all types, of
    /// [`Asked::check`].
    pub fn new(ask: &'a Ask, keys: Option<&'a str>) -> Result<Self, QueryError> {
        let names = ask.key_columns();
        let conditions = ask.condition.as_deref().map(Condition::parse).transpose()?.unwrap_or_default();
        let asked = Asked::new(ask, keys, names.len().max(1))?;
        // Of a saved index that is asked without --key the columns aren't known yet.
        if !names.is_empty() {
            let kinds = ask.key_types.named(names.len())?;
            let kinds: Option<Vec<Kind>> =
                kinds.into_iter().map(|named| named.and_then(Named::kind)).collect();
            kinds.map_or(Ok(()), |kinds| asked.check(&kinds, &names))?;
        }
        let (progress, times) = (Progress::start(), Times::default());
        Ok(Self { ask, names, conditions, keys, asked, progress, times, has_summary: true })
    }

    /// The columns of the key, with the plans to find their types, and of the value that the arguments
    /// name. `kinds`: the types of columns according to the file.
    ///
    /// # Errors
    /// Those of [`Table::column`] and of the types that the arguments name.
    #[expect(clippy::type_complexity, reason = "lists and what they are lists of")]
    pub fn columns(
        &self,
        table: &Table,
        kinds: &[Option<Kind>],
    ) -> Result<(Vec<(usize, Plan)>, Option<Vec<usize>>), QueryError> {
        let named = self.ask.key_types.named(self.names.len())?;
        let plan = |(part, (name, named)): (usize, (&String, Option<Named>))| {
            let column = table.column("--key", name)?;
            let said = kinds.get(column).copied().flatten();
            Ok((column, self.plan(part, named, said)))
        };
        let columns: Vec<(usize, Plan)> =
            self.names.iter().zip(named).enumerate().map(plan).collect::<Result<_, QueryError>>()?;
        let of_key: Vec<usize> = columns.iter().map(|&(column, _)| column).collect();
        let shown = self.shown(table, &of_key)?;
        if self.ask.format == Format::Json && shown.is_none() {
            // An object can't distinguish two columns of one name.
            table.columns().try_for_each(|name| table.column("--format json", name).map(drop))?;
        }
        Ok((columns, shown))
    }

    /// The columns that the arguments want to be printed, if not all are. `of_key`: those of the key.
    ///
    /// # Errors
    /// Those of [`Table::column`].
    pub fn shown(&self, table: &Table, of_key: &[usize]) -> Result<Option<Vec<usize>>, QueryError> {
        if let Some(names) = self.ask.select.as_deref() {
            let names = line::fields(names);
            return names
                .iter()
                .map(|name| table.column("--select", name))
                .collect::<Result<_, _>>()
                .map(Some);
        }
        let Some(name) = self.ask.value.as_deref() else { return Ok(None) };
        let mut shown = Vec::new();
        for column in of_key.iter().copied().chain([table.column("--value", name)?]) {
            if !shown.contains(&column) {
                shown.push(column);
            }
        }
        Ok(Some(shown))
    }

    /// The conditions on rows, whose columns are read once to find their types.
    ///
    /// # Errors
    /// Those of [`Table::column`], of [`column::read`] and of the conditions' values.
    pub fn filter(&self, table: &Table, kinds: &[Option<Kind>]) -> Result<Filter, QueryError> {
        let mut filter = Filter::new(self.ask.skip_bad);
        if self.ask.save.is_some() && !self.conditions.is_empty() {
            let why = "its index can't be saved as that of the file".to_owned();
            return Err(QueryError::WhereNeedsRows { why });
        }
        for condition in &self.conditions {
            let column = table.column("--where", &condition.column)?;
            let (given, is_ordered) = (condition.given(), condition.is_ordered());
            let types = &self.ask.key_types;
            let plan = types.plan(None, kinds.get(column).copied().flatten(), || {
                let plan = types.open(given.means(0), Forms::all(), self.ask.skip_bad);
                Plan { has_no_order: !is_ordered, ..plan }
            });
            let skip = Skip { bad: self.ask.skip_bad, empty: true };
            let reading = Reading { columns: vec![(column, plan)], skip };
            let part = column::read(table, &reading, &self.progress)?.parts[0];
            given.check("--where", &[part.kind], &[table.called(column)], is_ordered)?;
            filter.add(condition, part);
        }
        Ok(filter)
    }

    /// The plan to find the type of a part of the key. `said`: its type according to the file.
    fn plan(&self, part: usize, named: Option<Named>, said: Option<Kind>) -> Plan {
        let types = &self.ask.key_types;
        types.plan(named, said, || {
            // A beginning is that of a text, whatever it means.
            let forms = if self.asked.is_prefix(part) { Forms::NONE } else { Forms::all() };
            let plan = types.open(self.asked.means(part), forms, self.ask.skip_bad);
            Plan { has_no_order: !self.asked.is_ordered(), ..plan }
        })
    }

    /// Checks that the question can be asked about these columns.
    ///
    /// # Errors
    /// Those of [`Asked::check`].
    pub fn check(&self, table: &Table, parts: &[Part]) -> Result<(), QueryError> {
        let called: Vec<String> = parts.iter().map(|part| table.called(part.column)).collect();
        self.asked.check(&kinds(parts), &called)
    }

    /// The index of the distinct keys.
    ///
    /// # Errors
    /// Memory is refused.
    pub fn load(&mut self, keys: &Keys, skipped: usize) -> latchless::Result<Loaded> {
        self.progress.phase("building", 0);
        let options = self.ask.options.for_index();
        let (index, postings) = timed(&mut self.times.build, || runs::build(keys, options))?;
        Ok(Loaded { skipped, ..Loaded::of(index, Box::new(postings), keys.len()) })
    }

    /// The answer to the question over keys of these parts.
    ///
    /// # Errors
    /// Those of the index.
    pub fn answer(&mut self, parts: &[Part], loaded: &Loaded) -> latchless::Result<Answer> {
        let question = self.asked.over(&kinds(parts));
        timed(&mut self.times.query, || question.answer(&*loaded.index, &*loaded.groups))
    }

    /// Prints the answer, as `printed` has it among the rows that are shown, and the notes.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn tell(
        self,
        shown: &Shown,
        printed: &Answer,
        answer: &Answer,
        loaded: &Loaded,
    ) -> Result<(), Failure> {
        let Self { ask, asked, progress, times, .. } = self;
        progress.phase("printing", 0);
        // On a terminal the answer itself is the progress, and a line between its rows would spoil it.
        let progress = Some(progress).filter(|_| !io::stdout().is_terminal());
        let (ragged, odd) = &loaded.ragged;
        let summary = Summary {
            found: answer.found(),
            missing: asked.missing(answer),
            rows: loaded.rows,
            skipped: loaded.skipped,
            ragged: *ragged,
            keys: loaded.index.keys(),
            key_type: shown.key_type(),
            index_bytes: loaded.index.memory_bytes(),
            postings_bytes: loaded.groups.memory_bytes(),
            times,
        };
        shown.print(ask, printed)?;
        drop(progress);
        if ask.format == Format::Table {
            if let Some(note) = asked.note(&shown.key_called(), answer) {
                say::note(note);
            }
            if !odd.is_empty() {
                say::note(odd.trim_end());
            }
        }
        if self.has_summary {
            summary.report(ask.format);
        }
        Ok(())
    }
}

/// The types of the parts.
fn kinds(parts: &[Part]) -> Vec<Kind> {
    parts.iter().map(|part| part.kind).collect()
}
