//! `latchless query`: a file's rows through an ordered index over one of its columns.
//!
//! In reading order: [`args`] (what is asked), [`source`] (the file's text), [`table`] (rows and
//! fields), [`number`], [`numeric`], [`key`] and [`column`] (each row's key as order-keeping bits),
//! [`postings`] (equal keys put together), [`asked`] and [`question`] (numbers as they were asked for become
//! keys, and the index answers), [`show`], [`print`] and [`summary`] (what is said about it). [`progress`]
//! runs beside all of them; [`error`] is everything that can be wrong.

mod args;
mod asked;
mod column;
mod error;
mod key;
mod number;
mod numeric;
mod options;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod postings;
mod print;
mod progress;
mod question;
mod show;
mod source;
mod summary;
mod table;

pub use args::Args;

use asked::Asked;
use column::{Column, Reading};
use key::Rule;
use latchless::{Bits, FillFactor, Fits, Index, Key};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use postings::Postings;
use progress::Progress;
use show::Shown;
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
    let mut index = Index::<B, u32>::with_options(args.options.for_index())?;

    let progress = Progress::start();
    let mut times = Times::default();
    let columns = args.value.as_deref().map(|value| [&args.key[..], value]);
    let wanted = source::Wanted { delimiter, header: !args.no_header, columns };
    let text = timed(&mut times.read, || source::read(&args.file, wanted, &progress))?;
    let table = Table::new(&text, delimiter, !args.no_header)?;
    let key = table.column("--key", &args.key)?;
    let value = args.value.as_deref().map(|name| table.column("--value", name)).transpose()?;
    if args.format == Format::Json && value.is_none() {
        // An object can't tell two columns of one name apart.
        table.columns().try_for_each(|name| table.column("--format json", name).map(drop))?;
    }
    let reading = Reading { column: key, rule: Rule::new(args.key_type), skip_bad: args.skip_bad };
    let Column { keys, starts, rule, skipped } =
        timed(&mut times.parse, || column::read::<B>(&table, reading, &progress))?;
    let question = asked.over::<B>(rule);
    progress.phase("building", 0);
    let (postings, index_bytes) = timed(&mut times.build, || load(&mut index, &keys))?;
    drop(keys);
    let answer = timed(&mut times.query, || question.answer(&index, &postings))?;
    progress.phase("printing", 0);
    // On a terminal the answer itself is the progress, and a line between its rows would spoil it.
    let progress = Some(progress).filter(|_| !io::stdout().is_terminal());

    let summary = Summary {
        found: answer.found(),
        missing: asked.missing(&answer),
        rows: starts.len(),
        skipped,
        keys: index.len(),
        key_type: rule.key_type,
        index_bytes,
        postings_bytes: postings.memory_bytes(),
        times,
    };
    Shown { table: &table, starts: &starts, key, value, key_type: rule.key_type }.print(args, &answer)?;
    drop(progress);
    if args.format == Format::Table
        && let Some(note) = asked.note(&table.called(key), &answer)
    {
        say::note(note);
    }
    summary.report(args.format);
    Ok(())
}

/// Fills the index with the distinct keys, and says which rows each of them has and how
/// many bytes the index takes.
fn load<B>(index: &mut Index<B, u32>, keys: &[B]) -> latchless::Result<(Postings, usize)>
where
    B: Bits + Key<Bits = B>,
    u32: Fits<B>,
{
    let (entries, postings) = Postings::group(keys);
    index.bulk_load(&entries, FillFactor::FULL)?;
    Ok((postings, index.memory_bytes()))
}

/// What `part` returns; the time that it took goes to `time`.
fn timed<T>(time: &mut Duration, part: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let made = part();
    *time = start.elapsed();
    made
}
