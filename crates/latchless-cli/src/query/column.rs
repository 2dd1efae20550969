//! The key column: every row's key as order-keeping bits, and where every row starts.

use super::error::QueryError;
use super::key::{Complaint, Rule};
use super::progress::Progress;
use super::table::{Table, Walk};
use latchless::base::key::Bits;

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
}

/// Reads column number `column` of the table. Where no type was named, it starts over with a wider
/// type at the first number that the narrower one doesn't hold: at most twice.
///
/// # Errors
/// [`QueryError::Key`], [`QueryError::TooManyRows`], and those of [`Walk::advance`].
pub fn read<B: Bits>(
    table: &Table,
    column: usize,
    mut rule: Rule,
    progress: &Progress,
) -> Result<Column<B>, QueryError> {
    progress.phase("parsing", table.bytes());
    loop {
        let mut walk = table.walk();
        match read_as(&mut walk, column, rule, progress)? {
            Ok(column) => return Ok(column),
            Err(complaint) => {
                rule = rule.widened(walk.field(column), complaint).map_err(|complaint| QueryError::Key {
                    line: walk.line(),
                    column: table.columns().nth(column).unwrap_or_default().to_owned(),
                    complaint,
                })?;
            }
        }
    }
}

/// Reads by one rule, and stops with the complaint about the row that the walk stands on.
fn read_as<B: Bits>(
    walk: &mut Walk,
    column: usize,
    rule: Rule,
    progress: &Progress,
) -> Result<Result<Column<B>, Complaint>, QueryError> {
    let (mut keys, mut starts) = (Vec::new(), Vec::new());
    while walk.advance()? {
        match rule.read(walk.field(column)) {
            Ok(bits) => keys.push(B::truncate(bits)),
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
    Ok(Ok(Column { keys, starts, rule }))
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
    fn first_column<B: Bits>(bytes: Vec<u8>, named: Option<KeyType>) -> Result<Column<B>, QueryError> {
        let text = source::text(bytes, Path::new("f"))?;
        let table = Table::new(&text, b',')?;
        let name = table.columns().next().unwrap_or_default().to_owned();
        let column = table.column("--key", &name)?;
        read(&table, column, Rule::new(named), &Progress::start())
    }

    #[test]
    fn a_wider_type_reads_the_column_from_its_start() {
        let column = first_column::<u64>(b"k\n3\n-1\n2.5\n".to_vec(), None).unwrap();
        assert_eq!(column.rule.key_type, KeyType::F64);
        assert_eq!(column.keys, [3.0f64, -1.0, 2.5].map(Key::to_bits));
        assert_eq!(column.starts, [2, 4, 7]);
    }

    #[test]
    fn what_no_type_reads_is_named_by_its_line() {
        let message = |text: &str| first_column::<u64>(text.into(), None).unwrap_err().to_string();
        assert_eq!(
            message("k,v\r\n1,a\r\n-1,b\r\nx,c\r\n"),
            "line 4, column \"k\": \"x\" is not a number of type f64"
        );
        assert_eq!(
            message("k,v\n1,a\n,b\n"),
            "line 3, column \"k\": the field is empty where a number of type u64 should be"
        );
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
        ) {
            for named in [None, Some(KeyType::I64), Some(KeyType::F64)] {
                if let Ok(column) = first_column::<u64>(bytes.clone(), named) {
                    prop_assert_eq!(column.keys.len(), column.starts.len());
                    prop_assert!(column.starts.is_sorted_by(|a, b| a < b));
                }
            }
            let _ = first_column::<u32>(bytes, Some(KeyType::F32));
        }
    }
}
