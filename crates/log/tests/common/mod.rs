//! Folders with a truncated or changed log, and the expected outcome.

use latchless::Reader;
use latchless_log::{Durable, Error, Options, Recovery, SnapshotPolicy, SyncMode, Usual};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn never() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

pub fn log_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("log-{number:016x}.redo"))
}

/// A folder with the first snapshot of another one, if that has one, and these bytes as its log.
pub fn folder_with(source: &Path, log: &[u8]) -> TempDir {
    let (folder, snapshot) = (folder(), "snapshot-0000000000000001.arrow");
    if source.join(snapshot).exists() {
        fs::copy(source.join(snapshot), folder.path().join(snapshot)).expect("the first snapshot");
    }
    fs::write(log_of(folder.path(), 1), log).expect("a log");
    folder
}

/// The last of the states that is in this many bytes of a log, and how many it takes; of states by the log's
/// bytes at which they were reached.
pub fn state_at<E>(states: &[(u64, Vec<E>)], bytes: usize) -> (u64, &[E]) {
    let reached = states.iter().rev().find(|(reached, _)| *reached <= bytes as u64);
    reached.map_or((0, &[][..]), |(reached, state)| (*reached, &state[..]))
}

/// Makes a log of every kind of record, and returns the entries after each of them.
pub type History<E> = fn(&Path) -> Vec<(u64, Vec<E>)>;

fn entries<I: Usual, E>(durable: &Durable<I, I::Columns>) -> Vec<E>
where
    for<'a> &'a Reader<I>: IntoIterator<Item = E>,
{
    durable.index().into_iter().collect()
}

/// Wherever a kill cuts the log, each record before the cut is recovered, and the rest is reported. `add`
/// adds an entry, which is recovered as well.
pub fn every_cut_gives_the_records_before<I: Usual, E: Debug + PartialEq>(
    history: History<E>,
    add: impl Fn(&Durable<I, I::Columns>),
) where
    for<'a> &'a Reader<I>: IntoIterator<Item = E>,
{
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(log_of(source.path(), 1)).expect("the log");
    for cut in 0..=whole.len() {
        let folder = folder_with(source.path(), &whole[..cut]);
        let (durable, recovery) = Durable::<I, _>::open(folder.path(), never()).expect("it opens");
        let (bytes, state) = state_at(&states, cut);
        assert_eq!(entries(&durable), state, "cut at {cut}");
        assert_eq!(end_of(cut, &recovery), bytes, "cut at {cut}");
        if let Some(stopped) = recovery.stopped {
            assert_eq!(stopped.at + stopped.bytes, cut as u64);
            assert_eq!(fs::read(stopped.rejected).expect("kept"), whole[bytes as usize..cut]);
        }
        add(&durable);
        drop(durable);
        let (durable, recovery) = Durable::<I, _>::open(folder.path(), never()).expect("it opens again");
        assert_eq!((durable.len(), recovery.stopped), (state.len() + 1, None), "cut at {cut}");
    }
}

/// A flipped bit never gives entries that weren't there after one of the records. One bit of each byte; all
/// of them in the campaign.
pub fn every_flipped_bit_is_found<I: Usual, E: Debug + PartialEq>(history: History<E>)
where
    for<'a> &'a Reader<I>: IntoIterator<Item = E>,
{
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(log_of(source.path(), 1)).expect("the log");
    let all = std::env::var_os("LATCHLESS_KILLS").is_some();
    for bit in (0..whole.len() * 8).filter(|bit| all || bit % 8 == bit / 8 % 8) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let folder = folder_with(source.path(), &flipped);
        match Durable::<I, _>::open(folder.path(), never()) {
            Err(error) => {
                assert!(bit / 8 < 64, "bit {bit}: {error}");
                assert!(
                    matches!(error, Error::Damaged { .. } | Error::Version { .. } | Error::OtherType { .. }),
                    "bit {bit}: {error}"
                );
            }
            Ok((durable, recovery)) => {
                let stopped = recovery.stopped.expect("the record's sum says so");
                let before = states.iter().rev().find(|(bytes, _)| *bytes <= (bit / 8) as u64);
                let (bytes, state) = before.expect("a record");
                assert_eq!((stopped.at, &entries(&durable)), (*bytes, state), "bit {bit}");
            }
        }
    }
}

/// Where a log of this many bytes ended, by what its opening says. One without all of its first 64 bytes was
/// only being begun.
pub fn end_of(bytes: usize, recovery: &Recovery) -> u64 {
    let whole = if bytes < 64 { 0 } else { bytes as u64 };
    recovery.stopped.as_ref().map_or(whole, |stopped| stopped.at)
}
