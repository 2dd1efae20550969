//! An index whose changes outlive its process: a redo log of batches, and snapshots that shorten it.
//!
//! ```
//! use latchless_log::{DurableIndex, Options};
//!
//! # let folder = std::env::temp_dir().join(format!("latchless-log-{}", std::process::id()));
//! let (prices, recovery) = DurableIndex::<u64, f64>::open(&folder, Options::default())?;
//! assert_eq!(recovery.stopped, None); // nothing was cut off
//! prices.insert(101, 7.5)?; // is on the disk when this returns
//! prices.insert_columns(&[99, 105], &[5.0, 3.0])?; // one record, one wait for the disk
//! drop(prices);
//!
//! let (prices, recovery) = DurableIndex::<u64, f64>::open(&folder, Options::default())?;
//! assert_eq!((prices.get(101), recovery.records), (Some(7.5), 2));
//! prices.snapshot()?; // from here on the next start reads one file and nothing of the log
//! # drop(prices);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//! - **Acknowledged changes survive.** When a changing operation has returned `Ok` under
//!   [`SyncMode::Each`], a killed process or a power failure can't undo it, provided that the disk keeps
//!   the data that it reports as written. Under [`SyncMode::Every`] and [`SyncMode::Never`] that holds for
//!   a killed process; a power failure may lose unsynced changes, from some moment on: a change never
//!   survives without all earlier ones.
//! - **Nothing else appears.** Every recovered change was requested. An operation that was under way when
//!   the process died may survive or not; of a batch of over 2^20 entries also its first records alone.
//! - **A key's changes survive in their order**, under any number of writers.
//! - **Readers may see a change before it is on the disk.** It is visible as soon as the index has it. A
//!   reader that needs durability calls [`DurableIndex::sync`].
//! - A batch isn't atomic for readers, as in the index itself. On recovery a record is whole or absent.
//!   Commits of a [`DurableVersionedIndex`] and of a [`DurableTable`] are atomic for readers, too, and each
//!   is one record.
//!
//! # One process
//! A folder is open in one index of one process at a time: the next opening fails with [`Error::Locked`]. A
//! fork of the process has a copy of the index to read. Its changes are refused with [`Error::Forked`],
//! because both processes would write at one place of one file. [`DurableIndex::forsake`] lets the lock end
//! with its process.
//!
//! Reading a folder needs no lock: [`ReadOnly`] and [`DurableIndex::read`] copy its entries into an index
//! in memory, while another process has it open.
//!
//! A [`Follower`] goes on reading: it applies what the writer logs, and takes the folder over when the writer
//! is gone. [`Durable::backup`] copies the files.
//!
//! If locks can be lost, [`Opening::fenced`] keeps an index that was taken over from acknowledging
//! anything.
//!
//! # The folder
//! `log-N.redo` has the changes since snapshot `N`, `snapshot-N.arrow` the state before them: the Arrow
//! file of [`latchless::snapshot`]. A new folder has a first snapshot only if it begins with entries, or if
//! its [`Columns`] have metadata. N counts up in 16 hexadecimal digits. `lock` excludes a second process.
//! Recovery loads the newest snapshot and replays every log from it on. A log names the record that it
//! follows. Later records of the previous log were written by an index that had been taken over, and don't
//! count.
//!
//! A folder that an opening makes, and each folder above it, has its name on the disk before the opening
//! returns. So has all that a recovery reads: a killed process may have left changes in the system's memory
//! alone, and after a failed sync the system may wrongly regard pages as written. A recovery rewrites the
//! end of the log, from the last record on that is known to be on the disk.
//!
//! # What is cut off
//! Recovery stops at the first record that isn't whole.
//! - **The end of the last log**, as a kill or a power failure leaves it: an unfinished record; or, after a
//!   power failure, also whole records after it, because a disk writes pages in any order. None of them was
//!   known to be on the disk: under [`SyncMode::Each`] none was acknowledged. The log is cut off there, and
//!   [`Recovery::stopped`] says where.
//! - **Damage**: a bad record that was on the disk once, because a later one says so, or because there is a
//!   later log. The opening fails with [`Error::Damaged`], which names the file, the byte, and how many
//!   whole records follow, and changes nothing. [`DamagedTail::SetAside`] opens the index without these
//!   records; it works for the last log alone.
//!
//! Each record says up to which record the log was on the disk when it was written. A mark says it where no
//! record follows: after a close, a drop under [`SyncMode::Each`] or [`SyncMode::Every`], a
//! [`sync`](DurableIndex::sync), and a snapshot. Damage after the last of these can't be distinguished from
//! an unfinished end. Under [`SyncMode::Each`] that concerns the last record of a killed process, and
//! records written at the same time; under [`SyncMode::Never`] everything since the last sync.
//!
//! The part that is cut off is copied to a new file first, `log-N.torn` if it has no whole record,
//! `log-N.rejected` if it has some; a later one of the same log is `-2`, and so on. These files are never
//! read or overwritten. A snapshot that removes log N removes its `.torn` files. Those that are `.rejected`
//! stay until their owner removes them.
//!
//! # The log's bytes
//! Little-endian. A file begins with 64 bytes: `latchlog`, a version (4 bytes, 3), a CRC-32 of the other 60
//! bytes, N (8 bytes), the names of the key's and of the value's type (16 bytes each, padded with zeros),
//! the number of the last record before this log (8 bytes). Then come records. Each begins with 32 bytes: a
//! CRC-32 of the other 28, a CRC-32 of the payload, the record's number (8 bytes; one more than that of the
//! record before, across files), the number of a record up to which the log was on the disk then (8 bytes),
//! the number of entries (4 bytes), the kind (1 byte), whether it has long strings (1 byte), 2 zeros. The
//! payload of kind 1 (put) is all keys, then all values; of kind 2 (remove) all keys. The payload of kind 3
//! (remove a range) is the kinds of its ends, two bytes (0 open, 1 included, 2 excluded), six zeros, and
//! both ends in 8 bytes each. Keys and values take their type's width. Kind 8 is a mark: it has the number
//! of the record before it and no entries.
//!
//! A log of version 2 is read as well, and followed by one of version 3. Its records lack the number of the
//! record that was on the disk, and begin with 24 bytes. Whole records after a bad one count as damage
//! there.
//!
//! For keys of any length, in a [`DurableBytesIndex`], a record has the length of its payload in the place
//! of the number of entries. The payload of kind 4 (put) is, for each entry, the key's length (2 bytes),
//! its bytes and the value; of kind 5 (remove) the same without values. The payload of kind 6 (remove a
//! range) is the kinds of its ends in two bytes, and both ends, each with its length. A value has as many
//! bytes as its column is wide; a string begins with its length, as a key does. In a record with long
//! strings, a length of 65,535 is followed by the length in 4 bytes. Only a snapshot names the types of
//! keys and values, so such a folder has a snapshot from its first moment on.
//!
//! A commit of a [`DurableVersionedIndex`] is one record of kind 9, whose number is the commit's. Its
//! payload is the changes in their order. Each begins with a byte: 1 (put) before the key's length (2
//! bytes), its bytes and the value, 2 (remove) before the same without a value, 3 (remove a range) before
//! what kind 6 has. A string's length as a value takes 4 bytes. A snapshot has the entries of one commit,
//! whose number is in the metadata under `commit`; keys that are numbers are big-endian bytes in their
//! order. Records up to that number aren't replayed. A [`DurableTable`] has the same records and snapshots,
//! of primary keys and rows; the other indexes follow from the rows.
//!
//! For keys in many rows, in a [`DurableMultiIndex`], kind 4 puts rows under keys, each row in the place of
//! a value; kind 7 removes such pairs, and kind 5 keys with all of their rows.

#[cfg(test)]
mod acknowledged;
mod ahead;
mod backup;
mod batch;
mod bytes;
mod changes;
mod columns;
mod commit;
mod commits;
mod disk;
mod due;
mod dump;
mod durable;
mod error;
mod file;
mod findings;
mod folder;
mod follow;
mod index;
mod journal;
mod kept;
mod labels;
mod later;
mod log;
mod logged;
mod measured;
#[cfg(test)]
mod model;
mod multi;
mod numbers;
mod options;
mod pairs;
mod pending;
mod reading;
mod record;
mod recover;
mod replay;
mod rows;
mod saver;
mod scan;
mod stored;
mod strings;
mod strings_of;
mod stripes;
mod table;
mod text;
mod verify;
mod versioned;
mod versions;

pub use backup::Backup;
pub use bytes::DurableBytesIndex;
pub use columns::{Columns, Plain, load, save};
pub use due::SnapshotPolicy;
pub use dump::{DumpedChange, DumpedRecord, dump};
pub use durable::Durable;
pub use error::{Error, Result};
pub use findings::{DamagedTail, Recovery, Stopped};
pub use follow::Follower;
pub use index::DurableIndex;
pub use kept::{Kept, Usual};
pub use labels::Labels;
pub use logged::{KeyOf, Logged};
pub use multi::DurableMultiIndex;
pub use options::{Opening, Options, SyncMode};
pub use reading::ReadOnly;
pub use recover::Found;
pub use stored::{Stored, StoredAsUsual};
pub use table::{ChangeError, DurableTable, TableTransaction};
pub use verify::{CheckedFile, Repaired, Trouble, repair, repair_to, verify};
pub use versions::{CommitError, DurableVersionedIndex, Transaction};
