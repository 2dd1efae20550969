//! A file is replaced in one step: whole, or not at all.

use super::{Folder, squares};
use latchless::Index;
use latchless::snapshot::{self, DataType, Error, Layout};
use std::fs;
use std::io::{self, Write};

#[test]
fn the_new_one_takes_the_place_of_the_old_and_leaves_nothing_beside() {
    let folder = Folder::new("replaced");
    let path = folder.file("index.arrow");
    for len in [10, 3, 2000] {
        assert_eq!(snapshot::save(squares(len), &path).unwrap(), len);
        let again: Index<u64, u32> = snapshot::open(&path).unwrap();
        assert_eq!(again.len() as u64, len);
    }
    assert_eq!(folder.names(), ["index.arrow"]);
}

#[test]
fn a_name_without_a_folder_is_in_this_one() {
    let name = format!("latchless-here-{}.arrow", std::process::id());
    snapshot::save(squares(3), &name).unwrap();
    assert_eq!(snapshot::open::<u64, u32>(&name).unwrap().len(), 3);
    fs::remove_file(name).unwrap();
}

#[test]
fn after_an_error_the_old_one_is_there_and_nothing_beside() {
    let folder = Folder::new("refused");
    let path = folder.file("index.arrow");
    snapshot::save(squares(10), &path).unwrap();
    let before = fs::read(&path).unwrap();

    // The write fails: a panic in the caller's code.
    let layout = Layout::new(DataType::UInt64, DataType::UInt32);
    let panicked = std::panic::catch_unwind(|| {
        layout.save(squares(20), &path, |key, value| {
            assert!(value < 10, "halfway");
            (key, value.into())
        })
    });
    assert!(panicked.is_err());
    // The rename fails: a folder is there.
    fs::create_dir(folder.file("taken")).unwrap();
    let refused = snapshot::save(squares(20), folder.file("taken")).unwrap_err();
    assert!(matches!(&refused, Error::NotAFile { kind: "a folder", .. }), "{refused}");
    assert!(refused.to_string().contains("taken is a folder"), "{refused}");
    // Its folder doesn't exist.
    let refused = snapshot::save(squares(20), folder.file("none/index.arrow")).unwrap_err();
    assert!(refused.to_string().contains("none"), "{refused}");

    assert_eq!(folder.names(), ["index.arrow", "taken"]);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let refused = snapshot::open::<u64, u32>("/nowhere/index.arrow").unwrap_err();
    assert!(refused.to_string().starts_with("can't open /nowhere/index.arrow: "), "{refused}");
    let refused = snapshot::open::<u64, u32>(std::env::temp_dir()).unwrap_err();
    assert!(matches!(refused, Error::Io { path: Some(_), .. }), "{refused:?}");
}

/// Accepts this many bytes, then fails.
struct Full {
    room: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = bytes.len().min(self.room);
        self.room -= now;
        if now == 0 && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(now) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.room == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_full_disk_is_told_wherever_it_happens() {
    let index = squares(50);
    let mut bytes = Vec::new();
    snapshot::write(&index, &mut bytes).unwrap();
    for room in 0..=bytes.len() {
        let refused = snapshot::write(&index, Full { room }).unwrap_err();
        assert!(
            matches!(&refused, Error::Io { cause, .. } if cause.kind() == io::ErrorKind::StorageFull),
            "{room}: {refused}"
        );
    }
    assert!(snapshot::write(&index, Full { room: bytes.len() + 1 }).is_ok());
    #[cfg(target_os = "linux")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let refused = snapshot::write(&index, full).unwrap_err();
        assert!(matches!(refused, Error::Io { doing: "write", .. }), "{refused:?}");
    }
}

/// The child of the next test: saves 10 entries, then 200,000 again and again.
#[test]
#[ignore = "runs as a child"]
fn child_that_saves_until_it_is_killed() {
    let path = std::env::var_os("LATCHLESS_SAVE_TO").expect("the file");
    let index = squares(200_000);
    loop {
        snapshot::save(&index, &path).unwrap();
    }
}

#[test]
fn a_kill_at_any_moment_leaves_one_whole_file() {
    let folder = Folder::new("killed");
    let path = folder.file("index.arrow");
    let mut beside = 0;
    for round in 0..12 {
        snapshot::save(squares(10), &path).unwrap();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "files::child_that_saves_until_it_is_killed"])
            .env("LATCHLESS_SAVE_TO", &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Until it has begun to write; then some moment of its writing, syncing and renaming.
        while folder.names().len() == beside + 1 {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(round));
        child.kill().unwrap();
        child.wait().unwrap();
        let there: Index<u64, u32> = snapshot::open(&path).unwrap();
        assert!([10, 200_000].contains(&there.len()), "{} entries", there.len());
        beside = folder.names().len() - 1;
    }
    assert!(beside > 0, "no child was killed while it wrote");
}
