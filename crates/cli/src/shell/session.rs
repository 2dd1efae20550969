//! A session of the shell: the rows in memory, what was said once for all questions, and the answers.

use super::args::Args;
use super::command::{COMMANDS, Line};
use crate::query;
use crate::query::args::Ask;
use crate::query::memory::Memory;
use crate::query::run::Run;
use crate::rows::error::QueryError;
use crate::rows::line;
use crate::rows::source::Text;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args as _, Command, FromArgMatches};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::{Format, Rows, print};
use serde_json::json;
use std::path::{Path, PathBuf};

/// What follows a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another one.
    Line,
    /// The end.
    End,
}

/// The rows, and what was said for all questions.
pub struct Session<'t> {
    memory: Memory<'t>,
    files: &'t [PathBuf],
    key: Option<String>,
    format: Format,
    has_timing: bool,
    parser: Command,
}

impl<'t> Session<'t> {
    /// A session about a text's rows.
    ///
    /// # Errors
    /// Those of [`Memory::new`]; [`QueryError::MissingColumn`] and [`QueryError::AmbiguousColumn`] of the
    /// key.
    pub fn new(text: &'t Text, args: &'t Args) -> Result<Self, QueryError> {
        let parser = Ask::augment_args(Command::new("question"))
            .no_binary_name(true)
            .override_usage("[--key COLUMN] QUESTION [OPTIONS]");
        let mut session = Self {
            memory: Memory::new(text)?,
            files: &args.from.files,
            key: None,
            format: args.format,
            has_timing: false,
            parser,
        };
        args.key.iter().try_for_each(|key| session.choose(key.clone()))?;
        Ok(session)
    }

    /// The names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.memory.table().columns().map(str::to_owned).collect()
    }

    /// Does what a line says.
    ///
    /// # Errors
    /// Those of [`Line::parse`], and of the question.
    pub fn line(&mut self, line: &str) -> Result<Next, Failure> {
        match Line::parse(line)? {
            Line::Nothing => {}
            Line::Quit => return Ok(Next::End),
            Line::Help => {
                COMMANDS.iter().try_for_each(|(_, usage)| print(format!("{usage}\n")))?;
                print("Anything else is a question, such as --get 7 or --key NAME --prefix a\n")?;
            }
            Line::Timing(to) => self.has_timing = to.unwrap_or(!self.has_timing),
            Line::Columns => {
                let mut rows = Rows::new(["number", "column"]);
                for (number, name) in (1..).zip(self.memory.table().columns()) {
                    rows.push(vec![json!(number), json!(name)]);
                }
                rows.print(self.format)?;
            }
            Line::Key(Some(key)) => self.choose(key)?,
            Line::Key(None) => {
                print(format!("{}\n", self.key.as_deref().unwrap_or("no key yet: \\key COLUMN")))?
            }
            Line::Question(words) => self.question(words)?,
        }
        Ok(Next::Line)
    }

    /// Questions without --key are about these columns from now on.
    fn choose(&mut self, key: String) -> Result<(), QueryError> {
        for name in line::fields(&key) {
            self.memory.table().column("\\key", &name)?;
        }
        self.key = Some(key);
        Ok(())
    }

    /// Answers a question.
    fn question(&mut self, words: Vec<String>) -> Result<(), Failure> {
        let parsed = self.parser.try_get_matches_from_mut(words);
        let parsed = parsed.and_then(|matches| Ok((Ask::from_arg_matches(&matches)?, matches)));
        let (mut ask, matches) = match parsed {
            Ok(parsed) => parsed,
            Err(error) if error.kind() == ErrorKind::DisplayHelp => {
                return print(error.render().to_string());
            }
            Err(error) => return Err(refused(&error)),
        };
        if matches.value_source("format") == Some(ValueSource::DefaultValue) {
            ask.format = self.format;
        }
        ask.key = ask.key.or_else(|| self.key.clone());
        if ask.key.is_none() {
            return Err(QueryError::NoKeyYet.into());
        }
        if ask.save.is_some() {
            return Err(QueryError::OnlyWith { option: "--save", with: "latchless query" }.into());
        }
        if ask.get_from.as_deref() == Some(Path::new("-")) {
            return Err(QueryError::LinesFromInput { option: "--get-from" }.into());
        }
        let keys = ask.get_from.as_deref().map(|from| query::keys_from(from, self.files)).transpose()?;
        let mut run = Run::new(&ask, keys.as_deref())?;
        run.has_summary = self.has_timing;
        self.memory.answer(run, None)
    }
}

/// The error of a line whose words aren't as they should be, without the usage of a program.
fn refused(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let (what, _) = text.split_once("\n\nUsage:").unwrap_or((&text, ""));
    Failure::usage(what.trim_start_matches("error: ").trim_end())
}
