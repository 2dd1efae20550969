//! The command line of `latchless query`, and its help.

use crate::rows::error::QueryError;
use crate::rows::how::{How, ReadOptions};
use crate::rows::key_types::KeyTypes;
use crate::rows::line;
use crate::rows::options::Options;
use clap::{ArgGroup, ValueHint};
use latchless_terminal::count;
use latchless_terminal::output::Format;
use std::path::{Path, PathBuf};

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
  Many keys in one batch, from a file or a pipe, and two columns of their rows:
    cut -d, -f1 examples/data/panel.csv | latchless query $FILE --key id --get-from - --select id,alt
  Only the rows that meet a condition:
    latchless query $FILE --key pos --between 50400000 50500000 --where 'ref = A and alt != G' --limit 5
  The place of a position among all, the row at a place, and the median:
    latchless query $FILE --key pos --rank 50400000
    latchless query $FILE --key pos --nth 2070
    latchless query $FILE --key pos --quantile 0.5
  How often each base was replaced, and the second five of all positions:
    latchless query $FILE --key ref,alt --count-by --where 'ref <= T and alt = A' --limit 5
    latchless query $FILE --key pos --distinct --offset 5 --limit 5
  Through a pipe, as JSON:
    zcat rows.csv.gz | latchless query - --key id --get 7 --format json
  Several files as one:
    latchless query orders.csv more_orders.csv --key sum --quantile 0.5
  The orders of a week by their dates, and those of a client that the first column names:
    latchless query orders.csv --key date --between 2024-03-04 2024-03-10
    latchless query orders.csv --key client,date --between Smith,2024-03-04 Smith,2024-03-10
  The index in a file of its own, and a question that reads that instead of building it anew:
    latchless query $FILE --key pos --count 50400000 50500000 --save pos.arrow
    latchless query pos.arrow --floor 50400000
  JSON lines, whose keys are the columns; text of another encoding; rows of odd lengths:
    latchless query events.jsonl --key id --get 7 8 --select id,code
    latchless query latin.csv --encoding windows-1252 --key town --prefix M
    latchless query ragged.csv --ragged --key id --between 7 8
  The second column of a file without a header, cells such as NA passed over:
    latchless query rows.csv --no-header --key 2 --skip-bad --between -2.5 1e3

Types:
  What a column is, all of its cells have to say, and the statistics name it; --key-type names it instead. Numbers are u64 if every one is an unsigned integer, else i64 if every one is an integer, else f64 if each has one of its own there, else decimal. Cells that are all dates, time stamps, times of day, IP addresses, versions or numbers with a decimal comma are that. Anything else is text.
  No question about numbers, dates and so on is answered about texts: if what it gives is one, a cell that is none is refused by its line, so that no NA goes unseen. --skip-bad leaves such rows out, --key-type text asks about texts nevertheless.

Numbers:
  Numbers compare as numbers, whatever type the keys are of: --between -5 9.5, --get 5.0 and --floor 1e30 have an answer on unsigned integers, too. No two numbers of a column are taken for one, unless --key-type f32 or f64 says that they are rounded; 1.50 equals 1.5, -0 equals 0, and NaN comes after infinity, where only --get NaN finds it. Digits with a zero in front, such as 01000, are no number but an id: a column with one of them is text.
  1,50 is a number with a decimal comma, and 1,234.50 one with its thousands separated. Where each cell can be either, as 1,500 can, --decimal-comma or --key-type decimal says which.

Dates and times:
  Dates are 2023-12-31, 12/31/2023, 31/12/2023, 31.12.2023 or 31 Dec 2023. In which order the column has them, its cells have to say: if all of them can be read month first and day first, --date-format has to. A question may always give 2023-12-31. Years have four digits.
  Time stamps are a date, a T or a blank, and a time to the nanosecond: 2023-12-31T23:59:59.5, 12/31/2023 11:59 PM. Those with a zone (Z, UTC, +02:00) are compared as instants, and so must the question's be; a column where some have a zone and some don't is none of time stamps. A date among time stamps without a zone is its whole day: --get 2023-12-31 has all of it, --between 2023-12-30 2023-12-31 both days.

IP addresses and versions:
  IP addresses are in the order of their numbers, those of version 4 before those of version 6. Versions are numbers with full stops, and perhaps a pre-release and a build: 1.9 comes before 1.10, 1.10.0-rc.2 before 1.10.0, and 1.2, v1.2.0 and 1.2.0+build.5 are equal. A column is one of versions if it has some with three numbers.

Texts:
  Texts are compared as they are, blanks and capitals included, by their characters' numbers in Unicode: \"10\" comes before \"9\", \"Z\" before \"a\", and the empty text before all others. --prefix is about texts, so it takes every column but one of numbers for them.

Several columns:
  --key A,B has the rows in the order of A, and those of the same A in the order of B. A key is given as a line of CSV: --get 22,50300078, or '\"Smith, John\",7' where a part has a comma in it; if its first part is below zero, as --get=-5,a. A key that lacks its last parts is all those that begin with the others: --get 22 has all rows of 22, --between 22 22 --limit 5 the first of them, and --between 21 22,5 those from the first of 21 up to 22,5. --prefix has all parts but its last one whole.

Output:
  Answers go to standard output. Standard error says what was missing, how many rows and keys there are, how long it took to read the file, to parse it, to build the index and to query it, and how many bytes a key takes in the index: as text with --format table, as a JSON object with json, as a header and a line with csv; --quiet turns that off. On a terminal a table keeps to its width (or to COLUMNS): long cells are cut, and columns left out, for which an ellipsis stands. Elsewhere it is whole. Control characters are shown as pictures, in a table only. In JSON a key of type u32 to f64 is a number, every other cell a string, and one with nothing in it, not even quotes, null. Rows with equal keys are all kept and stand in the order of the file, also under --reverse.

Exit codes:
  0  The question was answered. That no such key is there, or no row at all, is an answer, too: standard output is then empty (--count prints 0), and standard error says what was missing.
  1  Something failed while running, such as refused memory or a standard output that is closed or full.
  2  The file or the arguments are at fault.";

/// Answer questions about a file's rows through an index over one or several of its columns.
///
/// Reads FILE, builds an ordered index from the numbers or texts in the column named by --key, and answers
/// one QUESTION: --get, --between, --prefix, --count, --floor, --ceil and others. The file need not be
/// sorted.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = EXAMPLES,
    after_help = "Examples and exit codes: latchless query --help",
    override_usage = "latchless query FILE... --key COLUMN QUESTION [OPTIONS]"
)]
pub struct Args {
    /// The files.
    #[command(flatten)]
    pub from: Files,

    /// The question.
    #[command(flatten)]
    pub ask: Ask,
}

/// The files that questions are about.
#[derive(Debug, Clone, clap::Args)]
pub struct Files {
    /// The file: CSV, its first line naming the columns, or, in a build with the feature `parquet`, Parquet.
    /// By its name, TSV, BED, GFF, GTF, VCF or, as .jsonl, .ndjson or .json, JSON lines. All may be
    /// compressed with gzip (bgzip, too), in a build with the feature `zstd` or `parquet` also with
    /// Zstandard. `-` is standard input. Text is UTF-8 or UTF-16, unless --encoding names another encoding.
    ///
    /// JSON lines are an object a line; without a name that says so, a file is taken for them if it begins
    /// with one. The columns are the keys of the objects in the first mebibyte, of several files those of the
    /// first. A key that comes later is refused, but with --ragged. A missing key is null. Numbers are as
    /// they are written; arrays and objects are their text.
    ///
    /// Or an index that --save saved: then its file of rows is only read if the answer has rows.
    ///
    /// Of a Parquet file, the schema gives the types of columns, except texts, which are as in CSV. Null
    /// is no value: as a text it is the empty one. In a message, the first row is line 2.
    ///
    /// Several files of the same columns are one table, with the rows of the first before those of the next.
    #[arg(value_hint = ValueHint::FilePath, value_name = "FILE", required = true, num_args = 1..)]
    pub files: Vec<PathBuf>,

    /// The first line is a row; columns are called 1, 2, 3 …
    #[arg(long)]
    pub no_header: bool,

    /// How the files are read.
    #[command(flatten)]
    pub read: ReadOptions,
}

impl Files {
    /// The file, or the first of several.
    pub fn first(&self) -> &Path {
        &self.files[0]
    }

    /// How each of the files is read. `says_guesses`: whether standard error says what was guessed.
    ///
    /// # Errors
    /// Those of [`ReadOptions::how`].
    pub fn how(&self, says_guesses: bool) -> Result<Vec<How<'static>>, QueryError> {
        let hows = self.read.how(self.files.len())?;
        Ok(hows.into_iter().map(|how| How { is_named: !self.no_header, says_guesses, ..how }).collect())
    }
}

/// A question, and how its answer is printed.
#[derive(Debug, Clone, clap::Args)]
#[command(
    group = ArgGroup::new("question").required(true)
        .args([
            "get", "get_from", "between", "prefix", "count", "floor", "ceil", "rank", "nth", "quantile", "distinct",
            "count_by",
        ])
)]
pub struct Ask {
    /// The column that is indexed, of numbers or of texts; or several of them, as A,B. Its name, in capitals
    /// or not, or its number from 1. A name with a comma in it is quoted: '"a,b"'.
    ///
    /// An index that --save saved has its own; one that another program saved has the columns `key`, which
    /// is asked about without this option, and `value`.
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,

    /// Print this column next to the key instead of the whole row.
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,

    /// Print these columns instead of the whole row, in this order.
    #[arg(long, value_name = "COLUMNS", conflicts_with = "value")]
    pub select: Option<String>,

    /// Ask only about the rows that meet these conditions, such as 'ref = A and pos >= 50400000'. Operators
    /// are = != < <= > >=; what has blanks in it is in quotes. An empty cell meets none.
    #[arg(long = "where", value_name = "CONDITIONS", allow_hyphen_values = true)]
    pub condition: Option<String>,

    /// Print every row whose key is one of these. One that begins with a hyphen: `--get=-inf`.
    #[arg(
        long,
        value_name = "K",
        num_args = 1..,
        allow_negative_numbers = true,
        help_heading = "QUESTION, one of"
    )]
    pub get: Option<Vec<String>>,

    /// Print every row whose key is a line of this file; `-` is standard input. They are looked up together.
    #[arg(long, value_name = "KEYS", value_hint = ValueHint::FilePath, help_heading = "QUESTION, one of")]
    pub get_from: Option<PathBuf>,

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

    /// Print how many rows have a smaller key.
    #[arg(long, value_name = "K", allow_hyphen_values = true, help_heading = "QUESTION, one of")]
    pub rank: Option<String>,

    /// Print the row at this place in the order of the keys, counted from 1.
    #[arg(long, value_name = "N", value_parser = count::parse, help_heading = "QUESTION, one of")]
    pub nth: Option<usize>,

    /// Print the first row whose key isn't below those of this fraction of all rows: 0.5 is the median. NaN
    /// doesn't count.
    #[arg(long, value_name = "Q", num_args = 1.., help_heading = "QUESTION, one of")]
    pub quantile: Option<Vec<String>>,

    /// Print each key once.
    #[arg(long, help_heading = "QUESTION, one of")]
    pub distinct: bool,

    /// Print each key once, and how many rows have it.
    #[arg(long, help_heading = "QUESTION, one of")]
    pub count_by: bool,

    /// With --between, --prefix, --distinct or --count-by: print at most this many rows.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub limit: Option<usize>,

    /// With these: leave out this many rows before the first one.
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub offset: Option<usize>,

    /// With these: from the largest key downwards.
    #[arg(long)]
    pub reverse: bool,

    /// The types of the keys.
    #[command(flatten)]
    pub key_types: KeyTypes,

    /// Leave out rows whose key is empty or isn't a number, date and so on as expected, and report how many
    /// they were. A number that doesn't fit the type is refused nevertheless.
    #[arg(long)]
    pub skip_bad: bool,

    /// Save the index, of keys of any type, in this file, so that the next question reads it instead of
    /// FILE: `latchless query PATH QUESTION`. FILE must not change; it may be touched, copied, or moved
    /// together with PATH. An index of a mebibyte or more is mapped into memory when it is asked: PATH may
    /// be replaced meanwhile, but nothing may change it in place.
    ///
    /// The index is an Arrow file, as pyarrow or polars open it: the keys in order, and the byte offset of
    /// each one's row in FILE. Keys of numbers and of one column of texts have their own types there,
    /// others are bytes in their order. A file at PATH is replaced in one step.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,

    /// How answers are printed. In JSON a key that is one is a number, an empty cell null, every other cell a
    /// string.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// How the index is built.
    #[command(flatten)]
    pub options: Options,
}

impl Ask {
    /// The columns of the key, as they were named; none if they weren't.
    pub fn key_columns(&self) -> Vec<String> {
        self.key.as_deref().map_or(Vec::new(), line::fields)
    }
}
