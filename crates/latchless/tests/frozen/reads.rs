//! A reader has every operation of the indexes except those that change them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of public methods with `&self` or `&mut self` in the files of a room of the library that have
/// them for this type.
fn methods(room: &str, of: &[&str]) -> BTreeSet<String> {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room);
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
                is_its = of.iter().any(|of| line.contains(of)) && !line.contains("Reader<");
            }
            let Some(rest) = line.trim_start().strip_prefix("pub fn ") else { continue };
            let signature: String = text.lines().skip(at).take(3).collect();
            let takes_self = signature.split('{').next().is_some_and(|it| {
                ["&self", "&mut self", "&'p self", "&'s self"].iter().any(|own| it.contains(own))
            });
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
    let text = include_str!("../../src/reads.rs");
    let mut names = BTreeSet::new();
    let mut is_its = false;
    for line in text.lines() {
        if line.starts_with("impl") {
            is_its = false;
        }
        if line.starts_with("    reads!") {
            is_its = line.contains(&format!(" {index}:"));
        }
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("fn "))
            && is_its
        {
            names.insert(rest.split(['(', '[', '<']).next().expect("a name").to_owned());
        }
    }
    names
}

/// Every operation of an index is one of its reader's, or one of these, which change it.
fn is_complete(index: &str, room: &str, of: &[&str], changes: &str) {
    let changes: BTreeSet<String> = changes.split_whitespace().map(str::to_owned).collect();
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
    reset shrink flush par_insert_many par_insert_columns par_remove_many";

/// The operations that change an `IndexSet`.
const SET_CHANGES: &str = "insert remove pop_first pop_last remove_range clear shrink try_extend";

/// The operations that change a `MultiIndex`.
const MULTI_CHANGES: &str =
    "insert insert_many remove remove_all remove_range clear shrink bulk_load pop_first pop_last try_extend";

/// The operations that change a `VersionedIndex`, and let others do so.
const VERSIONED_CHANGES: &str = "insert remove upsert retain retain_by commit begin_commit begin transact until_committed \
    prune prune_before reload shrink";

#[test]
#[cfg_attr(miri, ignore = "it reads files")]
fn a_reader_has_every_operation_that_changes_nothing() {
    is_complete(
        "Index",
        "index",
        &["> Index<K, V>", "operations!", "> Index<VersionedKey<K>, V>"],
        INDEX_CHANGES,
    );
    is_complete("IndexSet", "", &["> IndexSet<K>"], SET_CHANGES);
    is_complete("MultiIndex", "bytes/multi", &["> MultiIndex<K>"], MULTI_CHANGES);
    is_complete("VersionedIndex", "versions", &["> VersionedIndex<K, V> {"], VERSIONED_CHANGES);
}
