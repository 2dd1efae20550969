//! Files that aren't snapshots, or were snapshots until they were changed, and the required outcome of
//! opening one.
//!
//! The checksum detects nearly every change. So that the code after it is reached, too, the checksum may be
//! corrected: then the file looks deliberate, and only its own inconsistency prevents it from being opened.

use crate::damage::Change;
use arbitrary::Arbitrary;
use latchless::bytes::{KeyInBytes, MultiIndex};
use latchless::snapshot::{DataType, Error, Layout, Native, SavedValue, Snapshot, multi, strings};
use latchless::{Direction, FillFactor, Index, Key};
use std::fmt::Debug;
use std::num::NonZeroUsize;

/// The marker before the checksum's digits, and their number.
const MARK: &[u8] = b"crc32=";
const DIGITS: usize = 8;

/// A file.
#[derive(Debug, Arbitrary)]
pub struct Bytes {
    start: Start,
    changes: Vec<Change>,
    /// Whether the checksum is corrected after the changes.
    is_made_on_purpose: bool,
}

/// The original file.
#[derive(Debug, Arbitrary)]
enum Start {
    /// Anything.
    Any(Vec<u8>),
    /// A snapshot of these keys.
    Wide(Vec<u64>),
    /// One of narrower types, and with metadata.
    Narrow(Vec<i16>, Vec<(String, String)>),
    /// Rows in any order.
    Rows(Vec<(u64, u8)>),
    /// A snapshot of texts under texts.
    Texts(Vec<(String, String)>),
    /// One of values of more than a number under bytes.
    Pairs(Vec<(Vec<u8>, (u64, f32))>),
    /// One of keys in many rows.
    Multi(Vec<(String, u64)>),
}

impl Start {
    /// The file; none if its metadata is refused.
    fn file(&self) -> Option<Vec<u8>> {
        let mut file = Vec::new();
        let written = match self {
            Self::Any(bytes) => return Some(bytes.clone()),
            Self::Wide(keys) => {
                let index: Index<u64, u64> = keys.iter().map(|&key| (key, !key)).collect();
                latchless::snapshot::write(&index, &mut file)
            }
            Self::Narrow(keys, metadata) => {
                let index: Index<i16, f32> = keys.iter().map(|&key| (key, f32::from(key))).collect();
                let layout = Layout::new(DataType::Int16, DataType::Float32);
                let add = |layout: Layout, (name, text): &(String, String)| layout.with_metadata(name, text);
                let layout = metadata.iter().fold(layout, add);
                layout.write(&index, &mut file, |key, value| (key.to_cell(), value.to_cell()))
            }
            Self::Rows(rows) => {
                // The index's order is that of the rows, whatever their keys are.
                let index: Index<u64, u64> =
                    (0..).zip(rows).map(|(at, row)| (at, u64::from(row.1))).collect();
                let layout = Layout::new(DataType::UInt64, DataType::UInt8);
                layout.write(&index, &mut file, |at, value| (rows[at as usize].0, value))
            }
            Self::Texts(entries) => {
                let index: Index<String, String> = entries.iter().cloned().collect();
                strings::write(&index, &mut file)
            }
            Self::Pairs(entries) => {
                let index: Index<Vec<u8>, (u64, f32)> = entries.iter().cloned().collect();
                strings::write(&index, &mut file)
            }
            Self::Multi(pairs) => {
                let index = MultiIndex::<String>::new().expect("there is memory");
                index.insert_many(pairs).expect("there is memory");
                multi::write(&index, &mut file)
            }
        };
        match written {
            Ok(_) => Some(file),
            Err(Error::Reserved { .. }) => None,
            Err(error) => panic!("a vector refuses nothing: {error}"),
        }
    }
}

/// Corrects the checksum, if the file has a place for one.
fn put_checksum(file: &mut [u8]) {
    let Some(mark) = file.windows(MARK.len()).rposition(|bytes| bytes == MARK) else { return };
    let digits = mark + MARK.len()..mark + MARK.len() + DIGITS;
    if digits.end > file.len() {
        return;
    }
    file[digits.clone()].fill(b'0');
    let checksum = format!("{:08x}", crc32fast::hash(file));
    file[digits].copy_from_slice(checksum.as_bytes());
}

impl Bytes {
    /// Opens the file.
    ///
    /// # Panics
    /// If that panics, makes an index with other entries than the file has, or refuses a consistent file.
    pub fn run(&self) {
        let Some(mut file) = self.start.file() else { return };
        let before = file.clone();
        for change in &self.changes {
            change.apply(&mut file);
        }
        if self.is_made_on_purpose {
            put_checksum(&mut file);
        }
        let is_whole = file == before && !matches!(self.start, Start::Any(_));
        let bytes = file.len();
        let fits = |rows: usize| assert!(rows <= bytes / 2, "{rows} rows in {bytes} bytes");
        let opened = match Snapshot::from_bytes(file.clone()) {
            Err(Error::OtherKeys { .. }) => strings::Snapshot::from_bytes(file).map(|snapshot| {
                fits(snapshot.len());
                load_strings(&snapshot);
            }),
            Err(Error::OtherRows { .. }) => multi::Snapshot::from_bytes(file).map(|snapshot| {
                fits(snapshot.len());
                load_pairs(&snapshot);
            }),
            opened => opened.map(|snapshot| {
                fits(snapshot.len());
                load(&snapshot);
            }),
        };
        match opened {
            Ok(()) => {}
            Err(error) => {
                assert!(!is_whole, "a snapshot that nobody changed: {error}");
                assert!(error.to_string().len() < 10_000 + bytes, "{error}");
            }
        }
    }
}

/// Loads the rows as keys and values of some types: all are in the index, or one is invalid or out of
/// order.
fn load_strings(snapshot: &strings::Snapshot) {
    fn of<K: KeyInBytes<V>, V: SavedValue>(snapshot: &strings::Snapshot) {
        let is_it = snapshot.key_name() == K::type_name() && snapshot.value_name() == V::type_name();
        match snapshot.index::<K, V>() {
            Ok(index) => {
                assert!(is_it && index.len() == snapshot.len());
                let mut rows = snapshot.byte_rows();
                let _ = index.scan_lent(.., Direction::Forward, |key, value| {
                    let row = rows.next().expect("as many rows");
                    V::with_cell(value, |value| assert_eq!(row, (key, value)));
                    std::ops::ControlFlow::Continue(())
                });
                index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
            }
            Err(Error::NoKey { row, .. } | Error::NoValue { row, .. }) => assert!(row < snapshot.len()),
            Err(Error::Index(_)) => assert!(is_it),
            Err(Error::OtherKeyType { .. } | Error::OtherType { .. } | Error::OtherValueType { .. }) => {
                assert!(!is_it || snapshot.value_type() != V::COLUMN);
            }
            Err(error) => panic!("{error}"),
        }
    }
    of::<String, String>(snapshot);
    of::<Vec<u8>, Vec<u8>>(snapshot);
    of::<Vec<u8>, (u64, f32)>(snapshot);
    of::<String, u64>(snapshot);
    of::<(u64, String), [u8; 12]>(snapshot);
    let mut words = Index::<String, u64>::new().expect("there is memory");
    let _ = snapshot.load_by(&mut words, FillFactor::FULL, |cell| cell);
}

/// The same of keys in many rows.
fn load_pairs(snapshot: &multi::Snapshot) {
    match snapshot.index::<String>() {
        Ok(index) => {
            assert_eq!(index.len(), snapshot.len());
            assert!(
                index.iter().zip(snapshot.pairs()).all(|((key, row), there)| (key.as_bytes(), row) == there)
            );
        }
        Err(Error::OtherKeyType { .. } | Error::NoKey { .. } | Error::Index(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Loads the rows as the file's own types, and as others.
fn load(snapshot: &Snapshot) {
    macro_rules! pairs {
        ($($key:ty: $key_type:ident),*) => {$(
            if snapshot.key_type() == DataType::$key_type {
                match snapshot.value_type() {
                    DataType::UInt8 => equals_its_rows::<$key, u8>(snapshot),
                    DataType::UInt16 => equals_its_rows::<$key, u16>(snapshot),
                    DataType::Int16 => equals_its_rows::<$key, i16>(snapshot),
                    DataType::Float32 => equals_its_rows::<$key, f32>(snapshot),
                    DataType::UInt64 => equals_its_rows::<$key, u64>(snapshot),
                    DataType::Float64 => equals_its_rows::<$key, f64>(snapshot),
                    _ => {}
                }
            } else {
                let other = snapshot.index::<$key, u64>();
                assert!(matches!(other, Err(Error::OtherType { column: "key", .. })));
            }
        )*};
    }
    pairs!(u64: UInt64, i64: Int64, f64: Float64, u32: UInt32, i32: Int32, f32: Float32, u16: UInt16, i16: Int16, u8: UInt8, i8: Int8);
}

/// The index has the rows that a plain reading of the file gives, or the first that is out of order is
/// named.
fn equals_its_rows<K: Native + Debug, V: Native + Debug>(snapshot: &Snapshot) {
    let cell = |at| snapshot.row(at);
    let rows: Vec<(K, V)> =
        (0..snapshot.len()).map(cell).map(|(key, value)| (K::from_cell(key), V::from_cell(value))).collect();
    // Keys compare by their order-keeping bits.
    let wrong =
        rows.windows(2).position(|pair| Key::encode(pair[0].0) >= Key::encode(pair[1].0)).map(|before| {
            let position = before + 1;
            let twice = Key::encode(rows[before].0) == Key::encode(rows[position].0);
            if twice {
                latchless::Error::DuplicateKey { position }
            } else {
                latchless::Error::Unsorted { position }
            }
        });
    let mut index = Index::<K, V>::new().expect("there is memory");
    let loaded = snapshot.load(&mut index, FillFactor::UPDATED, NonZeroUsize::MIN);
    index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    let bits = |entries: &mut dyn Iterator<Item = (K, V)>| -> Vec<(u64, u64)> {
        entries.map(|(key, value)| (key.to_cell(), value.to_cell())).collect()
    };
    match (loaded, wrong) {
        (Ok(()), None) => assert_eq!(bits(&mut index.iter()), bits(&mut rows.into_iter())),
        (Err(Error::Index(found)), Some(wrong)) => {
            assert_eq!(found, wrong);
            assert!(index.is_empty());
        }
        (loaded, wrong) => panic!("{loaded:?}, where this is wrong: {wrong:?}"),
    }
}
