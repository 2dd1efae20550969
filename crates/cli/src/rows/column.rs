//! The columns of the key: every row's key, and where every row starts.

use super::error::QueryError;
use super::guess::{Plan, Skip};
use super::key::Complaint;
use super::keys::Keys;
use super::kind::{Kind, Part};
use super::progress::Progress;
use super::table::{Table, Walk};

/// Rows between two updates of the progress bar.
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
    /// Rows that were left out because of a bad cell.
    pub skipped: usize,
}

/// Which columns are read, and how.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The columns, counted from 0, and the plan to find the type of each.
    pub columns: Vec<(usize, Plan)>,
    /// Which rows are left out rather than refused.
    pub skip: Skip,
}

/// Reads columns of the table. Where no type was named, it starts over with a wider type at the first cell
/// that the narrower one doesn't hold: at most four times a column.
///
/// # Errors
/// [`QueryError::Key`], [`QueryError::EitherForm`], [`QueryError::NoneLeft`], [`QueryError::TooManyRows`],
/// and those of [`Walk::advance`].
pub fn read(table: &Table, how: &Reading, progress: &Progress) -> Result<Column, QueryError> {
    progress.phase("parsing", table.bytes());
    let settle = |place: usize, number| {
        let (column, plan) = &how.columns[place];
        let kind = plan.settle(table, *column, how.skip, number)?;
        Ok(Part { column: *column, kind, is_strict: how.skip.bad && !plan.is_named })
    };
    let part = |(place, (column, plan)): (usize, &(usize, Plan))| match plan.first {
        Some(kind) => Ok(Part::new(*column, kind)),
        None => settle(place, None),
    };
    let mut parts: Vec<Part> = how.columns.iter().enumerate().map(part).collect::<Result<_, QueryError>>()?;
    loop {
        let mut walk = table.walk()?;
        match read_as(&mut walk, &parts, how.skip, progress)? {
            Ok((mut keys, starts, skipped)) => {
                if starts.is_empty() && skipped > 0 && how.skip.bad {
                    let kinds: Vec<String> = parts.iter().map(|part| part.kind.to_string()).collect();
                    return Err(QueryError::NoneLeft { rows: skipped, kinds: kinds.join(",") });
                }
                if starts.is_empty() {
                    let plans = how.columns.iter().zip(&mut parts);
                    plans.for_each(|((_, plan), part)| part.kind = plan.without_rows());
                    keys = Keys::of(&parts);
                }
                return Ok(Column { keys, starts, parts, skipped });
            }
            Err((place, complaint)) => {
                let part = &mut parts[place];
                let (line, cell) = (walk.line(), walk.field(part.column));
                let refused =
                    |complaint| QueryError::Key { line, column: table.called(part.column), complaint };
                match part.kind {
                    Kind::Number(rule) => match rule.widened(cell, complaint) {
                        Ok(rule) => part.kind = Kind::Number(rule),
                        Err(complaint) if rule.inferred && !matches!(complaint, Complaint::TooLong(_)) => {
                            *part = settle(place, Some(refused(complaint)))?;
                        }
                        Err(complaint) => return Err(refused(complaint)),
                    },
                    _ => return Err(refused(complaint)),
                }
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
    parts: &[Part],
    skip: Skip,
    progress: &Progress,
) -> Result<Result<Rows, (usize, Complaint)>, QueryError> {
    let (mut keys, mut starts, mut skipped) = (Keys::of(parts), Vec::new(), 0);
    while walk.advance()? {
        if skip.empty && parts.iter().any(|part| part.is_empty(walk.bytes(part.column))) {
            skipped += 1;
            continue;
        }
        match keys.push(parts, |column| walk.bytes(column)) {
            Ok(()) => {}
            Err((_, complaint)) if skip.bad && complaint.is_no_value() => {
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
    use super::super::form::{Form, Forms};
    use super::super::key::{KeyType, Rule};
    use super::super::meant::Meant;
    use super::super::source;
    use super::*;
    use latchless::{BytesKey, Key};
    use proptest::prelude::*;

    /// The first columns of these bytes, taken all the way a file's bytes go, for a question that gives
    /// `text`.
    fn columns(
        bytes: Vec<u8>,
        kinds: &[Option<Kind>],
        text: &str,
        skip_bad: bool,
    ) -> Result<Column, QueryError> {
        let all = source::text(bytes)?;
        let table = Table::new(&all, b',', true)?;
        let open = || Plan::open(Meant::by(text), Forms::all(), false, skip_bad);
        let plans = kinds.iter().map(|kind| kind.map_or_else(open, Plan::known));
        let skip = Skip { bad: skip_bad, empty: false };
        let how = Reading { columns: plans.enumerate().collect(), skip };
        read(&table, &how, &Progress::start())
    }

    /// The first column, of numbers.
    fn first_column(bytes: Vec<u8>, skip_bad: bool) -> Result<Column, QueryError> {
        columns(bytes, &[None], "1", skip_bad)
    }

    fn floats(numbers: [f64; 3]) -> Keys {
        Keys::Wide(numbers.map(Key::encode).to_vec())
    }

    fn inferred(key_type: KeyType) -> Kind {
        Kind::Number(Rule { key_type, inferred: true })
    }

    #[test]
    fn a_wider_type_reads_the_column_from_its_start() {
        let column = first_column(b"k\n3\n-1\n2.5\n".to_vec(), false).unwrap();
        assert_eq!(column.parts[0].kind, inferred(KeyType::F64));
        assert_eq!(column.keys, floats([3.0, -1.0, 2.5]));
        assert_eq!(column.starts, [2, 4, 7]);
    }

    #[test]
    fn what_no_type_reads_is_named_by_its_line() {
        let message = |text: &str| first_column(text.into(), false).unwrap_err().to_string();
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
        let column = first_column(text.into(), true).unwrap();
        assert_eq!(column.keys, floats([3.0, -1.0, 2.5]));
        assert_eq!((column.starts.len(), column.skipped), (3, 3));
        let large = first_column(b"k\n1\nx\n1e400\n".to_vec(), true).unwrap();
        assert_eq!((large.parts[0].kind.to_string(), large.skipped), ("decimal".to_owned(), 1));
        let id = first_column(b"k\n1\nx\n01\n".to_vec(), true).unwrap_err().to_string();
        assert!(id.starts_with("line 4, column \"k\": \"01\" has a zero in front"), "{id}");
    }

    #[test]
    fn a_column_is_one_of_texts_where_the_question_is_and_a_cell_is_nothing_else() {
        let kinds = |rows: &str, text, skip_bad| {
            let column = columns(format!("k,v\n{rows}").into(), &[None, None], text, skip_bad).unwrap();
            let kinds: Vec<String> = column.parts.iter().map(|part| part.kind.to_string()).collect();
            (kinds.join(","), column.skipped)
        };
        assert_eq!(kinds("1,2\n3,4\n", "x", false), ("u64,u64".to_owned(), 0));
        assert_eq!(kinds("1,2\n-3.5,a\n", "x", false), ("f64,text".to_owned(), 0));
        assert_eq!(kinds("1,\n,2\n", "x", false), ("text,text".to_owned(), 0));
        assert_eq!(kinds("18446744073709551616,1e400\n", "x", false), ("decimal,decimal".to_owned(), 0));
        assert_eq!(kinds("01,2024-02-03\n2,2024-02-04\n", "x", false), ("text,date".to_owned(), 0));
        assert_eq!(kinds("1,a\nb,2\n3,4\n", "1", true), ("u64,u64".to_owned(), 2));
        assert_eq!(kinds("", "x", false), ("text,text".to_owned(), 0));
        assert_eq!(kinds("", "1", false), ("u64,u64".to_owned(), 0));
        assert_eq!(kinds("", "::1", false), ("ip,ip".to_owned(), 0));
    }

    #[test]
    fn keys_of_two_columns_are_tuples() {
        let text = Some(Kind::Text { guessed: false });
        let column = columns(b"k,v\nb,7\n a,-2\n".to_vec(), &[text, None], "1", false).unwrap();
        let expected = [("b", 7i64), (" a", -2)].map(|(text, number)| (text.to_owned(), number.encode()));
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
                "k\n([0-9]{1,2}/[0-9]{1,2}/2024( 1[0-9]:[0-9]{2})?\n){0,4}".prop_map(String::into_bytes),
            ],
            text in prop::sample::select(vec!["1", "x", "1/5/2024", "1,5"]),
            skip_bad: bool,
        ) {
            let number = |key_type| Some(Kind::Number(Rule::new(Some(key_type))));
            let named = [number(KeyType::I64), number(KeyType::F32), Some(Kind::Text { guessed: false })];
            let forms = Form::all().map(|form| Some(Kind::Form(form)));
            for kind in named.into_iter().chain(forms).chain([None]) {
                for kinds in [&[kind][..], &[kind, None]] {
                    if let Ok(column) = columns(bytes.clone(), kinds, text, skip_bad) {
                        prop_assert_eq!(column.keys.len(), column.starts.len());
                        prop_assert!(column.starts.is_sorted_by(|a, b| a < b));
                    }
                }
            }
        }
    }
}
