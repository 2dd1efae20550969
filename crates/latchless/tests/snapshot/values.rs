//! Values of more than a number in an index of byte strings: all are restored, and a file with values of
//! another type is rejected.

use super::Folder;
use latchless::bytes::{KeyInBytes, Words};
use latchless::snapshot::strings::{self, Layout, Snapshot};
use latchless::snapshot::{self, DataType, Error, SavedValue};
use latchless::{BytesValue, FillFactor, Index, WideValue};
use proptest::prelude::*;
use std::borrow::Cow;
use std::fmt::Debug;
use std::net::Ipv6Addr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

fn file_of<K: KeyInBytes<V>, V: SavedValue>(index: &Index<K, V>) -> Vec<u8> {
    let mut file = Vec::new();
    assert_eq!(strings::write(index, &mut file).expect("memory takes it"), index.len() as u64);
    file
}

fn values<V: BytesValue>(values: impl IntoIterator<Item = V>) -> Index<u128, V>
where
    u128: KeyInBytes<V>,
{
    Index::try_from_iter((0u128..).zip(values)).expect("memory")
}

/// Saves an index of these values, checks its column's type, and opens it again; returns the first value's
/// bytes in the file.
fn there_and_back<V: SavedValue + PartialEq + Debug>(
    all: impl IntoIterator<Item = V>,
    (column, name): (DataType, &str),
) -> Vec<u8>
where
    u128: KeyInBytes<V>,
{
    let index = values(all);
    let snapshot = Snapshot::from_bytes(file_of(&index)).expect("it was just written");
    assert_eq!((snapshot.len(), snapshot.value_type()), (index.len(), column));
    assert_eq!((V::COLUMN, snapshot.value_name(), V::type_name()), (column, name.into(), name.into()));
    let again: Index<u128, V> = snapshot.index().expect("values of this type");
    again.check_invariants().expect("a whole tree");
    assert!(again.iter().eq(index.iter()));
    let first = snapshot.byte_rows().next();
    first.map_or(Vec::new(), |(_, value)| value.to_vec())
}

#[test]
fn every_type_of_value() {
    use DataType::{Binary, FixedSizeBinary, Int16, Utf8};
    let bytes = |at: u32| vec![at as u8; at as usize % 300];
    assert_eq!(there_and_back((1..2000).map(bytes), (Binary, "bytes")), [1]);
    assert_eq!(there_and_back((0..2000).map(|at| "é".repeat(at % 200)), (Utf8, "text")), []);
    assert_eq!(there_and_back([-2i16, 3], (Int16, "int16")), [254, 255]);
    assert_eq!(there_and_back([[7u8]; 3], (FixedSizeBinary(1), "[u8; 1]")), [7]);
    assert_eq!(there_and_back([[1u8, 2, 3]; 9], (FixedSizeBinary(3), "[u8; 3]")), [1, 2, 3]);
    assert_eq!(there_and_back([[9u8; 64]; 9], (FixedSizeBinary(64), "[u8; 64]")), [9; 64]);
    let number = 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10;
    let reversed: Vec<u8> = (1..=16).rev().collect();
    assert_eq!(there_and_back([number, u128::MAX], (FixedSizeBinary(16), "u128")), reversed);
    assert_eq!(there_and_back([number as i128, i128::MIN], (FixedSizeBinary(16), "i128")), reversed);
    let address = Ipv6Addr::from_bits(number);
    assert!(there_and_back([address], (FixedSizeBinary(16), "ipv6")).into_iter().eq(1..=16));
    let pair = there_and_back([(3u32, -1i64), (4, 5)], (FixedSizeBinary(12), "(u32, i64)"));
    assert_eq!(pair, [3, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    let pair = there_and_back([(1u32, 2i32)], (FixedSizeBinary(8), "(u32, i32)"));
    assert_eq!(pair, [1, 0, 0, 0, 2, 0, 0, 0]);
    let mixed = [(0.5f64, u64::MAX, i64::MIN), (-0.0, 1, -1)];
    assert_eq!(
        there_and_back(mixed, (FixedSizeBinary(24), "(f64, u64, i64)"))[6..10],
        [0xE0, 0x3F, 255, 255]
    );
    let array = there_and_back([[1u64, 2], [3, 4]], (FixedSizeBinary(16), "[u64; 2]"));
    assert_eq!(array, [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    there_and_back([[-1i64; 8]], (FixedSizeBinary(64), "[i64; 8]"));
    there_and_back([[0.5f64], [f64::MAX]], (FixedSizeBinary(8), "[f64; 1]"));
    there_and_back(Vec::<String>::new(), (Utf8, "text"));
    there_and_back(Vec::<u128>::new(), (FixedSizeBinary(16), "u128"));
}

#[test]
fn strings_of_every_length_there_is() {
    for len in [0, 1, 7, 8, 191, 192, 193, 248, 65_535, 65_536] {
        let all = [vec![], vec![1u8; len], vec![], vec![2; len]];
        assert!(there_and_back(all, (DataType::Binary, "bytes")).is_empty());
    }
}

#[test]
fn values_end_a_batch_before_it_is_full() {
    // 20 MB of values: two batches. They share a prefix, so they differ only in their ends.
    let long = values((0..400).map(|at| vec![9u8; 50_000 + at]));
    // 16 MiB and a row more, of values of one length.
    let wide = values((0..(1u64 << 18) + 1).map(|at| [at; 8]));
    let files = [file_of(&long), file_of(&wide)];
    assert!(files.iter().all(|file| file.len() > 1 << 24));
    let batches = |file: &[u8]| file.windows(8).filter(|at| at[..4] == [255; 4] && at[4..] != [0; 4]).count();
    assert!(
        strings::read(&files[0][..]).is_ok_and(|again: Index<u128, Vec<u8>>| again.iter().eq(long.iter()))
    );
    assert!(
        strings::read(&files[1][..]).is_ok_and(|again: Index<u128, [u64; 8]>| again.iter().eq(wide.iter()))
    );
    // The schema, and two batches.
    assert_eq!(files.map(|file| batches(&file)), [3, 3]);
}

#[test]
fn other_types_than_the_files_are_refused_by_name() {
    let refused = |file: &[u8], read: fn(&[u8]) -> Result<(), Error>| read(file).unwrap_err().to_string();
    fn of<V: SavedValue>(file: &[u8]) -> Result<(), Error>
    where
        u128: KeyInBytes<V>,
    {
        strings::read::<u128, V>(file).map(drop)
    }
    let texts = file_of(&values(["a".to_owned()]));
    assert_eq!(
        refused(&texts, of::<u64>),
        "the column value holds string, but the index that was asked for has uint64"
    );
    assert_eq!(
        refused(&texts, of::<Vec<u8>>),
        "the column value holds string, but the index that was asked for has binary"
    );
    let wide = file_of(&values([5u128]));
    assert_eq!(
        refused(&wide, of::<[u8; 17]>),
        "the column value holds fixed_size_binary[16], but the index that was asked for has fixed_size_binary[17]"
    );
    // Of the same width.
    assert_eq!(
        refused(&wide, of::<[u8; 16]>),
        "the file has values of type u128, but the index that was asked for has values of type [u8; 16]"
    );
    assert_eq!(
        refused(&file_of(&values([[5u8; 16]])), of::<(u64, f64)>),
        "the file has values of type [u8; 16], but the index that was asked for has values of type (u64, f64)"
    );
}

#[test]
fn numbers_are_no_cells_of_other_values() {
    let snapshot = Snapshot::from_bytes(file_of(&values(["a".to_owned()]))).expect("it was just written");
    let mut index = Index::<u128, u64>::new().expect("memory");
    let refused = snapshot.load_by(&mut index, FillFactor::FULL, |cell| cell).unwrap_err();
    assert_eq!(refused.to_string(), "the column value holds string, of which a number of 64 bits is no cell");
    let numbers = values([1u64]);
    for column in [DataType::Binary, DataType::FixedSizeBinary(9)] {
        let refused = Layout::new(column).write(&numbers, Vec::new(), |cell| cell).unwrap_err();
        assert!(matches!(refused, Error::NoCells { found } if found == column), "{refused}");
    }
    // With eight bytes they are.
    let mut file = Vec::new();
    Layout::new(DataType::FixedSizeBinary(8)).write(&numbers, &mut file, |cell| cell).expect("it is written");
    let again: Index<u128, [u8; 8]> = strings::read(&file[..]).expect("it was just written");
    assert_eq!(again.get(0), Some([1, 0, 0, 0, 0, 0, 0, 0]));
    let index = super::squares(1);
    for wide in [DataType::FixedSizeBinary(8), DataType::Utf8] {
        let layout = snapshot::Layout::new(DataType::UInt64, wide);
        let refused = layout.write(&index, Vec::new(), |key, value| (key, value.into())).unwrap_err();
        assert!(matches!(refused, Error::UnknownType { column: "value", .. }), "{refused}");
    }
}

/// A value that isn't valid for all bytes, and is saved as one more than its column allows if it is `WRONG`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Even<const WRONG: bool>(u32);

impl<const WRONG: bool> WideValue<1> for Even<WRONG> {
    fn to_words(self) -> [u64; 1] {
        [self.0.into()]
    }

    fn from_words([word]: [u64; 1]) -> Self {
        Self(word as u32)
    }
}
impl<const WRONG: bool> BytesValue for Even<WRONG> {
    type Form = Words<1>;
}
impl<const WRONG: bool> SavedValue for Even<WRONG> {
    const COLUMN: DataType = DataType::UInt32;

    fn type_name() -> Cow<'static, str> {
        "even".into()
    }

    fn with_cell<R>(value: Self, see: impl FnOnce(&[u8]) -> R) -> R {
        see(&u64::from(value.0).to_le_bytes()[..if WRONG { 5 } else { 4 }])
    }

    fn of_cell(cell: &[u8]) -> Option<Self> {
        u32::of_cell(cell).filter(|number| number % 2 == 0).map(Self)
    }
}

#[test]
fn bytes_that_no_value_has_are_refused_and_the_index_is_as_before() {
    let folder = Folder::new("no-values");
    let path = folder.file("made.arrow");
    let texts = Layout::new(DataType::Utf8);
    let rows = [("a", &b"\xC3\xA9"[..]), ("b", b""), ("c", b"\xC3"), ("d", b"")];
    assert_eq!(texts.save_byte_rows::<String>(&path, rows).expect("rows are written"), 4);
    let snapshot = Snapshot::open(&path).expect("it is a good file");
    assert!(snapshot.byte_rows().eq(rows.map(|(key, value)| (key.as_bytes(), value))));
    let mut index = Index::<String, String>::new().expect("memory");
    let refused = snapshot.load(&mut index, FillFactor::FULL).unwrap_err();
    assert_eq!(refused.to_string(), "row 2 has no value of type text");
    assert!(index.is_empty() && index.check_invariants().is_ok());
    index.insert("later", "it can be used").expect("memory");

    let long = "x".repeat(1 << 24);
    texts.save_byte_rows::<String>(&path, [("a", &long)]).expect("rows are written");
    let refused = strings::open::<String, String>(&path).unwrap_err();
    assert!(
        matches!(refused, Error::Index(latchless::Error::ValueTooLong { len: 0x100_0000, .. })),
        "{refused}"
    );

    // A custom type.
    let even = file_of(&values([Even::<false>(2), Even(4)]));
    assert!(strings::read::<u128, Even<false>>(&even[..]).is_ok());
    let refused = strings::read::<u128, u32>(&even[..]).unwrap_err();
    assert!(refused.to_string().starts_with("the file has values of type even, but"), "{refused}");
    let refused = strings::write(values([Even::<true>(2)]), Vec::new()).unwrap_err();
    assert_eq!(refused.to_string(), "a value was made 5 bytes, but the column value holds uint32");
    let columns = [
        (
            DataType::FixedSizeBinary(2),
            "a value was made 1 bytes, but the column value holds fixed_size_binary[2]",
        ),
        (
            DataType::FixedSizeBinary(0),
            "the column value is of a type that a snapshot can't have: fixed_size_binary[0]",
        ),
        (
            DataType::FixedSizeBinary(65),
            "the column value is of a type that a snapshot can't have: fixed_size_binary[65]",
        ),
    ];
    for (column, said) in columns {
        let refused = Layout::new(column).save_byte_rows::<String>(&path, [("a", "b")]).unwrap_err();
        assert_eq!(refused.to_string(), said);
    }
    assert_eq!(folder.names(), ["made.arrow"]);
}

/// Opens every prefix of a file, and the file with each bit flipped.
pub(super) fn is_whole_or_refused<T>(file: &[u8], open: impl Fn(&[u8]) -> Result<T, Error>) {
    assert!(open(file).is_ok());
    for end in 0..file.len() {
        assert!(open(&file[..end]).is_err(), "{end} of {} bytes", file.len());
    }
    let mut flipped = file.to_vec();
    for bit in 0..8 * file.len() {
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&flipped).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        flipped[bit / 8] = file[bit / 8];
    }
}

#[test]
fn every_truncation_and_every_flipped_bit() {
    for count in [0, 1, 40] {
        let texts = values((0..count).map(|at| "é/".repeat(at)));
        is_whole_or_refused(&file_of(&texts), |file| strings::read::<u128, String>(file));
        let pairs = values((0..count as u64).map(|at| (at, 0.5f32)));
        is_whole_or_refused(&file_of(&pairs), |file| strings::read::<u128, (u64, f32)>(file));
    }
}

#[test]
fn long_values_that_nobody_touched_are_in_a_snapshot_that_is_made_while_others_write() {
    const UNTOUCHED: u64 = 1_000;
    let index = Index::<u64, String>::new().expect("memory");
    let text = |place: u64| format!("{place}/").repeat(place as usize % 90);
    for place in 0..UNTOUCHED {
        index.insert(2 * place, &text(place)).expect("memory");
    }
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            // Neighbours whose values move from inside of their nodes to outside and back.
            for place in (0..UNTOUCHED).cycle().take_while(|_| !over.load(Relaxed)) {
                index.insert(2 * place + 1, &text(place + 45)).expect("memory");
                index.remove(2 * ((place + UNTOUCHED / 2) % UNTOUCHED) + 1);
            }
        });
        for _ in 0..10 {
            let mut file = Vec::new();
            let len = strings::write(&index, &mut file).expect("memory takes it");
            let again: Index<u64, String> = strings::read(&file[..]).expect("it was just written");
            assert_eq!(again.len() as u64, len);
            for (key, value) in again.iter() {
                assert!(value == text(key / 2 + key % 2 * 45));
            }
            assert!((0..UNTOUCHED).all(|place| again.contains_key(2 * place)));
        }
        over.store(true, Relaxed);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_in_it(entries in prop::collection::vec((any::<Vec<u8>>(), any::<String>(), any::<(u64, u64)>()), 0..200)) {
        there_and_back(entries.iter().map(|(bytes, ..)| bytes.clone()), (DataType::Binary, "bytes"));
        there_and_back(entries.iter().map(|(_, text, _)| text.clone()), (DataType::Utf8, "text"));
        there_and_back(entries.iter().map(|(.., pair)| *pair), (DataType::FixedSizeBinary(16), "(u64, u64)"));
        let index: Index<Vec<u8>, String> = entries.iter().map(|(bytes, text, _)| (bytes.clone(), text.clone())).collect();
        let again: Index<Vec<u8>, String> = strings::read(&file_of(&index)[..]).expect("it was just written");
        assert!(again.iter().eq(index.iter()));
    }
}
