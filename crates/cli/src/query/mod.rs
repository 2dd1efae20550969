//! `latchless query`: a file's rows through an ordered index over one or several of its columns.
//!
//! In reading order: [`args`] (the command line), [`crate::rows`] (the file's rows, their keys and an index
//! over these), [`saved`] (an index in a file, instead of that) and [`origin`] (the file with that index's
//! rows). [`crate::rows::given`], [`asked`] and [`question`] turn the question's keys into places among the
//! column's keys, and the index answers. [`show`] and [`summary`] print the answer and the statistics.

mod args;
mod asked;
mod origin;
mod question;
mod saved;
mod show;
mod summary;

pub use args::Args;

use crate::rows::column::{self, Column, Reading};
use crate::rows::dialect::{self, Dialect};
use crate::rows::error::QueryError;
use crate::rows::filter::{Condition, Filter};
use crate::rows::form::Forms;
use crate::rows::gathered::{self, Lines};
use crate::rows::guess::{Plan, Skip};
use crate::rows::keys::Keys;
use crate::rows::kind::{Kind, Named, Part};
use crate::rows::line;
use crate::rows::postings::Postings;
use crate::rows::progress::Progress;
use crate::rows::report::timed;
use crate::rows::runs::{self, Runs};
use crate::rows::source::{self, Content, Text};
use crate::rows::stream::How;
use crate::rows::table::Table;
use crate::rows::wanted::Wanted;
use asked::Asked;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use question::Answer;
use saved::{Saved, Saving};
use show::Shown;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use summary::{Summary, Times};

/// Why an index can't be saved.
const ONLY_CSV: &str = "its rows can't be found again; only those of a plain CSV file can";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    // Errors in the arguments alone are reported before a large file is read.
    let names = args.key_columns();
    let conditions = args.condition.as_deref().map(Condition::parse).transpose()?.unwrap_or_default();
    let keys = args.get_from.as_deref().map(|from| keys_from(from, &args.files)).transpose()?;
    let asked = Asked::new(args, keys.as_deref(), names.len().max(1))?;
    // Of a saved index that is asked without --key the columns aren't known yet.
    if !names.is_empty()
        && let Some(kinds) = kinds_before_reading(args, names.len())?
    {
        asked.check(&kinds, &names)?;
    }
    let delimiter = dialect::delimiter(args.delimiter.as_deref())?;
    let no_key = || QueryError::NoKey { file: source::name(args.file()) };
    if args.key.is_none() && args.file().is_file() && !source::is_arrow(args.file()) {
        return Err(no_key().into());
    }
    let saving = Saving::new(args)?;

    let progress = Progress::start();
    let mut times = Times::default();
    let columns = match (&names[..], &args.value) {
        ([key], Some(value)) if conditions.is_empty() => Some([&key[..], &value[..]]),
        _ => None,
    };
    let wanted = Wanted { header: !args.no_header, columns };
    let how = How { delimiter, is_named: !args.no_header };
    let (content, lines) = timed(&mut times.read, || match args.files.len() {
        1 => Ok((source::read(args.file(), wanted, &progress)?, Lines::default())),
        _ => gathered::gather(&args.files, how, wanted, &progress)
            .map(|(text, lines)| (Content::Text(text), lines)),
    })?;
    let run = Run { args, conditions: &conditions, keys: keys.as_deref(), lines, asked, progress, times };
    match content {
        Content::Arrow(bytes) => run.over_saved(bytes),
        Content::Text(_) if args.key.is_none() => Err(no_key().into()),
        Content::Text(source::Text { is_own: false, .. }) if saving.is_some() => {
            Err(QueryError::CannotSave { file: source::name(args.file()), why: ONLY_CSV }.into())
        }
        Content::Text(text) => run.over_text(&text, delimiter, &names, saving),
    }
}

/// The keys of --get-from, one a line.
fn keys_from(from: &Path, files: &[PathBuf]) -> Result<String, QueryError> {
    if from == Path::new("-") && files.iter().any(|file| file == from) {
        return Err(QueryError::BothFromInput);
    }
    let wanted = Wanted { header: false, columns: None };
    match source::read(from, wanted, &Progress::start()) {
        Ok(Content::Text(text)) => Ok(text.text),
        Ok(Content::Arrow(_)) => Err(QueryError::IsIndex { file: source::name(from) }),
        Err(QueryError::Empty { .. }) => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// The types of the columns, if the arguments name each of them.
fn kinds_before_reading(args: &Args, columns: usize) -> Result<Option<Vec<Kind>>, QueryError> {
    Ok(args.key_types.named(columns)?.into_iter().map(|named| named.and_then(Named::kind)).collect())
}

/// A question on its way to its answer.
struct Run<'a> {
    args: &'a Args,
    conditions: &'a [Condition],
    keys: Option<&'a str>,
    lines: Lines,
    asked: Asked<'a>,
    progress: Progress,
    times: Times,
}

/// The loaded data: the index, the rows of its keys, and the counts of rows with a key and of others.
struct Loaded {
    index: Box<dyn Runs>,
    postings: Postings,
    rows: usize,
    skipped: usize,
}

impl Run<'_> {
    /// Answers from a text, and saves its index if that is wanted.
    fn over_text(
        mut self,
        Text { text, kinds, .. }: &Text,
        delimiter: Option<u8>,
        names: &[String],
        saving: Option<Saving>,
    ) -> Result<(), Failure> {
        let args = self.args;
        let dialect = if kinds.is_some() {
            Dialect::csv(b',', !args.no_header)
        } else {
            Dialect::of(args.file(), text, delimiter, !args.no_header)
        };
        if args.format == Format::Table {
            dialect.note(delimiter, &source::name(args.file())).into_iter().for_each(say::note);
        }
        let mut table = Table::of(text, dialect, true)?;
        let filter = self.filter(&table, kinds.as_deref().unwrap_or_default());
        let filter = filter.map_err(|error| self.lines.locate(error))?;
        table.only(filter);
        let (columns, shown) = self.columns(&table, names, kinds.as_deref().unwrap_or_default())?;
        let skip = Skip { bad: args.skip_bad, empty: false };
        let reading = Reading { columns, skip };
        let column = timed(&mut self.times.parse, || column::read(&table, &reading, &self.progress));
        let column = column.map_err(|error| self.lines.locate(error))?;
        self.check(&table, &column.parts)?;
        let loaded = self.load(&column.keys, column.skipped)?;
        if let Some(saving) = saving {
            if !dialect.has_quotes() {
                return Err(QueryError::CannotSave { file: source::name(args.file()), why: ONLY_CSV }.into());
            }
            self.progress.phase("saving", 0);
            saving.save(&table, &column, loaded.postings.all())?;
        }
        let Column { keys, starts, parts, .. } = column;
        drop(keys);
        let answer = self.ask(&parts, &loaded)?;
        let shown = Shown { table: &table, starts: &starts, parts: &parts, columns: shown };
        self.tell(&shown, &answer, &answer, &loaded)
    }

    /// Answers from a saved index, and the rows of the answer from where they are.
    fn over_saved(mut self, bytes: Vec<u8>) -> Result<(), Failure> {
        let args = self.args;
        if args.save.is_some() {
            let why = "it is a saved index already; copy it";
            return Err(QueryError::CannotSave { file: source::name(args.file()), why }.into());
        }
        let saved = timed(&mut self.times.parse, || Saved::new(bytes, args))?;
        if !self.conditions.is_empty() {
            let why =
                format!("{} is an index; ask the file that it was saved from", source::name(args.file()));
            return Err(QueryError::WhereNeedsRows { why }.into());
        }
        let header = Table::new(saved.header(), saved.delimiter(), saved.is_named)?;
        let parts = &saved.parts[..];
        let names = args.key_columns();
        let asked: Result<Vec<usize>, _> = names.iter().map(|name| header.column("--key", name)).collect();
        let asked = asked?;
        if !asked.is_empty() && !asked.iter().eq(parts.iter().map(|part| &part.column)) {
            let called: Vec<String> = parts.iter().map(|part| header.called(part.column)).collect();
            return Err(saved.other_key(called.join(",")).into());
        }
        // Only now it is known how many parts a key has.
        self.asked = Asked::new(args, self.keys, parts.len())?;
        let columns: Vec<usize> = parts.iter().map(|part| part.column).collect();
        let columns = self.shown(&header, &columns)?;
        self.check(&header, parts)?;
        let loaded = self.load(&saved.keys, 0)?;
        let answer = self.ask(parts, &loaded)?;

        // A table of the answer's rows alone, in their order.
        let text = saved.fetch(answer.rows())?;
        let table = Table::new(&text, saved.delimiter(), saved.is_named)?;
        let mut walk = table.walk()?;
        let mut starts = Vec::with_capacity(answer.rows().len());
        while walk.advance()? {
            starts.push(walk.start());
        }
        let among_them = answer.with_rows((0..answer.rows().len() as u32).collect());
        let shown = Shown { table: &table, starts: &starts, parts, columns };
        self.tell(&shown, &among_them, &answer, &loaded)
    }

    /// The columns of the key, with the plans to find their types, and of the value that the arguments
    /// name. `kinds`: the types of columns according to the file.
    #[expect(clippy::type_complexity, reason = "lists and what they are lists of")]
    fn columns(
        &self,
        table: &Table,
        names: &[String],
        kinds: &[Option<Kind>],
    ) -> Result<(Vec<(usize, Plan)>, Option<Vec<usize>>), QueryError> {
        let args = self.args;
        let named = args.key_types.named(names.len())?;
        let plan = |(part, (name, named)): (usize, (&String, Option<Named>))| {
            let column = table.column("--key", name)?;
            let said = kinds.get(column).copied().flatten();
            Ok((column, self.plan(part, named, said)))
        };
        let columns: Vec<(usize, Plan)> =
            names.iter().zip(named).enumerate().map(plan).collect::<Result<_, QueryError>>()?;
        let of_key: Vec<usize> = columns.iter().map(|&(column, _)| column).collect();
        let shown = self.shown(table, &of_key)?;
        if args.format == Format::Json && shown.is_none() {
            // An object can't distinguish two columns of one name.
            table.columns().try_for_each(|name| table.column("--format json", name).map(drop))?;
        }
        Ok((columns, shown))
    }

    /// The columns that the arguments want to be printed, if not all are. `of_key`: those of the key.
    fn shown(&self, table: &Table, of_key: &[usize]) -> Result<Option<Vec<usize>>, QueryError> {
        if let Some(names) = self.args.select.as_deref() {
            let names = line::fields(names);
            return names
                .iter()
                .map(|name| table.column("--select", name))
                .collect::<Result<_, _>>()
                .map(Some);
        }
        let Some(name) = self.args.value.as_deref() else { return Ok(None) };
        let mut shown = Vec::new();
        for column in of_key.iter().copied().chain([table.column("--value", name)?]) {
            if !shown.contains(&column) {
                shown.push(column);
            }
        }
        Ok(Some(shown))
    }

    /// The conditions on rows, whose columns are read once to find their types.
    fn filter(&self, table: &Table, kinds: &[Option<Kind>]) -> Result<Filter, QueryError> {
        let mut filter = Filter::new(self.args.skip_bad);
        if self.args.save.is_some() && !self.conditions.is_empty() {
            let why = "its index can't be saved as that of the file".to_owned();
            return Err(QueryError::WhereNeedsRows { why });
        }
        for condition in self.conditions {
            let column = table.column("--where", &condition.column)?;
            let (given, is_ordered) = (condition.given(), condition.is_ordered());
            let types = &self.args.key_types;
            let plan = types.plan(None, kinds.get(column).copied().flatten(), || {
                let plan = types.open(given.means(0), Forms::all(), self.args.skip_bad);
                Plan { has_no_order: !is_ordered, ..plan }
            });
            let skip = Skip { bad: self.args.skip_bad, empty: true };
            let reading = Reading { columns: vec![(column, plan)], skip };
            let part = column::read(table, &reading, &self.progress)?.parts[0];
            given.check("--where", &[part.kind], &[table.called(column)], is_ordered)?;
            filter.add(condition, part);
        }
        Ok(filter)
    }

    /// The plan to find the type of a part of the key. `said`: its type according to the file.
    fn plan(&self, part: usize, named: Option<Named>, said: Option<Kind>) -> Plan {
        let types = &self.args.key_types;
        types.plan(named, said, || {
            // A beginning is that of a text, whatever it means.
            let forms = if self.asked.is_prefix(part) { Forms::NONE } else { Forms::all() };
            let plan = types.open(self.asked.means(part), forms, self.args.skip_bad);
            Plan { has_no_order: !self.asked.is_ordered(), ..plan }
        })
    }

    /// Checks that the question can be asked about these columns.
    fn check(&self, table: &Table, parts: &[Part]) -> Result<(), QueryError> {
        let called: Vec<String> = parts.iter().map(|part| table.called(part.column)).collect();
        self.asked.check(&kinds(parts), &called)
    }

    /// The index of the distinct keys.
    fn load(&mut self, keys: &Keys, skipped: usize) -> latchless::Result<Loaded> {
        self.progress.phase("building", 0);
        let options = self.args.options.for_index();
        let (index, postings) = timed(&mut self.times.build, || runs::build(keys, options))?;
        Ok(Loaded { index, postings, rows: keys.len(), skipped })
    }

    /// The answer to the question over keys of these parts.
    fn ask(&mut self, parts: &[Part], loaded: &Loaded) -> latchless::Result<Answer> {
        let question = self.asked.over(&kinds(parts));
        timed(&mut self.times.query, || question.answer(&*loaded.index, &loaded.postings))
    }

    /// Prints the answer, as `printed` has it among the rows that are shown, and the notes.
    fn tell(self, shown: &Shown, printed: &Answer, answer: &Answer, loaded: &Loaded) -> Result<(), Failure> {
        let Self { args, asked, progress, times, .. } = self;
        progress.phase("printing", 0);
        // On a terminal the answer itself is the progress, and a line between its rows would spoil it.
        let progress = Some(progress).filter(|_| !io::stdout().is_terminal());
        let summary = Summary {
            found: answer.found(),
            missing: asked.missing(answer),
            rows: loaded.rows,
            skipped: loaded.skipped,
            keys: loaded.index.keys(),
            key_type: shown.key_type(),
            index_bytes: loaded.index.memory_bytes(),
            postings_bytes: loaded.postings.memory_bytes(),
            times,
        };
        shown.print(args, printed)?;
        drop(progress);
        if args.format == Format::Table
            && let Some(note) = asked.note(&shown.key_called(), answer)
        {
            say::note(note);
        }
        summary.report(args.format);
        Ok(())
    }
}

/// The types of the parts.
fn kinds(parts: &[Part]) -> Vec<Kind> {
    parts.iter().map(|part| part.kind).collect()
}
