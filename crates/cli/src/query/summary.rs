//! A query's statistics on standard error: rows, times, bytes.

use crate::rows::report::{self, grouped, nanoseconds};
use latchless_terminal::output::Format;
use serde_json::{Value, json};
use std::time::Duration;

/// How long each part took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// Getting the file into memory.
    pub read: Duration,
    /// Finding its rows and reading their keys.
    pub parse: Duration,
    /// Sorting, grouping and loading the index.
    pub build: Duration,
    /// The index's answer, without printing it.
    pub query: Duration,
}

/// A query in numbers.
#[derive(Debug)]
pub struct Summary<'q> {
    /// Rows that the answer holds or counts.
    pub found: usize,
    /// Keys of --get that weren't found, as they were written.
    pub missing: Vec<&'q str>,
    /// Rows of the file that have a key.
    pub rows: usize,
    /// Other rows, left out because a key is empty or not of the type that it should be.
    pub skipped: usize,
    /// Rows with fewer, and with more fields than there are columns.
    pub ragged: [usize; 2],
    /// Distinct keys.
    pub keys: usize,
    /// The type of the keys.
    pub key_type: String,
    /// Bytes that the index takes.
    pub index_bytes: usize,
    /// Bytes that the postings (row numbers by key) take.
    pub postings_bytes: usize,
    /// How long each part took.
    pub times: Times,
}

impl Summary<'_> {
    /// Prints to standard error, in the form that the answer has on standard output.
    pub fn report(&self, format: Format) {
        report::print(format, &self.fields(), || self.text());
    }

    fn fields(&self) -> [(&'static str, Value); 15] {
        [
            ("found", json!(self.found)),
            ("missing", json!(self.missing)),
            ("rows", json!(self.rows)),
            ("keys", json!(self.keys)),
            ("key_type", json!(self.key_type)),
            ("index_bytes", json!(self.index_bytes)),
            ("bytes_per_key", json!((self.bytes_per_key() * 100.0).round() / 100.0)),
            ("postings_bytes", json!(self.postings_bytes)),
            ("read_ns", nanoseconds(self.times.read)),
            ("parse_ns", nanoseconds(self.times.parse)),
            ("build_ns", nanoseconds(self.times.build)),
            ("query_ns", nanoseconds(self.times.query)),
            ("short", json!(self.ragged[0])),
            ("long", json!(self.ragged[1])),
            ("skipped", json!(self.skipped)),
        ]
    }

    fn text(&self) -> String {
        let Times { read, parse, build, query } = self.times;
        let skipped = match self.skipped {
            0 => String::new(),
            1 => "1 row whose key is empty or not of this type was left out\n".to_owned(),
            rows => {
                format!("{} rows whose keys are empty or not of this type were left out\n", grouped(rows))
            }
        };
        format!(
            "{skipped}{} of {} rows; {} distinct {} keys, {:.1} bytes a key and {:.1} bytes a row for row numbers\n\
             read {read:.1?}, parse {parse:.1?}, build {build:.1?}, query {query:.1?}",
            grouped(self.found),
            grouped(self.rows),
            grouped(self.keys),
            self.key_type,
            self.bytes_per_key(),
            self.postings_bytes as f64 / self.rows.max(1) as f64,
        )
    }

    fn bytes_per_key(&self) -> f64 {
        self.index_bytes as f64 / self.keys.max(1) as f64
    }
}
