//! `latchless-bench small`: indexes of few entries, and many of them, beside the standard library's map.
//!
//! In reading order: [`subject`] (what an index does for its users), [`row`] (what is measured, and how an
//! index does it), and the rounds here.

mod row;
mod subject;
#[cfg(test)]
mod tests;

use crate::clock::median;
use crate::rounds::Rounds;
use crate::witness::Boxed;
use latchless::Index;
use latchless::bytes::MultiIndex;
use latchless::index::Slot;
use latchless::versions::VersionedIndex;
use latchless_terminal::count;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Rows;
use row::{Row, Sample};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use subject::Alone;

/// What indexes of few entries cost: their creation, their filling, gets and short ranges.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  latchless-bench small
      Indexes of 1 to 100,000 entries, and 10,000 indexes at once, medians of nine rounds in which they alternate.
  latchless-bench small --most 1k --many 1k --markdown

Keys are random. A row's time is that of the thread's processor, per operation or per entry, with the index's
drop where it was created. All indexes must give the same answers. Bytes are those of the index itself and
those that it asked the allocator for.")]
pub struct Args {
    /// Entries of the largest index, such as 100k
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "100k")]
    most: usize,
    /// Indexes that exist at once in the rows of many
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "10k")]
    many: usize,
    #[command(flatten)]
    race: Rounds,
}

/// Does a row once.
type Measured = fn(Row) -> latchless::Result<Option<Sample>>;

/// The indexes by column. The first of each kind of keys is what the others are compared with.
const NUMBERS: [(&str, Measured); 6] = [
    ("BTreeMap", row::measure::<u64, BTreeMap<u64, u64>>),
    ("Index", row::measure::<u64, Index<u64, u64>>),
    ("Exclusive", row::measure::<u64, Alone>),
    ("Index of Slot", row::measure::<u64, Index<u64, Slot<Boxed>>>),
    ("MultiIndex", row::measure::<u64, MultiIndex<u64>>),
    ("VersionedIndex", row::measure::<u64, VersionedIndex<u64, u64>>),
];
const STRINGS: [(&str, Measured); 2] = [
    ("BTreeMap", row::measure::<String, BTreeMap<String, u64>>),
    ("Index", row::measure::<String, Index<String, u64>>),
];

/// Runs the command.
///
/// # Errors
/// Refused memory, and unequal answers.
pub fn run(args: &Args) -> Result<(), Failure> {
    Rounds::introduce();
    for (keys, columns) in [("numbers", &NUMBERS[..]), ("strings", &STRINGS[..])] {
        let names = columns.iter().map(|&(name, _)| name.to_owned());
        let ratios = columns[1..].iter().map(|&(name, _)| format!("{name} ÷ BTreeMap"));
        let mut rows = Rows::new([keys.to_owned()].into_iter().chain(names).chain(ratios));
        for row in Row::up_to(args.most, args.many) {
            let cells = rounds(row, columns, args.race.rounds)?;
            let over = |cell: &Option<f64>| Some((*cell)? / cells[0]?);
            let ratios = cells[1..]
                .iter()
                .map(|cell| over(cell).map_or(Value::Null, |own| json!(format!("{own:.2}"))));
            let shown = cells.iter().map(|cell| cell.map_or(Value::Null, |own| json!(format!("{own:.1}"))));
            rows.push([json!(row.name())].into_iter().chain(shown).chain(ratios).collect());
        }
        args.race.print(&rows)?;
        if args.race.markdown {
            println!(); // Else the next table would be rows of this one.
        }
    }
    Ok(())
}

/// Does a row in all rounds, in each in all indexes one after the other, and returns the medians. Each index
/// is first in its turn.
fn rounds(row: Row, columns: &[(&str, Measured)], rounds: u16) -> Result<Vec<Option<f64>>, Failure> {
    let mut all = vec![Vec::new(); columns.len()];
    let mut expected = None;
    for round in 0..usize::from(rounds) {
        for turn in 0..columns.len() {
            let which = (round + turn) % columns.len();
            let (name, measure) = columns[which];
            let Some(sample) = measure(row)? else { continue };
            if *expected.get_or_insert(sample.answer) != sample.answer {
                return Err(Failure::wrong(format!("{name} gives another answer: {}", row.name())));
            }
            all[which].push(sample.amount);
        }
    }
    Ok(all.into_iter().map(median).collect())
}
