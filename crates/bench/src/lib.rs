//! Races of ordered indexes against each other, in one process, in interleaved rounds.
//!
//! The program `latchless-bench` is [`args`] and [`run`]; [`list`] prints all names of its command line.
//!
//! In reading order: [`args`] (the command line), [`contest`] (the race, round by round), [`load`]
//! (filling an index), [`requests`], [`drive`] and [`side_by_side`] (streams of requests on threads),
//! [`timed`] (the loops), [`access`] (the ways to an index), [`raced`] and [`ranged`] (indexes by their
//! own type, and their ranges), [`pauses`] (the times of single operations), [`check`] and [`digest`]
//! (whether the answers are right), [`outcome`] and [`report`] (results), [`bytes`] (keys of any length),
//! [`suite`] (many races, one table), [`witness`] (what operations cost in events of the processor).

#![expect(rustdoc::private_intra_doc_links, reason = "its readers read the sources")]

/// As in the program: races weigh indexes with it.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: latchless_measure::counting::Counting = latchless_measure::counting::Counting;

#[cfg(feature = "races")]
mod access;
#[cfg(feature = "races")]
pub mod args;
#[cfg(feature = "races")]
pub mod bytes;
#[cfg(feature = "races")]
pub mod catalogue;
#[cfg(feature = "races")]
mod check;
#[cfg(feature = "races")]
mod contest;
#[cfg(feature = "races")]
mod digest;
#[cfg(feature = "races")]
mod drive;
#[cfg(feature = "races")]
pub mod list;
#[cfg(feature = "races")]
mod load;
#[cfg(feature = "races")]
mod outcome;
#[cfg(feature = "races")]
mod pages;
#[cfg(feature = "races")]
mod pauses;
#[cfg(feature = "races")]
pub mod progress;
#[cfg(feature = "races")]
mod raced;
#[cfg(feature = "races")]
mod ranged;
#[cfg(feature = "races")]
pub mod report;
#[cfg(feature = "races")]
mod requests;
#[cfg(feature = "races")]
mod side_by_side;
#[cfg(feature = "races")]
mod suite;
#[cfg(feature = "races")]
mod timed;
pub mod witness;
#[cfg(feature = "races")]
mod word;

#[cfg(feature = "races")]
pub use args::{Args, Batch, Load, Order};

#[cfg(feature = "races")]
use crate::catalogue::Origin;
#[cfg(feature = "races")]
use args::Width;
#[cfg(feature = "races")]
use latchless_terminal::failure::Failure;
#[cfg(feature = "races")]
use latchless_terminal::output::Format;
#[cfg(feature = "races")]
use latchless_terminal::say;

/// Runs the command.
///
/// # Errors
/// Options that aren't supported, failures while running, and wrong answers.
#[cfg(feature = "races")]
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

#[cfg(feature = "races")]
fn is_rival(name: &str) -> bool {
    catalogue::entries().iter().any(|entry| entry.name == name && entry.origin != Origin::Latchless)
}
