//! The command line of `latchless shell`, and its help.

use crate::query::args::Files;
use latchless_terminal::output::Format;

const EXAMPLES: &str = r"Examples, on the sample file (10,376 variants of human chromosome 22, by position):

    FILE=examples/data/chr22_variants.csv

  Questions at a prompt, with the columns' names completed by the tabulator key:
    latchless shell $FILE --key pos
  One question after the other from a pipe, as a program asks them:
    printf '%s\n' '--count 50300000 50400000' '--floor 50400000' | latchless shell $FILE --key pos --format csv
  Questions about two columns, each of which gets an index of its own, once:
    printf '%s\n' '\key id' '--get rs7410291' '\key pos' '--get 50338589' | latchless shell $FILE
  How long each question took:
    printf '%s\n' '\timing' '--nth 1' '--nth 2' | latchless shell $FILE --key pos
  The columns of files that are compressed, and a question to all of them:
    printf '%s\n' '\columns' '--key id --count 1 9' | latchless shell rows.csv.gz rows.csv --ragged

Lines:
  A line is a question with its options, as they follow FILE in `latchless query`: --get 7, --key ref,pos --between TC,1 TC,9 --where 'alt = A'. Words are separated by blanks; what has blanks in it is in quotes, single or double. Empty lines, and what follows a # at the beginning of a word, are left out.
  \key COLUMN     questions without --key are about this column from now on; \key alone says which it is
  \columns        the columns
  \timing [on|off]  whether the statistics of each answer are printed, with the times that its steps took
  \help           these commands; --help the options of questions
  \quit           the end, as is the end of the input
  The files are read once, before the first line, and an index over a column is built for the first question that needs it. Indexes stay in memory until the end. --save isn't possible here.

Input:
  At a terminal, lines are edited and kept for the next time in latchless/history, in the user's folder for data (XDG_DATA_HOME, or ~/.local/share). A build without the feature `line-editing` reads plain lines.
  From a file or a pipe, lines are read without a prompt. A question that is refused is reported with the number of its line, and the next one is answered.

Exit codes:
  0  All questions were answered.
  1  Something failed while running, such as refused memory or a standard output that is closed or full.
  2  The file or the arguments are at fault.
  From a file or a pipe, the code is that of the first line that wasn't answered; at a terminal it is 0.";

/// Answer questions about a file's rows one after the other, over indexes that are built once.
///
/// Reads FILE into memory, and then lines: each is a question as `latchless query` takes it, or a command
/// that begins with a backslash, such as \help.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = EXAMPLES,
    after_help = "Examples and exit codes: latchless shell --help",
    override_usage = "latchless shell FILE... [--key COLUMN] [OPTIONS]"
)]
pub struct Args {
    /// The files.
    #[command(flatten)]
    pub from: Files,

    /// The column that questions without --key are about, until \key names another.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,

    /// How the answers to questions without --format are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
