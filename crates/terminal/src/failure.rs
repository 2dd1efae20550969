//! Error messages on the command line, and exit codes.

use std::process::ExitCode;

/// The reason why a command failed. Exit codes: 1 for a failure while running, 2 for a request that can't
/// be served as it is (as `clap` uses for arguments), 3 for a wrong answer.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
    /// Whether standard error has it already.
    was_said: bool,
}

impl Failure {
    fn new(code: u8, message: impl std::fmt::Display) -> Self {
        Self { code, message: message.to_string(), was_said: false }
    }

    /// The request is at fault: a missing file, an unknown name, a number that can't be read.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(2, message)
    }

    /// Something failed while running.
    pub fn run(message: impl std::fmt::Display) -> Self {
        Self::new(1, message)
    }

    /// An index answered wrongly: a bug, never the caller's fault.
    pub fn wrong(message: impl std::fmt::Display) -> Self {
        Self::new(3, message)
    }

    /// Says where it was, in front of its message.
    #[must_use]
    pub fn at(self, place: impl std::fmt::Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// Prints the message to standard error, once.
    pub fn say(&mut self) {
        if !self.was_said {
            crate::say::warn(format_args!("error: {}", self.message));
            self.was_said = true;
        }
    }

    /// Prints the message to standard error, if it isn't there already, and gives the exit code.
    pub fn report(mut self) -> ExitCode {
        self.say();
        ExitCode::from(self.code)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl From<latchless_core::Error> for Failure {
    fn from(error: latchless_core::Error) -> Self {
        Self::run(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::run(error)
    }
}
