//! `latchless-bench --suite NAME`: many races, one table.
//!
//! Each race runs in a separate process, as `latchless-bench` with the row's flags: the heap is fresh, the
//! command can be repeated by hand, and a rival that crashes doesn't affect the other races. In reading
//! order: [`row`] (a row as data), [`flagship`], [`pauses`], [`keys`], [`which`] and [`bytes`] (the rows),
//! [`races`] (running them), [`show`], [`show_keys`] and [`show_bytes`] (the tables and the pages).

mod bytes;
mod flagship;
mod keys;
mod pauses;
mod races;
mod row;
mod show;
mod show_bytes;
mod show_keys;
mod which;

use super::args::{Args, Suite};
use super::pages;
use latchless_measure::machine;
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::say;
use races::Races;
use row::{Field, Of, Row};
use std::fs;
use std::path::Path;

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

/// Returns the rows that the command line names; all of them if it names none.
fn choose<'r>(all: &'r [Row], args: &Args) -> Result<Vec<&'r Row>, Failure> {
    for name in &args.row {
        if !all.iter().any(|row| row.name == name) {
            let known: Vec<_> = all.iter().map(|row| row.name).collect();
            let like = did_you_mean(name, known.iter().copied());
            let all = if like.is_empty() { format!("; there are {}", known.join(", ")) } else { like };
            return Err(Failure::usage(format!("no row is called `{name}`{all}")));
        }
    }
    let field = all.iter().find_map(|row| if let Of::Run(run) = row.of { Some(run.field) } else { None });
    for name in args.index.iter().filter(|&name| name != "all") {
        field.unwrap_or(Field::All).check(name)?;
    }
    let wanted = |row: &&Row| args.row.is_empty() || args.row.iter().any(|name| name == row.name);
    Ok(all.iter().filter(wanted).collect())
}

/// Describes the machine and, if the caller chose them, the pages.
fn measured_on(args: &Args) -> String {
    let machine = machine::line();
    args.pages.map_or_else(|| machine.clone(), |pages| format!("{machine}, {}", pages::line(pages)))
}

/// Writes a page.
fn written(file: &Path, page: &str) -> Result<(), Failure> {
    fs::write(file, page)
        .map_err(|error| Failure::run(format!("the report {} can't be written: {error}", file.display())))
}

fn run_rows(suite: Suite, all: &'static [Row], args: &Args) -> Result<(), Failure> {
    let chosen = choose(all, args)?;
    let mut races = Races::new(args.records, all);
    chosen.iter().for_each(|row| races.hold(row.source(), args));
    let table = |for_programs| show::table(&chosen, &races, for_programs);
    finish(suite, "", table, core::slice::from_ref(&races), args)
}

/// Shows what a suite found: its page, if one is requested, the machine to people, and the table, which may
/// have another form for programs.
///
/// # Errors
/// After the table, races that failed; a page or a table that can't be written.
fn finish(
    suite: Suite,
    note: &str,
    table: impl Fn(bool) -> Rows,
    over: &[Races],
    args: &Args,
) -> Result<(), Failure> {
    let machine = measured_on(args);
    if let Some(file) = &args.report {
        written(file, &show::page(suite, note, &table(false), over, &machine, args))?;
    }
    if args.format == Format::Table {
        say::note(&machine);
    }
    table(args.format != Format::Table).print(args.format)?;
    let failed_of = |races: &Races| {
        let failed = races.all().filter(|(_, race)| race.found.is_err());
        failed.map(|(name, _)| races.label(name)).collect::<Vec<_>>()
    };
    let failed: Vec<String> = over.iter().flat_map(failed_of).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::run(format!("failed: {}", failed.join(", ")))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

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
