//! `latchless-bench list`: all names of the command line.

use crate::races::bytes::catalogue as byte_indexes;
use crate::races::catalogue;
use latchless_core::search::Kernel;
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::say;
use latchless_workload::{BytesKeySet, KeySet, Workload};
use serde_json::json;

/// Lists the names of indexes, workloads, key sets and search kernels.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  latchless-bench list
      Everything that can be named on the command line.
  latchless-bench list url
      What has `url` in its kind, name, description or note.
  latchless-bench list --format json
      Everything, one JSON object a line: kind, name, about, note.")]
pub struct Args {
    /// List only rows with this text in kind, name, description or note
    #[arg(value_name = "FILTER")]
    filter: Option<String>,

    /// How the list is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// When standard output can't be written to.
pub fn run(args: &Args) -> Result<(), Failure> {
    let all = items();
    let wanted = args.filter.as_deref().unwrap_or_default().to_lowercase();
    let mut rows = Rows::new(["kind", "name", "about", "note"]);
    for item in all.iter().filter(|item| item.iter().any(|cell| cell.to_lowercase().contains(&wanted))) {
        rows.push(item.iter().map(|cell| json!(cell)).collect());
    }
    if rows.is_empty() {
        let like = did_you_mean(&wanted, all.iter().map(|[_, name, ..]| name.as_str()));
        say::note(format_args!("nothing has `{wanted}` in its kind, name, description or note{like}"));
        return Ok(());
    }
    rows.print(args.format)
}

/// Returns everything that the command line can name: kind, name, description, note.
fn items() -> Vec<[String; 4]> {
    let (first, others): (Vec<_>, Vec<_>) =
        catalogue::entries().into_iter().partition(|entry| entry.name == catalogue::FLAGSHIP);
    let indexes = first.into_iter().chain(others).map(|entry| {
        let note = match entry.origin {
            _ if entry.name == catalogue::FLAGSHIP => "latchless: the recommended one",
            _ if !entry.compiled => "rival: build with --features rivals",
            origin => origin.name(),
        };
        ["index", entry.name, entry.about, note]
    });
    let workloads = Workload::ALL.into_iter().map(|workload| {
        let note = if workload.updates() { "updates" } else { "reads" };
        ["workload", workload.name(), workload.about(), note]
    });
    let kernels = Kernel::ALL.into_iter().map(|kernel| {
        let note = match kernel {
            absent if !absent.is_available() => "not on this processor",
            best if best == Kernel::best() => "chosen",
            _ => "available",
        };
        ["kernel", kernel.name(), "in-node search", note]
    });
    let others = indexes.chain(workloads).chain(kernels);
    let key_sets = KeySet::ALL
        .into_iter()
        .map(|set| ["keys", &set.to_string(), set.about(), "for --keys"].map(str::to_owned));
    others.map(|item| item.map(str::to_owned)).chain(key_sets).chain(byte_strings()).collect()
}

/// Returns the names for byte strings: sets of keys, and the indexes that aren't among the others.
fn byte_strings() -> impl Iterator<Item = [String; 4]> {
    let sets = BytesKeySet::ALL.into_iter().map(|set| {
        let note = if set.is_hard() { "for --keys; hard" } else { "for --keys" };
        ["byte strings", set.name(), set.about(), note]
    });
    let others = catalogue::entries();
    let is_new = move |entry: &catalogue::Entry| others.iter().all(|other| other.name != entry.name);
    let indexes = byte_indexes::entries().into_iter().filter(is_new).map(|entry| {
        let note = if entry.compiled { entry.origin.name() } else { "not in this build" };
        ["index", entry.name, entry.about, note]
    });
    sets.chain(indexes).map(|item| item.map(str::to_owned))
}
