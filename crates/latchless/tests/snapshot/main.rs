//! Snapshots: an opened index equals the saved one, and a file that isn't a snapshot is rejected.

mod damage;
mod files;
mod mapped;
mod multi;
#[cfg(unix)]
mod permissions;
mod round_trips;
mod strings;
mod values;
mod writers;

use latchless::snapshot::{self, Native};
use latchless::{FillFactor, Index};
use std::path::PathBuf;

/// A temporary folder of a test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("latchless-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the names of its files, sorted.
    fn names(&self) -> Vec<String> {
        let there = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the bytes of a snapshot.
fn bytes_of<K: Native, V: Native>(index: &Index<K, V>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = snapshot::write(index, &mut bytes).unwrap();
    assert_eq!(written, index.len() as u64);
    bytes
}

/// Returns an index of this many entries.
fn squares(len: u64) -> Index<u64, u32> {
    let entries: Vec<_> = (0..len).map(|key| (key * key, key as u32)).collect();
    Index::from_sorted(&entries, FillFactor::FULL).unwrap()
}
