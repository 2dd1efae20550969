//! `latchless-bench --keys url`: races over byte strings.
//!
//! Keys of any length have separate indexes, rivals and key sets. Requests, turns, medians and checks are
//! the same as in other races. In reading order: [`asked`] (the parameters, and what these races don't
//! support), [`catalogue`] (the indexes by name), [`flagship`] (the recommended index), [`stream`]
//! (requests), [`contestant`] (the timed loops), [`contest`] (the race).

mod asked;
pub mod catalogue;
mod contest;
mod contestant;
mod flagship;
mod stream;

pub use asked::{parse, sets};

use super::args::Args;
use super::{outcome, report};
use asked::Race;
use latchless_measure::machine;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use latchless_workload::BytesKeySet;

/// The word in results where other races have the width of keys.
const KEY: &str = "bytes";

/// Runs a race over a set of byte strings.
///
/// # Errors
/// Options that aren't supported, failures while running, and wrong answers.
pub fn run(args: &Args, set: BytesKeySet) -> Result<(), Failure> {
    let race = Race::new(args, set)?;
    let machine = machine::line();
    if args.format == Format::Table {
        say::note(&machine);
    }
    let (outcomes, key_bytes) = contest::race(args, &race)?;
    let keys = Some(set.name().to_owned());
    let setting = outcome::Setting { keys, key: KEY, key_bytes: Some(key_bytes), ..args.setting(&race.spec) };
    if let Some(file) = &args.report {
        report::write(file, &machine, &setting, &outcomes)?;
    }
    if args.format == Format::Table {
        say::note(setting.line(args.rounds));
        return outcome::table(&setting, &outcomes).print(args.format);
    }
    outcome::rows(&setting, &outcomes).print(args.format)
}
