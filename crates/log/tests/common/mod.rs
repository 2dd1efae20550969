//! Folders with a log that was cut or changed, and what is expected of them.

use latchless_log::{Options, SyncMode};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn never() -> Options {
    Options { sync: SyncMode::Never, ..Options::default() }
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

pub fn log_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("log-{number:016x}.redo"))
}

/// A folder with the first snapshot of another one and these bytes as its log.
pub fn folder_with(source: &Path, log: &[u8]) -> TempDir {
    let folder = folder();
    let snapshot = "snapshot-0000000000000001.arrow";
    fs::copy(source.join(snapshot), folder.path().join(snapshot)).expect("the first snapshot");
    fs::write(log_of(folder.path(), 1), log).expect("a log");
    folder
}

/// The last of the states that is in so many bytes of a log, and how many it takes; of states by the log's
/// bytes at which they were reached.
pub fn state_at<E>(states: &[(u64, Vec<E>)], bytes: usize) -> (u64, &[E]) {
    let reached = states.iter().rev().find(|(reached, _)| *reached <= bytes as u64);
    reached.map_or((0, &[][..]), |(reached, state)| (*reached, &state[..]))
}
