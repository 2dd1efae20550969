//! `latchless shell`: one question after the other about rows that are read once.
//!
//! In reading order: [`args`] (the command line), [`command`] (what a line says), [`session`] (the rows, and
//! the answers), [`complete`] (what a line may go on with), [`prompt`] (lines of a terminal) and [`history`].

mod args;
mod command;
#[cfg_attr(
    not(any(feature = "line-editing", test)),
    expect(dead_code, reason = "plain lines aren't completed")
)]
mod complete;
#[cfg(feature = "line-editing")]
mod history;
mod prompt;
mod session;

pub use args::Args;

use crate::query;
use crate::rows::error::QueryError;
use crate::rows::progress::Progress;
use crate::rows::source::{self, Content};
use complete::Words;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use prompt::{Prompt, Read};
use session::{Next, Session};
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.from.files.iter().any(|file| file == Path::new("-")) {
        return Err(QueryError::LinesFromInput { option: "FILE" }.into());
    }
    let progress = Progress::start();
    let hows = args.from.how(args.format == Format::Table)?;
    let content = query::read(&args.from.files, &hows, &progress)?;
    drop(progress);
    let Content::Text(text) = content else {
        return Err(QueryError::IsIndex { file: source::name(args.from.first()) }.into());
    };
    let mut session = Session::new(&text, args)?;
    if io::stdin().is_terminal() {
        at_terminal(&mut session)
    } else {
        from_lines(&mut session, io::stdin().lock())
    }
}

/// Answers the lines of a terminal, until they end.
fn at_terminal(session: &mut Session) -> Result<(), Failure> {
    say::note("\\help lists the commands, --help the options of questions");
    let mut prompt = Prompt::new(Words::new(session.columns()))?;
    loop {
        match prompt.read()? {
            Read::Line(line) => match session.line(&line) {
                Ok(Next::Line) => {}
                Ok(Next::End) => return Ok(()),
                Err(mut failure) => failure.say(),
            },
            Read::Dropped => {}
            Read::End => return Ok(()),
        }
    }
}

/// Answers lines that aren't typed. Returns the first failure, which was said already.
fn from_lines(session: &mut Session, lines: impl BufRead) -> Result<(), Failure> {
    let mut first = Ok(());
    for (number, line) in (1..).zip(lines.lines()) {
        let file = || source::name(Path::new("-"));
        let line = line.map_err(|cause| QueryError::Unreadable { file: file(), cause })?;
        match session.line(&line) {
            Ok(Next::Line) => {}
            Ok(Next::End) => break,
            Err(failure) => {
                let mut failure = failure.at(format_args!("line {number} of {}", file()));
                failure.say();
                first = first.and(Err(failure));
            }
        }
    }
    first
}
