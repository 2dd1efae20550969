//! Tables: rows of a program's own type, found by a primary key and by any number of secondary indexes,
//! which change together.
//!
//! ```
//! use latchless::table::{NonUnique, Table, TableError, Unique};
//!
//! #[derive(Debug, Clone)]
//! struct Person {
//!     id: u64,
//!     email: String,
//!     age: u32,
//! }
//!
//! struct People {
//!     rows: Table<u64, Person>,
//!     by_email: Unique<String, Person>,
//!     by_age: NonUnique<(u32, u64), Person>,
//! }
//!
//! let mut builder = Table::builder(|person: &Person| person.id);
//! let by_email = builder.unique("email", |person| person.email.clone())?;
//! let by_age = builder.index("age", |person| person.age)?;
//! let people = People { rows: builder.build()?, by_email, by_age };
//!
//! people.rows.insert(Person { id: 1, email: "ada@example.org".into(), age: 36 })?;
//! people.rows.insert(Person { id: 2, email: "bob@example.org".into(), age: 41 })?;
//! assert_eq!(people.by_email.get("bob@example.org").unwrap().id, 2);
//!
//! // A key that another row has is an error that returns this row.
//! match people.rows.insert(Person { id: 3, email: "ada@example.org".into(), age: 20 }) {
//!     Err(TableError::Duplicate { index, existing, .. }) => {
//!         assert_eq!((&*index, existing.id), ("email", 1));
//!     }
//!     other => panic!("{other:?}"),
//! }
//!
//! // All indexes of one moment, whatever is changed meanwhile.
//! let now = people.rows.snapshot();
//! people.rows.update(1, |ada| Person { age: 42, ..ada.clone() })?;
//! let ages = people.by_age.at(&now);
//! assert_eq!(ages.range(30..40).map(|person| person.id).collect::<Vec<_>>(), [1]);
//! assert_eq!(people.by_age.snapshot().range(30..40).count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rows and keys
//! A row is an `Arc<R>`, of any type `R`; a change replaces it by another one, so a row that a reader has
//! stays as it is. The functions given to the [`Builder`] compute its keys from it, and must return the
//! same ones each time. A row has one primary key, and in a secondary index one key, or with
//! [`unique_each`](Builder::unique_each) and [`index_each`](Builder::index_each) any number of them.
//!
//! | index | a key has | entries | handle |
//! |---|---|---|---|
//! | primary key | one row | key → row | the [`Table`] |
//! | [`unique`](Builder::unique) | at most one row | key → row | [`Unique`] |
//! | [`index`](Builder::index) | any number of rows | (key, primary key) → row | [`NonUnique`] |
//!
//! # Reads
//! | | reads |
//! |---|---|
//! | [`Table::get`], [`Unique::get`] | the newest row of one key |
//! | [`Table::snapshot`] and its kin | all rows of one moment, by every read of a [`Snapshot`](crate::versions::Snapshot) |
//! | [`Unique::at`], [`NonUnique::at`] | an index as of the moment of such a snapshot |
//!
//! # Changes
//! Each change, and each [`Batch`], is one commit: readers see it in all indexes or in none, and one that
//! is refused changes nothing. Keys of unique indexes are checked when all rows of a batch are known, so
//! rows can exchange theirs.
//!
//! A [transaction](Table::transact) reads rows and changes some, and is committed only if no other commit
//! has changed what it has read by its key: transactions are serializable, in the order of their commits.
//!
//! A table is in memory alone. `DurableTable` of the crate `latchless-log` has a log of its commits.
//!
//! # Costs
//! A read by any key is one lookup in an index of [`VersionedIndex`](crate::versions::VersionedIndex)'s
//! costs, because the entries of secondary indexes refer to the row itself. A change of a row writes one
//! entry in each index, and a second one where its key has changed: a lookup and an insert each. Snapshots
//! take a lock for some tens of nanoseconds.
//!
//! # Threads
//! Tables, handles and snapshots are `Send` and `Sync`, and all operations take `&self`. Changes are
//! serial, as commits of one [`VersionedIndex`](crate::versions::VersionedIndex) are; reads wait for no
//! change. Key functions run while the lock of commits is held.

mod batch;
mod builder;
mod changes;
mod error;
mod keys;
mod load;
mod moment;
mod non_unique;
mod prepared;
mod publish;
mod secondary;
#[expect(clippy::module_inception, reason = "the table itself")]
mod table;
mod transaction;
mod unique;

pub use batch::Batch;
pub use builder::Builder;
pub use error::TableError;
pub use keys::{EntryKey, TableKey};
pub use moment::{OwnedRowSnapshot, RowSnapshot};
pub use non_unique::{NonUnique, NonUniqueSnapshot, Rows};
#[doc(hidden)]
pub use prepared::Prepared;
pub use publish::{AtOnce, Publish};
pub use table::Table;
pub use transaction::Transaction;
pub use unique::Unique;
