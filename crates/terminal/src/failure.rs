//! Error messages on the command line, and exit codes.

use std::process::ExitCode;

/// The reason why a command failed. Exit codes: 1 for a failure while running, 2 for a request that can't
/// be served as it is (as `clap` uses for arguments), 3 for a wrong answer.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The request is at fault: a missing file, an unknown name, a number that can't be read.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self { code: 2, message: message.to_string() }
    }

    /// Something failed while running.
    pub fn run(message: impl std::fmt::Display) -> Self {
        Self { code: 1, message: message.to_string() }
    }

    /// An index answered wrongly: a bug, never the caller's fault.
    pub fn wrong(message: impl std::fmt::Display) -> Self {
        Self { code: 3, message: message.to_string() }
    }

    /// Prints the message to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        crate::say::warn(format_args!("error: {}", self.message));
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
