//! Lines of a terminal: with editing, completion and history, or plain ones in a build without these.

use super::complete::Words;
use latchless_terminal::failure::Failure;

/// What precedes a line.
const PROMPT: &str = "latchless> ";

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    /// A line.
    Line(String),
    /// A line that was given up, as by Ctrl-C.
    #[cfg_attr(not(feature = "line-editing"), expect(dead_code, reason = "Ctrl-C ends the program"))]
    Dropped,
    /// The end, as by Ctrl-D.
    End,
}

#[cfg(feature = "line-editing")]
pub use edited::Prompt;
#[cfg(not(feature = "line-editing"))]
pub use plain::Prompt;

#[cfg(feature = "line-editing")]
mod edited {
    use super::super::history::History;
    use super::{Failure, PROMPT, Read, Words};
    use latchless_terminal::say;
    use rustyline::completion::Completer;
    use rustyline::error::ReadlineError;
    use rustyline::highlight::Highlighter;
    use rustyline::hint::Hinter;
    use rustyline::history::MemHistory;
    use rustyline::validate::Validator;
    use rustyline::{CompletionType, Config, Context, Editor, Helper};

    /// A prompt.
    pub struct Prompt {
        editor: Editor<Words, MemHistory>,
        history: History,
    }

    impl Prompt {
        /// A prompt that completes lines by these words, and goes on with the user's history.
        ///
        /// # Errors
        /// The terminal can't be used.
        pub fn new(words: Words) -> Result<Self, Failure> {
            let config = Config::builder().completion_type(CompletionType::List).build();
            let mut editor = Editor::with_history(config, MemHistory::new()).map_err(Failure::run)?;
            editor.set_helper(Some(words));
            let history = History::of_user();
            match history.lines() {
                Ok(lines) => {
                    for line in lines {
                        editor.add_history_entry(line).map_err(Failure::run)?;
                    }
                }
                Err(error) => say::note(format_args!("the history of lines can't be read: {error}")),
            }
            Ok(Self { editor, history })
        }

        /// The next line.
        ///
        /// # Errors
        /// The terminal can't be read.
        pub fn read(&mut self) -> Result<Read, Failure> {
            let line = match self.editor.readline(PROMPT) {
                Ok(line) => line,
                Err(ReadlineError::Eof) => return Ok(Read::End),
                Err(ReadlineError::Interrupted) => return Ok(Read::Dropped),
                Err(error) => return Err(Failure::run(error)),
            };
            // Neither an empty line nor one that was there just now is kept.
            if self.editor.add_history_entry(line.as_str()).map_err(Failure::run)?
                && let Err(error) = self.history.append(&line)
            {
                say::note(format_args!("the history of lines can't be kept: {error}"));
            }
            Ok(Read::Line(line))
        }
    }

    impl Completer for Words {
        type Candidate = String;

        fn complete(
            &self,
            line: &str,
            place: usize,
            _: &Context<'_>,
        ) -> rustyline::Result<(usize, Vec<String>)> {
            Ok(self.complete(line, place))
        }
    }

    impl Hinter for Words {
        type Hint = String;
    }

    impl Highlighter for Words {}
    impl Validator for Words {}
    impl Helper for Words {}
}

#[cfg(not(feature = "line-editing"))]
mod plain {
    use super::{Failure, PROMPT, Read, Words};
    use std::io::{self, Write};

    /// A prompt.
    pub struct Prompt;

    impl Prompt {
        /// A prompt for plain lines, which nothing completes.
        ///
        /// # Errors
        /// None.
        pub fn new(_: Words) -> Result<Self, Failure> {
            Ok(Self)
        }

        /// The next line.
        ///
        /// # Errors
        /// The terminal can't be read.
        pub fn read(&mut self) -> Result<Read, Failure> {
            let mut out = io::stdout().lock();
            out.write_all(PROMPT.as_bytes())?;
            out.flush()?;
            let mut line = String::new();
            if io::stdin().read_line(&mut line)? == 0 { Ok(Read::End) } else { Ok(Read::Line(line)) }
        }
    }
}
