//! A mapped file answers as the index that was saved in it.

use crate::{Folder, squares};
use latchless::snapshot::{self, DataType, Error, Layout, Mapped, Native, Saved, Sought, strings};
use latchless::{Index, IndexValue, Key, KeyFor};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::path::Path;

/// Maps a file; under Miri, which has no mappings, reads it.
fn open<K, V>(path: &Path) -> snapshot::Result<Mapped<K, V>>
where
    K: KeyFor<V, Engine: Saved<K, V>>,
    V: IndexValue,
{
    if cfg!(miri) {
        return Mapped::read(path);
    }
    // SAFETY: a test changes no file that it has mapped.
    unsafe { Mapped::open(path) }
}

/// Numbers whose order differs from that of their bits, spread over 64 bits.
fn scattered(len: u64) -> impl Iterator<Item = u64> {
    (0..len).map(|at| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Compares all reads of a mapped file with those of a list that is sorted by encoded keys.
fn check_numbers<K: Native + PartialEq, V: Native + PartialEq>(mapped: &Mapped<K, V>, model: &[(K, V)]) {
    let entry = |at: Option<usize>| at.and_then(|at| model.get(at)).copied();
    let encoded = |key: K| Key::encode(key);
    assert_eq!((mapped.len(), mapped.is_empty()), (model.len(), model.is_empty()));
    assert_eq!(mapped.first().unwrap(), entry(Some(0)));
    assert_eq!(mapped.last().unwrap(), model.last().copied());
    assert_eq!(mapped.nth(model.len()).unwrap(), None);
    let cells = [0, 1, u64::MAX, 1 << 31, 1 << 63].into_iter().chain(scattered(300));
    let probes: Vec<K> =
        cells.map(K::from_cell).chain(model.iter().step_by(7).map(|&(key, _)| key)).collect();
    let mut answers = vec![None; probes.len()];
    mapped.get_many(&probes, &mut answers).unwrap();
    for (&probe, answer) in probes.iter().zip(answers) {
        let below = model.partition_point(|&(key, _)| encoded(key) < encoded(probe));
        let up_to = model.partition_point(|&(key, _)| encoded(key) <= encoded(probe));
        let found = (below < up_to).then(|| model[below].1);
        assert_eq!(mapped.get(probe).unwrap(), found, "{probe:?}");
        assert_eq!(answer, found, "{probe:?}");
        assert_eq!(mapped.contains_key(probe), found.is_some());
        assert_eq!((mapped.rank(probe), mapped.nth(below).unwrap()), (below, entry(Some(below))));
        assert_eq!(mapped.floor(probe).unwrap(), entry(up_to.checked_sub(1)));
        assert_eq!(mapped.lower(probe).unwrap(), entry(below.checked_sub(1)));
        assert_eq!(mapped.ceiling(probe).unwrap(), entry(Some(below)));
        assert_eq!(mapped.higher(probe).unwrap(), entry(Some(up_to)));
        assert_eq!(mapped.positions(probe..), below..model.len());
        assert_eq!(mapped.positions((Excluded(probe), Unbounded)), up_to..model.len());
        assert_eq!((mapped.count(..probe), mapped.count(..=probe)), (below, up_to));
        assert_eq!(mapped.count((Excluded(probe), Excluded(probe))), 0);
    }
    let all: Vec<(K, V)> = mapped.iter().map(Result::unwrap).collect();
    assert!(all.iter().zip(model).all(|(there, expected)| there == expected) && all.len() == model.len());
    if let Some(middle) = model.get(model.len() / 2) {
        let mut both = mapped.range(middle.0..);
        assert_eq!(both.len(), model.len() - model.len() / 2);
        assert_eq!(both.next_back().unwrap().unwrap(), *model.last().unwrap());
        let third = both.nth(2).map(Result::unwrap);
        assert_eq!(third, model[model.len() / 2..model.len() - 1].get(2).copied());
    }
}

/// Saves a set of numbers, and reads it by both ways.
fn round_trip<K: Native + PartialEq, V: Native + PartialEq>(folder: &Folder, len: u64) {
    let path = folder.file("numbers.arrow");
    let index: Index<K, V> = scattered(len).map(|cell| (K::from_cell(cell), V::from_cell(cell))).collect();
    snapshot::save(&index, &path).unwrap();
    let model: Vec<(K, V)> = index.iter().collect();
    // NaNs, which a file has as they are, equal nothing.
    #[expect(clippy::eq_op, reason = "NaNs don't equal themselves")]
    let model: Vec<(K, V)> = model.into_iter().filter(|entry| entry == entry).collect();
    let index: Index<K, V> = model.iter().copied().collect();
    snapshot::save(&index, &path).unwrap();
    let mapped = open(&path).unwrap();
    mapped.verify().unwrap();
    check_numbers(&mapped, &model);
    check_numbers(&Mapped::read(&path).unwrap(), &model);
}

#[test]
fn every_type_of_numbers() {
    let folder = Folder::new("mapped-types");
    let len = if cfg!(miri) { 70 } else { 5000 };
    round_trip::<u8, i8>(&folder, len);
    round_trip::<u16, f32>(&folder, len);
    round_trip::<u32, u8>(&folder, len);
    round_trip::<u64, u64>(&folder, len);
    round_trip::<i8, u16>(&folder, len);
    round_trip::<i16, f64>(&folder, len);
    round_trip::<i32, i64>(&folder, len);
    round_trip::<i64, u32>(&folder, len);
    round_trip::<f32, i16>(&folder, len);
    round_trip::<f64, i32>(&folder, len);
}

#[test]
fn every_number_of_levels() {
    let folder = Folder::new("mapped-levels");
    for len in [0, 1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 8192] {
        round_trip::<u64, u32>(&folder, if cfg!(miri) { len.min(130) } else { len });
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many")]
fn several_batches() {
    let folder = Folder::new("mapped-batches");
    let path = folder.file("squares.arrow");
    let index = squares((1 << 20) + 5000);
    snapshot::save(&index, &path).unwrap();
    let mapped = open::<u64, u32>(&path).unwrap();
    mapped.verify().unwrap();
    let (mut keys, mut expected) = (Vec::new(), Vec::new());
    for at in (0..index.len() as u64).step_by(997).chain((1 << 20) - 70..(1 << 20) + 70) {
        assert_eq!(mapped.get(at * at).unwrap(), Some(at as u32));
        assert_eq!(mapped.get(at * at + 2).unwrap(), None);
        assert_eq!(mapped.rank(at * at + 1), if at == 0 { 1 } else { at as usize + 1 }, "{at}");
        assert_eq!(mapped.nth(at as usize).unwrap(), Some((at * at, at as u32)));
        keys.extend([at * at, at * at + 2]);
        expected.extend([Some(at as u32), None]);
    }
    let mut answers = vec![Some(7); keys.len()];
    mapped.get_many(&keys, &mut answers).unwrap();
    assert_eq!(answers, expected);
    let bytes = fs::metadata(&path).unwrap().len() as f64 / index.len() as f64;
    assert!(bytes < 12.2, "{bytes} bytes an entry of 12");
}

#[test]
fn answers_are_as_many_as_keys() {
    let folder = Folder::new("mapped-answers");
    let path = folder.file("squares.arrow");
    snapshot::save(squares(3), &path).unwrap();
    let error = open::<u64, u32>(&path).unwrap().get_many(&[1, 2], &mut [None]).unwrap_err();
    assert!(matches!(error, Error::Index(latchless::Error::UnequalBuffers { .. })), "{error}");
}

/// Texts that differ early, and late: after the eight bytes that the directory has.
fn texts(len: usize) -> Vec<String> {
    let mut texts: Vec<String> = (0..len)
        .map(|at| match at % 5 {
            0 => format!("{:x}", at.wrapping_mul(0x9e37_79b9)),
            1 => format!("https://example.org/{at:05}"),
            2 => "\0".repeat(at % 11),
            3 => format!("abcdefg\0{at}"),
            _ => format!("ö{at}"),
        })
        .collect();
    texts.sort();
    texts.dedup();
    texts
}

/// Compares all reads of a mapped file with those of a map.
fn check_strings<V>(mapped: &Mapped<String, V>, model: &BTreeMap<String, V>)
where
    V: IndexValue + PartialEq + Debug + Clone,
    String: KeyFor<V, Engine: Saved<String, V>>,
{
    let entries: Vec<(String, V)> = model.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let probes = entries.iter().flat_map(|(key, _)| [key.clone(), format!("{key}\0"), format!("{key}x")]);
    let probes: Vec<String> = probes.chain(["".into(), "https://e".into(), "\u{10ffff}".into()]).collect();
    let lent: Vec<&str> = probes.iter().map(|probe| &probe[..]).collect();
    let mut answers = vec![None; probes.len()];
    mapped.get_many(&lent, &mut answers).unwrap();
    let owned = |(key, value): (&String, &V)| (key.clone(), value.clone());
    for (&probe, answer) in lent.iter().zip(answers) {
        let bounds = |low, high| model.range::<str, _>((low, high));
        assert_eq!(mapped.get(probe).unwrap().as_ref(), model.get(probe), "{probe:?}");
        assert_eq!(answer.as_ref(), model.get(probe));
        assert_eq!(mapped.contains_key(probe), model.contains_key(probe));
        let (floor, lower) = (bounds(Unbounded, Included(probe)), bounds(Unbounded, Excluded(probe)));
        assert_eq!(mapped.rank(probe), lower.clone().count());
        assert_eq!(mapped.floor(probe).unwrap(), floor.last().map(owned));
        assert_eq!(mapped.lower(probe).unwrap(), lower.last().map(owned));
        let (ceiling, higher) = (bounds(Included(probe), Unbounded), bounds(Excluded(probe), Unbounded));
        assert_eq!(mapped.count(probe..), ceiling.clone().count());
        assert_eq!(mapped.ceiling(probe).unwrap(), ceiling.clone().next().map(owned));
        assert_eq!(mapped.higher(probe).unwrap(), higher.clone().next().map(owned));
    }
    assert_eq!(mapped.iter().map(Result::unwrap).collect::<Vec<_>>(), entries);
    assert_eq!(mapped.last().unwrap(), entries.last().cloned());
}

/// Saves texts with values, and reads them.
fn texts_to<V>(folder: &Folder, len: usize, value: impl Fn(usize) -> V)
where
    V: snapshot::SavedValue + IndexValue + PartialEq + Debug + Clone,
    String: latchless::bytes::KeyInBytes<V> + KeyFor<V, Engine: Saved<String, V>>,
{
    let path = folder.file("texts.arrow");
    let model: BTreeMap<String, V> = texts(len).into_iter().zip((0..).map(value)).collect();
    let index: Index<String, V> = model.clone().into_iter().collect();
    strings::save(&index, &path).unwrap();
    let mapped = open(&path).unwrap();
    mapped.verify().unwrap();
    check_strings(&mapped, &model);
}

#[test]
fn texts_with_every_form_of_values() {
    let folder = Folder::new("mapped-texts");
    for len in if cfg!(miri) { [0, 1, 70] } else { [0, 64, 1000] } {
        texts_to(&folder, len, |at| at as u64);
        texts_to(&folder, len, |at| format!("{}", at % 13));
    }
    texts_to(&folder, 30, |at| vec![at as u8; at % 4]);
    texts_to(&folder, 30, |at| u128::MAX - at as u128);
    texts_to(&folder, 30, |at| (at as u32, at as f64));
}

#[test]
fn keys_of_parts() {
    let folder = Folder::new("mapped-parts");
    let path = folder.file("parts.arrow");
    let index: Index<(u64, String), i16> =
        (0..300).map(|at| ((at / 7, format!("{at}")), at as i16)).collect();
    strings::save(&index, &path).unwrap();
    let mapped = open::<(u64, String), i16>(&path).unwrap();
    assert_eq!(mapped.get((4, "30")).unwrap(), Some(30));
    assert_eq!(mapped.get((4, "27")).unwrap(), None);
    assert_eq!(mapped.iter().map(Result::unwrap).collect::<Vec<_>>(), index.iter().collect::<Vec<_>>());
    assert_eq!(mapped.rows().key_name(), Some("(u64, text)"));
    let names = [open::<String, i16>(&path).unwrap_err(), open::<(u64, String), u16>(&path).unwrap_err()];
    assert!(matches!(names, [Error::OtherKeyType { .. }, Error::OtherType { .. }]), "{names:?}");
}

#[test]
#[cfg_attr(miri, ignore = "too many")]
fn batches_of_long_strings() {
    let folder = Folder::new("mapped-long");
    let path = folder.file("long.arrow");
    let key = |at: u32| format!("{}{at:04}", "k".repeat(9000));
    let index: Index<String, u32> = (0..4000).map(|at| (key(at), at)).collect();
    strings::save(&index, &path).unwrap();
    let mapped = open::<String, u32>(&path).unwrap();
    mapped.verify().unwrap();
    for at in (0..4000).step_by(37) {
        assert_eq!(mapped.get(&key(at)).unwrap(), Some(at));
        assert_eq!(mapped.nth(at as usize).unwrap(), Some((key(at), at)));
    }
}

#[test]
fn rows_that_repeat_a_key() {
    let folder = Folder::new("mapped-repeated");
    let path = folder.file("repeated.arrow");
    let keys = || (0..2000u64).map(|at| at / 300);
    Layout::new(DataType::UInt64, DataType::UInt64).save_rows(&path, keys().zip(0..)).unwrap();
    let mapped = open::<u64, u64>(&path).unwrap();
    mapped.verify().unwrap();
    for key in 0..6 {
        assert_eq!(mapped.positions(key..=key), key as usize * 300..(key as usize + 1) * 300);
        assert_eq!(mapped.get(key).unwrap(), Some(key * 300));
        assert_eq!(mapped.rows().upper_bound(Sought::Cell(key)), (key as usize + 1) * 300);
    }
    let named = |at: u64| (format!("a long beginning {}", at / 300), at);
    strings::Layout::new(DataType::UInt64).save_rows::<String>(&path, (0..2000).map(named)).unwrap();
    let mapped = open::<String, u64>(&path).unwrap();
    assert_eq!(mapped.positions("a long beginning 3"..="a long beginning 3"), 900..1200);
    assert_eq!(mapped.get("a long beginning 3").unwrap(), Some(900));
}

#[test]
fn rows_in_another_order_are_refused() {
    let folder = Folder::new("mapped-order");
    let path = folder.file("order.arrow");
    let layout = Layout::new(DataType::Int64, DataType::UInt8);
    layout.save_rows(&path, [(u64::MAX, 1), (0, 2)]).unwrap();
    assert_eq!(open::<i64, u8>(&path).unwrap().get(-1).unwrap(), Some(1));
    layout.save_rows(&path, [(0, 2), (u64::MAX, 1)]).unwrap();
    assert!(matches!(open::<i64, u8>(&path), Err(Error::NoDirectory)));
    strings::Layout::new(DataType::UInt8).save_rows::<String>(&path, [("b", 1), ("a", 2)]).unwrap();
    assert!(matches!(open::<String, u8>(&path), Err(Error::NoDirectory)));
}

#[test]
fn other_types_are_refused() {
    let folder = Folder::new("mapped-other");
    let path = folder.file("squares.arrow");
    snapshot::save(squares(3), &path).unwrap();
    let errors = [
        open::<i64, u32>(&path).unwrap_err(),
        open::<u64, f32>(&path).unwrap_err(),
        open::<String, u32>(&path).unwrap_err(),
        open::<u64, u32>(&folder.file("absent")).unwrap_err(),
        open::<u64, u32>(&folder.0).unwrap_err(),
    ];
    let [key, value, text, absent, directory] = errors.map(|error| error.to_string());
    assert_eq!(key, "the column key holds uint64, but the index that was asked for has int64");
    assert_eq!(value, "the column value holds uint32, but the index that was asked for has float32");
    assert!(text.starts_with("the column key holds uint64"), "{text}");
    assert!(absent.starts_with("can't open") && absent.contains("absent"), "{absent}");
    assert!(directory.starts_with("can't "), "{directory}");
}

/// Calls all reads, none of which may panic.
fn read_all<K, V>(mapped: &Mapped<K, V>, probes: &[K::Probe<'_>])
where
    K: KeyFor<V, Engine: Saved<K, V>>,
    V: IndexValue,
{
    for &probe in probes {
        let _ = (mapped.get(probe), mapped.floor(probe), mapped.higher(probe), mapped.count(probe..));
    }
    let mut answers: Vec<Option<V>> = probes.iter().map(|_| None).collect();
    let _ = mapped.get_many(probes, &mut answers);
    mapped.iter().for_each(drop);
}

/// Calls `judge` for every beginning of a file, and with the byte for every file with a flipped bit.
fn each_damage(good: &[u8], path: &Path, mut judge: impl FnMut(Option<usize>)) {
    let step = if cfg!(miri) { 97 } else { 1 };
    for cut in (0..good.len()).step_by(step) {
        fs::write(path, &good[..cut]).unwrap();
        judge(None);
    }
    for at in (0..good.len()).step_by(step) {
        let mut bad = good.to_vec();
        bad[at] ^= 1 << (at % 8);
        // A file of its own: nothing that is mapped is changed.
        fs::remove_file(path).unwrap();
        fs::write(path, bad).unwrap();
        judge(Some(at));
    }
}

#[test]
fn damaged_numbers() {
    let folder = Folder::new("mapped-damaged");
    let path = folder.file("damaged.arrow");
    let index: Index<u64, u32> = (0..200).map(|key| (key * 3, key as u32)).collect();
    let mut good = Vec::new();
    snapshot::write(&index, &mut good).unwrap();
    let (mut opened, mut refused) = (0, 0);
    each_damage(&good, &path, |at| match open::<u64, u32>(&path) {
        Err(_) => refused += usize::from(at.is_some()),
        Ok(mapped) => {
            let at = at.expect("a file that was cut short is refused");
            opened += 1;
            read_all(&mapped, &[0, 3, 4, 300, 597, u64::MAX]);
            assert!(mapped.verify().is_err(), "byte {at}");
            assert!(Mapped::<u64, u32>::read(&path).is_err());
        }
    });
    // Both columns, the four lanes, the zeros after the head's checksum, and the digits of the file's,
    // but the one whose highest bit is flipped: with that the footer isn't UTF-8.
    if !cfg!(miri) {
        assert_eq!((opened, opened + refused), (1600 + 832 + 64 + 4 + 7, good.len()));
    }
}

#[test]
fn damaged_strings() {
    let folder = Folder::new("mapped-damaged-strings");
    let path = folder.file("damaged.arrow");
    let index: Index<String, String> = texts(90).into_iter().map(|text| (text.clone(), text)).collect();
    let mut good = Vec::new();
    strings::write(&index, &mut good).unwrap();
    let mut opened = 0;
    each_damage(&good, &path, |at| {
        if let Ok(mapped) = open::<String, String>(&path) {
            assert!(at.is_some(), "a file that was cut short is refused");
            opened += 1;
            read_all(&mapped, &["", "\0", "https://example.org/00001", "ö", "zz"]);
            assert!(mapped.verify().is_err(), "byte {at:?}");
        }
    });
    assert!(opened > 0);
}

#[test]
fn a_file_that_is_replaced_stays_mapped() {
    let folder = Folder::new("mapped-replaced");
    let path = folder.file("squares.arrow");
    snapshot::save(squares(1000), &path).unwrap();
    let before = open::<u64, u32>(&path).unwrap();
    snapshot::save(squares(10), &path).unwrap();
    assert_eq!((before.len(), before.get(999 * 999).unwrap()), (1000, Some(999)));
    assert_eq!(open::<u64, u32>(&path).unwrap().len(), 10);
}

/// The file that a child process maps.
const SHARED: &str = "LATCHLESS_TEST_MAPPED";

#[test]
#[cfg_attr(miri, ignore = "a process")]
fn processes_share_a_file() {
    let folder = Folder::new("mapped-shared");
    let path = folder.file("squares.arrow");
    snapshot::save(squares(5000), &path).unwrap();
    let mapped = open::<u64, u32>(&path).unwrap();
    let children: Vec<_> = (0..2)
        .map(|_| {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "mapped::the_other_process", "--ignored"])
                .env(SHARED, &path)
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    assert_eq!(mapped.get(49).unwrap(), Some(7));
}

/// The other half of the test before it, in a process of its own, which has the file's name.
#[test]
#[ignore = "run by processes_share_a_file"]
fn the_other_process() {
    let path = std::env::var_os(SHARED).expect("the file");
    let mapped = open::<u64, u32>(Path::new(&path)).unwrap();
    for key in 0..5000u64 {
        assert_eq!(mapped.get(key * key).unwrap(), Some(key as u32));
    }
}
