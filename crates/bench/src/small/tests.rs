//! All rows in all indexes, and one that answers wrongly.

use super::row::{self, Row};
use super::subject::Subject;
use super::{NUMBERS, STRINGS, rounds};
use std::collections::BTreeMap;

#[test]
fn all_indexes_do_all_rows_and_give_the_same_answers() {
    for row in Row::up_to(100, 2) {
        for columns in [&NUMBERS[..], &STRINGS[..]] {
            let cells = rounds(row, columns, 1).unwrap();
            assert!(cells.iter().all(|cell| cell.is_some_and(|amount| amount > 0.0)), "{row:?}: {cells:?}");
        }
    }
}

/// An index that loses every tenth entry.
struct Loses(BTreeMap<u64, u64>);

impl Subject<u64> for Loses {
    fn create() -> latchless::Result<Self> {
        Ok(Self(BTreeMap::new()))
    }

    fn insert(&mut self, key: &u64, value: u64) -> latchless::Result<()> {
        if value % 10 != 9 {
            self.0.insert(*key, value);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &u64) -> u64 {
        Subject::get(&self.0, key)
    }

    fn sum(&self) -> u64 {
        Subject::<u64>::sum(&self.0)
    }

    fn sum_from(&self, low: &u64, entries: usize) -> u64 {
        self.0.sum_from(low, entries)
    }
}

#[test]
fn a_wrong_answer_ends_the_race_and_is_named() {
    let columns = [NUMBERS[0], ("loses", row::measure::<u64, Loses> as super::Measured)];
    for row in [Row::Build(10), Row::Get(100), Row::Iterate(10), Row::Range(100), Row::Many(2, 50)] {
        let failure = rounds(row, &columns, 1).expect_err("an entry is missing").to_string();
        assert!(failure.contains("loses") && failure.contains(&row.name()), "{failure}");
    }
    rounds(Row::One, &columns, 1).expect("nothing is missing");
}
