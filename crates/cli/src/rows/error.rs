//! Errors in a query's file, its arguments or its index.

use super::delimiter;
use super::form::Form;
use super::key::Complaint;
use super::kind::{Kind, Named};
use latchless::snapshot::{self, DataType};
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::visible;
use std::io;

/// Why a query wasn't answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The file isn't there, may not be read, or broke off.
    #[error("can't read {file}: {cause}")]
    Unreadable { file: String, cause: io::Error },
    /// Not a byte in the file.
    #[error("{file} is empty; its first line should name the columns")]
    Empty { file: String },
    /// Bytes that aren't in the encoding.
    #[error(
        "line {line} of {file} is not {encoding}; {}",
        if *may_be_latin {
            "it may be Latin-1 or Windows-1252, which --encoding windows-1252 reads"
        } else {
            "--encoding names another encoding"
        }
    )]
    Undecodable { file: String, line: u64, encoding: &'static str, may_be_latin: bool },
    /// Encodings for some of the files only.
    #[error(
        "--encoding has {found} encodings where there are {files} files; give one for all or one for each"
    )]
    Encodings { found: usize, files: usize },
    /// A line of JSON lines that isn't an object.
    #[error("line {line} of {file} is not JSON as expected: {}", of_json(cause))]
    Json { file: String, line: u64, cause: serde_json::Error },
    /// A key of JSON lines that is no column.
    #[error(
        "line {line} of {file} has the key {key:?}, which no object in the first mebibyte has, so that it is no \
         column; --ragged leaves such keys out"
    )]
    NewKey { file: String, line: u64, key: String },
    /// A file that is compressed in a way without a reader here.
    #[error(
        "{file} is compressed ({packing}), which this build doesn't read: {program} {file} | latchless query - …"
    )]
    Packed { file: String, packing: &'static str, program: &'static str },
    /// A Parquet file, for a program that doesn't read them.
    #[cfg(not(feature = "parquet"))]
    #[error("{file} is a Parquet file, which this build doesn't read: build with --features parquet")]
    NeedsParquet { file: String },
    /// A Parquet file that is damaged, or written in a way that isn't known.
    #[cfg(feature = "parquet")]
    #[error("can't read {file} as Parquet: {cause}")]
    Parquet { file: String, cause: parquet::errors::ParquetError },
    /// More rows than a posting can name.
    #[error("the file has more than {limit} rows, the most that one query can tell apart")]
    TooManyRows { limit: u32 },
    /// An error in one of several files.
    #[error("{file}: {cause}")]
    In { file: String, cause: Box<QueryError> },
    /// Files that aren't parts of one table.
    #[error("{file} has other columns, or another separator of fields, than {first}")]
    OtherColumns { file: String, first: String },
    /// A VCF file whose columns have no names.
    #[error("no line begins with #CHROM, so this isn't VCF")]
    NoVcfHeader,
    /// A column that isn't in the header.
    #[error(
        "there is no column {name:?} for {option}{}; the columns are {}",
        like(name, there, *delimiter),
        listed(there)
    )]
    MissingColumn { option: &'static str, name: String, there: Vec<String>, delimiter: Option<u8> },
    /// A column that is in the header more than once and so can't be named.
    #[error("{option}: more than one column is called {name:?}")]
    AmbiguousColumn { option: &'static str, name: String },
    /// A row with more or fewer fields than the header.
    #[error("line {line} has {found} fields where the header has {expected}; --ragged takes such rows")]
    Ragged { line: u64, found: usize, expected: usize },
    /// A quoted field that never ends.
    #[error("a quoted field in the row that starts on line {line} is never closed")]
    UnclosedQuote { line: u64 },
    /// A key that can't be read.
    #[error("line {line}, column {column:?}: {complaint}{}", if complaint.is_no_value() { NO_VALUE } else { "" })]
    Key { line: u64, column: String, complaint: Complaint },
    /// Something else than a number on the command line.
    #[error(
        "{option}: {given} is not a number, as the keys in {column} are; with --key-type text they are texts"
    )]
    NotANumber { option: &'static str, given: String, column: String },
    /// An argument of another type than the column's cells.
    #[error(
        "{option}: {given} is not of the type of the keys in {column}, {form}, as {example} is; with --key-type \
         text they are texts",
        example = form.example()
    )]
    NotOfForm { option: &'static str, given: String, column: String, form: Form },
    /// A day among time stamps, and more after it.
    #[error("{option}: {given} is a whole day, after which a key has no more parts; give a time, too")]
    DayOfMoments { option: &'static str, given: String },
    /// A bound whose order isn't that of the column's keys.
    #[error(
        "{option}: {given} would be compared as a text, because the keys in {column} are: no other type fits all of \
         them; with --key-type text it is compared so"
    )]
    ComparedAsText { option: &'static str, given: String, column: String },
    /// Cells that leave two forms.
    #[error(
        "column {column}: each cell can be of type {} or {}, such as {example:?}; {} says which, with --key-type \
         text all keys are texts",
        forms[0], forms[1], which(*forms)
    )]
    EitherForm { column: String, example: String, forms: [Form; 2] },
    /// No row has a key of the type that it should be.
    #[error(
        "--skip-bad would leave out all {rows} rows: no key is of type {kinds}; --key-type names another"
    )]
    NoneLeft { rows: usize, kinds: String },
    /// A beginning that only texts have.
    #[error(
        "--prefix asks about texts, and the keys in {column} are {}; with --key-type text they are texts",
        if let Kind::Form(form) = kind { format!("of type {form}") } else { "numbers".to_owned() }
    )]
    PrefixOfNumbers { column: String, kind: Kind },
    /// More parts than a key has.
    #[error(
        "{option}: {given} has {found} parts where the key has {columns}; quote a part with a comma in it: '\"a,b\",c'"
    )]
    Parts { option: &'static str, given: String, found: usize, columns: usize },
    /// An option about cells that no column has.
    #[error("{option} goes with {types}, or without --key-type")]
    NoSuchForm { option: &'static str, types: &'static str },
    /// Types for some of the columns only.
    #[error(
        "--key-type has {found} types where --key has {columns} columns; give one for all or one for each"
    )]
    KeyTypes { found: usize, columns: usize },
    /// Columns of one file that go with none of the other.
    #[error("{option} has {left} columns of LEFT and {right} of RIGHT; A=B names one of each")]
    UnequalColumns { option: &'static str, left: usize, right: usize },
    /// Columns that are no interval.
    #[error(
        "--overlap takes one or two columns of each file, not {found}: a point, or the ends of an interval; only BED, \
         GFF and VCF files have known ones"
    )]
    NoInterval { found: usize },
    /// Ends without an order, or without one in common.
    #[error(
        "the ends of intervals are numbers, dates or times of one type, and the cells in {columns} are of type \
         {kind}; --key-type says what they are, as f64 or timestamp"
    )]
    NotEnds { columns: String, kind: Kind },
    /// The nearest of keys of several columns.
    #[error("--nearest compares one column; --by takes those that are equal")]
    NearestOfSeveral,
    /// Nearest keys of a column whose order is only that of texts.
    #[error(
        "--nearest would compare the keys in {column} as texts: no other type fits all of them; with --key-type \
         text it does"
    )]
    NearestOfTexts { column: String },
    /// Distances of keys that have none.
    #[error(
        "--nearest nearest and --tolerance need distances, and keys of type {kind}, as in {column}, have none"
    )]
    NoDistance { column: String, kind: Kind },
    /// A distance that isn't one of a column's keys.
    #[error(
        "--tolerance: {given:?} is no distance of keys of type {kind}: that is a number, of dates 3d, of times 2h, \
         5m, 1s or 10ms"
    )]
    Tolerance { given: String, kind: Kind },
    /// An option without the one that it belongs to.
    #[error("{option} goes with {with}")]
    OnlyWith { option: &'static str, with: &'static str },
    /// Both files from one pipe.
    #[error("standard input can't be both files")]
    BothFromInput,
    /// Standard input has the questions already.
    #[error("{option} can't be standard input, which has the questions of the shell")]
    LinesFromInput { option: &'static str },
    /// A question of the shell about no column.
    #[error("no column to ask about: --key names it, or \\key COLUMN does for all questions")]
    NoKeyYet,
    /// A number that is neither below nor above any other.
    #[error("{option}: NaN is neither smaller nor larger than any number; --get NaN finds it")]
    NanBound { option: &'static str },
    /// A range whose ends are in the wrong order.
    #[error("{option} {low} {high}: the range starts after its end")]
    InvertedRange { option: &'static str, low: String, high: String },
    /// An option that another question doesn't know.
    #[error("{option} goes with --between, --prefix, --distinct and --count-by only")]
    OnlyRows { option: &'static str },
    /// A condition that isn't one.
    #[error(
        "--where: {rest} isn't as expected: it takes conditions such as COLUMN >= 5, joined by and; the operators are \
         = != < <= > >=, and texts with blanks are in quotes"
    )]
    Where { rest: String },
    /// Conditions on rows that aren't read, or whose index would be taken for that of all.
    #[error("--where reads all rows: {why}")]
    WhereNeedsRows { why: String },
    /// A place before the first row.
    #[error("--nth counts rows from 1")]
    NoPlace,
    /// A fraction that isn't one.
    #[error(
        "--quantile takes numbers from 0 to 1 with at most 18 decimal places, such as 0.5, not {given:?}"
    )]
    Fraction { given: String },
    /// A limit that allows no answer.
    #[error("--limit 0 would print nothing; the smallest limit is 1")]
    ZeroLimit,
    /// A field separator that can't separate fields.
    #[error("--delimiter takes one ASCII character that is neither a quote nor a line end, not {given:?}")]
    Delimiter { given: String },
    /// No column to index, of a file that isn't an index already.
    #[error("{file} isn't a saved index, so --key has to name the column to build one over")]
    NoKey { file: String },
    /// A question about another column than the saved index is over.
    #[error("{file} is an index over {column}; to ask about another column, ask {origin} itself")]
    OtherKey { file: String, column: String, origin: String },
    /// A question about other keys than the saved index has.
    #[error("{file} is an index over keys of type {found}, not {asked}")]
    OtherKeyType { file: String, found: Kind, asked: Named },
    /// A saved index where a file of rows should be.
    #[error("{file} is a saved index; give the file of its rows")]
    IsIndex { file: String },
    /// Keys of a type that isn't known here.
    #[error("{file} has keys of type {found}, which can't be asked about here")]
    UnknownKeys { file: String, found: DataType },
    /// An Arrow file that isn't a good snapshot.
    #[error("can't open {file}: {cause}")]
    Snapshot { file: String, cause: snapshot::Error },
    /// An index of a later version.
    #[error("{file} was saved by a later version of this program: its version is {version:?}")]
    LaterVersion { file: String, version: String },
    /// A good snapshot with metadata of this program that is wrong.
    #[error("{file} says in its metadata that this program saved it, but what else it says there is wrong")]
    BadMetadata { file: String },
    /// A file that has changed since its index was saved.
    #[error(
        "{file} has changed since {index} was saved; ask {file} itself, with --save to save its index again"
    )]
    Changed { file: String, index: String },
    /// An index whose rows couldn't be found again.
    #[error("the index over {file} can't be saved: {why}")]
    CannotSave { file: String, why: &'static str },
    /// The system refused to write the index.
    #[error("can't save the index in {file}: {cause}")]
    Save { file: String, cause: snapshot::Error },
    /// The index refused.
    #[error(transparent)]
    Index(#[from] latchless::Error),
    /// The CSV reader gave up on a text that is in memory already.
    #[error("can't read the rows: {0}")]
    Malformed(#[from] csv::Error),
    /// The answer couldn't be written.
    #[error("can't write the answer: {0}")]
    Output(#[from] io::Error),
}

/// The advice for a key that isn't of its column's type.
const NO_VALUE: &str = "; --skip-bad leaves such rows out, with --key-type text all keys are texts";

/// The options that decide between two forms.
fn which(forms: [Form; 2]) -> &'static str {
    match forms[0] {
        Form::Decimal(_) => "--key-type decimal or --decimal-comma",
        _ => "--date-format mdy or --date-format dmy",
    }
}

/// An error of JSON, whose own line is always the first.
fn of_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
    let what = format!("{what} (byte {})", error.column());
    // It goes on in the next line, or isn't an object.
    if error.is_eof() || what.starts_with("invalid type") {
        format!(
            "{what}; an object a line is read, which jq -c . makes of objects and jq -c '.[]' of an array"
        )
    } else {
        what
    }
}

/// The most columns that a message names.
const COLUMNS_NAMED_MAX: usize = 20;

/// The columns, or the first of them. Names come from the file, so they are made harmless.
fn listed(columns: &[String]) -> String {
    let named: Vec<_> = columns.iter().take(COLUMNS_NAMED_MAX).map(|name| visible(name)).collect();
    match columns.len().saturating_sub(COLUMNS_NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Columns that may have been meant, or the delimiter with which the requested one exists.
fn like(name: &str, columns: &[String], delimiter: Option<u8>) -> String {
    match delimiter {
        Some(delimiter) => format!(", but there is with --delimiter {}", delimiter::written(delimiter)),
        None => visible(&did_you_mean(name, columns.iter().map(String::as_str))).into_owned(),
    }
}

impl QueryError {
    /// Says which file it is about, where there are several.
    pub fn in_file(self, file: String) -> Self {
        Self::In { file, cause: Box::new(self) }
    }

    /// Whether something failed that no file and no argument is the cause of.
    fn is_failure(&self) -> bool {
        match self {
            Self::Index(_) | Self::Output(_) | Self::Save { .. } => true,
            Self::In { cause, .. } => cause.is_failure(),
            _ => false,
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        if error.is_failure() { Self::run(error) } else { Self::usage(error) }
    }
}
