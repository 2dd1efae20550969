//! `latchless join`: the rows of two files that belong together, by keys or by intervals.
//!
//! In reading order: [`args`] (the command line), [`right`] (the types of RIGHT's columns), [`mod@matcher`]
//! (what each way to join does), [`probe`], [`distance`] and [`keyed`] (equal and nearest keys), [`ends`],
//! [`spans`] and [`overlaps`] (intervals), and [`joined`] (rows on standard output, and the statistics). LEFT
//! is read in pieces ([`crate::rows::stream`]): the keys of all rows of a piece are looked up in one batch.

mod args;
mod distance;
mod ends;
mod joined;
mod keyed;
mod matcher;
mod overlaps;
mod probe;
mod right;
mod spans;

pub use args::Args;

use crate::rows::error::QueryError;
use crate::rows::how::How;
use crate::rows::progress::Progress;
use crate::rows::report::timed;
use crate::rows::source::{self, Content, Text};
use crate::rows::stream::Stream;
use crate::rows::table::Table;
use args::Side;
use joined::{Joined, Summary};
use keyed::Keyed;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use matcher::Matcher;
use overlaps::Overlaps;
use std::io::ErrorKind;
use std::path::Path;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if [&args.left, &args.right].iter().all(|file| *file == Path::new("-")) {
        return Err(QueryError::BothFromInput.into());
    }
    let [left_named, right_named] = Side::of(args.no_header).map(|is_without| !is_without);
    let how = args.read.how(2)?;
    let how =
        |side: usize, is_named| How { is_named, says_guesses: args.format == Format::Table, ..how[side] };
    let progress = Progress::start();
    let mut summary = Summary::default();
    // LEFT's first piece shows mistakes in the arguments before a large RIGHT is read.
    let mut left = Stream::open(&args.left, how(0, left_named), &progress)?;
    let content = timed(&mut summary.read, || source::read(&args.right, how(1, right_named), &progress))?;
    let Content::Text(text) = content else {
        return Err(QueryError::IsIndex { file: source::name(&args.right) }.into());
    };
    let right = Table::of(&text.text, text.about.dialect, true)
        .map_err(|error: QueryError| error.in_file(source::name(&args.right)))?;
    let header = left.header();
    let matcher = timed(&mut summary.build, || matcher(args, &header, &right, &text, &progress));
    let matcher = matcher.map_err(|error| text.lines.locate(error))?;
    let mut of_right = text.ragged;
    of_right.add(right.ragged());
    summary.ragged[1] = of_right.in_lines(|line| text.lines.place(line).0);
    let names = joined::names(args, &header, &right)?;
    // On a terminal the rows themselves are the progress.
    drop(progress);
    let mut joined = Joined::new(args, &names, &header, &right, matcher, summary);
    match rows(&mut left, &mut joined).and_then(|()| joined.finish(&left)) {
        // A reader that has seen enough.
        Err(QueryError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// The join that the arguments say.
fn matcher<'t>(
    args: &Args,
    left: &Table,
    right: &'t Table,
    text: &Text,
    progress: &Progress,
) -> Result<Box<dyn Matcher + 't>, QueryError> {
    Ok(if args.overlap.is_some() {
        Box::new(Overlaps::new(args, left, right, text, progress)?)
    } else {
        Box::new(Keyed::new(args, left, right, text, progress)?)
    })
}

/// Joins all rows of LEFT.
fn rows(left: &mut Stream, joined: &mut Joined) -> Result<(), QueryError> {
    while let Some(piece) = left.piece() {
        let rest = joined.piece(&piece).map_err(|error| left.locate(error))?;
        left.consumed(rest)?;
    }
    Ok(())
}
