//! The columns of the key: every row's key, and where every row starts.

use super::error::QueryError;
use super::key::Complaint;
use super::keys::Keys;
use super::kind::{Kind, Part};
use super::progress::Progress;
use super::table::{Table, Walk};

/// Rows between two looks at the progress bar.
const REPORT_EVERY_ROWS: usize = 1 << 15;

/// One key for each row, in the order of the file.
#[derive(Debug)]
pub struct Column {
    /// The rows' keys.
    pub keys: Keys,
    /// The byte at which each row starts.
    pub starts: Vec<u64>,
    /// How the keys were read.
    pub parts: Vec<Part>,
    /// Rows that were left out because a cell is no number.
    pub skipped: usize,
}

/// Which columns are read, and how.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The columns, and the kinds to begin with.
    pub parts: Vec<Part>,
    /// Whether rows with a cell that is empty or no number are left out rather than refused.
    pub skip_bad: bool,
}

/// Reads columns of the table. Where no type was named, it starts over with a wider type at the first cell
/// that the narrower one doesn't hold: at most three times a column.
///
/// # Errors
/// [`QueryError::Key`], [`QueryError::TooManyRows`], and those of [`Walk::advance`].
pub fn read(table: &Table, mut how: Reading, progress: &Progress) -> Result<Column, QueryError> {
    progress.phase("parsing", table.bytes());
    loop {
        let mut walk = table.walk();
        match read_as(&mut walk, &how, progress)? {
            Ok((mut keys, starts, skipped)) => {
                if starts.is_empty() {
                    // Without rows a column is what the question takes it for.
                    let texts = how.parts.iter_mut().filter(|part| part.may_be_text);
                    texts.for_each(|part| part.kind = Kind::Text);
                    keys = Keys::of(&how.parts);
                }
                return Ok(Column { keys, starts, parts: how.parts, skipped });
            }
            Err((place, complaint)) => {
                let part = &mut how.parts[place];
                part.kind = part.widened(walk.field(part.column), complaint).map_err(|complaint| {
                    QueryError::Key {
                        line: walk.line(),
                        column: table.columns().nth(part.column).unwrap_or_default().to_owned(),
                        complaint,
                    }
                })?;
            }
        }
    }
}

/// The rows' keys and starts, and how many were left out.
type Rows = (Keys, Vec<u64>, usize);

/// Reads by one kind per column, and stops with the complaint about a part of the row that the walk has
/// reached.
fn read_as(
    walk: &mut Walk,
    Reading { parts, skip_bad }: &Reading,
    progress: &Progress,
) -> Result<Result<Rows, (usize, Complaint)>, QueryError> {
    let (mut keys, mut starts, mut skipped) = (Keys::of(parts), Vec::new(), 0);
    while walk.advance()? {
        match keys.push(parts, |column| walk.field(column)) {
            Ok(()) => {}
            Err((_, complaint)) if *skip_bad && complaint.is_no_number() => {
                skipped += 1;
                continue;
            }
            Err(complaint) => return Ok(Err(complaint)),
        }
        starts.push(walk.start());
        if u32::try_from(starts.len()).is_err() {
            return Err(QueryError::TooManyRows { limit: u32::MAX });
        }
        if starts.len() % REPORT_EVERY_ROWS == 0 {
            progress.reached(walk.start());
        }
    }
    Ok(Ok((keys, starts, skipped)))
}

#[cfg(test)]
mod tests {
    use super::super::key::{KeyType, Rule};
    use super::super::kind::Named;
    use super::super::source;
    use super::*;
    use latchless::{BytesKey, Key};
    use proptest::prelude::*;
    use std::path::Path;

    /// The first columns of these bytes, taken all the way a file's bytes go.
    fn columns(
        bytes: Vec<u8>,
        named: &[Option<Named>],
        may_be_text: bool,
        skip_bad: bool,
    ) -> Result<Column, QueryError> {
        let text = source::text(bytes, Path::new("f"))?;
        let table = Table::new(&text, b',', true)?;
        let part = |(column, &named)| Part { column, kind: Kind::new(named), may_be_text };
        let parts = named.iter().enumerate().map(part).collect();
        read(&table, Reading { parts, skip_bad }, &Progress::start())
    }

    /// The first column, of numbers.
    fn first_column(bytes: Vec<u8>, named: Option<KeyType>, skip_bad: bool) -> Result<Column, QueryError> {
        columns(bytes, &[named.map(Named::Number)], false, skip_bad)
    }

    fn floats(numbers: [f64; 3]) -> Keys {
        Keys::Wide(numbers.map(Key::encode).to_vec())
    }

    fn inferred(key_type: KeyType) -> Kind {
        Kind::Number(Rule { key_type, inferred: true })
    }

    #[test]
    fn a_wider_type_reads_the_column_from_its_start() {
        let column = first_column(b"k\n3\n-1\n2.5\n".to_vec(), None, false).unwrap();
        assert_eq!(column.parts[0].kind, inferred(KeyType::F64));
        assert_eq!(column.keys, floats([3.0, -1.0, 2.5]));
        assert_eq!(column.starts, [2, 4, 7]);
    }

    #[test]
    fn what_no_type_reads_is_named_by_its_line() {
        let message = |text: &str| first_column(text.into(), None, false).unwrap_err().to_string();
        assert_eq!(
            message("k,v\r\n1,a\r\n-1,b\r\nx,c\r\n"),
            "line 4, column \"k\": \"x\" is not a number; --skip-bad leaves such rows out, with --key-type text \
             all keys are texts"
        );
        assert_eq!(
            message("k,v\n1,a\n,b\n"),
            "line 3, column \"k\": the field is empty where a number of type u64 should be; --skip-bad leaves such \
             rows out, with --key-type text all keys are texts"
        );
    }

    #[test]
    fn rows_without_a_number_are_left_out_where_that_is_wanted() {
        let text = "k\n3\nNA\n\"\"\n-1\n \n2.5\n";
        let column = first_column(text.into(), None, true).unwrap();
        assert_eq!(column.keys, floats([3.0, -1.0, 2.5]));
        assert_eq!((column.starts.len(), column.skipped), (3, 3));
        let too_large = first_column(b"k\n1\nx\n1e400\n".to_vec(), None, true).unwrap_err();
        assert_eq!(too_large.to_string(), "line 4, column \"k\": \"1e400\" is beyond the range of type f64");
    }

    #[test]
    fn a_column_is_one_of_texts_where_it_may_be_and_a_cell_is_no_number() {
        let kinds = |rows: &str, may_be_text, skip_bad| {
            let column =
                columns(format!("k,v\n{rows}").into(), &[None, None], may_be_text, skip_bad).unwrap();
            (column.parts.iter().map(|part| part.kind).collect::<Vec<_>>(), column.skipped)
        };
        let (u64, f64, text) = (inferred(KeyType::U64), inferred(KeyType::F64), Kind::Text);
        assert_eq!(kinds("1,2\n3,4\n", true, false), (vec![u64, u64], 0));
        assert_eq!(kinds("1,2\n-3.5,a\n", true, false), (vec![f64, text], 0));
        assert_eq!(kinds("1,\n,2\n", true, false), (vec![text, text], 0));
        assert_eq!(kinds("18446744073709551616,1e400\n", true, false), (vec![text, text], 0));
        assert_eq!(kinds("1,a\nb,2\n3,4\n", false, true), (vec![u64, u64], 2));
        assert_eq!(kinds("", true, false), (vec![text, text], 0));
        assert_eq!(kinds("", false, false), (vec![u64, u64], 0));
    }

    #[test]
    fn keys_of_two_columns_are_tuples() {
        let column =
            columns(b"k,v\nb,7\n a,-2\n".to_vec(), &[Some(Named::Text), None], false, false).unwrap();
        let expected = [("b", 7i64), (" a", -2)].map(|(text, number)| (text, number.encode()));
        let Keys::Bytes(keys) = column.keys else { panic!("{column:?}") };
        assert_eq!(keys.iter().collect::<Vec<_>>(), expected.map(|key| key.with_bytes(<[u8]>::to_vec)));
        assert_eq!(column.starts, [4, 8]);
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
            may_be_text: bool,
            skip_bad: bool,
        ) {
            let named = |key_type| Some(Named::Number(key_type));
            for named in [None, named(KeyType::I64), named(KeyType::F64), named(KeyType::F32), Some(Named::Text)] {
                for named in [&[named][..], &[named, None]] {
                    if let Ok(column) = columns(bytes.clone(), named, may_be_text, skip_bad) {
                        prop_assert_eq!(column.keys.len(), column.starts.len());
                        prop_assert!(column.starts.is_sorted_by(|a, b| a < b));
                    }
                }
            }
        }
    }
}
