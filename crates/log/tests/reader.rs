//! A reader has every operation of the indexes except those that change them.

use latchless::Direction;
use latchless_log::{DurableBytesIndex, DurableIndex, DurableMultiIndex, Options, SyncMode};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of public methods with `&self` or `&mut self` in the files of a room of the library that have
/// them for this type.
fn methods(room: &str, of: &[&str]) -> BTreeSet<String> {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("../latchless/src").join(room);
    let mut names = BTreeSet::new();
    for file in fs::read_dir(room).expect("the library's source") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let mut is_its = false;
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("impl") || line.starts_with("operations!") {
                is_its = of.iter().any(|of| line.contains(of));
            }
            let Some(rest) = line.trim_start().strip_prefix("pub fn ") else { continue };
            let signature: String = text.lines().skip(at).take(3).collect();
            let takes_self = signature
                .split('{')
                .next()
                .is_some_and(|it| ["&self", "&mut self", "&'p self"].iter().any(|own| it.contains(own)));
            if is_its && takes_self {
                let name = rest.split(['(', '<']).next().expect("a name");
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// The names of the operations that a reader of such an index has.
fn reads(index: &str) -> BTreeSet<String> {
    let text = include_str!("../src/reader.rs");
    let mut names = BTreeSet::new();
    let mut is_its = false;
    for line in text.lines() {
        if line.starts_with("    reads!") {
            is_its = line.contains(&format!(" {index}:"));
        }
        if let Some(rest) = line.trim_start().strip_prefix("fn ")
            && is_its
        {
            names.insert(rest.split(['(', '[']).next().expect("a name").to_owned());
        }
    }
    names
}

/// Every operation of an index is one of its reader's, or one of these, which change it.
fn is_complete(index: &str, room: &str, of: &[&str], changes: &[&str]) {
    let changes = changes.iter().flat_map(|names| names.split_whitespace());
    let changes: BTreeSet<String> = changes.map(str::to_owned).collect();
    let reads = reads(index);
    assert!(reads.is_disjoint(&changes), "{index}");
    let all = methods(room, of);
    let (lacking, gone): (Vec<_>, Vec<_>) = (
        all.iter().filter(|&name| !reads.contains(name) && !changes.contains(name)).collect(),
        reads.union(&changes).filter(|&name| !all.contains(name)).collect(),
    );
    assert!(lacking.is_empty(), "{index}: neither read nor change: {lacking:?}");
    assert!(gone.is_empty(), "{index}: these aren't operations any more: {gone:?}");
}

/// The operations that change an `Index`.
const INDEX_CHANGES: &str = "insert try_insert remove replace compare_exchange compare_remove insert_many insert_many_with \
    remove_many remove_many_with insert_columns remove_columns pop_first pop_last remove_range clear \
    update upsert compute remove_if get_or_insert get_or_insert_with retain execute execute_with \
    bulk_load bulk_load_with bulk_load_columns bulk_load_by try_extend exclusive drive \
    reset shrink flush";

/// Of the feature `rayon`, which the log doesn't have.
const INDEX_WITH_RAYON: &str = "par_range par_fold par_get_many par_get_columns par_floor_many par_ceiling_many par_lower_many \
    par_higher_many par_insert_many par_insert_columns par_remove_many";

/// The operations that change a `MultiIndex`.
const MULTI_CHANGES: &str =
    "insert insert_many remove remove_all remove_range clear shrink bulk_load pop_first pop_last try_extend";

#[test]
fn a_reader_has_every_operation_that_changes_nothing() {
    is_complete("Index", "index", &["> Index<K, V>", "operations!"], &[INDEX_CHANGES, INDEX_WITH_RAYON]);
    is_complete("MultiIndex", "bytes/multi", &["> MultiIndex<K>"], &[MULTI_CHANGES]);
}

fn never() -> Options {
    Options { sync: SyncMode::Never, ..Options::default() }
}

#[test]
fn a_reader_outlives_the_borrow_that_made_it_and_answers_as_the_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let (numbers, _) =
        DurableIndex::<u64, u64>::open(folder.path().join("numbers"), never()).expect("it opens");
    numbers.insert_many(&[(1, 10), (2, 20), (3, 30)]).expect("entries");
    let range = numbers.index().range(2..);
    assert!(range.eq([(2, 20), (3, 30)]));
    let mut cursor = numbers.index().cursor();
    assert_eq!((cursor.seek(2), cursor.next()), (Some((2, 20)), Some((3, 30))));
    let (mut keys, mut values) = ([0; 2], [0; 2]);
    let reader = numbers.index();
    assert_eq!(reader.page(.., Direction::Reverse, &mut keys, &mut values), Ok(2));
    assert_eq!((keys, reader.rank(3), reader.nth(0), reader.count(..3)), ([3, 2], 2, Some((1, 10)), 2));
    assert_eq!(reader.into_iter().count(), 3);
    assert_eq!(reader.save(folder.path().join("copy.arrow")).expect("a file"), 3);

    let texts = folder.path().join("texts");
    let (texts, _) = DurableBytesIndex::<String, u64>::open(texts, never()).expect("it opens");
    texts.insert_many(&[("a", 1), ("ab", 2), ("b", 3)]).expect("entries");
    let prefix = texts.index().prefix("a");
    assert!(prefix.map(|(_, value)| value).eq([1, 2]));
    assert_eq!(texts.index().floor("az"), Some(("ab".to_owned(), 2)));
    assert_eq!(texts.index().save(folder.path().join("copy.arrow")).expect("a file"), 3);

    let pairs = folder.path().join("pairs");
    let (pairs, _) = DurableMultiIndex::<String>::open(pairs, never()).expect("it opens");
    pairs.insert_many(&[("a", 1), ("a", 2), ("b", 3)]).expect("pairs");
    let rows = pairs.index().rows("a");
    assert!(rows.eq([1, 2]));
    assert_eq!(pairs.index().save(folder.path().join("copy.arrow")).expect("a file"), 3);
}
