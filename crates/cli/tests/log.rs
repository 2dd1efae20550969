//! `latchless log` on the folders of durable indexes, whole and damaged.

use latchless::versions::WriteBatch;
use latchless_log::{DurableIndex, DurableMultiIndex, DurableVersionedIndex, Options, SnapshotPolicy};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn log(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless"));
    let Output { status, stdout, stderr } = command.arg("log").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().expect("ended by itself"), text(stdout), text(stderr))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn options() -> Options {
    Options { snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

#[test]
fn a_folder_is_verified_dumped_and_backed_up_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let (at, to) = (folder.path().join("prices"), folder.path().join("friday"));
    let (prices, _) = DurableIndex::<i32, f64>::open(&at, options()).unwrap();
    prices.insert(-5, 7.5).unwrap();
    prices.insert_many(&[(1, 0.25), (2, -1.0)]).unwrap();
    prices.remove(1).unwrap();
    prices.remove_range(..=1).unwrap();
    let (code, out, err) = log(&["verify", text(&at)]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("log-0000000000000001.redo: 4 records") && out.ends_with("bytes: whole\n"), "{out}");
    let (_, out, _) = log(&["dump", text(&at)]);
    let wanted = "1\tput\t-5\t7.5\n2\tput\t1\t0.25\n2\tput\t2\t-1\n3\tremove\t1\n4\tremove range\t\tto 1\n";
    assert_eq!(out, wanted);
    assert_eq!(log(&["dump", text(&at), "--from", "3"]).1, "3\tremove\t1\n4\tremove range\t\tto 1\n");
    let (code, _, err) = log(&["backup", text(&at), text(&to)]);
    assert!(code == 0 && err.contains("up to record 4"), "{err}");
    let (code, _, err) = log(&["backup", text(&at), text(&to)]);
    assert!(code == 1 && err.contains("friday"), "{err}");
    let (friday, _) = DurableIndex::<i32, f64>::open(&to, options()).unwrap();
    assert!(friday.index().iter().eq([(2, -1.0)]));
    let (code, _, err) = log(&["repair", text(&at)]);
    assert!(code == 2 && err.contains("has") && err.contains("open"), "{err}");
}

#[test]
fn commits_and_rows_are_dumped_with_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (at, rows) = (folder.path().join("versions"), folder.path().join("rows"));
    let (versions, _) = DurableVersionedIndex::<u64, String>::open(&at, options()).unwrap();
    let mut batch = WriteBatch::new();
    batch.insert(7, "sieben\n").remove(8).remove_range(9..);
    versions.commit(batch).unwrap();
    versions.commit(WriteBatch::new()).unwrap();
    let (_, out, err) = log(&["dump", text(&at)]);
    assert_eq!(out, "1\tput\t7\tsieben\\n\n1\tremove\t8\n1\tremove range\tfrom 9\t\n2\tnothing\n", "{err}");
    versions.snapshot().unwrap();
    versions.insert(70, "x").unwrap();
    assert_eq!(log(&["dump", text(&at)]).1, "3\tput\t70\tx\n");
    let (index, _) = DurableMultiIndex::<String>::open(&rows, options()).unwrap();
    index.insert("a", 3).unwrap();
    index.remove("a", 3).unwrap();
    index.remove_all("b").unwrap();
    assert_eq!(log(&["dump", text(&rows)]).1, "1\tput\ta\t3\n2\tremove\ta\t3\n3\tremove\tb\n");
}

#[test]
fn damage_is_named_by_file_and_byte_and_repaired_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let (at, to) = (folder.path().join("prices"), folder.path().join("repaired"));
    let (prices, _) = DurableIndex::<u64, u64>::open(&at, options()).unwrap();
    (1..=20).for_each(|key| assert_eq!(prices.insert(key, key).unwrap(), None));
    drop(prices);
    let name = at.join("log-0000000000000001.redo");
    let mut bytes = fs::read(&name).unwrap();
    // Records have 48 bytes: this is the key of the eleventh.
    let place = 64 + 10 * 48;
    bytes[place + 33] ^= 1;
    fs::write(&name, &bytes).unwrap();
    let (code, out, err) = log(&["verify", text(&at)]);
    assert!(code == 1 && out.contains(&format!("damaged at byte {place}")), "{out}");
    assert!(err.contains("latchless log repair"), "{err}");
    let (code, out, err) = log(&["dump", text(&at), "--from", "10"]);
    assert!(code == 1 && out == "10\tput\t10\t10\n" && err.contains(&format!("byte {place}")), "{err}");
    assert_eq!(log(&["backup", text(&at), text(&to)]).0, 1);
    assert!(DurableIndex::<u64, u64>::open(&at, options()).is_err() && !to.exists());

    let (code, _, err) = log(&["repair", text(&at), "--to", text(&to)]);
    assert!(code == 0 && err.contains("up to record 10"), "{err}");
    assert_eq!(fs::read(&name).unwrap(), bytes, "the damaged one stays as it is");
    let (code, _, err) = log(&["repair", text(&at)]);
    assert!(code == 0 && err.contains(".rejected") && err.contains("up to record 10"), "{err}");
    for folder in [&at, &to] {
        assert_eq!(log(&["verify", text(folder)]).0, 0);
        let (index, recovery) = DurableIndex::<u64, u64>::open(folder, options()).unwrap();
        assert!(index.index().keys().eq(1..=10) && recovery.stopped.is_none());
    }
    let rejected = fs::read(at.join("log-0000000000000001.rejected")).unwrap();
    assert_eq!(rejected, bytes[place..]);
}

#[test]
fn what_is_not_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["verify", "dump", "repair"] {
        let (code, _, err) = log(&[command, text(folder.path())]);
        assert!(code == 2 && err.contains("is missing"), "{command}: {err}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
    let (code, out, _) = log(&["--help"]);
    assert!(code == 0 && out.contains("latchless log dump prices --from 1000"), "{out}");
}
