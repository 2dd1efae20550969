//! A durable index of strings recovers every value that a snapshot has: after a close, after every
//! truncation and flip of its log, and under many writers. Untrustworthy logs are refused.

mod common;
#[path = "common/forged.rs"]
mod forged;

use common::{
    every_cut_gives_the_records_before, every_flipped_bit_is_found, folder, folder_with, log_of, never,
};
use forged::{record, set_aside};
use latchless::bytes::{KeyInBytes, Words};
use latchless::snapshot::{DataType, SavedValue};
use latchless::{BytesValue, WideValue};
use latchless::{Index, IndexKey};
use latchless_log::{DurableBytesIndex, DurableIndex, Error, Found, Opening, Recovery, SyncMode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

type Texts = DurableBytesIndex<String, String>;
type Entries = Vec<(String, String)>;

fn open<V: SavedValue>(folder: &Path) -> DurableBytesIndex<String, V>
where
    String: KeyInBytes<V>,
{
    DurableBytesIndex::open(folder, never()).expect("a folder that can be opened").0
}

fn entries(texts: &Texts) -> Entries {
    texts.index().iter().collect()
}

/// Entries as an index takes them.
fn lent<K: IndexKey, V: Clone>(entries: &[(K, V)]) -> Vec<(K::Probe<'_>, V)> {
    entries.iter().map(|(key, value)| (key.probe(), value.clone())).collect()
}

/// A log of every kind of record, and the entries after each of them.
fn history(folder: &Path) -> Vec<(u64, Entries)> {
    let texts: Texts = open(folder);
    let mut states = vec![(texts.log_bytes(), entries(&texts))];
    let mut note = |texts: &Texts| states.push((texts.log_bytes(), entries(texts)));
    assert_eq!(texts.insert("", "").expect("a put"), None);
    note(&texts);
    assert_eq!(texts.insert("", &"é".repeat(200)).expect("a longer one"), Some(String::new()));
    note(&texts);
    for round in 0..3 {
        let batch: Entries = (0..5).map(|at| (at.to_string(), "ü/".repeat(at * round))).collect();
        assert_eq!(texts.insert_many(&lent(&batch)).expect("a batch"), if round == 0 { 5 } else { 0 });
        note(&texts);
    }
    let twice = ["x", "", "y"].map(|value| ("b", value.to_owned()));
    assert_eq!(texts.insert_many(&twice).expect("a key again and again"), 1);
    note(&texts);
    assert_eq!(texts.remove("b").expect("a removal").as_deref(), Some("y"));
    note(&texts);
    assert_eq!(texts.remove_range("1".."3").expect("a removed range"), 2);
    note(&texts);
    states
}

/// Opens a folder with the first snapshot of another one and these bytes as its log.
fn opened(source: &Path, log: &[u8]) -> Result<(Texts, Recovery), Error> {
    Texts::open(folder_with(source, log).path(), set_aside())
}

#[test]
fn a_log_cut_anywhere_gives_the_records_before() {
    every_cut_gives_the_records_before::<Index<String, String>, _>(history, |durable| {
        durable.index().check_invariants().expect("a whole tree");
        durable.insert("zz", "1").expect("a put");
    });
}

#[test]
fn a_flipped_bit_is_found() {
    every_flipped_bit_is_found::<Index<String, String>, _>(history);
}

/// Values of this type are back, from the log and from a snapshot.
fn comes_back<V: SavedValue + PartialEq + Debug>(all: Vec<V>)
where
    String: KeyInBytes<V>,
{
    let folder = folder();
    let batch: Vec<(String, V)> = (0..).map(|at: u32| format!("{at:04}")).zip(all).collect();
    let durable = open::<V>(folder.path());
    assert_eq!(durable.insert_many(&lent(&batch)).expect("a batch"), batch.len());
    drop(durable);
    let durable = open::<V>(folder.path());
    assert_eq!(durable.index().iter().collect::<Vec<_>>(), batch);
    assert_eq!(durable.snapshot().expect("a snapshot"), batch.len() as u64);
    drop(durable);
    let (durable, recovery) = DurableBytesIndex::<String, V>::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.snapshot_entries, recovery.records), (batch.len() as u64, 0));
    assert_eq!(durable.index().iter().collect::<Vec<_>>(), batch);
    drop(durable);
    assert_eq!(Found::open(folder.path()).expect("it opens").types(), Some([DataType::Utf8, V::COLUMN]));
}

#[test]
fn every_type_of_value() {
    comes_back(vec![
        vec![],
        vec![7u8],
        vec![9; 192],
        vec![1; 193],
        vec![2; 65_535],
        vec![3; 65_536],
        vec![4; 1 << 20],
        vec![],
    ]);
    comes_back(vec![String::new(), "é".repeat(32_767), "x".into()]);
    comes_back(vec![u128::MAX, 5]);
    comes_back(vec![[1u8; 64], [2; 64]]);
    comes_back(vec![[3u8; 1], [4; 1]]);
    comes_back(vec![(1u64, 0.5f32), (2, -0.0)]);
    comes_back(vec![[-1i64; 8]]);
    comes_back(vec![-3i8, 4]);
}

/// A value that is an even number, and is saved as one byte too many if it is `WRONG`.
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
fn what_no_record_has_room_for_is_not_logged() {
    let folder = folder();
    let texts: Texts = open(folder.path());
    let logged = texts.log_bytes();
    let long = "x".repeat(1 << 24);
    let too_long = |refused: Error, at: &[usize]| {
        let Error::Index { cause: latchless::Error::ValueTooLong { len: 0x100_0000, .. }, refused } = refused
        else {
            panic!("{refused}")
        };
        assert_eq!(refused, at);
    };
    too_long(texts.insert("a", &long).unwrap_err(), &[]);
    too_long(texts.insert_many(&[("a", String::new()), ("b", long.clone())]).unwrap_err(), &[0, 1]);
    too_long(texts.compute("a", |_| Some(long.clone())).unwrap_err(), &[]);
    too_long(texts.get_or_insert("a", long.clone()).unwrap_err(), &[]);
    assert!(texts.is_empty() && texts.log_bytes() == logged);
    let wrong = self::folder();
    let even = open::<Even<true>>(wrong.path());
    for refused in [even.insert("a", Even(2)).err(), even.insert_many(&[("a", Even(2))]).err()] {
        let said = refused.expect("it is too long").to_string();
        assert!(said.ends_with("a value was made 5 bytes, but the column value holds uint32"), "{said}");
    }
    assert!(even.is_empty());
}

#[test]
fn records_that_no_index_writes_are_told() {
    let source = folder();
    drop(open::<String>(source.path()));
    let head = fs::read(log_of(source.path(), 1)).expect("the log");
    let longer = "its strings are longer than the record";
    let no_value = "one of a record's values is none";
    for (payload, what) in [
        (&b"\x01\0a\x02\0b"[..], longer),
        (b"\x01\0a\x02", longer),
        (b"\x01\0a", longer),
        (b"\x01\0a\x01\0\xff", no_value),
        (b"\x01\0a\x01\0b\x01\0b\x01\0\xff", no_value),
    ] {
        let (texts, recovery) =
            opened(source.path(), &[&head, &record(1, 4, payload.len() as u32, payload)[..]].concat())
                .expect("it opens");
        let stopped = recovery.stopped.expect("the record is none");
        assert_eq!((stopped.what, stopped.at), (what, head.len() as u64), "{payload:?}");
        assert!(texts.is_empty(), "a record is whole or absent");
    }
    // User-defined types reject bytes, too.
    let folder = folder();
    drop(open::<Even<false>>(folder.path()));
    let log = fs::read(log_of(folder.path(), 1)).expect("the log");
    for (number, is_one) in [(4, true), (5, false)] {
        let made = record(1, 4, 7, &[1, 0, b'a', number, 0, 0, 0]);
        fs::write(log_of(folder.path(), 1), [&log[..], &made].concat()).expect("a log");
        let (even, recovery) =
            DurableBytesIndex::<String, Even<false>>::open(folder.path(), set_aside()).expect("it opens");
        assert_eq!((even.get("a"), recovery.stopped.is_none()), (is_one.then_some(Even(4)), is_one));
    }
}

#[test]
fn other_types_than_the_folders_are_refused_by_name() {
    let folder = folder();
    drop(open::<u128>(folder.path()));
    fn said<V: SavedValue>(folder: &Path) -> String
    where
        String: KeyInBytes<V>,
    {
        DurableBytesIndex::<String, V>::open(folder, never()).unwrap_err().to_string()
    }
    let found = "the column value holds fixed_size_binary[16], but the index that was asked for has";
    assert!(said::<String>(folder.path()).ends_with(&format!("{found} string")));
    assert!(said::<[u8; 17]>(folder.path()).ends_with(&format!("{found} fixed_size_binary[17]")));
    assert!(said::<[u8; 16]>(folder.path()).ends_with(
        "the file has values of type u128, but the index that was asked for has values of type [u8; 16]"
    ));
    // The log itself has its types.
    fs::copy(log_of(folder.path(), 1), folder.path().join("log")).expect("it was there");
    let other = self::folder();
    drop(open::<[u8; 17]>(other.path()));
    fs::copy(folder.path().join("log"), log_of(other.path(), 1)).expect("it was there");
    let told = said::<[u8; 17]>(other.path());
    assert!(
        told.ends_with(
            "has the value type fixed_size_binary[16], but the index that was asked for has fixed_size_binary[17]"
        ),
        "{told}"
    );
    // Numbers alone are in the log of an `Index`.
    let opening = Opening { sync: SyncMode::Never, ..Opening::default() };
    struct Wide;
    impl latchless_log::Columns<u64, u64> for Wide {
        fn types(&self) -> [DataType; 2] {
            [DataType::UInt64, DataType::FixedSizeBinary(8)]
        }
        fn key_to_cell(&self, key: u64) -> u64 {
            key
        }
        fn value_to_cell(&self, value: u64) -> u64 {
            value
        }
        fn key_of_cell(&self, cell: u64) -> Option<u64> {
            Some(cell)
        }
        fn value_of_cell(&self, cell: u64) -> u64 {
            cell
        }
    }
    let empty = self::folder();
    let refused = Found::open(empty.path())
        .expect("it opens")
        .recover(latchless::Index::new().expect("memory"), Wide, opening)
        .map(|(index, _): (DurableIndex<u64, u64, Wide>, _)| index.len())
        .unwrap_err();
    assert!(refused.to_string().contains("can't have: fixed_size_binary[8]"), "{refused}");
}

#[test]
fn a_keys_values_are_back_in_their_order_under_many_writers() {
    let folder = folder();
    let text = |thread: u64, step: u64| format!("{thread}.{step}/").repeat(step as usize % 60);
    for burst in 0..20 {
        let texts: Texts = open(folder.path());
        std::thread::scope(|threads| {
            for thread in 0..3 {
                let texts = &texts;
                threads.spawn(move || {
                    for step in 0..40 {
                        let key = (step % 4).to_string();
                        match step % 10 {
                            7 => drop(texts.remove(&key).expect("a removal")),
                            8 => drop(texts.compute(&key, |_| Some(text(thread, step))).expect("a put")),
                            _ => drop(texts.insert(&key, &text(thread, step)).expect("a put")),
                        }
                    }
                });
            }
            threads.spawn(|| burst % 5 == 0 && texts.snapshot().expect("a snapshot") > 0);
        });
        let all: BTreeMap<_, _> = texts.index().iter().collect();
        drop(texts);
        assert_eq!(
            open::<String>(folder.path()).index().iter().collect::<BTreeMap<_, _>>(),
            all,
            "burst {burst}"
        );
    }
}

#[test]
fn a_batch_of_several_records() {
    let folder = folder();
    let durable = open::<Vec<u8>>(folder.path());
    // 80 MB of values are two records.
    let batch: Vec<(String, Vec<u8>)> =
        (0..2_000).map(|at| (at.to_string(), vec![at as u8; 40_000])).collect();
    assert_eq!(durable.insert_many(&lent(&batch)).expect("a batch"), 2_000);
    drop(durable);
    let (durable, recovery) =
        DurableBytesIndex::<String, Vec<u8>>::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.records, recovery.entries), (2, 2_000));
    assert!(batch.iter().all(|(key, value)| durable.get(key).as_ref() == Some(value)));
}
