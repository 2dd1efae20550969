//! What an opening finds, and how it treats damage.

use std::path::PathBuf;

/// The treatment of damage in the last log: of an incomplete record which a later one says was on the disk.
/// The unfinished end that a kill or a power failure leaves is cut off either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DamagedTail {
    /// The opening fails with [`Error::Damaged`](crate::Error::Damaged), and the files stay unchanged. Every
    /// record after the bad one is lost to the index, acknowledged or not, so a person has to decide.
    #[default]
    Refuse,
    /// The log is cut off before the bad record. The rest is kept in the file that [`Stopped::rejected`]
    /// names, and [`Stopped::whole`] says how many records of it are whole. If a snapshot was saved while
    /// that log was written, it may have some of the lost changes.
    SetAside,
}

/// The findings of opening a folder. Damage is an error unless [`DamagedTail::SetAside`] was chosen; so
/// records that `stopped` reports otherwise were never known to be on the disk. A program that ignores them
/// loses nothing that was acknowledged under [`SyncMode::Each`](crate::SyncMode::Each).
#[must_use = "`stopped` says what was cut off the log"]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Entries of the snapshot; 0 without one.
    pub snapshot_entries: u64,
    /// Records of the logs that were replayed.
    pub records: u64,
    /// Entries that these put and removed.
    pub entries: u64,
    /// Where the last log ended early, if it did: after a kill or a power failure, in a record that wasn't
    /// known to be on the disk. See "What is cut off" in [the crate's head](crate).
    pub stopped: Option<Stopped>,
}

/// A log's first record that isn't whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// The log.
    pub path: PathBuf,
    /// The byte at which that record begins.
    pub at: u64,
    /// How many bytes from there on were cut off, and are in `rejected` now.
    pub bytes: u64,
    /// The kind of damage.
    pub what: &'static str,
    /// How many whole records are among them. After a power failure that are some whose place on the disk
    /// was written before that of an earlier one; none of them was known to be there. Under
    /// [`DamagedTail::SetAside`] it may be any.
    pub whole: u64,
    /// Where the bytes that were cut off are kept. Nothing reads that file. If it has no whole record
    /// (`log-N.torn`), the first snapshot removes it that removes its log; otherwise (`log-N.rejected`) it
    /// stays until its owner removes it. In a folder that was only [read](crate::ReadOnly) it is the log.
    pub rejected: PathBuf,
}
