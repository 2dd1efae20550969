//! `latchless-bench --suite NAME`: many races, one table.
//!
//! Each race runs in a separate process, as `latchless-bench` with the row's flags: the heap is fresh, the
//! command can be repeated by hand, and a rival that crashes doesn't affect the other races. In reading
//! order: [`row`] (a row as data), [`races`] (running them), [`mod@shown`], [`show`], [`show_keys`] and
//! [`show_bytes`] (the tables and the pages), [`frame`] (what every suite does), [`flagship`], [`pauses`],
//! [`keys`], [`which`] and [`bytes`] (the rows).

mod bytes;
mod flagship;
mod frame;
mod keys;
mod pauses;
mod races;
mod row;
mod show;
mod show_bytes;
mod show_keys;
mod shown;
mod which;

use super::args::{Args, Suite};
use frame::{choose, finish};
use latchless_terminal::failure::Failure;
use races::Races;
use row::Row;

/// Runs the suite.
///
/// # Errors
/// Unknown rows or indexes; after the table, races that failed.
pub fn run(suite: Suite, args: &Args) -> Result<(), Failure> {
    match suite {
        Suite::Flagship | Suite::Pauses | Suite::Which if !args.keys.is_empty() => Err(Failure::usage(
            format!("the suite {} has keys of its own: --keys is for --suite keys", suite.name()),
        )),
        Suite::Flagship => run_rows(suite, flagship::ROWS, args),
        Suite::Pauses => run_rows(suite, pauses::ROWS, args),
        Suite::Keys => keys::run(args),
        Suite::Which => which::run(args),
        Suite::Bytes => bytes::run(args),
    }
}

fn run_rows(suite: Suite, all: &'static [Row], args: &Args) -> Result<(), Failure> {
    let chosen = choose(all, args)?;
    let mut races = Races::new(args.records, all);
    chosen.iter().for_each(|row| races.hold(row.source(), args));
    let table = |for_programs| show::table(&chosen, &races, for_programs);
    finish(suite, "", table, core::slice::from_ref(&races), args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use row::Of;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn rows_name_each_other_and_parse() {
        [flagship::ROWS, keys::ROWS, pauses::ROWS, which::ROWS, bytes::ROWS]
            .into_iter()
            .for_each(are_consistent);
    }

    fn are_consistent(all: &[Row]) {
        for (at, row) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other.name != row.name), "{} twice", row.name);
            match row.of {
                Of::Same(other) => {
                    let found = all.iter().find(|row| row.name == other);
                    assert!(matches!(found, Some(Row { of: Of::Run(_), .. })), "{}: {other}", row.name);
                }
                Of::Run(run) => {
                    let flags = std::iter::once("latchless-bench").chain(run.flags.split_whitespace());
                    let args =
                        Cli::try_parse_from(flags).unwrap_or_else(|error| panic!("{}: {error}", row.name));
                    args.args.spec().unwrap_or_else(|error| panic!("{}: {error}", row.name));
                    assert_eq!(run.names()[0], "btreemap");
                }
            }
        }
    }
}
