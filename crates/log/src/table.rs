//! A durable table.

use crate::commits::{Change, draft};
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::findings::{DamagedTail, Recovery};
use crate::journal::Journal;
use crate::options::Opening;
use crate::reading::ReadOnly;
use crate::recover::Found;
use latchless::BytesKey;
use latchless::snapshot::SavedRow;
use latchless::table::{Batch, Prepared, Publish, Table, TableError, TableKey, Transaction};
use latchless::versions::Pruned;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A [`Table`] in memory with a redo log in a folder. Each commit, a batch or a transaction as well as a
/// change of one row, is one record of primary keys and rows: after a crash it is there as a whole or not at
/// all, and with all commits before it. The secondary indexes aren't saved: an opening computes them from
/// the rows. The promises of the [crate's head](crate) hold here.
///
/// The caller adds the indexes to a [`Builder`](latchless::table::Builder) as for a table in memory, and
/// opens a folder with the empty table. The handles of the indexes find the rows of the folder then. Rows
/// are a [`SavedRow`]: their bytes, in any format.
///
/// ```
/// use latchless::BytesKey;
/// use latchless::snapshot::SavedRow;
/// use latchless::table::{Batch, NonUnique, Table, TableError, Unique};
/// use latchless_log::{ChangeError, DurableTable, Opening, Result};
/// use std::borrow::Cow;
/// use std::path::Path;
///
/// #[derive(Debug, Clone)]
/// struct Account {
///     id: u64,
///     email: String,
///     cents: i64,
/// }
///
/// type Parts = (u64, String, i64);
/// impl SavedRow for Account {
///     fn type_name() -> Cow<'static, str> {
///         "account".into()
///     }
///     fn with_cell<A>(&self, see: impl FnOnce(&[u8]) -> A) -> A {
///         BytesKey::<Parts>::with_bytes(&(self.id, &*self.email, self.cents), see)
///     }
///     fn of_cell(cell: &[u8]) -> Option<Self> {
///         let (id, email, cents) = Parts::is_key(cell).then(|| Parts::from_bytes(cell))?;
///         Some(Self { id, email, cents })
///     }
/// }
///
/// struct Accounts {
///     rows: DurableTable<u64, Account>,
///     by_email: Unique<String, Account>,
///     by_cents: NonUnique<(i64, u64), Account>,
/// }
///
/// fn open(folder: &Path) -> Result<Accounts> {
///     let mut builder = Table::builder(|account: &Account| account.id);
///     let by_email = builder.unique("email", |account| account.email.clone())?;
///     let by_cents = builder.index("cents", |account| account.cents)?;
///     let (rows, _) = DurableTable::open_with(folder, builder.build()?, Opening::default())?;
///     Ok(Accounts { rows, by_email, by_cents })
/// }
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-table-{}", std::process::id()));
/// let accounts = open(&folder)?;
/// let mut opening = Batch::new();
/// opening.insert(Account { id: 1, email: "ada@example.org".into(), cents: 100 });
/// opening.insert(Account { id: 2, email: "bob@example.org".into(), cents: 20 });
/// assert_eq!(accounts.rows.commit(opening)?, 1); // is on the disk when this returns
///
/// let taken = accounts.rows.update(2, |bob| Account { email: "ada@example.org".into(), ..bob.clone() });
/// let Err(ChangeError::Refused(TableError::Duplicate { existing, .. })) = taken else { panic!() };
/// assert_eq!(existing.id, 1);
///
/// accounts.rows.transact(|transfer| {
///     let (ada, bob) = (transfer.get(1), transfer.find(&accounts.by_email, "bob@example.org"));
///     let (Some(ada), Some(bob)) = (ada, bob) else { return Ok(()) };
///     transfer.replace(Account { cents: ada.cents - 30, ..(*ada).clone() });
///     transfer.replace(Account { cents: bob.cents + 30, ..(*bob).clone() });
///     Ok::<_, ChangeError<Account>>(())
/// })?;
/// drop(accounts);
///
/// let accounts = open(&folder)?;
/// assert_eq!((accounts.rows.index().newest(), accounts.rows.len()), (2, 2));
/// assert_eq!(accounts.by_email.get("bob@example.org").unwrap().cents, 50);
/// let now = accounts.rows.index().snapshot(); // all indexes of one moment
/// assert_eq!(accounts.by_cents.at(&now).range(60..).map(|row| row.id).collect::<Vec<_>>(), [1]);
/// # drop(now);
/// # drop(accounts);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Indexes and rows
/// A folder has no list of indexes. Each opening has those of its builder, and an index that is added or left
/// out needs no change of the files. A unique index that the rows contradict is
/// [`Error::Duplicate`], which names two of them; a row whose primary key isn't the one under which it was
/// saved, because the function that computes it has changed, is [`Error::OtherPrimaryKey`].
///
/// Reads, [`snapshot`](Durable::snapshot), [`backup`](Durable::backup), [`sync`](Durable::sync) and their kin
/// are those of every [`Durable`]. A commit has the same number again after an opening, and the next one
/// follows.
///
/// # Threads
/// As in the table, commits are serial, and reads wait for none. A row's bytes are computed while the lock of
/// commits is held, as keys are; threads that wait for the disk don't hold it, and share one wait.
///
/// # Limits
/// A commit has at most 1 GiB of keys and rows; a larger one is refused with [`Error::CommitTooLong`] and
/// changes nothing.
pub type DurableTable<K, R> = Durable<Table<K, R>>;

/// The reason why a change of a [`DurableTable`] isn't acknowledged.
#[derive(thiserror::Error)]
pub enum ChangeError<R> {
    /// The table refused it. Nothing is changed, now or after a recovery. The rows in the error are on the
    /// disk, if the options say so.
    #[error(transparent)]
    Refused(#[from] TableError<R>),
    /// The log refused it. Nothing is changed, or, if the disk failed while the operation waited for it
    /// ([`Error::Closed`]), the change is in the table and perhaps not on the disk.
    #[error(transparent)]
    Log(#[from] Error),
}

impl<R> fmt::Debug for ChangeError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => f.debug_tuple("Refused").field(error).finish(),
            Self::Log(error) => f.debug_tuple("Log").field(error).finish(),
        }
    }
}

/// A transaction of a [`DurableTable`]: see [`DurableTable::begin`].
pub type TableTransaction<'t, K, R> = Transaction<'t, K, R, Logging<'t>>;

/// Commits that are visible once their record is written.
#[derive(Debug, Clone, Copy)]
pub struct Logging<'t>(&'t Journal);

impl<K, R> Publish<K, R> for Logging<'_>
where
    K: TableKey<R> + BytesKey,
    R: SavedRow + Send + Sync + 'static,
{
    type Error = ChangeError<R>;

    fn begin(self) -> Result<(), ChangeError<R>> {
        Ok(self.0.check_process()?)
    }

    fn publish(self, commit: Prepared<'_, K, R>) -> Result<u64, ChangeError<R>> {
        let number = commit.number();
        let draft = draft(commit.changes().map(|(key, row)| Change::Put(key, row)), self.0)?;
        self.0.commit(number, draft, || commit.publish())?;
        Ok(number)
    }

    fn unchanged(self) -> Result<(), ChangeError<R>> {
        Ok(self.0.nothing(())?)
    }
}

impl<K, R> DurableTable<K, R>
where
    K: TableKey<R> + BytesKey,
    R: SavedRow + Send + Sync + 'static,
{
    /// Opens a folder, which is made if it isn't there, with an empty table, and returns the recovery's
    /// findings.
    ///
    /// # Errors
    /// [`Error::Duplicate`], [`Error::OtherPrimaryKey`]; those of [`Found::recover`]. The files are then
    /// unchanged.
    pub fn open_with(
        folder: impl AsRef<Path>,
        table: Table<K, R>,
        opening: Opening,
    ) -> Result<(Self, Recovery)> {
        Found::open(folder)?.recover(table, (), opening)
    }

    /// Reads the rows of a folder into an empty table in memory, which is then independent of the folder;
    /// also returns the recovery's findings. Nothing is written or locked: see [`ReadOnly`].
    ///
    /// # Errors
    /// Those of [`DurableTable::open_with`], except that [`Error::Missing`] reports a folder without a
    /// durable index, and [`Error::Locked`] never occurs. [`Error::Shared`] if the folder must be read again,
    /// because its writer has removed files meanwhile, while there is a snapshot of a handle's index.
    pub fn read_with(folder: impl AsRef<Path>, table: Table<K, R>) -> Result<(Table<K, R>, Recovery)> {
        ReadOnly::open(folder)?.load(table, &(), DamagedTail::Refuse)
    }

    fn logging(&self) -> Logging<'_> {
        Logging(&self.journal)
    }

    /// Inserts a row: see [`Table::insert`].
    ///
    /// # Errors
    /// [`ChangeError::Refused`], as [`Table::insert`]. [`ChangeError::Log`]: [`Error::CommitTooLong`],
    /// [`Error::Index`] for a primary key of over 16 MiB, [`Error::Snapshot`] for a row whose bytes don't fit
    /// its column; [`Error::Closed`], [`Error::Ended`], [`Error::Forked`], [`Error::Fenced`], [`Error::Io`].
    pub fn insert(&self, row: impl Into<Arc<R>>) -> Result<(), ChangeError<R>> {
        self.index.changes(self.logging()).insert(row)
    }

    /// Inserts a row, or replaces the one with its primary key, and returns that: see [`Table::replace`].
    ///
    /// # Errors
    /// Those of [`DurableTable::insert`].
    pub fn replace(&self, row: impl Into<Arc<R>>) -> Result<Option<Arc<R>>, ChangeError<R>> {
        self.index.changes(self.logging()).replace(row)
    }

    /// Removes the row with this primary key, and returns it: see [`Table::remove`].
    ///
    /// # Errors
    /// Those of [`DurableTable::insert`].
    pub fn remove(&self, key: K::Probe<'_>) -> Result<Option<Arc<R>>, ChangeError<R>> {
        self.index.changes(self.logging()).remove(key)
    }

    /// Inserts or replaces the row with this primary key by `change(row)`, and returns the row before: see
    /// [`Table::upsert`].
    ///
    /// # Errors
    /// Those of [`Table::upsert`] and of [`DurableTable::insert`].
    pub fn upsert(
        &self,
        key: K::Probe<'_>,
        change: impl FnMut(Option<&R>) -> R,
    ) -> Result<Option<Arc<R>>, ChangeError<R>> {
        self.index.changes(self.logging()).upsert(key, change)
    }

    /// Replaces the row with this primary key by `change(row)`, and returns the row before, or `None` if
    /// there was none: see [`Table::update`].
    ///
    /// # Errors
    /// Those of [`DurableTable::upsert`].
    pub fn update(
        &self,
        key: K::Probe<'_>,
        change: impl FnMut(&R) -> R,
    ) -> Result<Option<Arc<R>>, ChangeError<R>> {
        self.index.changes(self.logging()).update(key, change)
    }

    /// Removes all rows that a closure doesn't keep, and returns their number: see [`Table::retain`]. Each
    /// commit of some hundred removals is one record.
    ///
    /// # Errors
    /// Those of [`DurableTable::insert`]; what was removed until then stays so.
    pub fn retain(&self, keep: impl FnMut(&R) -> bool) -> Result<usize, ChangeError<R>> {
        self.index.changes(self.logging()).retain(keep)
    }

    /// Makes the changes of a batch, all or none, for every reader of every index and after a crash. Returns
    /// the number of the commit. See [`Table::commit`].
    ///
    /// # Errors
    /// Those of [`DurableTable::insert`].
    pub fn commit(&self, batch: Batch<K, R>) -> Result<u64, ChangeError<R>> {
        self.index.changes(self.logging()).commit(batch)
    }

    /// Begins a transaction: see [`Table::begin`]. Its commit is one record; without changes, and by a
    /// conflict, it returns when what it has read is on the disk, if the options say so.
    pub fn begin(&self) -> TableTransaction<'_, K, R> {
        self.index.changes(self.logging()).begin()
    }

    /// Runs a transaction again and again until it is committed without a conflict, and returns the result of
    /// `run`: see [`Table::transact`].
    ///
    /// # Errors
    /// That of `run`; those of [`DurableTable::commit`].
    pub fn transact<'t, A, E: From<ChangeError<R>>>(
        &'t self,
        run: impl FnMut(&mut TableTransaction<'t, K, R>) -> Result<A, E>,
    ) -> Result<A, E> {
        self.index.changes(self.logging()).transact(run)
    }

    /// Drops all versions of rows and entries that no snapshot can read any more: see [`Table::prune`]. The
    /// log is unchanged.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn prune(&self) -> Result<Pruned> {
        Ok(self.index.prune()?)
    }
}
