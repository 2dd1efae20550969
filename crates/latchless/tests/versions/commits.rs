//! A commit that the program publishes, and an index that goes on from a number.

use latchless::Error;
use latchless::versions::{NoSuchVersion, VersionedIndex, WriteBatch};

#[test]
fn a_commit_is_seen_once_it_is_published_and_one_that_is_dropped_never() {
    let index = VersionedIndex::<String, u64>::new().unwrap();
    index.insert("kept", 1).unwrap();
    let mut dropped = index.begin_commit();
    assert_eq!(
        (dropped.number(), dropped.insert("new", 2), dropped.remove("kept")),
        (2, Ok(None), Ok(Some(1)))
    );
    let batch: WriteBatch<String, u64> =
        [("more".to_owned(), 3), ("new".to_owned(), 4)].into_iter().collect();
    dropped.write_all(batch).unwrap();
    assert_eq!((index.get("kept"), index.get("new"), index.len()), (Some(1), None, 1));
    drop(dropped);
    assert!(index.snapshot().iter().eq([("kept".to_owned(), 1)]));
    assert_eq!((index.newest(), index.len()), (1, 1));

    let mut kept = index.begin_commit();
    kept.insert("new", 5).unwrap();
    assert_eq!((kept.publish(), index.get("new"), index.len()), (2, Some(5), 2));

    let mut transaction = index.begin();
    let read = transaction.get("new");
    transaction.insert("sum", read.unwrap() + 1).remove("kept");
    let writes: Vec<_> = transaction.writes().map(|(key, value)| (key.as_str(), value.copied())).collect();
    assert_eq!(writes, [("kept", None), ("sum", Some(6))]);
    let prepared = transaction.prepare().unwrap();
    assert_eq!((prepared.number(), index.get("sum"), index.newest()), (3, None, 2));
    assert_eq!((prepared.publish(), index.get("sum"), index.get("kept")), (3, Some(6), None));
}

#[test]
fn a_state_that_was_saved_goes_on_from_its_number() {
    let mut index = VersionedIndex::<u64, u64>::new().unwrap();
    index.insert(1, 1).unwrap();
    index.reload([(7, 70), (8, 80)], 41).unwrap();
    assert_eq!((index.newest(), index.len(), index.get(1), index.get(8)), (41, 2, None, Some(80)));
    assert_eq!(index.snapshot_at(40).err(), Some(NoSuchVersion { number: 40, oldest: 41, newest: 41 }));
    let before = index.snapshot_at(41).unwrap();
    assert_eq!((index.insert(8, 81), index.newest()), (Ok(Some(80)), 42));
    assert!(before.iter().eq([(7, 70), (8, 80)]));
    drop(before);
    let unsorted = index.reload([(8, 1), (7, 1)], 50);
    assert!(matches!(unsorted, Err(Error::Unsorted { .. })), "{unsorted:?}");
    assert_eq!((index.newest(), index.len(), index.insert(9, 90)), (0, 0, Ok(None)));
}
