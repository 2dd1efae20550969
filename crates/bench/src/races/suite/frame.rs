//! What every suite does before its races and after them: the rows are chosen, and the results are shown.

use super::races::Races;
use super::row::{Field, Of, Row};
use super::show;
use crate::races::args::{Args, Suite};
use crate::races::pages;
use latchless_measure::machine;
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::say;
use std::fs;
use std::path::Path;

/// Returns the rows that the command line names; all of them if it names none.
pub fn choose<'r>(all: &'r [Row], args: &Args) -> Result<Vec<&'r Row>, Failure> {
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

/// Shows what a suite found: its page, if one is requested, the machine to people, and the table, which may
/// have another form for programs.
///
/// # Errors
/// After the table, races that failed; a page or a table that can't be written.
pub fn finish(
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
