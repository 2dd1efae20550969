//! `docs/api-parity.md` agrees with the sources on every type and operation; and the examples of re-exported
//! items name this crate, the only one on which their readers depend.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The folders or files of each column's type, each with the parts that belong to others.
const COLUMNS: [&[(&str, &[&str])]; 2] = [&[("src/index", &[])], &[("src/bytes/multi", &[])]];

/// Returns the names of public methods below a path.
fn methods(path: &Path, without: &[&str]) -> BTreeSet<String> {
    if path.is_file() {
        let source = fs::read_to_string(path).expect("a source");
        let names = source.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn "));
        let is_of_a_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        return names.map(|name| name.chars().take_while(|&letter| is_of_a_name(letter)).collect()).collect();
    }
    let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    let own = entries.filter(|path| !without.iter().any(|other| path.ends_with(other)));
    own.flat_map(|path| methods(&path, &[])).collect()
}

/// Returns the words in backticks of a cell that are names of methods.
fn names(cell: &str) -> Vec<&str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted
        .filter(|name| {
            name.starts_with(char::is_lowercase) && name.chars().all(|c| c.is_lowercase() || c == '_')
        })
        .collect()
}

#[test]
fn every_cell_of_the_table_is_what_the_sources_have() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/api-parity.md")).expect("the page");
    let of_path = |&(path, without): &(&str, &[&str])| methods(&root.join(path), without);
    let there = COLUMNS.map(|paths| paths.iter().flat_map(of_path).collect::<BTreeSet<_>>());
    let table = page.split_once("## Operations").expect("its table").1;
    let table = table.split_once("\n## ").expect("a section after it").0;
    let mut cells_read = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        for name in names(cells[0]) {
            for (column, there) in there.iter().enumerate() {
                let (paths, cell) = (COLUMNS[column], cells[column + 1]);
                assert!(["✓", "–"].contains(&cell), "{name}, {paths:?}: {cell}");
                assert_eq!(there.contains(name), cell == "✓", "{name}, {paths:?}: the table says {cell}");
                cells_read += 1;
            }
        }
    }
    assert!(cells_read > 150, "{cells_read} cells were read");
}

#[test]
fn examples_of_what_is_re_exported_name_this_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lib = fs::read_to_string(root.join("src/lib.rs")).expect("the crate's head");
    let exported = lib.split_once("latchless_core::base::{").expect("what is re-exported").1;
    let exported = exported.split_once("};").expect("its end").0;
    let modules = exported.lines().filter_map(|line| line.trim().split_once("::")).map(|(module, _)| module);
    // Their implementations for other types are on the same pages.
    let modules: Vec<&str> = modules.chain(["parts", "tuples", "wrapped"]).collect();
    assert!(modules.len() > 10, "{modules:?}");
    for module in modules {
        let path = root.join("../core/src/base").join(module).with_extension("rs");
        let source = fs::read_to_string(&path).expect("a module of the core");
        let shown = source
            .lines()
            .map(str::trim_start)
            .filter(|line| line.starts_with("///") && !line.starts_with("/// #"));
        let other: Vec<&str> = shown.filter(|line| line.contains("latchless_core")).collect();
        assert!(other.is_empty(), "{}: {other:?}", path.display());
    }
}
