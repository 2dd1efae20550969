//! What races in rounds have in common on the command line: how many rounds there are, and how the table of
//! the medians is printed.

use latchless_measure::built::Commit;
use latchless_measure::{host::Host, machine};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::say;

/// See the module documentation.
#[derive(Debug, clap::Args)]
pub struct Rounds {
    /// Rounds, of which the median is printed
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: u16,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Prints the table in Markdown
    #[arg(long, conflicts_with = "format")]
    pub markdown: bool,
}

impl Rounds {
    /// Says on which commit and machine the rounds run.
    pub fn introduce() {
        say::note(format_args!("{}, {}", Commit::here().name, machine::short(&Host::here())));
    }

    /// Prints a table.
    ///
    /// # Errors
    /// When standard output can't be written to.
    pub fn print(&self, rows: &Rows) -> Result<(), Failure> {
        if self.markdown {
            print!("{}", rows.to_markdown());
            return Ok(());
        }
        rows.print(self.format)
    }
}
