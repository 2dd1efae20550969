//! The table of these tests: people with a unique e-mail and an age.

use latchless::BytesKey;
use latchless::snapshot::SavedRow;
use latchless::table::{NonUnique, Table, TableError, Unique};
use latchless_log::{ChangeError, DurableTable, Error, Opening, SnapshotPolicy, SyncMode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    pub id: u64,
    pub email: String,
    pub age: u32,
}

pub type Parts = (u64, String, u32);

impl SavedRow for Person {
    fn type_name() -> Cow<'static, str> {
        "person".into()
    }

    fn with_cell<A>(&self, see: impl FnOnce(&[u8]) -> A) -> A {
        BytesKey::<Parts>::with_bytes(&(self.id, &*self.email, self.age), see)
    }

    fn of_cell(cell: &[u8]) -> Option<Self> {
        let (id, email, age) = Parts::is_key(cell).then(|| Parts::from_bytes(cell))?;
        Some(Self { id, email, age })
    }
}

pub fn person(id: u64, email: &str, age: u32) -> Person {
    Person { id, email: email.to_owned(), age }
}

pub type State = BTreeMap<u64, Person>;
pub type Rows = DurableTable<u64, Person>;

pub struct People {
    pub rows: Rows,
    pub by_email: Unique<String, Person>,
    pub by_age: NonUnique<(u32, u64), Person>,
}

pub fn table() -> Table<u64, Person> {
    let mut builder = Table::builder(|person: &Person| person.id);
    // The one that refuses is the last: what the other has written is abandoned then.
    builder.index("age", |person| person.age).unwrap();
    builder.unique("email", |person| person.email.clone()).unwrap();
    builder.build().unwrap()
}

pub fn opening() -> Opening {
    Opening { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Opening::default() }
}

pub fn try_open(folder: &Path, opening: Opening) -> Result<People, Error> {
    let table = table();
    let (by_email, by_age) = (table.unique("email").unwrap(), table.index("age").unwrap());
    let (rows, _) = Rows::open_with(folder, table, opening)?;
    Ok(People { rows, by_email, by_age })
}

pub fn open(folder: &Path) -> People {
    try_open(folder, opening()).expect("a folder that can be opened")
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

impl People {
    /// The rows, which every index has.
    pub fn state(&self) -> State {
        self.rows.index().check_invariants().unwrap();
        let now = self.rows.index().snapshot();
        let state: State = now.values().map(|person| (person.id, (*person).clone())).collect();
        for person in state.values() {
            assert_eq!(self.by_email.at(&now).get(&person.email).as_deref(), Some(person));
            assert!(self.by_age.at(&now).get(person.age).any(|found| *found == *person));
        }
        let counts = (self.rows.len(), self.by_email.len(), self.by_age.len());
        assert_eq!(counts, (state.len(), state.len(), state.len()));
        state
    }

    pub fn newest(&self) -> u64 {
        self.rows.index().newest()
    }
}

/// Whether a change was made. One that was refused has an error that fits.
pub fn is_made<A>(result: Result<A, ChangeError<Person>>) -> bool {
    match result {
        Ok(_) => true,
        Err(ChangeError::Refused(TableError::Duplicate { index, existing, rejected })) => {
            let is_same = match &*index {
                "primary key" => existing.id == rejected.id,
                "email" => existing.email == rejected.email && existing.id != rejected.id,
                index => panic!("{index}"),
            };
            assert!(is_same, "{index}: {existing:?}, {rejected:?}");
            false
        }
        Err(error) => panic!("{error:?}"),
    }
}
