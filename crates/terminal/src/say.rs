//! Messages on standard error other than errors: statistics, notes, progress. Nothing under `--quiet`.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

static QUIET: OnceLock<()> = OnceLock::new();

/// From here on only errors and [`warn`] are printed.
pub fn be_quiet() {
    QUIET.get_or_init(|| ());
}

/// Whether nothing but errors is wanted.
pub fn is_quiet() -> bool {
    QUIET.get().is_some()
}

/// Prints a line, unless the user chose `--quiet`.
pub fn note(line: impl Display) {
    if !is_quiet() {
        warn(line);
    }
}

/// Prints a line even with `--quiet`: without it the answer would be misunderstood.
pub fn warn(line: impl Display) {
    // If standard error is closed, the exit code still reports the outcome.
    let _ = writeln!(std::io::stderr(), "{line}");
}
