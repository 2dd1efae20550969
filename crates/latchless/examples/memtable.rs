//! A memtable, as in storage engines. A put or a delete adds a version of its key, numbered by a sequence
//! number; a reader at a snapshot sees the newest versions up to that number. A full memtable is frozen, and
//! an active one replaces it: a merging iterator shows both as one.
//! `cargo run --release -p latchless --example memtable`

use latchless::{Index, VersionedKey, index::Cursor};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The versions of all keys, with their values. A tombstone is empty; a value is preceded by this byte.
type Versions = Index<VersionedKey<String>, Vec<u8>>;
const VALUE: u8 = b'+';

struct Memtable {
    versions: Versions,
}

impl Memtable {
    fn new() -> latchless::Result<Self> {
        Ok(Self { versions: Versions::new()? })
    }

    fn put(&self, key: &str, sequence: u64, value: &str) -> latchless::Result<()> {
        let value = [&[VALUE], value.as_bytes()].concat();
        self.versions.insert(VersionedKey(key, sequence), &value)?;
        Ok(())
    }

    fn delete(&self, key: &str, sequence: u64) -> latchless::Result<()> {
        self.versions.insert(VersionedKey(key, sequence), &[])?;
        Ok(())
    }

    /// Returns the newest version of a key up to a sequence number, if this memtable has one: its value, or
    /// `None` for a tombstone.
    fn get(&self, key: &str, snapshot: u64) -> Option<Option<String>> {
        self.versions.newest_with(key, snapshot, |_, value| text_of(value))
    }
}

/// Returns the content of a version: its value, or `None` for a tombstone.
fn text_of(value: &[u8]) -> Option<String> {
    let (_, text) = value.split_first()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns the newest version of a key in several memtables, the newest of them first.
fn get(memtables: &[&Memtable], key: &str, snapshot: u64) -> Option<String> {
    memtables.iter().find_map(|memtable| memtable.get(key, snapshot)).flatten()
}

/// An iterator over the keys of several memtables with their newest visible values, in order.
struct Merge<'m> {
    snapshot: u64,
    sources: Vec<Cursor<&'m Versions>>,
    /// The key whose newest visible version was met last; older ones are skipped.
    last: Option<String>,
}

impl<'m> Merge<'m> {
    /// Starts at the first key that isn't less than `key`.
    fn from(memtables: &[&'m Memtable], key: &str, snapshot: u64) -> Self {
        let source = |&memtable: &&'m Memtable| {
            let mut cursor = memtable.versions.cursor();
            cursor.seek(VersionedKey(key, snapshot));
            cursor
        };
        Self { snapshot, sources: memtables.iter().map(source).collect(), last: None }
    }
}

impl Iterator for Merge<'_> {
    type Item = (String, String);

    fn next(&mut self) -> Option<(String, String)> {
        loop {
            let rest = self.sources.iter_mut().filter_map(|cursor| {
                let (VersionedKey(key, sequence), value) = cursor.current()?;
                Some((VersionedKey(key.to_owned(), sequence), text_of(value), cursor))
            });
            let (VersionedKey(key, sequence), value, cursor) = rest.min_by(|(a, ..), (b, ..)| a.cmp(b))?;
            if sequence > self.snapshot {
                // However many versions came after the snapshot, only the newest visible one is read.
                cursor.seek(VersionedKey(&key, self.snapshot));
                continue;
            }
            cursor.next();
            if self.last.as_deref() == Some(&key) {
                continue;
            }
            self.last = Some(key.clone());
            if let Some(value) = value {
                return Some((key, value));
            }
        }
    }
}

fn show(memtables: &[&Memtable], from: &str, snapshot: u64) -> String {
    let entries: Vec<_> =
        Merge::from(memtables, from, snapshot).map(|(key, value)| format!("{key}={value}")).collect();
    entries.join(" ")
}

fn main() -> latchless::Result<()> {
    let frozen = Memtable::new()?;
    frozen.put("apple", 1, "red")?;
    frozen.put("cherry", 2, "dark")?;
    frozen.put("apple", 3, "green")?;
    frozen.put("apples", 4, "many")?;
    assert_eq!(frozen.get("apple", 2), Some(Some("red".to_owned())));
    assert_eq!(frozen.get("appl", 9), None);

    // Full: from here on it is only read.
    let active = Memtable::new()?;
    let both = [&active, &frozen];
    active.put("banana", 5, "ripe")?;
    active.delete("cherry", 6)?;
    active.put("apple", 7, "yellow")?;

    println!("now:       {}", show(&both, "", 7));
    assert_eq!(show(&both, "", 7), "apple=yellow apples=many banana=ripe");
    println!("before:    {}", show(&both, "", 4));
    assert_eq!(show(&both, "", 4), "apple=green apples=many cherry=dark");
    println!("from b on: {}", show(&both, "b", 5));
    assert_eq!(show(&both, "b", 5), "banana=ripe cherry=dark");
    assert_eq!(get(&both, "apple", 6).as_deref(), Some("green"));
    assert_eq!(get(&both, "cherry", 5).as_deref(), Some("dark"));
    assert_eq!(get(&both, "cherry", 6), None, "its newest version is a tombstone");

    // Writers change the same keys meanwhile; a snapshot is unaffected.
    let (sequences, expected) = (AtomicU64::new(8), show(&both, "", 7));
    thread::scope(|threads| {
        let writers: Vec<_> = ["apple", "banana", "cherry"]
            .map(|key| {
                let (sequences, active) = (&sequences, &active);
                threads.spawn(move || {
                    (0..10_000).try_for_each(|_| {
                        let sequence = sequences.fetch_add(1, Ordering::Relaxed);
                        active.put(key, sequence, "newer")
                    })
                })
            })
            .into();
        while writers.iter().any(|writer| !writer.is_finished()) {
            assert_eq!(show(&both, "", 7), expected);
        }
        writers.into_iter().try_for_each(|writer| writer.join().expect("a writer doesn't panic"))
    })?;
    println!("at the end: {}", show(&both, "", u64::MAX));
    assert_eq!(show(&both, "", u64::MAX), "apple=newer apples=many banana=newer cherry=newer");
    Ok(())
}
