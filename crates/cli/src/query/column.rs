//! The key column: every row's key as order-keeping bits, and where every row starts.

use super::error::QueryError;
use super::key::{self, Complaint, Rule};
use super::progress::Progress;
use super::table::{Table, Walk};
use latchless::Bits;

/// Rows between two looks at the progress bar.
const REPORT_EVERY_ROWS: usize = 1 << 15;

/// One number for each row, in the order of the file.
#[derive(Debug)]
pub struct Column<B> {
    /// The rows' keys as their order-keeping bits.
    pub keys: Vec<B>,
    /// The byte at which each row starts.
    pub starts: Vec<u64>,
    /// How the keys were read.
    pub rule: Rule,
    /// Rows that were left out because their cell is no number.
    pub skipped: usize,
}

/// Which column is read, and how.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// Its number.
    pub column: usize,
    /// The rule to begin with.
    pub rule: Rule,
    /// Whether rows whose cell is empty or no number are left out rather than refused.
    pub skip_bad: bool,
}

/// Reads a column of the table. Where no type was named, it starts over with a wider
/// type at the first number that the narrower one doesn't hold: at most twice.
///
/// # Errors
/// [`QueryError::Key`], [`QueryError::TooManyRows`], and those of [`Walk::advance`].
pub fn read<B: Bits>(table: &Table, mut how: Reading, progress: &Progress) -> Result<Column<B>, QueryError> {
    progress.phase("parsing", table.bytes());
    loop {
        let mut walk = table.walk();
        match read_as(&mut walk, how, progress)? {
            Ok(column) => return Ok(column),
            Err(complaint) => {
                let cell = walk.field(how.column);
                how.rule = how.rule.widened(cell, complaint).map_err(|complaint| QueryError::Key {
                    line: walk.line(),
                    column: table.columns().nth(how.column).unwrap_or_default().to_owned(),
                    complaint,
                })?;
            }
        }
    }
}

/// Reads by one rule, and stops with the complaint about the row that the walk has reached.
fn read_as<B: Bits>(
    walk: &mut Walk,
    Reading { column, rule, skip_bad }: Reading,
    progress: &Progress,
) -> Result<Result<Column<B>, Complaint>, QueryError> {
    let (mut keys, mut starts, mut skipped) = (Vec::new(), Vec::new(), 0);
    while walk.advance()? {
        let cell = walk.field(column);
        match rule.read(cell) {
            Ok(bits) => keys.push(B::truncate(bits)),
            Err(_) if skip_bad && !key::is_number(cell) => {
                skipped += 1;
                continue;
            }
            Err(complaint) => return Ok(Err(complaint)),
        }
        starts.push(walk.start());
        if u32::try_from(keys.len()).is_err() {
            return Err(QueryError::TooManyRows { limit: u32::MAX });
        }
        if keys.len() % REPORT_EVERY_ROWS == 0 {
            progress.reached(walk.start());
        }
    }
    Ok(Ok(Column { keys, starts, rule, skipped }))
}

#[cfg(test)]
mod tests {
    use super::super::key::KeyType;
    use super::super::source;
    use super::*;
    use latchless::Key;
    use proptest::prelude::*;
    use std::path::Path;

    /// The first column of these bytes, taken all the way a file's bytes go.
    fn first_column<B: Bits>(
        bytes: Vec<u8>,
        named: Option<KeyType>,
        skip_bad: bool,
    ) -> Result<Column<B>, QueryError> {
        let text = source::text(bytes, Path::new("f"))?;
        let table = Table::new(&text, b',', true)?;
        let name = table.columns().next().unwrap_or_default().to_owned();
        let column = table.column("--key", &name)?;
        let how = Reading { column, rule: Rule::new(named), skip_bad };
        read(&table, how, &Progress::start())
    }

    #[test]
    fn a_wider_type_reads_the_column_from_its_start() {
        let column = first_column::<u64>(b"k\n3\n-1\n2.5\n".to_vec(), None, false).unwrap();
        assert_eq!(column.rule.key_type, KeyType::F64);
        assert_eq!(column.keys, [3.0f64, -1.0, 2.5].map(Key::encode));
        assert_eq!(column.starts, [2, 4, 7]);
    }

    #[test]
    fn what_no_type_reads_is_named_by_its_line() {
        let message = |text: &str| first_column::<u64>(text.into(), None, false).unwrap_err().to_string();
        assert_eq!(
            message("k,v\r\n1,a\r\n-1,b\r\nx,c\r\n"),
            "line 4, column \"k\": \"x\" is not a number; --skip-bad leaves such rows out"
        );
        assert_eq!(
            message("k,v\n1,a\n,b\n"),
            "line 3, column \"k\": the field is empty where a number of type u64 should be; --skip-bad leaves such \
             rows out"
        );
    }

    #[test]
    fn rows_without_a_number_are_left_out_where_that_is_wanted() {
        let text = "k\n3\nNA\n\"\"\n-1\n \n2.5\n";
        let column = first_column::<u64>(text.into(), None, true).unwrap();
        assert_eq!(column.keys, [3.0f64, -1.0, 2.5].map(Key::encode));
        assert_eq!((column.starts.len(), column.skipped), (3, 3));
        let too_large = first_column::<u64>(b"k\n1\nx\n1e400\n".to_vec(), None, true).unwrap_err();
        assert_eq!(too_large.to_string(), "line 4, column \"k\": \"1e400\" is beyond the range of type f64");
    }

    proptest! {
        /// Random bytes are refused or read, never a panic.
        #[test]
        fn hostile_bytes_never_panic(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..80),
                "[0-9eE.,+\"\n\r-]{0,80}".prop_map(String::into_bytes),
                "k(,v)?\n(-?[0-9]{1,20}(\\.[0-9]{1,3})?,?\"?[\r\n]){0,8}".prop_map(String::into_bytes),
            ],
            skip_bad: bool,
        ) {
            for named in [None, Some(KeyType::I64), Some(KeyType::F64)] {
                if let Ok(column) = first_column::<u64>(bytes.clone(), named, skip_bad) {
                    prop_assert_eq!(column.keys.len(), column.starts.len());
                    prop_assert!(column.starts.is_sorted_by(|a, b| a < b));
                }
            }
            let _ = first_column::<u32>(bytes, Some(KeyType::F32), skip_bad);
        }
    }
}
