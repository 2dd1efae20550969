//! A folder that is only read stays unchanged and shows the acknowledged entries, also during writes.

use latchless::index::Options as IndexOptions;
use latchless_log::{DamagedTail, DurableBytesIndex, DurableIndex, DurableMultiIndex, Error};
use latchless_log::{Options, Plain, ReadOnly, SnapshotPolicy, SyncMode};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::SystemTime;

fn never() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

/// The contents of a folder: the bytes of each file, and when it was changed; under "" the folder itself.
fn state(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let changed = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, (fs::read(entry.path()).unwrap(), changed(&entry.path())))
    });
    files.chain([(String::new(), (Vec::new(), changed(folder)))]).collect()
}

fn read(folder: &Path) -> (latchless::Index<u64, u64>, latchless_log::Recovery) {
    DurableIndex::<u64, u64>::read(folder, IndexOptions::default()).unwrap()
}

#[test]
fn every_kind_is_read_beside_its_writer_and_the_folder_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (numbers, _) = DurableIndex::<u64, u64>::open(at("numbers"), never()).unwrap();
    let (texts, _) = DurableBytesIndex::<String, String>::open(at("texts"), never()).unwrap();
    let (pairs, _) = DurableMultiIndex::<String>::open(at("pairs"), never()).unwrap();
    for round in 0..3 {
        let entries: Vec<(u64, u64)> = (0..50).map(|key| (key * 3 + round, round)).collect();
        numbers.insert_many(&entries).unwrap();
        let named: Vec<_> = entries.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        texts
            .insert_many(&named.iter().map(|(key, value)| (&**key, value.clone())).collect::<Vec<_>>())
            .unwrap();
        pairs
            .insert_many(&entries.iter().map(|(key, row)| (key.to_string(), *row)).collect::<Vec<_>>())
            .unwrap();
        numbers.remove_range(..round).unwrap();
        // Logs alone, snapshots and logs, snapshots alone.
        if round > 0 {
            numbers.snapshot().unwrap();
            texts.snapshot().unwrap();
            pairs.snapshot().unwrap();
            texts.remove("3").unwrap();
        }
        let before = ["numbers", "texts", "pairs"].map(|name| state(&at(name)));
        let (copy, recovery) = read(&at("numbers"));
        assert!(copy.iter().eq(numbers.index().iter()) && recovery.stopped.is_none());
        let (copy, _) =
            DurableBytesIndex::<String, String>::read(at("texts"), IndexOptions::default()).unwrap();
        assert!(copy.iter().eq(texts.index().iter()));
        let (copy, _) = DurableMultiIndex::<String>::read(at("pairs"), IndexOptions::default()).unwrap();
        assert!(copy.iter().eq(pairs.index().iter()));
        assert!(before == ["numbers", "texts", "pairs"].map(|name| state(&at(name))));
    }
    // The copy is independent of the folder, and no process has to wait for a reader.
    drop(numbers);
    let reading = ReadOnly::open(at("numbers")).unwrap();
    let (numbers, _) = DurableIndex::<u64, u64>::open(at("numbers"), never()).unwrap();
    let empty = latchless::Index::<u64, u64>::new().unwrap();
    let (copy, _) = reading.load(empty, &Plain, DamagedTail::Refuse).unwrap();
    copy.insert(1000, 1).unwrap();
    assert_eq!(numbers.get(1000), None);
}

#[test]
#[cfg(unix)]
fn a_folder_that_may_not_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    let (index, _) = DurableIndex::<u64, u64>::open(&inner, never()).unwrap();
    index.insert(1, 10).unwrap();
    drop(index);
    // As if the disk were full as well: without it no opening could lock the folder.
    fs::remove_file(inner.join("lock")).unwrap();
    let permit = |mode: u32| fs::set_permissions(&inner, fs::Permissions::from_mode(mode)).unwrap();
    permit(0o555);
    let before = state(&inner);
    assert_eq!(read(&inner).0.get(1), Some(10));
    assert!(before == state(&inner));
    permit(0o755);
}

#[test]
fn what_a_kill_left_is_told_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    (0..10).for_each(|key| assert!(index.insert(key, key).unwrap().is_none()));
    drop(index);
    let log = folder.path().join("log-0000000000000001.redo");
    let whole = fs::read(&log).unwrap();
    let (kept, _) = read(folder.path());
    assert_eq!(kept.len(), 10);
    // Half of a record that was being written.
    let torn = [&whole[..], &whole[64..80]].concat();
    fs::write(&log, &torn).unwrap();
    let before = state(folder.path());
    let (copy, recovery) = read(folder.path());
    let stopped = recovery.stopped.unwrap();
    assert_eq!((copy.len(), stopped.bytes, &stopped.rejected), (10, 16, &log));
    assert!(before == state(folder.path()));
}

#[test]
fn what_is_no_durable_index_is_refused_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path| DurableIndex::<u64, u64>::read(path, IndexOptions::default()).unwrap_err();
    let error = refused(&folder.path().join("nowhere"));
    assert!(matches!(&error, Error::Io { .. }), "{error}");
    let error = refused(folder.path());
    assert!(matches!(&error, Error::Missing { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // An opening doesn't wait for a lost log to come back.
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    index.insert(1, 1).unwrap();
    index.snapshot().unwrap();
    drop(index);
    fs::remove_file(folder.path().join("log-0000000000000002.redo")).unwrap();
    let error = refused(folder.path());
    assert!(matches!(&error, Error::Missing { .. }), "{error}");
    let (other, _) = DurableBytesIndex::<String, u64>::open(folder.path().join("other"), never()).unwrap();
    other.insert("a", 1).unwrap();
    let error = refused(&folder.path().join("other"));
    assert!(matches!(&error, Error::Snapshot { .. }), "{error}");
}

#[test]
fn beside_a_writer_that_takes_snapshots_the_changes_up_to_one_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    let (acknowledged, ends) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for key in 0.. {
                if ends.load(SeqCst) {
                    break;
                }
                index.insert(key, key).unwrap();
                acknowledged.store(key + 1, SeqCst);
                std::thread::sleep(std::time::Duration::from_micros(100));
                if key % 300 == 0 {
                    index.snapshot().unwrap();
                }
            }
        });
        for _ in 0..12 {
            let before = acknowledged.load(SeqCst);
            let read = DurableIndex::<u64, u64>::read(folder.path(), IndexOptions::default());
            let after = acknowledged.load(SeqCst);
            let Ok((copy, _)) = read else {
                ends.store(true, SeqCst);
                panic!("{}", read.unwrap_err());
            };
            let len = copy.len() as u64;
            let is_prefix = copy.iter().eq((0..len).map(|key| (key, key)));
            if !(is_prefix && before <= len && len <= after + 1) {
                ends.store(true, SeqCst);
                panic!("{len} entries, {before} acknowledged before and {after} after");
            }
        }
        ends.store(true, SeqCst);
    });
}
