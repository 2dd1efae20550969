//! `latchless query`: a file's rows through an ordered index over one or several of its columns.
//!
//! In reading order: [`args`] (the command line), [`crate::rows`] (the file's rows, their keys and an index
//! over these), [`saved`] (an index in a file, instead of that) and [`origin`] (the file with that index's
//! rows). [`crate::rows::given`], [`asked`] and [`question`] turn the question's keys into places among the
//! column's keys, and the index answers. [`run`] is one question on its way, [`memory`] has the rows and the
//! indexes that questions share. [`show`] and [`summary`] print the answer and the statistics.

pub mod args;
mod asked;
pub mod memory;
mod origin;
mod question;
pub mod run;
mod saved;
mod saving;
mod show;
mod summary;

pub use args::Args;

use crate::rows::error::QueryError;
use crate::rows::gathered;
use crate::rows::how::How;
use crate::rows::kind::Part;
use crate::rows::progress::Progress;
use crate::rows::report::timed;
use crate::rows::source::{self, Content, Text};
use crate::rows::table::Table;
use asked::Asked;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use memory::Memory;
use run::{Loaded, Run};
use saved::Saved;
use saving::Saving;
use show::Shown;
use std::path::{Path, PathBuf};

/// Why an index can't be saved.
const ONLY_CSV: &str = "its rows can't be found again; only those of a plain CSV file can";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Args { from, ask } = args;
    // Errors in the arguments alone are reported before a large file is read.
    let keys = ask.get_from.as_deref().map(|file| keys_from(file, &from.files)).transpose()?;
    let mut run = Run::new(ask, keys.as_deref())?;
    let columns = match (&run.names[..], &ask.value) {
        ([key], Some(value)) if run.conditions.is_empty() => Some([key.clone(), value.clone()]),
        _ => None,
    };
    let columns = columns.as_ref().map(|[key, value]| [&key[..], &value[..]]);
    let mut hows: Vec<How> = from.how(ask.format == Format::Table)?;
    let no_key = || QueryError::NoKey { file: source::name(from.first()) };
    if ask.key.is_none() && from.first().is_file() && !source::is_arrow(from.first()) {
        return Err(no_key().into());
    }
    let saving = Saving::new(args)?;
    if let [file] = &from.files[..]
        && source::is_arrow(file)
        && let Some(saved) = timed(&mut run.times.read, || Saved::map(args))?
    {
        return over_saved(run, args, || Ok(saved));
    }
    let content = timed(&mut run.times.read, || {
        if let [how] = &mut hows[..] {
            *how = How { columns, ..*how };
        }
        read(&from.files, &hows, &run.progress)
    })?;
    let text = match content {
        Content::Arrow(bytes) => return over_saved(run, args, || Saved::new(bytes, args)),
        Content::Text(_) if ask.key.is_none() => return Err(no_key().into()),
        Content::Text(text) => text,
    };
    if saving.is_some() {
        can_be_found(&text)
            .map_err(|why| QueryError::CannotSave { file: source::name(from.first()), why })?;
    }
    Memory::new(&text)?.answer(run, saving)
}

/// The contents of files, of which several are one text.
///
/// # Errors
/// Those of [`source::read`] and of [`gathered::gather`].
pub fn read(files: &[PathBuf], hows: &[How], progress: &Progress) -> Result<Content, QueryError> {
    match (files, hows) {
        ([file], [how]) => source::read(file, *how, progress),
        _ => gathered::gather(files, hows, progress).map(Content::Text),
    }
}

/// Checks that rows can be found again by the places that they begin at.
fn can_be_found(text: &Text) -> Result<(), &'static str> {
    if !text.about.is_own || !text.about.dialect.has_quotes() {
        return Err(ONLY_CSV);
    }
    if text.about.dialect.is_ragged { Err("--ragged takes rows that a saved index refuses") } else { Ok(()) }
}

/// The keys of --get-from, one a line. `files`: those of rows.
///
/// # Errors
/// [`QueryError::BothFromInput`], and those of [`source::read`].
pub fn keys_from(from: &Path, files: &[PathBuf]) -> Result<String, QueryError> {
    if from == Path::new("-") && files.iter().any(|file| file == from) {
        return Err(QueryError::BothFromInput);
    }
    match source::read(from, How::default(), &Progress::start()) {
        Ok(Content::Text(text)) => Ok(text.text),
        Ok(Content::Arrow(_)) => Err(QueryError::IsIndex { file: source::name(from) }),
        Err(QueryError::Empty { .. }) => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// Answers from a saved index, and the rows of the answer from where they are.
fn over_saved(
    mut run: Run,
    args: &Args,
    read: impl FnOnce() -> Result<Saved, QueryError>,
) -> Result<(), Failure> {
    let file = args.from.first();
    if run.ask.save.is_some() {
        let why = "it is a saved index already; copy it";
        return Err(QueryError::CannotSave { file: source::name(file), why }.into());
    }
    let saved = timed(&mut run.times.parse, read)?;
    if !run.conditions.is_empty() {
        let why = format!("{} is an index; ask the file that it was saved from", source::name(file));
        return Err(QueryError::WhereNeedsRows { why }.into());
    }
    let header = Table::new(saved.header(), saved.delimiter(), saved.is_named)?;
    let parts = &saved.parts[..];
    let asked: Result<Vec<usize>, _> = run.names.iter().map(|name| header.column("--key", name)).collect();
    let asked = asked?;
    if !asked.is_empty() && !asked.iter().eq(parts.iter().map(|part| &part.column)) {
        let called: Vec<String> = parts.iter().map(|part| header.called(part.column)).collect();
        return Err(saved.other_key(called.join(",")).into());
    }
    // Only now it is known how many parts a key has.
    run.asked = Asked::new(run.ask, run.keys, parts.len())?;
    let columns: Vec<usize> = parts.iter().map(|part: &Part| part.column).collect();
    let columns = run.shown(&header, &columns)?;
    run.check(&header, parts)?;
    let loaded = match saved.mapped() {
        Some(mapped) => Loaded::of(Box::new(mapped.clone()), Box::new(mapped.clone()), mapped.rows().len()),
        None => run.load(&saved.keys, 0)?,
    };
    let answer = run.answer(parts, &loaded)?;

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
    run.tell(&shown, &among_them, &answer, &loaded)
}
