//! `latchless log`: the folder of a durable index, looked at and repaired without its types.

mod args;

pub use args::Args;

use args::Command;
use latchless_log::{CheckedFile, DumpedChange, DumpedRecord, Error, ReadOnly, Trouble};
use latchless_terminal::failure::Failure;
use latchless_terminal::say;
use std::io::{self, BufWriter, Write};
use std::ops::{Bound, ControlFlow};
use std::path::Path;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Verify { folder } => verify(folder),
        Command::Repair { folder, to } => repair(folder, to.as_deref()),
        Command::Dump { folder, from } => dump(folder, *from),
        Command::Backup { folder, to } => backup(folder, to),
    }
}

/// A request that can't be served as it is, or a failure.
fn failure(error: Error) -> Failure {
    match error {
        Error::Missing { .. } | Error::Locked { .. } => Failure::usage(error),
        other => Failure::run(other),
    }
}

fn verify(folder: &Path) -> Result<(), Failure> {
    let files = latchless_log::verify(folder).map_err(failure)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut refused = 0;
    for CheckedFile { path, bytes, entries, last, trouble, .. } in files {
        let of = if last.is_some() { "records" } else { "entries" };
        let told = match &trouble {
            None => "whole".to_owned(),
            Some(Trouble::Unfinished { at, what }) => {
                format!("unfinished at byte {at}: {what}; an opening cuts that off")
            }
            Some(Trouble::Refused(error)) => {
                refused += 1;
                error.to_string()
            }
        };
        writeln!(out, "{}: {entries} {of}, {bytes} bytes: {told}", path.display())?;
    }
    out.flush()?;
    match refused {
        0 => Ok(()),
        _ => Err(Failure::run(format_args!(
            "{} doesn't open; latchless log repair keeps what precedes the damage of a log",
            folder.display()
        ))),
    }
}

fn repair(folder: &Path, to: Option<&Path>) -> Result<(), Failure> {
    if let Some(to) = to {
        let backup = latchless_log::repair_to(folder, to).map_err(failure)?;
        say::note(format_args!("{} has everything up to record {}", to.display(), backup.record));
        return Ok(());
    }
    let repaired = latchless_log::repair(folder).map_err(failure)?;
    for path in &repaired.set_aside {
        say::note(format_args!("set aside: {}", path.display()));
    }
    say::note(format_args!("{} has everything up to record {}", folder.display(), repaired.last));
    Ok(())
}

fn backup(folder: &Path, to: &Path) -> Result<(), Failure> {
    let backup = ReadOnly::open(folder).and_then(|found| found.backup(to)).map_err(failure)?;
    let (to, bytes, record) = (to.display(), backup.bytes, backup.record);
    say::note(format_args!("{to} has everything up to record {record}: {bytes} bytes"));
    Ok(())
}

fn dump(folder: &Path, from: u64) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let shown = latchless_log::dump(folder, from, |record| {
        written = write_record(&mut out, record);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written.and_then(|()| out.flush())?;
    shown.map_err(failure)
}

/// One line a change: the record's number, what it does, the key and the value, with tabs between.
fn write_record(out: &mut impl Write, DumpedRecord { number, changes, .. }: &DumpedRecord) -> io::Result<()> {
    if changes.is_empty() {
        return writeln!(out, "{number}\tnothing");
    }
    changes.iter().try_for_each(|change| match change {
        DumpedChange::Put { key, value } => writeln!(out, "{number}\tput\t{key}\t{value}"),
        DumpedChange::Remove { key, row: None } => writeln!(out, "{number}\tremove\t{key}"),
        DumpedChange::Remove { key, row: Some(row) } => writeln!(out, "{number}\tremove\t{key}\t{row}"),
        DumpedChange::RemoveRange { low, high } => {
            let low = match low {
                Bound::Unbounded => String::new(),
                Bound::Included(low) => format!("from {low}"),
                Bound::Excluded(low) => format!("after {low}"),
            };
            let high = match high {
                Bound::Unbounded => String::new(),
                Bound::Included(high) => format!("to {high}"),
                Bound::Excluded(high) => format!("before {high}"),
            };
            writeln!(out, "{number}\tremove range\t{low}\t{high}")
        }
    })
}
