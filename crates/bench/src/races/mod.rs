//! Races of ordered indexes against each other, in one process, in interleaved rounds.
//!
//! In reading order: [`args`] (the command line), [`contest`] (the race, round by round), [`load`]
//! (filling an index), [`requests`], [`drive`] and [`side_by_side`] (streams of requests on threads),
//! [`timed`] (the loops), [`access`] (the ways to an index), [`raced`] and [`ranged`] (indexes by their
//! own type, and their ranges), [`pauses`] (the times of single operations), [`check`] and [`digest`]
//! (whether the answers are right), [`outcome`] and [`report`] (results), [`bytes`] (keys of any length),
//! [`suite`] (many races, one table).

mod access;
pub mod args;
pub mod bytes;
pub mod catalogue;
mod check;
mod contest;
mod digest;
mod drive;
pub mod list;
mod load;
mod outcome;
mod pages;
mod pauses;
pub mod progress;
mod raced;
mod ranged;
pub mod report;
mod requests;
mod side_by_side;
mod suite;
mod timed;
mod word;

pub use args::{Args, Batch, Load, Order};

use args::Width;
use catalogue::Origin;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;

/// Runs the command.
///
/// # Errors
/// Options that aren't supported, failures while running, and wrong answers.
pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(wanted) = args.pages
        && !pages::are_here(wanted)
    {
        return pages::run_there(wanted, args.report.as_deref());
    }
    if let Some(file) = &args.report {
        latchless_terminal::file::check_writable(file)
            .map_err(|error| Failure::run(format!("{} can't be written: {error}", file.display())))?;
    }
    if let Some(suite) = args.suite {
        return suite::run(suite, args);
    }
    if let Some(set) = bytes::parse(&args.keys)? {
        return bytes::run(args, set);
    }
    if args.index.iter().any(|name| name == bytes::catalogue::FLAGSHIP) {
        return Err(Failure::usage("the index `bytes` takes byte strings: add some, such as --keys url"));
    }
    let (names, spec) = (args.names()?, args.spec()?);
    let machine = latchless_measure::machine::line();
    if args.format == Format::Table {
        say::note(&machine);
        if let Some(pages) = args.pages {
            say::note(pages::line(pages));
        } else if names.iter().any(|name| is_rival(name)) && !args.options.no_huge_pages {
            say::note(
                "note: latchless's own nodes are on huge pages (--pages huge or small puts all on the same)",
            );
        }
    }
    let outcomes = match args.key {
        Width::U32 => contest::race::<u32>(args, spec, &names)?,
        Width::U64 => contest::race::<u64>(args, spec, &names)?,
    };
    let setting = args.setting(&spec);
    if let Some(file) = &args.report {
        report::write(file, &machine, &setting, &outcomes)?;
    }
    if args.format == Format::Table {
        say::note(setting.line(args.rounds));
        return outcome::table(&setting, &outcomes).print(args.format);
    }
    outcome::rows(&setting, &outcomes).print(args.format)
}

fn is_rival(name: &str) -> bool {
    catalogue::entries().iter().any(|entry| entry.name == name && entry.origin != Origin::Latchless)
}
