//! The command line of `latchless join`, and its help.

use crate::rows::how::ReadOptions;
use crate::rows::key_types::KeyTypes;
use crate::rows::line;
use crate::rows::options::Options;
use clap::{ArgGroup, ValueEnum, ValueHint};
use latchless_terminal::output::Format;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples, on the sample files (variants of human chromosome 22, stretches of it, and samples taken in a laboratory):

    DATA=examples/data

  The variants that a list names, with all that is known about them:
    latchless join $DATA/panel.csv $DATA/chr22_variants.csv --on rs=id
  The same list whole, the cells of variants that aren't known left empty:
    latchless join $DATA/panel.csv $DATA/chr22_variants.csv --on rs=id --how left
  The last calibration of the instrument before each measurement, two hours ago at most:
    latchless join $DATA/measurements.csv $DATA/calibrations.csv \\
      --on time --by instrument --nearest backward --tolerance 2h
  The stretches that each variant lies in:
    latchless join $DATA/panel.csv $DATA/windows.bed --overlap pos --by chrom --closed=left
  The variants in a stretch that is written as a browser has it:
    latchless join $DATA/regions.csv $DATA/chr22_variants.csv --overlap region=pos --by =chrom \\
      --closed
  Events of JSON lines with the rows that they name:
    latchless join events.jsonl rows.csv --on id

Columns:
  COLUMN is a column's name, in capitals or not, or its number from 1; A=B is A of LEFT and B of RIGHT. Several are separated by commas: --on A,B=C,D. A name with a comma or an equals sign in it is quoted: '\"a,b\"=c'.

Keys:
  The cells of RIGHT's columns decide the types of the keys, as `latchless query --help` explains, and the cells of LEFT are read as these: numbers compare as numbers, 5.0 equals 5, and -1 is below all unsigned integers. A date among time stamps is its midnight. --key-type names the types.
  A row with an empty cell in a key has no partner, whatever the type. A cell that isn't of its column's type is refused by its line; --skip-bad takes it for an empty one.
  LEFT's rows are printed in their order, each with its partners in the order of RIGHT.

Nearest keys:
  With --nearest each row of LEFT has one partner at most: the row of RIGHT with the nearest key, of equal keys the last one in RIGHT, with forward the first. Neither file needs to be sorted. Of two keys that are equally near, it is the smaller one. --tolerance is a number, of dates 3d, of times 2h, 5m, 1s, 10ms, 1us or 1ns; a key that is exactly so far away is near enough.

Intervals:
  --overlap FROM,TO has a row of both files for each two intervals that share a point. --overlap POS is a point, or a text such as chr22:50300000-50400000, whose ends are included and counted from 1; without its ends it is the whole chromosome. Groups such as chromosomes, within which intervals meet, are named by --by.
  Intervals are half-open, FROM up to but without TO; --closed includes TO. Of integers, half-open intervals count from 0 and closed ones from 1, as BED and GFF do, so that a file of each kind can be joined. Half-open intervals whose ends are equal have no point. FROM may not be above TO.

Files:
  A file is CSV, its first line naming the columns; or, by its name, .tsv, .bed, .gff, .gff3, .gtf, .vcf or, for JSON lines, .jsonl, .ndjson or .json. The columns of BED are chrom, start, end, name, score and so on, those of GFF seqid, source, type, start, end, score, strand, phase and attributes; their intervals needn't be named, neither those of VCF, which reach from POS over all of REF, or up to END in INFO. All of these may be compressed with gzip (bgzip, too), in a build with the feature zstd or parquet also with Zstandard, and in one with parquet be Parquet.
  LEFT is read piece by piece; RIGHT and its index have to fit memory.

Output:
  As that of `latchless query`: the columns of LEFT, then those of RIGHT; a name that LEFT has, too, gets --suffix. In JSON a key that is a number is one, every other cell a string, and one with nothing in it null. Standard error says how many rows there were, and how many had a partner.

Exit codes:
  0  The files were joined, even if no row has a partner.
  1  Something failed while running, such as refused memory or a standard output that is closed or full.
  2  A file or the arguments are at fault. Rows before that may have been printed.";

/// Join the rows of two files: by equal keys, by nearest keys, or by intervals that overlap.
///
/// Reads RIGHT, builds an ordered index over it, and prints each row of LEFT with the rows of RIGHT that
/// belong to it. Neither file needs to be sorted.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = EXAMPLES,
    after_help = "Examples and exit codes: latchless join --help",
    override_usage = "latchless join LEFT RIGHT --on COLUMN[=COLUMN] [OPTIONS]\n       \
                      latchless join LEFT RIGHT --overlap FROM,TO[=FROM,TO] [OPTIONS]",
    group = ArgGroup::new("what").required(true).args(["on", "overlap"])
)]
pub struct Args {
    /// The file whose rows are printed in their order. `-` is standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub left: PathBuf,

    /// The file whose rows are looked up.
    #[arg(value_hint = ValueHint::FilePath)]
    pub right: PathBuf,

    /// The column that both rows have the same key in; LEFT's and RIGHT's as A=B.
    #[arg(long, value_name = "COLUMN[=COLUMN]")]
    pub on: Option<String>,

    /// The columns of intervals that share a point. For files whose format has intervals, without columns and
    /// as the last argument.
    #[arg(long, value_name = "FROM,TO[=FROM,TO]", num_args = 0..=1, default_missing_value = "")]
    pub overlap: Option<String>,

    /// With --on: the nearest key rather than an equal one.
    #[arg(long, value_name = "DIRECTION", value_enum, requires = "on")]
    pub nearest: Option<Nearest>,

    /// With --nearest: the largest distance between two keys.
    #[arg(long, value_name = "T", requires = "nearest")]
    pub tolerance: Option<String>,

    /// With --nearest or --overlap: columns that both rows have equal cells in.
    #[arg(long, value_name = "COLUMN[=COLUMN]")]
    pub by: Option<String>,

    /// Whether rows of LEFT without a partner are printed.
    #[arg(long, value_enum, default_value_t)]
    pub how: How,

    /// With --how left: the text in the cells of a partner that is missing [default: nothing]
    #[arg(long, value_name = "TEXT", hide_default_value = true)]
    pub missing: Option<String>,

    /// What is added to the names of RIGHT's columns that LEFT has, too.
    #[arg(long, value_name = "TEXT", default_value = "_right")]
    pub suffix: String,

    /// Intervals of this file include their ends, and integers count from 1. Those of GFF, GTF and VCF do so
    /// without it.
    #[arg(long, value_name = "FILE", value_enum, num_args = 0..=1, require_equals = true,
          default_missing_value = "both")]
    pub closed: Option<Side>,

    /// The types of the keys: of the columns in --by, then those in --on or --overlap.
    #[command(flatten)]
    pub key_types: KeyTypes,

    /// A key that isn't of its type belongs to no row, instead of being refused. RIGHT's keys have to be
    /// numbers then, unless --key-type names their type.
    #[arg(long)]
    pub skip_bad: bool,

    /// The first line of this file of CSV is a row; columns are called 1, 2, 3 …
    #[arg(long, value_name = "FILE", value_enum, num_args = 0..=1, require_equals = true,
          default_missing_value = "both")]
    pub no_header: Option<Side>,

    /// How the files are read: LEFT, and RIGHT.
    #[command(flatten)]
    pub read: ReadOptions,

    /// How rows are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// How the index is built.
    #[command(flatten)]
    pub options: Options,
}

/// Which of several keys is the nearest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Nearest {
    /// The largest key that is LEFT's or smaller
    Backward,
    /// The smallest key that is LEFT's or larger
    Forward,
    /// The nearer one of these two
    #[value(name = "nearest")]
    Either,
}

/// Which rows of LEFT are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// Those with a partner
    #[default]
    Inner,
    /// All of them
    Left,
}

/// Which of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// LEFT
    Left,
    /// RIGHT
    Right,
    /// Both of them
    Both,
}

impl Side {
    /// Whether an option is about LEFT, and whether it is about RIGHT.
    pub fn of(side: Option<Self>) -> [bool; 2] {
        let is = |one| side.is_some_and(|side| side == one || side == Self::Both);
        [is(Self::Left), is(Self::Right)]
    }
}

/// The columns of both files that an option names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sides {
    /// LEFT's, and RIGHT's.
    pub names: [Vec<String>; 2],
    /// Whether they were given separately.
    pub is_split: bool,
}

impl Sides {
    /// The columns in an option's argument.
    pub fn new(given: Option<&str>) -> Self {
        let Some(given) = given else { return Self::default() };
        let mut is_quoted = false;
        let equals = given.char_indices().find(|&(_, character)| {
            is_quoted ^= character == '"';
            character == '=' && !is_quoted
        });
        let names = |text: &str| if text.is_empty() { Vec::new() } else { line::fields(text) };
        match equals {
            Some((at, _)) => Self { names: [names(&given[..at]), names(&given[at + 1..])], is_split: true },
            None => Self { names: [names(given), names(given)], is_split: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_both_files_are_separated_by_an_equals_sign() {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        for (given, left, right, is_split) in [
            ("a", &["a"][..], &["a"][..], false),
            ("a,b=c,d", &["a", "b"], &["c", "d"], true),
            ("=c", &[], &["c"], true),
            ("a=", &["a"], &[], true),
            ("\"a=,b\"=c=d", &["a=,b"], &["c=d"], true),
            ("", &[], &[], false),
        ] {
            let expected = Sides { names: [owned(left), owned(right)], is_split };
            assert_eq!(Sides::new(Some(given)), expected, "{given}");
        }
        assert_eq!(Sides::new(None), Sides::default());
    }
}
