//! `latchless query`: a file's rows through an ordered index over one of its columns.
//!
//! In reading order: [`args`] (what is asked), [`source`] (the file's text), [`table`] (rows and fields),
//! [`number`], [`numeric`], [`key`] and [`column`] (each row's key as order-keeping bits), [`postings`]
//! (equal keys put together), [`saved`] (an index in a file, instead of all these) and [`origin`] (where
//! that file's rows are), [`asked`] and [`question`] (numbers as they were asked for become keys, and the
//! index answers), [`show`], [`print`] and [`summary`] (what is said about it). [`progress`] runs beside
//! all of them; [`error`] is everything that can be wrong.

mod args;
mod asked;
mod column;
mod error;
mod key;
mod number;
mod numeric;
mod options;
mod origin;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod postings;
mod print;
mod progress;
mod question;
mod saved;
mod show;
mod source;
mod summary;
mod table;

pub use args::Args;

use asked::Asked;
use column::{Column, Reading};
use error::QueryError;
use key::Rule;
use latchless::{Bits, FillFactor, Fits, Index, Key};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use postings::Postings;
use progress::Progress;
use question::Answer;
use saved::{Saved, Saving};
use show::Shown;
use source::Content;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use summary::{Summary, Times};
use table::Table;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    match args.key_type {
        Some(key_type) if key_type.is_narrow() => serve::<u32>(args),
        // Types that are inferred take 64 bits.
        _ => serve::<u64>(args),
    }
}

/// Answers through an index over keys encoded as `B`.
fn serve<B>(args: &Args) -> Result<(), Failure>
where
    B: Bits + Key<Bits = B>,
    u32: Fits<B>,
{
    // What is wrong with the arguments alone is said before a large file is read.
    let asked = Asked::new(args)?;
    let delimiter = args.delimiter_byte()?;
    let index = Index::<B, u32>::with_options(args.options.for_index())?;
    let no_key = || QueryError::NoKey { file: source::name(&args.file) };
    if args.key.is_none() && args.file.is_file() && !source::is_arrow(&args.file) {
        return Err(no_key().into());
    }
    let saving = Saving::new(args)?;

    let progress = Progress::start();
    let mut times = Times::default();
    let columns = args.key.as_deref().zip(args.value.as_deref()).map(|(key, value)| [key, value]);
    let wanted = source::Wanted { delimiter, header: !args.no_header, columns };
    let content = timed(&mut times.read, || source::read(&args.file, wanted, &progress))?;
    let run = Run { args, asked, index, progress, times };
    match content {
        Content::Arrow(bytes) => run.over_saved(bytes),
        Content::Text(..) if args.key.is_none() => Err(no_key().into()),
        Content::Text(_, false) if saving.is_some() => {
            let why = "its rows can't be found again; only those of CSV can";
            Err(QueryError::CannotSave { file: source::name(&args.file), why }.into())
        }
        Content::Text(text, _) => run.over_text(&text, delimiter, saving),
    }
}

/// A question on its way to its answer.
struct Run<'a, B: Key> {
    args: &'a Args,
    asked: Asked<'a>,
    index: Index<B, u32>,
    progress: Progress,
    times: Times,
}

/// Rows of the file, those with a key and others.
struct Counts {
    rows: usize,
    skipped: usize,
}

impl<B> Run<'_, B>
where
    B: Bits + Key<Bits = B>,
    u32: Fits<B>,
{
    /// Answers from a text, and saves its index if that is wanted.
    fn over_text(mut self, text: &str, delimiter: u8, saving: Option<Saving>) -> Result<(), Failure> {
        let args = self.args;
        let table = Table::new(text, delimiter, !args.no_header)?;
        let (key, value) = self.columns(&table)?;
        let reading = Reading { column: key, rule: Rule::new(args.key_type), skip_bad: args.skip_bad };
        let Column { keys, starts, rule, skipped } =
            timed(&mut self.times.parse, || column::read::<B>(&table, reading, &self.progress))?;
        let postings = self.load(&keys)?;
        if let Some(saving) = saving {
            self.progress.phase("saving", 0);
            let row = |&row: &u32| (keys[row as usize].to_u64(), starts[row as usize]);
            saving.save(&table, key, rule, postings.all().iter().map(row))?;
        }
        drop(keys);
        let answer = self.ask(rule, &postings)?;
        let counts = Counts { rows: starts.len(), skipped };
        let shown = Shown { table: &table, starts: &starts, key, value, key_type: rule.key_type };
        self.tell(&shown, &answer, &answer, &postings, counts)
    }

    /// Answers from a saved index, and the rows of the answer from where they are.
    fn over_saved(mut self, bytes: Vec<u8>) -> Result<(), Failure> {
        let args = self.args;
        if args.save.is_some() {
            let why = "it is a saved index already; copy it";
            return Err(QueryError::CannotSave { file: source::name(&args.file), why }.into());
        }
        let saved = timed(&mut self.times.parse, || Saved::new(bytes, args))?;
        let header = Table::new(saved.header(), saved.delimiter(), saved.is_named)?;
        if let Some(name) = &args.key
            && header.column("--key", name)? != saved.key
        {
            return Err(saved.other_key(header.called(saved.key)).into());
        }
        let value = args.value.as_deref().map(|name| header.column("--value", name)).transpose()?;
        let keys = timed(&mut self.times.parse, || saved.keys::<B>());
        let postings = self.load(&keys)?;
        let counts = Counts { rows: keys.len(), skipped: 0 };
        drop(keys);
        let answer = self.ask(saved.rule, &postings)?;

        // A table of the answer's rows alone, in their order.
        let rows = if let Answer::Rows { rows, .. } = &answer { &rows[..] } else { &[] };
        let text = saved.fetch(rows)?;
        let table = Table::new(&text, saved.delimiter(), saved.is_named)?;
        let mut walk = table.walk();
        let mut starts = Vec::with_capacity(rows.len());
        while walk.advance()? {
            starts.push(walk.start());
        }
        let among_them = match &answer {
            Answer::Rows { rows, missing } => {
                Answer::Rows { rows: (0..rows.len() as u32).collect(), missing: missing.clone() }
            }
            &Answer::Count(rows) => Answer::Count(rows),
        };
        let key_type = saved.rule.key_type;
        let shown = Shown { table: &table, starts: &starts, key: saved.key, value, key_type };
        self.tell(&shown, &among_them, &answer, &postings, counts)
    }

    /// The columns of the key and of the value that the arguments name.
    fn columns(&self, table: &Table) -> Result<(usize, Option<usize>), QueryError> {
        let args = self.args;
        let key = table.column("--key", args.key.as_deref().unwrap_or_default())?;
        let value = args.value.as_deref().map(|name| table.column("--value", name)).transpose()?;
        if args.format == Format::Json && value.is_none() {
            // An object can't tell two columns of one name apart.
            table.columns().try_for_each(|name| table.column("--format json", name).map(drop))?;
        }
        Ok((key, value))
    }

    /// Fills the index with the distinct keys, and says which rows each of them has.
    fn load(&mut self, keys: &[B]) -> latchless::Result<Postings> {
        self.progress.phase("building", 0);
        let index = &mut self.index;
        timed(&mut self.times.build, || {
            let (entries, postings) = Postings::group(keys);
            index.bulk_load(&entries, FillFactor::FULL)?;
            Ok(postings)
        })
    }

    /// The answer to the question over keys that were read by this rule.
    fn ask(&mut self, rule: Rule, postings: &Postings) -> latchless::Result<Answer> {
        let question = self.asked.over::<B>(rule);
        timed(&mut self.times.query, || question.answer(&self.index, postings))
    }

    /// Prints the answer, as `printed` has it among the rows that are shown, and what there is to say.
    fn tell(
        self,
        shown: &Shown,
        printed: &Answer,
        answer: &Answer,
        postings: &Postings,
        counts: Counts,
    ) -> Result<(), Failure> {
        let Self { args, asked, index, progress, times } = self;
        progress.phase("printing", 0);
        // On a terminal the answer itself is the progress, and a line between its rows would spoil it.
        let progress = Some(progress).filter(|_| !io::stdout().is_terminal());
        let summary = Summary {
            found: answer.found(),
            missing: asked.missing(answer),
            rows: counts.rows,
            skipped: counts.skipped,
            keys: index.len(),
            key_type: shown.key_type,
            index_bytes: index.memory_bytes(),
            postings_bytes: postings.memory_bytes(),
            times,
        };
        shown.print(args, printed)?;
        drop(progress);
        if args.format == Format::Table
            && let Some(note) = asked.note(&shown.table.called(shown.key), answer)
        {
            say::note(note);
        }
        summary.report(args.format);
        Ok(())
    }
}

/// What `part` returns; the time that it took is added to `time`.
fn timed<T>(time: &mut Duration, part: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let made = part();
    *time += start.elapsed();
    made
}
