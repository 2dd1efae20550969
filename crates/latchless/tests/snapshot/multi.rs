//! Keys with many rows: an opened index equals the saved one, and a file that isn't a snapshot of such an
//! index is rejected.

use super::values::is_whole_or_refused;
use super::{Folder, bytes_of, squares};
use latchless::bytes::MultiIndex;
use latchless::snapshot::strings::{self, Snapshot};
use latchless::snapshot::{Error, multi};
use latchless::{BytesKey, FillFactor, Index};
use std::fmt::Debug;

fn index_of<K: BytesKey>(pairs: impl IntoIterator<Item = (K, u64)>) -> MultiIndex<K> {
    let index = MultiIndex::new().expect("memory");
    for (key, row) in pairs {
        index.insert(&key, row).expect("memory");
    }
    index
}

fn file_of<K: BytesKey + 'static>(index: &MultiIndex<K>) -> Vec<u8> {
    let mut file = Vec::new();
    assert_eq!(multi::write(index, &mut file).expect("memory takes it"), index.len() as u64);
    file
}

fn there_and_back<K: BytesKey + PartialEq + Debug + 'static>(pairs: impl IntoIterator<Item = (K, u64)>) {
    let index = index_of(pairs);
    let again: MultiIndex<K> = multi::read(&file_of(&index)[..]).expect("it was just written");
    again.check_invariants().expect("a whole tree");
    assert_eq!(again.iter().collect::<Vec<_>>(), index.iter().collect::<Vec<_>>());
}

#[test]
fn every_type_of_key() {
    there_and_back((0..3000).map(|row: u64| (format!("a\0{}", row % 7), row * 7919 % 3000)));
    there_and_back((0..3000).map(|row: u64| (vec![0, (row % 3) as u8, 0], row)));
    there_and_back((0..3000).map(|row: u64| (u128::from(row % 9) << 90, u64::MAX - row)));
    there_and_back((0..300).map(|row: u64| ((row % 4, format!("{}", row % 3)), row)));
    there_and_back(Vec::<(String, u64)>::new());
    there_and_back([(String::new(), 0), (String::new(), u64::MAX)]);
    there_and_back([(vec![7u8; 60_000], 1), (vec![7; 60_000], 2)]);
}

#[test]
fn a_file_is_replaced_in_one_step_and_refused_where_it_cannot_be_made() {
    let folder = Folder::new("multi");
    let path = folder.file("cities.arrow");
    for rows in [10, 3] {
        let index = index_of((0..rows).map(|row| ("Ulm".to_owned(), row)));
        assert_eq!(multi::save(&index, &path).expect("it can be written"), rows);
        let again: MultiIndex<String> = multi::open(&path).expect("it was just saved");
        assert!(again.rows("Ulm").eq(0..rows));
        assert_eq!(folder.names(), ["cities.arrow"]);
    }
    let refused = multi::save(&index_of([("a".to_owned(), 1)]), folder.file("no/such")).expect_err("none");
    assert!(matches!(refused, Error::Io { doing: "create", .. }), "{refused}");
}

#[test]
fn files_of_other_indexes_are_refused_and_its_own_by_theirs() {
    let cities = file_of(&index_of([("Bonn".to_owned(), 1), ("Ulm".to_owned(), 0)]));
    let said = |refused: Error| refused.to_string();
    assert_eq!(
        said(strings::read::<String, u64>(&cities[..]).unwrap_err()),
        "the file is one of another kind of index: snapshot::multi opens such a file"
    );
    assert_eq!(
        said(latchless::snapshot::read::<u64, u64>(&cities[..]).unwrap_err()),
        "the file is one of another kind of index: snapshot::multi opens such a file"
    );
    assert_eq!(
        said(multi::read::<Vec<u8>>(&cities[..]).unwrap_err()),
        "the file has keys of type text, but the index that was asked for has keys of type bytes"
    );
    let mut pages = Vec::new();
    let index: Index<String, u64> = [("a".to_owned(), 1)].into();
    strings::write(&index, &mut pages).expect("memory takes it");
    for other in [&pages, &bytes_of(&squares(2))] {
        assert_eq!(
            said(multi::read::<String>(&other[..]).unwrap_err()),
            "the file is one of another kind of index: snapshot::open or snapshot::strings opens such a file"
        );
    }
    assert!(Snapshot::from_bytes(pages).is_ok());
}

#[test]
fn every_truncation_and_every_flipped_bit() {
    for rows in [0, 1, 40] {
        let index = index_of((0..rows).map(|row| ("x".repeat(row as usize % 5), row)));
        is_whole_or_refused(&file_of(&index), |file| multi::read::<String>(file));
    }
}

#[test]
fn a_key_with_more_rows_than_a_batch_has() {
    let rows = (1 << 20) + 5;
    let pairs = (0..rows).map(|row| ("Ulm", row));
    let index = MultiIndex::<String>::from_sorted(pairs, FillFactor::FULL).expect("memory");
    let again: MultiIndex<String> = multi::read(&file_of(&index)[..]).expect("it was just written");
    assert!(again.rows("Ulm").eq(0..rows));
}

#[test]
fn a_load_needs_an_empty_index_and_its_pairs_are_lent_before() {
    let pairs = [("Bonn".to_owned(), 1), ("Ulm".to_owned(), 0), ("Ulm".to_owned(), 7)];
    let snapshot = multi::Snapshot::from_bytes(file_of(&index_of(pairs.clone()))).expect("it was written");
    assert_eq!((snapshot.len(), snapshot.is_empty(), snapshot.key_name()), (3, false, "text"));
    assert!(snapshot.pairs().eq(pairs.iter().map(|(key, row)| (key.as_bytes(), *row))));
    let mut index = index_of([("Bonn".to_owned(), 2)]);
    let refused = snapshot.load(&mut index, FillFactor::FULL);
    assert!(matches!(refused, Err(Error::Index(latchless::Error::NotEmpty { len: 1 }))));
    assert!(index.contains("Bonn", 2) && index.len() == 1);
}
