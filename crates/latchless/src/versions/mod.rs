//! An index that keeps versions: consistent snapshots, atomic batches, and transactions.
//!
//! # Versions
//! Every commit has a number, and commits are serial: one changes the index at a time, and a commit becomes
//! visible as a whole, when its number becomes the newest one. Readers take no part in that: they never wait
//! for a commit, nor a commit for them.
//!
//! | | reads |
//! |---|---|
//! | [`get`](VersionedIndex::get) and the other reads of [`VersionedIndex`] | the newest visible version of this one key |
//! | [`Snapshot`] | the versions of one moment, of all keys, as long as it lives |
//! | [`Transaction`] | the versions of one moment and its own writes; its commit fails if another commit has changed something that it read |
//!
//! A version that was replaced stays as long as a snapshot may read it. The commits that write its key again
//! drop it otherwise, and [`prune`](VersionedIndex::prune) those of all keys. With
//! [`Retention::All`] every version stays until [`prune_before`](VersionedIndex::prune_before), and
//! [`snapshot_at`](VersionedIndex::snapshot_at) reads at any number since then: a table of versions, as
//! storage engines keep before they write it to a file.
//!
//! # Costs
//! A read costs one of an [`Index`](crate::Index) of `Arc`s, and one step per version that is newer than
//! the reader. A snapshot takes a lock for some tens of nanoseconds. A commit takes the lock of commits,
//! and for each key a read and an insert; the value that is replaced is cloned. A key that was written once
//! has one version, whose number and reference to older ones take 16 bytes beside the value.
//!
//! # Merge operators and expiry
//! In a log-structured table a merge operator saves the read before a write. Here the write's own descent
//! finds the present value, so [`upsert`](VersionedIndex::upsert) applies the operand at once, reads need
//! fold nothing, and operators of several keys are a [transaction](VersionedIndex::transact). Entries
//! expire by a time in their value: [`retain`](VersionedIndex::retain) removes those whose time has come,
//! and never one that was refreshed meanwhile.
//!
//! ```
//! use latchless::versions::VersionedIndex;
//!
//! /// Visits of a user, and when the session ends.
//! type Session = (u64, u64);
//! let sessions = VersionedIndex::<String, Session>::new()?;
//! let visit = |user: &str, now: u64| {
//!     sessions.upsert(user, |session| (session.map_or(0, |(visits, _)| visits) + 1, now + 30))
//! };
//! visit("ada", 100)?;
//! visit("bob", 110)?;
//! visit("ada", 120)?;
//! let now = 145;
//! assert_eq!(sessions.retain(|_, (_, end)| end > now)?, 1);
//! sessions.prune()?; // The removals, too, as soon as no snapshot is older.
//! assert_eq!((sessions.get("ada"), sessions.get("bob")), (Some((2, 150)), None));
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! # Threads
//! All operations take `&self`. Transactions are serializable, in the order of their commits' numbers;
//! batches and single writes are transactions that read nothing. Snapshots read a consistent state between
//! two commits.

mod batch;
mod clock;
mod commit;
mod part;
mod prune;
mod range;
mod readers;
mod snapshot;
mod traits;
mod transaction;
mod version;
mod versioned;
mod view;

pub(crate) use batch::owned;
pub use batch::{Change, WriteBatch};
pub use clock::Retention;
pub(crate) use clock::{Clock, Turn};
pub use commit::Commit;
pub(crate) use part::Part;
pub use prune::Pruned;
pub use range::SnapshotRange;
pub use snapshot::{NoSuchVersion, Snapshot};
pub use transaction::{CommitError, Transaction};
pub use version::Version;
pub use versioned::VersionedIndex;
pub use view::View;
