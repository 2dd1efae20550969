//! Refusals, openings with other indexes, and the operations of a folder that tables share with other durable
//! indexes.

use crate::people::{People, Person, Rows, folder, is_made, open, opening, person, table};
use latchless::table::{Batch, Table, TableError};
use latchless::versions::WriteBatch;
use latchless_log::{ChangeError, DumpedChange, DurableTable, DurableVersionedIndex, Error, Follower, Found};
use latchless_log::{Options, ReadOnly, SnapshotPolicy, SyncMode, dump, verify};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

#[test]
fn what_is_refused_is_not_logged_and_changes_nothing() {
    let folder = folder();
    let people = open(folder.path());
    let rows = &people.rows;
    rows.insert(person(1, "a", 1)).unwrap();
    rows.insert(person(2, "b", 2)).unwrap();
    let (logged, state) = (rows.log_bytes(), people.state());
    let mut both = Batch::new();
    both.replace(person(3, "c", 3)).replace(person(2, "a", 2));
    let refused = rows.commit(both).unwrap_err();
    let ChangeError::Refused(TableError::Duplicate { index, existing, rejected }) = refused else { panic!() };
    assert_eq!((&*index, existing.id, rejected.id), ("email", 1, 2));
    assert!(!is_made(rows.insert(person(1, "c", 1))));
    let other = rows.update(1, |person| Person { id: 9, ..person.clone() });
    assert!(matches!(other, Err(ChangeError::Refused(TableError::OtherKey { row })) if row.id == 9));
    assert_eq!((rows.remove(7).unwrap(), rows.update(7, Clone::clone).unwrap()), (None, None));
    assert_eq!((rows.begin().commit().unwrap(), rows.log_bytes(), people.state()), (2, logged, state));

    let mut transaction = rows.begin();
    let read = transaction.get(1).unwrap();
    transaction.replace(Person { age: 50, ..(*read).clone() });
    rows.replace(person(1, "a", 9)).unwrap();
    let logged = rows.log_bytes();
    let conflict = transaction.commit();
    assert!(matches!(conflict, Err(ChangeError::Refused(TableError::Conflict))), "{conflict:?}");
    assert_eq!((rows.log_bytes(), people.by_age.snapshot().count(50)), (logged, 0));

    rows.close().unwrap();
    let ended = rows.insert(person(4, "d", 4));
    assert!(matches!(ended, Err(ChangeError::Log(Error::Ended { .. }))), "{ended:?}");
    let state = people.state();
    assert_eq!((people.newest(), state.len()), (3, 2));
    assert_eq!(open(folder.path()).state(), state);
}

/// A table by texts with another row for each of these.
fn texts(folder: &Path) -> Result<DurableTable<String, String>, Error> {
    let table = Table::builder(|row: &String| row.clone()).build()?;
    Ok(DurableTable::open_with(folder, table, opening())?.0)
}

#[test]
fn a_key_that_no_record_has_room_for_is_refused_and_changes_nothing() {
    let folder = folder();
    let rows = texts(folder.path()).unwrap();
    rows.insert("short".to_owned()).unwrap();
    let logged = rows.log_bytes();
    let refused = rows.insert("k".repeat((16 << 20) + 1));
    assert!(refused.is_err(), "{refused:?}");
    rows.index().check_invariants().unwrap();
    assert_eq!((rows.len(), rows.index().newest(), rows.log_bytes()), (1, 1, logged));
    // Rows may be longer than keys.
    rows.insert("v".repeat(300_000)).unwrap();
    drop(rows);
    assert_eq!(texts(folder.path()).unwrap().len(), 2);
}

/// Rows by their first number, and by a second one that is unique if a table says so.
fn pairs(folder: &Path, is_unique: bool) -> Result<DurableTable<u64, (u64, u64)>, Error> {
    let mut builder = Table::builder(|row: &(u64, u64)| row.0);
    if is_unique {
        builder.unique("second", |row| row.1)?;
    } else {
        builder.index("second", |row| row.1)?;
    }
    Ok(DurableTable::open_with(folder, builder.build()?, opening())?.0)
}

#[test]
fn an_index_that_is_declared_later_has_the_rows_or_names_those_in_its_way() {
    let folder = folder();
    let rows = pairs(folder.path(), false).unwrap();
    for row in [(1, 10), (2, 20), (3, 30)] {
        rows.insert(row).unwrap();
    }
    drop(rows);
    let rows = pairs(folder.path(), true).unwrap();
    assert_eq!(rows.index().unique::<u64>("second").unwrap().get(20).as_deref(), Some(&(2, 20)));
    drop(rows);
    let rows = pairs(folder.path(), false).unwrap();
    rows.insert((4, 20)).unwrap();
    let is_named = |refused: Error| {
        let Error::Duplicate { index, existing, rejected } = &refused else { panic!("{refused:?}") };
        assert_eq!((&**index, &**existing, &**rejected), ("second", "2", "4"), "{refused}");
    };
    drop(rows);
    is_named(pairs(folder.path(), true).unwrap_err()); // A record of the log,
    let rows = pairs(folder.path(), false).unwrap();
    rows.snapshot().unwrap();
    drop(rows);
    is_named(pairs(folder.path(), true).unwrap_err()); // and a snapshot.
    assert_eq!(pairs(folder.path(), false).unwrap().len(), 4, "nothing is lost by the refusals");
}

#[test]
fn a_row_that_is_not_under_its_primary_key_is_refused() {
    let by_second = |folder: &Path| {
        let table = Table::<u64, (u64, u64)>::builder(|row| row.1).build().unwrap();
        let opened = DurableTable::open_with(folder, table, opening());
        match opened.unwrap_err() {
            Error::OtherPrimaryKey { key, found } => assert_eq!((&*key, &*found), ("1", "10")),
            error => panic!("{error:?}"),
        }
    };
    let folder = folder();
    let rows = pairs(folder.path(), false).unwrap();
    rows.insert((1, 10)).unwrap();
    drop(rows);
    by_second(folder.path());
    let rows = pairs(folder.path(), false).unwrap();
    rows.snapshot().unwrap();
    drop(rows);
    by_second(folder.path());
}

/// The same values are the same files, whatever their indexes.
#[test]
fn a_versioned_index_becomes_a_table_unless_its_log_has_ranges() {
    let folder = folder();
    let versions = || DurableVersionedIndex::<u64, (u64, u64)>::open(folder.path(), options()).unwrap().0;
    let index = versions();
    index.commit((0..100).map(|key| (key, (key, key / 2))).collect()).unwrap();
    let mut batch = WriteBatch::new();
    batch.remove_range(50..);
    index.commit(batch).unwrap();
    drop(index);
    let refused = pairs(folder.path(), false).unwrap_err();
    assert!(
        matches!(refused, Error::Damaged { what, .. } if what.contains("removes a range")),
        "{refused:?}"
    );
    versions().snapshot().unwrap();
    let rows = pairs(folder.path(), false).unwrap();
    assert_eq!((rows.len(), rows.index().newest()), (50, 2));
    rows.insert((50, 7)).unwrap();
    drop(rows);
    let index = versions();
    assert_eq!((index.index().newest(), index.index().get(50)), (3, Some((50, 7))));
    drop(index);
    let other = Table::<u64, [u8; 16]>::builder(|row| row[0].into()).build().unwrap();
    let refused = DurableTable::open_with(folder.path(), other, opening()).unwrap_err();
    assert!(matches!(refused, Error::Snapshot { .. }), "{refused:?}");
}

fn options() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

#[test]
fn a_table_that_has_commits_of_its_own_is_refused() {
    let used = table();
    used.insert(person(1, "a", 1)).unwrap();
    used.remove(1).unwrap();
    assert!(Rows::open_with(folder().path(), used, opening()).is_err());
    let folder = folder();
    open(folder.path()).rows.insert(person(1, "a", 1)).unwrap();
    let used = table();
    used.insert(person(2, "b", 1)).unwrap();
    let refused = Rows::open_with(folder.path(), used, opening()).unwrap_err();
    assert!(matches!(refused, Error::Index { cause: latchless::Error::NotEmpty { len: 1 }, .. }));
}

#[test]
fn a_folder_is_read_checked_shown_and_copied_beside_its_writer() {
    let (folder, copies) = (folder(), folder());
    let people = open(folder.path());
    people.rows.insert(person(1, "a", 30)).unwrap();
    people.rows.snapshot().unwrap();
    let mut batch = Batch::new();
    batch.remove(1).insert(person(2, "b", 30)).insert(person(3, "c", 31));
    people.rows.commit(batch).unwrap();

    let (read, recovery) = Rows::read_with(folder.path(), table()).unwrap();
    assert_eq!((read.newest(), read.len(), recovery.records), (2, 2, 1));
    assert_eq!(read.index::<(u32, u64)>("age").unwrap().snapshot().count(30), 1);
    read.insert(person(9, "z", 1)).unwrap(); // In memory alone.

    let mut shown = Vec::new();
    dump(folder.path(), 1, |record| {
        shown.extend(record.changes.clone());
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(shown[0], DumpedChange::Remove { key: "1".into(), row: None });
    assert!(matches!(&shown[1..], [DumpedChange::Put { .. }, DumpedChange::Put { .. }]), "{shown:?}");
    assert!(verify(folder.path()).unwrap().iter().all(|file| file.trouble.is_none()));

    let at = |name: &str| copies.path().join(name);
    assert_eq!(people.rows.backup(at("own")).unwrap().record, 2);
    ReadOnly::open(folder.path()).unwrap().backup(at("other")).unwrap();
    people.rows.insert(person(4, "d", 1)).unwrap();
    for name in ["own", "other"] {
        assert_eq!(open(&at(name)).state().len(), 2);
    }
}

/// Ends a writer, also if its reader panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// A reader that finds files removed, or a record half written, begins again with an empty table.
#[test]
fn a_folder_is_read_while_its_writer_removes_files() {
    let folder = folder();
    let people = open(folder.path());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for step in 0.. {
                let mut batch = Batch::new();
                for id in [step % 50, 50 + step % 7] {
                    batch.replace(person(id, &format!("{id}"), step as u32));
                }
                people.rows.commit(batch).unwrap();
                if step % 8 == 0 {
                    people.rows.snapshot().unwrap();
                }
                if is_done.load(SeqCst) {
                    return;
                }
            }
        });
        let _ends = Ends(&is_done);
        let mut last = 0;
        for _ in 0..300 {
            let (read, _) = Rows::read_with(folder.path(), table()).unwrap();
            read.check_invariants().unwrap();
            let newest = read.newest();
            let ages = read.index::<(u32, u64)>("age").unwrap();
            assert!(newest >= last && (newest == 0 || ages.snapshot().count(newest as u32 - 1) == 2));
            last = newest;
        }
    });
}

#[test]
fn a_follower_reads_every_index_and_becomes_the_writer() {
    let folder = folder();
    let people = open(folder.path());
    people.rows.insert(person(1, "a", 30)).unwrap();
    let standby = Follower::open_with(folder.path(), (), || Ok(table())).unwrap();
    let by_email = |email: &str| standby.read(|rows| rows.unique::<String>("email").unwrap().get(email));
    assert_eq!(by_email("a").unwrap().id, 1);
    people.rows.replace(person(1, "b", 31)).unwrap();
    people.rows.snapshot().unwrap();
    people.rows.insert(person(2, "a", 32)).unwrap();
    standby.catch_up().unwrap();
    assert_eq!((by_email("a").unwrap().id, by_email("b").unwrap().id), (2, 1));
    // The records that come next are removed: it begins again.
    people.rows.insert(person(3, "c", 33)).unwrap();
    people.rows.snapshot().unwrap();
    people.rows.snapshot().unwrap();
    standby.catch_up().unwrap();
    assert_eq!(by_email("c").unwrap().id, 3);
    people.rows.insert(person(4, "d", 34)).unwrap();
    drop(people);
    let (rows, _) = standby.promote(Found::open(folder.path()).unwrap(), opening()).unwrap();
    rows.insert(person(5, "e", 35)).unwrap();
    let taken: Result<(), _> = rows.insert(person(6, "d", 35));
    assert!(!is_made(taken));
    assert_eq!((rows.index().newest(), rows.len()), (6, 5));
    rows.index().check_invariants().unwrap();
}

#[test]
fn a_table_shrinks_without_handles_and_owned_snapshots() {
    let folder = folder();
    let mut people = open(folder.path());
    let mut batch = Batch::new();
    for id in 0..5_000 {
        batch.insert(person(id, &format!("{id}"), 7));
    }
    people.rows.commit(batch).unwrap();
    people.rows.retain(|person| person.id < 50).unwrap();
    people.rows.prune().unwrap();
    let fill = latchless::FillFactor::default();
    assert!(matches!(people.rows.shrink(fill), Err(Error::Shared)));
    let People { rows: mut alone, by_email, by_age } = people;
    drop((by_email, by_age));
    let snapshot = alone.index().snapshot_owned();
    assert!(matches!(alone.shrink(fill), Err(Error::Shared)));
    drop(snapshot);
    alone.shrink(fill).unwrap();
    alone.index().check_invariants().unwrap();
    alone.insert(person(50, "50", 7)).unwrap();
    drop(alone);
    people = open(folder.path());
    assert_eq!(people.state().len(), 51);
}

/// Several rows with one key, and of a row none: an index is computed from the rows alone.
#[test]
fn rows_share_what_is_saved_once() {
    let folder = folder();
    let open = || {
        let mut builder = Table::builder(|row: &(u64, u64)| row.0);
        let odd = builder.unique_each("odd", |row| Some(row.1).filter(|second| second % 2 == 1)).unwrap();
        let bits = builder
            .index_each("bits", |row| (0..8).filter(|bit| row.1 >> bit & 1 == 1).collect::<Vec<u32>>());
        let (rows, _) = DurableTable::open_with(folder.path(), builder.build().unwrap(), opening()).unwrap();
        (rows, odd, bits.unwrap())
    };
    let (rows, ..) = open();
    for row in [(1, 6), (2, 6), (3, 5), (4, 0)] {
        rows.insert(row).unwrap();
    }
    rows.replace((3, 7)).unwrap();
    drop(rows);
    let (rows, odd, bits) = open();
    assert_eq!((rows.len(), odd.len(), bits.len()), (4, 1, 7));
    assert_eq!((odd.get(5), odd.get(7).as_deref()), (None, Some(&(3, 7))));
    assert_eq!(bits.snapshot().get(1).map(|row| row.0).collect::<Vec<_>>(), [1, 2, 3]);
    let shared: Arc<(u64, u64)> = rows.index().get(3).unwrap();
    assert!(Arc::ptr_eq(&shared, &odd.get(7).unwrap()), "the indexes refer to one row");
}
