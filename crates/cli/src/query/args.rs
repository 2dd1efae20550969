//! What `latchless query` is asked on the command line, and the help that teaches it.

use super::error::QueryError;
use super::kind::Named;
use super::options::Options;
use super::table;
use clap::{ArgGroup, ValueHint};
use latchless_terminal::count;
use latchless_terminal::output::Format;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples, on the sample file (10,376 variants of human chromosome 22, by position):

    FILE=examples/data/chr22_variants.csv

  Every variant at a position; two share this one:
    latchless query $FILE --key pos --get 50338589
  The names of the first five variants of a stretch, and of its last five:
    latchless query $FILE --key pos --value id --between 50400000 50500000 --limit 5
    latchless query $FILE --key pos --value id --between 50400000 50500000 --limit 5 --reverse
  How many variants lie in a stretch:
    latchless query $FILE --key pos --count 50400000 50500000
  The nearest variants before and after a position:
    latchless query $FILE --key pos --floor 50400000
    latchless query $FILE --key pos --ceil 50400000
  A variant by its name, and all whose names begin alike:
    latchless query $FILE --key id --get rs7410291
    latchless query $FILE --key id --prefix rs7410 --limit 5
  Two columns: the variants that replace the same bases, in the order of their positions:
    latchless query $FILE --key ref,pos --get TC
    latchless query $FILE --key ref,pos --between TC,50400000 TC,50900000
  Through a pipe, as JSON:
    zcat rows.csv.gz | latchless query - --key id --get 7 --format json
  The index in a file of its own, and a question that reads that instead of building it anew:
    latchless query $FILE --key pos --count 50400000 50500000 --save pos.arrow
    latchless query pos.arrow --floor 50400000
  The second column of a file without a header, cells such as NA passed over:
    latchless query rows.csv --no-header --key 2 --skip-bad --between -2.5 1e3

Numbers:
  Numbers compare as numbers, whatever type the keys are of: --between -5 9.5, --get 5.0 and --floor 1e30 have an answer on unsigned integers, too. Among floats a number is rounded as the column's are, so each row is found by its own text; -0 equals 0, and NaN comes after infinity, where only --get NaN finds it. A number that no key type holds, such as 1e400, is refused in the file.

Texts:
  A column with a cell that is no number is one of texts if the question gives something that is no number, too, as --get rs7410291 and --prefix do. If it gives numbers alone, such a cell is refused by its line, so that no NA among numbers goes unseen: --skip-bad leaves it out, --key-type text asks about texts nevertheless. A column of numbers stays one. Texts are compared as they are, blanks and capitals included, by their characters' numbers in Unicode: \"10\" comes before \"9\", \"Z\" before \"a\", and the empty text before all others.

Several columns:
  --key A,B has the rows in the order of A, and those of the same A in the order of B. A key is given as a line of CSV: --get 22,50300078, or '\"Smith, John\",7' where a part has a comma in it; if its first part is below zero, as --get=-5,a. A key that lacks its last parts is all those that begin with the others: --get 22 has all rows of 22, --between 22 22 --limit 5 the first of them, and --between 21 22,5 those from the first of 21 up to 22,5. --prefix has all parts but its last one whole.

Output:
  Answers go to standard output. Standard error says what was missing, how many rows and keys there are, how long it took to read the file, to parse it, to build the index and to query it, and how many bytes a key takes in the index: as text with --format table, as a JSON object with json, as a header and a line with csv; --quiet turns that off. On a terminal a table keeps to its width (or to COLUMNS): long cells are cut, and columns left out, for which an ellipsis stands. Elsewhere it is whole. Control characters are shown as pictures, in a table only. Rows with equal keys are all kept and stand in the order of the file, also under --reverse.

Exit codes:
  0  The question was answered. That no such key is there, or no row at all, is an answer, too: standard output is then empty (--count prints 0), and standard error says what was missing.
  1  Something failed while running, such as refused memory or a standard output that is closed or full.
  2  The file or the arguments are at fault.";

/// Answer questions about a file's rows through an index over one or several of its columns.
///
/// Reads FILE, builds an ordered index from the numbers or texts in the column named by --key, and answers
/// one QUESTION: --get, --between, --prefix, --count, --floor or --ceil. The file need not be sorted.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = EXAMPLES,
    after_help = "Examples and exit codes: latchless query --help",
    override_usage = "latchless query FILE --key COLUMN QUESTION [OPTIONS]",
    group = ArgGroup::new("question").required(true)
        .args(["get", "between", "prefix", "count", "floor", "ceil"])
)]
pub struct Args {
    /// The file: CSV in UTF-8, its first line naming the columns, or, in a build with the feature
    /// `parquet`, Parquet. `-` is standard input.
    ///
    /// Or an index that --save saved: then the file that it is over is only read where the answer has rows.
    ///
    /// Of a Parquet file, times and dates are read as the integers that they are stored as; in a
    /// message, its first row is line 2.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// The column that is indexed, of numbers or of texts; or several of them, as A,B. Its name, in capitals
    /// or not, or its number from 1. A name with a comma in it is quoted: '"a,b"'.
    ///
    /// An index that --save saved has its own; one that another program saved has the columns `key`, which
    /// is asked about without this option, and `value`.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,

    /// Print this column beside the key instead of the whole row.
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,

    /// Print every row whose key is one of these. One that begins with a hyphen: `--get=-inf`.
    #[arg(
        long,
        value_name = "K",
        num_args = 1..,
        allow_negative_numbers = true,
        help_heading = "QUESTION, one of"
    )]
    pub get: Option<Vec<String>>,

    /// Print every row whose key lies between these two, both included, in the order of the keys.
    #[arg(
        long,
        value_names = ["LO", "HI"],
        num_args = 2,
        allow_hyphen_values = true,
        help_heading = "QUESTION, one of"
    )]
    pub between: Option<Vec<String>>,

    /// Print every row whose key is a text that begins with this one, in the order of the keys.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "QUESTION, one of")]
    pub prefix: Option<String>,

    /// Print how many rows have a key between these two, both included.
    #[arg(
        long,
        value_names = ["LO", "HI"],
        num_args = 2,
        allow_hyphen_values = true,
        help_heading = "QUESTION, one of"
    )]
    pub count: Option<Vec<String>>,

    /// Print the rows with the largest key that is K or smaller.
    #[arg(long, value_name = "K", allow_hyphen_values = true, help_heading = "QUESTION, one of")]
    pub floor: Option<String>,

    /// Print the rows with the smallest key that is K or larger.
    #[arg(long, value_name = "K", allow_hyphen_values = true, help_heading = "QUESTION, one of")]
    pub ceil: Option<String>,

    /// With --between or --prefix: print at most this many rows.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub limit: Option<usize>,

    /// With --between or --prefix: from the largest key downwards.
    #[arg(long)]
    pub reverse: bool,

    /// What the keys are; of several columns one type for all, or one for each, as u32,text. Without it:
    /// u64 if every key is an unsigned integer, else i64 if every key is an integer, else f64, unless that
    /// would round an integer; text if a key is no number and the question isn't about numbers.
    ///
    /// Floats are in the order of their numbers, NaN after infinity.
    #[arg(long, value_name = "TYPE", value_enum, value_delimiter = ',')]
    pub key_type: Vec<Named>,

    /// Leave out rows whose key is empty or no number where it should be one, and say how many they were.
    /// A number that doesn't fit the type is refused all the same.
    #[arg(long)]
    pub skip_bad: bool,

    /// The first line is a row; columns are called 1, 2, 3 …
    #[arg(long)]
    pub no_header: bool,

    /// What separates the fields: one ASCII character, or `tab`.
    #[arg(long, value_name = "CHARACTER", default_value = ",", allow_hyphen_values = true)]
    pub delimiter: String,

    /// Save the index over a column of numbers in this file, so that the next question reads it instead of
    /// FILE: `latchless query PATH QUESTION`. FILE has to stay as it is; it may be touched, copied, or moved
    /// together with PATH.
    ///
    /// The index is an Arrow file, as pyarrow or polars open it: the keys in order, and the byte of FILE at
    /// which each one's row starts. What is at PATH is replaced in one step.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,

    /// How answers are printed. In JSON a key that is one is a number, every other cell a string.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// How the index is built.
    #[command(flatten)]
    pub options: Options,
}

impl Args {
    /// The columns of the key, as they were named; none if they weren't.
    pub fn key_columns(&self) -> Vec<String> {
        self.key.as_deref().map_or(Vec::new(), table::fields)
    }

    /// What each of this many columns was said to be.
    ///
    /// # Errors
    /// [`QueryError::KeyTypes`].
    pub fn named_kinds(&self, columns: usize) -> Result<Vec<Option<Named>>, QueryError> {
        match self.key_type[..] {
            [] => Ok(vec![None; columns]),
            [all] => Ok(vec![Some(all); columns]),
            ref each if each.len() == columns => Ok(each.iter().copied().map(Some).collect()),
            ref each => Err(QueryError::KeyTypes { found: each.len(), columns }),
        }
    }

    /// The byte that separates fields.
    ///
    /// # Errors
    /// [`QueryError::Delimiter`] for anything that can't separate fields.
    pub fn delimiter_byte(&self) -> Result<u8, QueryError> {
        match self.delimiter.as_bytes() {
            b"tab" | b"\\t" => Ok(b'\t'),
            &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Ok(byte),
            _ => Err(QueryError::Delimiter { given: self.delimiter.clone() }),
        }
    }
}
