//! Keys of any length: an opened index equals the saved one, and a file that isn't a snapshot of such keys
//! is rejected.

use super::{Folder, bytes_of, squares};
use latchless::bytes::KeyInBytes;
use latchless::snapshot::strings::{self, Layout, Snapshot};
use latchless::snapshot::{self, DataType, Error, Native};
use latchless::{Direction, FillFactor, Index};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

fn index_of<K: KeyInBytes<V>, V: Native>(entries: impl IntoIterator<Item = (K, V)>) -> Index<K, V> {
    Index::try_from_iter(entries).expect("memory")
}

fn file_of<K: KeyInBytes<V>, V: Native>(index: &Index<K, V>) -> Vec<u8> {
    let mut file = Vec::new();
    assert_eq!(strings::write(index, &mut file).expect("memory takes it"), index.len() as u64);
    file
}

/// Returns keys of many lengths, including prefixes of each other, long ones and the empty one.
fn texts(count: usize) -> Index<String, u64> {
    index_of(
        (0..count).map(|at| (format!("{}{at}", "é/".repeat(at % 90)), at as u64)).chain([(String::new(), 7)]),
    )
}

fn there_and_back<K: KeyInBytes<V> + PartialEq, V: Native + PartialEq + Debug>(
    entries: impl IntoIterator<Item = (K, V)>,
    key_type: DataType,
) {
    let index = index_of(entries);
    let snapshot = Snapshot::from_bytes(file_of(&index)).expect("it was just written");
    assert_eq!((snapshot.key_type(), snapshot.value_type()), (key_type, V::DATA_TYPE));
    assert_eq!((snapshot.len(), snapshot.is_empty()), (index.len(), index.is_empty()));
    let again: Index<K, V> = snapshot.index().expect("keys of this type");
    again.check_invariants().expect("a whole tree");
    assert!(again.iter().eq(index.iter()));
    let mut rows = snapshot.rows();
    let _ = index.scan_lent(.., Direction::Forward, |key, value| {
        assert_eq!(rows.next(), Some((key, value.to_cell())));
        ControlFlow::Continue(())
    });
    assert_eq!(rows.next(), None);
}

#[test]
fn every_type_of_key() {
    there_and_back((0..3000).map(|at: u32| (format!("page/{}", at * 7919 % 3000), at)), DataType::Utf8);
    there_and_back(
        (0..300).map(|at: u16| (vec![(at % 7) as u8; at as usize], f32::from(at))),
        DataType::Binary,
    );
    there_and_back((0..250).map(|at: u8| ([at; 9], -i16::from(at))), DataType::Binary);
    there_and_back((-100..100).map(|at: i128| (at << 70, at as f64)), DataType::Binary);
    there_and_back(
        (0..200).map(|at: u64| ((at % 7, Reverse(format!("a\0{at}"))), at as i8)),
        DataType::Binary,
    );
    there_and_back((0..9).map(|at: u8| ((Some(vec![0, at]), char::from(at)), at)), DataType::Binary);
    there_and_back(Vec::<(String, u64)>::new(), DataType::Utf8);
    there_and_back([(String::new(), 1u16)], DataType::Utf8);
}

#[test]
fn long_keys_end_a_batch_before_it_is_full() {
    // 20 MB of keys are two batches. They share a prefix, so they differ only in lengths and ends.
    let index = index_of((0..400u32).map(|at| (vec![9u8; 50_000 + at as usize], at)));
    let file = file_of(&index);
    assert!(file.len() > 20_000_000);
    let again: Index<Vec<u8>, u32> = strings::read(&file[..]).expect("it was just written");
    assert!(again.iter().eq(index.iter()));
}

#[test]
fn a_file_is_replaced_in_one_step_and_refused_where_it_cannot_be_made() {
    let folder = Folder::new("strings");
    let path = folder.file("pages.arrow");
    for count in [10, 3] {
        let index = texts(count);
        assert_eq!(strings::save(&index, &path).expect("it can be written"), index.len() as u64);
        let again: Index<String, u64> = strings::open(&path).expect("it was just saved");
        assert!(again.iter().eq(index.iter()));
        assert_eq!(folder.names(), ["pages.arrow"]);
    }
    let refused = strings::save(texts(1), folder.file("no/such/folder")).expect_err("there is none");
    assert!(matches!(refused, Error::Io { doing: "create", .. }), "{refused}");
    let refused = strings::open::<String, u64>(folder.file("absent")).expect_err("it isn't there");
    assert!(matches!(refused, Error::Io { doing: "open", .. }), "{refused}");
}

#[test]
fn other_types_than_the_files_are_refused_by_name() {
    let texts = file_of(&texts(10));
    let said = |refused: Error| refused.to_string();
    assert_eq!(
        said(strings::read::<Vec<u8>, u64>(&texts[..]).unwrap_err()),
        "the file has keys of type text, but the index that was asked for has keys of type bytes"
    );
    assert_eq!(
        said(strings::read::<String, u32>(&texts[..]).unwrap_err()),
        "the column value holds uint64, but the index that was asked for has uint32"
    );
    assert_eq!(
        said(snapshot::read::<u64, u64>(&texts[..]).unwrap_err()),
        "the column key holds string: snapshot::strings opens such a file"
    );
    assert_eq!(
        said(strings::read::<String, u32>(&bytes_of(&squares(3))[..]).unwrap_err()),
        "the column key holds uint64: snapshot::open opens such a file"
    );
    // Two tuples with the same number of bytes.
    let pairs = file_of(&index_of([((1u64, 2i64), 3u64)]));
    assert_eq!(
        said(strings::read::<(i64, u64), u64>(&pairs[..]).unwrap_err()),
        "the file has keys of type (u64, i64), but the index that was asked for has keys of type (i64, u64)"
    );
}

#[test]
fn strings_that_no_key_has_are_refused_and_the_index_is_as_before() {
    let folder = Folder::new("no-keys");
    let path = folder.file("made.arrow");
    let layout = Layout::new(DataType::UInt64);
    layout
        .save_rows::<(String, u16)>(&path, [(&b"a\0\0xy"[..], 1), (b"b\0\xffxy", 2)])
        .expect("rows are written");
    let refused = strings::open::<(String, u16), u64>(&path).unwrap_err();
    assert_eq!(refused.to_string(), "row 1 has no key of type (text, u16)");
    for (rows, error) in [
        ([b"b", b"a"], latchless::Error::Unsorted { position: 1 }),
        ([b"b", b"b"], latchless::Error::DuplicateKey { position: 1 }),
    ] {
        layout.save_rows::<Vec<u8>>(&path, rows.map(|key| (key, 5))).expect("rows are written");
        let mut index = Index::<Vec<u8>, u64>::new().expect("memory");
        let snapshot = Snapshot::open(&path).expect("it is a good file");
        assert_eq!(snapshot.rows().collect::<Vec<_>>(), rows.map(|key| (&key[..], 5)));
        let refused = snapshot.load(&mut index, FillFactor::FULL).unwrap_err();
        assert_eq!(refused.to_string(), error.to_string());
        assert!(index.is_empty() && index.check_invariants().is_ok());
    }
    let long = vec![1; 1 << 24];
    layout.save_rows::<Vec<u8>>(&path, [(&long, 5)]).expect("rows are written");
    let refused = strings::open::<Vec<u8>, u64>(&path).unwrap_err();
    assert!(
        matches!(refused, Error::Index(latchless::Error::KeyTooLong { len: 0x100_0000, .. })),
        "{refused}"
    );
    layout.save_rows::<String>(&path, [(b"\xff", 5)]).expect("rows are written");
    let refused = strings::open::<String, u64>(&path).unwrap_err();
    assert_eq!(refused.to_string(), "row 0 has no key of type text");
    let refused = Layout::new(DataType::Utf8).write(texts(1), Vec::new(), |value| value).unwrap_err();
    assert_eq!(refused.to_string(), "the column value holds string, of which a number of 64 bits is no cell");
    let index = squares(1);
    let refused = snapshot::Layout::new(DataType::Binary, DataType::UInt8)
        .write(&index, Vec::new(), |key, value| (key, value.into()))
        .unwrap_err();
    assert_eq!(refused.to_string(), "the column key is of a type that a snapshot can't have: binary");
}

#[test]
fn a_load_needs_an_empty_index() {
    let snapshot = Snapshot::from_bytes(file_of(&texts(10))).expect("it was just written");
    let mut index: Index<String, u64> = index_of([("a".to_owned(), 1)]);
    let refused = snapshot.load(&mut index, FillFactor::FULL);
    assert!(matches!(refused, Err(Error::Index(latchless::Error::NotEmpty { len: 1 }))));
    assert_eq!(index.get("a"), Some(1));
}

#[test]
fn every_truncation_and_every_flipped_bit() {
    let refused = |file: &[u8], what: &dyn Fn() -> String| {
        let opened = strings::read::<String, u64>(file);
        assert!(opened.is_err(), "{} made an index", what());
    };
    let mut flips = 0;
    for count in [0, 1, 40] {
        let file = file_of(&texts(count));
        for end in 0..file.len() {
            refused(&file[..end], &|| format!("{end} of {} bytes", file.len()));
        }
        flips += 8 * file.len();
        let mut flipped = file.clone();
        for bit in 0..8 * file.len() {
            flipped[bit / 8] ^= 1 << (bit % 8);
            refused(&flipped, &|| format!("bit {} of byte {}", bit % 8, bit / 8));
            flipped[bit / 8] = file[bit / 8];
        }
    }
    assert!(flips > 30_000, "{flips}");
}

#[test]
fn every_entry_that_nobody_touched_is_in_a_snapshot_that_is_made_while_others_write() {
    const UNTOUCHED: u64 = 2_000;
    let index = Index::<String, u64>::new().expect("memory");
    let key = |place: u64, what: &str| format!("{}{place:08}/{what}", "x".repeat(place as usize % 40));
    for place in 0..UNTOUCHED {
        index.insert(&key(place, "stays"), place).expect("memory");
    }
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        for thread in 0..2 {
            let (index, over) = (&index, &over);
            threads.spawn(move || {
                for place in (0..UNTOUCHED).cycle() {
                    if over.load(Relaxed) {
                        break;
                    }
                    let own = key(place, &format!("comes and goes {thread}"));
                    index.insert(&own, place).expect("memory");
                    index.remove(&key(
                        (place + UNTOUCHED / 2) % UNTOUCHED,
                        &format!("comes and goes {thread}"),
                    ));
                }
            });
        }
        for _ in 0..10 {
            let mut file = Vec::new();
            let len = strings::write(&index, &mut file).expect("memory takes it");
            // Sorted and without duplicates, or the load would fail.
            let again: Index<String, u64> = strings::read(&file[..]).expect("it was just written");
            assert_eq!(again.len() as u64, len);
            for place in 0..UNTOUCHED {
                assert_eq!(again.get(&key(place, "stays")), Some(place));
            }
        }
        over.store(true, Relaxed);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_in_it(entries in prop::collection::vec((any::<Vec<u8>>(), any::<String>(), any::<u64>()), 0..200)) {
        there_and_back(entries.iter().map(|(key, _, value)| (key.clone(), *value)), DataType::Binary);
        there_and_back(entries.iter().map(|(_, key, value)| (key.clone(), *value as i32)), DataType::Utf8);
        there_and_back(entries.into_iter().map(|(first, then, value)| ((first, then), value)), DataType::Binary);
    }
}
