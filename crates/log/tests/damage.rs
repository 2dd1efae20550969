//! Incomplete records in a log: damage is refused by name, and set aside on request; the end that a kill or
//! a power failure leaves is cut off, and kept; an intact log causes no alarm.

use latchless_log::{DamagedTail, DurableIndex, Error, Options, Recovery, SyncMode};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

type Durable = DurableIndex<u64, u64>;

/// Bytes before the first record, and of each record of these tests.
const HEAD: usize = 64;
const RECORD: usize = 48;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

fn log_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("log-{number:016x}.redo"))
}

fn never() -> Options {
    Options { sync: SyncMode::Never, ..Options::default() }
}

fn open(folder: &Path, options: Options) -> Result<(Durable, Recovery), Error> {
    Durable::open(folder, options)
}

fn set_aside() -> Options {
    Options { damaged_tail: DamagedTail::SetAside, ..Options::default() }
}

/// A folder whose log has these keys, one record each.
fn with_keys(folder: &Path, keys: std::ops::Range<u64>, options: Options) -> Durable {
    let (durable, _) = open(folder, options).expect("it opens");
    keys.for_each(|key| assert_eq!(durable.insert(key, key).expect("a put"), None));
    durable
}

fn flip(path: &Path, byte: usize) {
    let mut bytes = fs::read(path).expect("a file");
    bytes[byte] ^= 1;
    fs::write(path, bytes).expect("a file");
}

/// The names of the parts that were cut off.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| ["rejected", "torn"].iter().any(|kind| path.to_string_lossy().contains(kind)))
        .collect();
    files.sort();
    files
}

#[test]
fn damage_in_what_was_acknowledged_is_refused_by_name() {
    let folder = folder();
    drop(with_keys(folder.path(), 0..20, Options::default()));
    let log = log_of(folder.path(), 1);
    flip(&log, HEAD + 3 * RECORD + 40);
    let before = fs::read(&log).expect("the log");
    for _ in 0..2 {
        let refused = open(folder.path(), Options::default()).expect_err("the fourth record is damaged");
        let Error::Damaged { path, at, whole, .. } = &refused else { panic!("{refused}") };
        assert_eq!((path, *at, *whole), (&log, (HEAD + 3 * RECORD) as u64, 16));
        assert_eq!((fs::read(&log).expect("the log"), kept(folder.path()).len()), (before.clone(), 0));
    }
    let (durable, recovery) = open(folder.path(), set_aside()).expect("what comes before it");
    let stopped = recovery.stopped.expect("it was set aside");
    assert_eq!((durable.len(), stopped.whole), (3, 16));
    assert_eq!(fs::read(&stopped.rejected).expect("what was set aside"), before[HEAD + 3 * RECORD..]);
    durable.insert(100, 100).expect("a put");
    drop(durable);
    let (durable, recovery) = open(folder.path(), Options::default()).expect("it goes on");
    assert_eq!((durable.len(), recovery.stopped), (4, None));
}

/// The last record, which no later one follows: the mark of the close does.
#[test]
fn damage_in_the_last_record_is_refused_after_a_close() {
    let folder = folder();
    with_keys(folder.path(), 0..3, never()).close().expect("all is on the disk");
    flip(&log_of(folder.path(), 1), HEAD + 2 * RECORD);
    let refused = open(folder.path(), never()).expect_err("the last record is damaged");
    assert!(matches!(refused, Error::Damaged { whole: 0, .. }), "{refused}");
}

/// Without waits for the disk a power failure may write a later record and not an earlier one.
#[test]
fn whole_records_after_a_hole_in_what_was_never_synced_are_cut_off_and_kept() {
    let folder = folder();
    let durable = with_keys(folder.path(), 0..5, never());
    durable.sync().expect("five records are on the disk");
    let synced = durable.log_bytes() as usize;
    (5..10).for_each(|key| assert_eq!(durable.insert(key, key).expect("a put"), None));
    drop(durable);
    let log = log_of(folder.path(), 1);
    let whole = fs::read(&log).expect("the log");
    let mut hole = whole.clone();
    hole[synced + RECORD..synced + 2 * RECORD].fill(0);
    fs::write(&log, &hole).expect("a log");
    let (durable, recovery) = open(folder.path(), never()).expect("nothing was promised of these");
    let stopped = recovery.stopped.expect("they are told");
    assert_eq!((durable.len(), stopped.at as usize, stopped.whole), (6, synced + RECORD, 3));
    drop(durable);
    // In a synced part it is damage.
    let mut hole = whole;
    hole[HEAD + RECORD..HEAD + 2 * RECORD].fill(0);
    fs::write(&log, &hole).expect("a log");
    let refused = open(folder.path(), never()).expect_err("the second record was on the disk");
    assert!(matches!(refused, Error::Damaged { whole: 8, .. }), "{refused}");
}

#[test]
fn what_was_cut_off_is_never_overwritten_and_goes_with_its_log_unless_it_has_whole_records() {
    let folder = folder();
    drop(with_keys(folder.path(), 0..8, Options::default()));
    let log = log_of(folder.path(), 1);
    let mut expected = Vec::new();
    for (at, name) in [(5, "rejected"), (4, "rejected-2"), (3, "rejected-3")] {
        flip(&log, HEAD + at * RECORD);
        let (_, recovery) = open(folder.path(), set_aside()).expect("what comes before it");
        let rejected = recovery.stopped.expect("it was set aside").rejected;
        assert!(
            rejected.to_string_lossy().ends_with(&format!("log-0000000000000001.{name}")),
            "{rejected:?}"
        );
        expected.push(rejected);
        drop(with_keys(folder.path(), 100 + at as u64..102 + at as u64, Options::default()));
    }
    for name in ["torn", "torn-2"] {
        let bytes = fs::read(&log).expect("the log");
        fs::write(&log, [&bytes[..], b"half a record"].concat()).expect("a torn log");
        let (_, recovery) = open(folder.path(), Options::default()).expect("a kill leaves that");
        let stopped = recovery.stopped.expect("it is told");
        assert!(stopped.rejected.to_string_lossy().ends_with(&format!("log-0000000000000001.{name}")));
        assert_eq!((fs::read(stopped.rejected).expect("kept"), stopped.whole), (b"half a record".into(), 0));
    }
    assert_eq!(kept(folder.path()).len(), 5);
    let (durable, _) = open(folder.path(), Options::default()).expect("it opens");
    durable.snapshot().expect("a snapshot");
    assert_eq!(kept(folder.path()), expected);
}

/// A rotation that a full disk refuses leaves the next log without a byte.
#[test]
fn a_log_that_was_only_begun_is_no_alarm() {
    for bytes in [&b""[..], b"latchlog", &[0; 64]] {
        let folder = folder();
        drop(with_keys(folder.path(), 0..3, Options::default()));
        fs::write(log_of(folder.path(), 2), bytes).expect("the next log");
        let (durable, recovery) = open(folder.path(), Options::default()).expect("it opens");
        assert_eq!((durable.len(), recovery.stopped, kept(folder.path()).len()), (3, None, 0));
        durable.insert(3, 3).expect("a put");
        drop(durable);
        let (durable, recovery) = open(folder.path(), Options::default()).expect("it opens again");
        assert_eq!((durable.len(), recovery.stopped), (4, None));
    }
}

/// A snapshot may have changes that its log must have as well.
#[test]
fn a_log_that_lost_its_first_bytes_after_its_snapshot_is_damaged() {
    let folder = folder();
    with_keys(folder.path(), 0..3, Options::default()).snapshot().expect("a snapshot");
    fs::write(log_of(folder.path(), 2), b"").expect("a log");
    let refused = open(folder.path(), Options::default()).expect_err("it had its first bytes");
    assert!(matches!(refused, Error::Damaged { at: 0, .. }), "{refused}");
}

/// A log of version 2, without marks of the synced extent.
fn of_version_2(head: &[u8], keys: std::ops::Range<u64>) -> Vec<u8> {
    let mut log = head.to_vec();
    log[8] = 2;
    let sum = crc32fast::hash(&[&log[..12], &log[16..]].concat());
    log[12..16].copy_from_slice(&sum.to_le_bytes());
    for key in keys {
        let payload = [key.to_le_bytes(), key.to_le_bytes()].concat();
        let mut header = vec![0; 24];
        header[4..8].copy_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        header[8..16].copy_from_slice(&(key + 1).to_le_bytes());
        header[16] = 1;
        header[20] = 1;
        let sum = crc32fast::hash(&header[4..]);
        header[..4].copy_from_slice(&sum.to_le_bytes());
        log.extend([header, payload].concat());
    }
    log
}

#[test]
fn a_log_of_version_2_is_read_and_followed_by_one_of_version_3() {
    let folder = folder();
    drop(open(folder.path(), Options::default()).expect("it opens"));
    let log = log_of(folder.path(), 1);
    let head = fs::read(&log).expect("the log");
    let old = of_version_2(&head, 0..4);
    fs::write(&log, [&old[..], b"half a record"].concat()).expect("an old log");
    let (durable, recovery) = open(folder.path(), Options::default()).expect("it opens");
    assert_eq!((durable.len(), recovery.stopped.map(|stopped| stopped.at)), (4, Some(old.len() as u64)));
    durable.insert(4, 4).expect("a put");
    drop(durable);
    assert_eq!(fs::read(&log).expect("the log"), old);
    let (durable, recovery) = open(folder.path(), Options::default()).expect("it opens");
    assert_eq!((durable.len(), recovery.records, recovery.stopped), (5, 5, None));
    durable.snapshot().expect("a snapshot");
    durable.insert(5, 5).expect("a put");
    drop(durable);
    assert_eq!(open(folder.path(), Options::default()).expect("it opens").0.len(), 6);
    // Nothing in it marks the synced extent. So records after an incomplete one count as synced.
    let folder = self::folder();
    let log = log_of(folder.path(), 1);
    fs::write(&log, old).expect("an old log");
    flip(&log, HEAD + 40 + 30);
    let refused = open(folder.path(), Options::default()).expect_err("the second record is damaged");
    assert!(matches!(refused, Error::Damaged { at: 104, whole: 2, .. }), "{refused}");
}
