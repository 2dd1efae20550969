//! An opened index equals the saved one.

use super::{bytes_of, squares};
use latchless::index::ExclusiveIndex;
use latchless::snapshot::{self, DataType, Error, Layout, Native, Snapshot};
use latchless::{FillFactor, Index};
use proptest::prelude::*;
use std::fmt::Debug;
use std::num::NonZeroUsize;

fn there_and_back<K: Native, V: Native>(entries: &[(K, V)]) {
    let index: Index<K, V> = entries.iter().copied().collect();
    let bytes = bytes_of(&index);
    let snapshot = Snapshot::from_bytes(bytes).unwrap();
    assert_eq!((snapshot.key_type(), snapshot.value_type()), (K::DATA_TYPE, V::DATA_TYPE));
    assert_eq!(snapshot.len(), index.len());
    let again: Index<K, V> = snapshot.index().unwrap();
    again.check_invariants().unwrap();
    // By their bits: a NaN isn't equal to itself.
    let bits = |index: &Index<K, V>| -> Vec<_> {
        index.iter().map(|(key, value)| (key.to_cell(), value.to_cell())).collect()
    };
    assert_eq!(bits(&again), bits(&index));
    assert_eq!((0..snapshot.len()).map(|row| snapshot.row(row)).collect::<Vec<_>>(), bits(&index));
}

/// Saves these keys with values of these types, which are computed from the keys' cells.
macro_rules! corners {
    ($corners:expr; $($value:ty: $of:expr;)*) => {$(
        let entries = $corners.map(|key| (key, ($of as fn(u64) -> $value)(key.to_cell())));
        there_and_back::<_, $value>(&entries);
    )*};
}

fn keys<K: Native + Debug, const N: usize>(corners: [K; N]) {
    corners!(corners; u32: |cell| cell as u32; f64: |cell| f64::from_bits(!cell););
}

#[test]
fn every_type_of_keys_at_its_corners() {
    keys([0u8, 1, 127, 128, 255]);
    keys([0u16, 1, 255, 256, u16::MAX]);
    keys([0u32, 1, 1 << 31, u32::MAX]);
    keys([0u64, 1, 1 << 32, 1 << 63, u64::MAX]);
    keys([i8::MIN, -1, 0, 1, i8::MAX]);
    keys([i16::MIN, -1, 0, 1, i16::MAX]);
    keys([i32::MIN, -1, 0, 1, i32::MAX]);
    keys([i64::MIN, -1, 0, 1, i64::MAX]);
    keys([-f32::NAN, f32::NEG_INFINITY, -1.5, -0.0, 0.0, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN]);
    keys([-f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, f64::from_bits(1), f64::INFINITY, f64::NAN]);
}

#[test]
fn every_type_of_values_at_its_corners() {
    corners! {
        [i64::MIN, -1, 0, 1, i64::MAX];
        u8: |cell| cell as u8; u16: |cell| cell as u16; u32: |cell| cell as u32; u64: |cell| !cell;
        i8: |cell| cell as i8; i16: |cell| cell as i16; i32: |cell| cell as i32; i64: |cell| !cell as i64;
        f32: |cell| f32::from_bits(cell as u32); f64: |cell| f64::from_bits(!cell);
    }
}

#[test]
fn an_empty_index_is_a_file_without_batches() {
    let bytes = bytes_of(&Index::<u64, u64>::new().unwrap());
    assert!(snapshot::read::<u64, u64>(&bytes[..]).unwrap().is_empty());
    assert!(Snapshot::from_bytes(bytes).unwrap().is_empty());
}

#[test]
fn batches_end_where_they_are_full() {
    for len in [(1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
        let index = squares(len);
        let again: Index<u64, u32> = snapshot::read(&bytes_of(&index)[..]).unwrap();
        assert_eq!(again.len() as u64, len);
        assert!(again.iter().eq(index.iter()));
    }
}

#[test]
fn all_forms_of_an_index_write_the_same_bytes() {
    let mut index = squares(1000);
    let shared = bytes_of(&index);
    let (mut lent, mut alone) = (Vec::new(), Vec::new());
    snapshot::write(&index.exclusive(), &mut lent).unwrap();
    snapshot::write(&ExclusiveIndex::from(index), &mut alone).unwrap();
    assert!(shared == lent && shared == alone);
}

#[test]
fn other_types_than_the_files_are_refused_by_name() {
    let bytes = bytes_of(&squares(10));
    let said = snapshot::read::<i64, u32>(&bytes[..]).unwrap_err().to_string();
    assert_eq!(said, "the column key holds uint64, but the index that was asked for has int64");
    let wrong = snapshot::read::<u64, f32>(&bytes[..]).unwrap_err();
    assert!(matches!(
        wrong,
        Error::OtherType { column: "value", found: DataType::UInt32, asked: DataType::Float32 }
    ));
}

#[test]
fn a_load_needs_an_empty_index_and_leaves_a_full_one_alone() {
    let snapshot = Snapshot::from_bytes(bytes_of(&squares(100_000))).unwrap();
    let mut index: Index<u64, u32> = [(7, 7)].into_iter().collect();
    let threads = NonZeroUsize::new(3).unwrap();
    let refused = snapshot.load(&mut index, FillFactor::FULL, threads);
    assert!(matches!(refused, Err(Error::Index(latchless::Error::NotEmpty { len: 1 }))));
    assert_eq!(index.iter().collect::<Vec<_>>(), [(7, 7)]);
    index.exclusive().clear();
    snapshot.load(&mut index, FillFactor::FULL, threads).unwrap();
    assert!(index.iter().eq(squares(100_000).iter()));
    assert!(index.memory_bytes() < snapshot.index::<u64, u32>().unwrap().memory_bytes());
}

#[test]
fn names_of_the_library_are_refused_as_metadata() {
    let index = squares(3);
    for (name, text) in [("latchless.len", "7"), ("a", "xcrc32=00"), ("crc32=", "")] {
        let layout = Layout::new(DataType::UInt64, DataType::UInt64).with_metadata(name, text);
        let written = layout.write(&index, Vec::new(), |key, value| (key, value.into()));
        assert!(matches!(written, Err(Error::Reserved { name: refused }) if refused == name));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_in_it(entries in prop::collection::vec((any::<u64>(), any::<u64>()), 0..400)) {
        there_and_back(&entries);
        let cut = |entries: &[(u64, u64)]| -> Vec<(i16, f32)> {
            entries.iter().map(|&(key, value)| (key as i16, f32::from_bits(value as u32))).collect()
        };
        there_and_back(&cut(&entries));
    }
}
