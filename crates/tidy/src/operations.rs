//! The table of operations, `docs/operations.md`: which kinds of index and which languages have each
//! operation of an `Index`. It is made from the sources; `LATCHLESS_OPERATIONS=write cargo test -p
//! latchless-tidy operations` writes it.

use crate::{files_below, text_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const PAGE: &str = "docs/operations.md";
const HEAD: &str = "\
# Operations

Each operation of an `Index`, and where it is. *Numbers* are keys and values that fit words, *all* are keys and values
of every kind. In C, C++ and Python an operation may have another name, which its cell then gives; in C `near` takes the
direction as an argument, and the columns of a batch are its `…_columns`. The page is made from the sources.

`nearest`, `nearest_many` and `nearest_columns` need keys with a distance, which numbers and times have. Texts, byte
strings and tuples have none that everybody means: `nearest_by` and `nearest_columns_by` take it as a closure.

| operation | `Index` | `Exclusive` | `Durable` | C, numbers | C, strings | C++ | Python |
|---|---|---|---|---|---|---|---|
";

/// Operations that the other languages have under another name: in C, C++ and Python. `-`: under its own;
/// `|`: under one of these names.
const NAMES: [(&str, &str, &str, &str); 30] = [
    ("ceiling", "near", "-", "-"),
    ("ceiling_columns", "near_columns", "-", "ceiling_many"),
    ("ceiling_many", "near_columns", "ceiling", "-"),
    ("contains_key", "-", "contains", "__contains__"),
    ("cursor", "cursor_new", "-", "-"),
    ("floor", "near", "-", "-"),
    ("floor_columns", "near_columns", "-", "floor_many"),
    ("floor_many", "near_columns", "floor", "-"),
    ("from_sorted", "bulk_load", "bulk_load", "__new__"),
    ("get_columns", "-", "get", "get_many"),
    ("get_many", "get_columns", "get", "-"),
    ("get_or_insert", "-", "-", "setdefault"),
    ("higher", "near", "-", "-"),
    ("higher_columns", "near_columns", "-", "higher_many"),
    ("higher_many", "near_columns", "higher", "-"),
    ("insert", "-", "-", "__setitem__"),
    ("insert_columns", "-", "insert", "insert_many"),
    ("insert_many", "insert_columns", "insert", "-"),
    ("iter", "scan|page", "begin", "__iter__"),
    ("len", "-", "size", "__len__"),
    ("lower", "near", "-", "-"),
    ("lower_columns", "near_columns", "-", "lower_many"),
    ("lower_many", "near_columns", "lower", "-"),
    ("memory_bytes", "-", "-", "nbytes"),
    ("pop_first", "-", "-", "popitem"),
    ("pop_last", "-", "-", "popitem"),
    ("prefix", "scan_prefix", "-", "-"),
    ("range", "scan|page", "-", "-"),
    ("remove", "-", "-", "pop"),
    ("remove_many", "remove_columns", "remove", "-"),
];

/// Names that mean something else in Python, or that every class has.
const OTHERWISE_IN_PYTHON: [&str; 2] = ["update", "new"];

/// The names that follow `fn` in a block of text.
fn functions(text: &str, before: &str) -> BTreeSet<String> {
    let named = text.lines().filter_map(|line| line.strip_prefix(before)?.strip_prefix("fn "));
    named.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

/// The public functions of all blocks whose first line fits, in the files of a folder.
fn of_blocks(files: &[String], is_head: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files {
        let text = text_of(file);
        let mut block = String::new();
        for line in text.lines() {
            if is_head(line) {
                block.push('\n');
            } else if line == "}" {
                found.extend(functions(&block, "    pub "));
                block.clear();
            } else if !block.is_empty() {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    found
}

fn names_in(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        let before = &rest[..at];
        names.insert(before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default());
        rest = &rest[at + 1..];
    }
    names
}

/// The page, made from the sources.
fn page() -> String {
    let own = files_below("crates/latchless/src/index");
    let is_index = |line: &str, bound: &str| {
        line.starts_with("impl<K: ") && line.contains(bound) && line.contains("> Index<K, V>")
    };
    let all = of_blocks(&own, |line| is_index(line, "KeyFor<V>"));
    let both = of_blocks(&own, |line| line == "operations! {");
    let numbers = &of_blocks(&own, |line| is_index(line, "K: Key,")) | &both;
    let alone = &of_blocks(&own, |line| line == "exclusive! {" || line.contains(" Exclusive<'")) | &both;
    let log: Vec<String> = files_below("crates/log/src");
    let of_commits = ["DurableTable", "DurableVersionedIndex"];
    let of_index =
        |line: &str| line.contains("Durable") && !of_commits.iter().any(|other| line.contains(other));
    let durable = of_blocks(&log, |line| line.starts_with("impl<") && of_index(line));
    let lent = text_of("crates/latchless/src/reads.rs");
    let durable = &durable | &functions(&lent, "        ");
    let header = text_of("crates/capi/include/latchless.h");
    let cpp = text_of("crates/capi/include/latchless.hpp");
    let (c, cpp) = (names_in(&header), names_in(&cpp));
    let package = files_below("python/package/latchless");
    let python = package.iter().filter(|file| file.ends_with(".py") || file.ends_with(".pyi"));
    let python: BTreeSet<String> =
        python.flat_map(|file| functions(&text_of(file).replace("    def ", "    fn "), "    ")).collect();
    let renamed: BTreeMap<_, _> =
        NAMES.iter().map(|&(name, c, cpp, python)| (name, [c, cpp, python])).collect();
    let mut page = HEAD.to_owned();
    for name in &all | &numbers {
        let names = renamed.get(name.as_str()).map_or(["-"; 3], |names| *names);
        let names = names.map(|other| if other == "-" { name.as_str() } else { other });
        let yes = |is: bool, text: &str| if is { text.to_owned() } else { "–".to_owned() };
        let called = |others: &str, is: &dyn Fn(&str) -> bool| match others.split('|').find(|other| is(other))
        {
            Some(other) if other == name => "yes".to_owned(),
            Some(other) => format!("`{other}`"),
            None => "–".to_owned(),
        };
        let in_c =
            |kind: &str| called(names[0], &|other| c.contains(format!("latchless_{kind}_{other}").as_str()));
        let cells = [
            format!("`{name}`"),
            if all.contains(&name) { "all".to_owned() } else { "numbers".to_owned() },
            yes(alone.contains(&name), "yes"),
            yes(durable.contains(&name), "yes"),
            in_c("index"),
            in_c("bytes"),
            called(names[1], &|other| cpp.contains(other)),
            called(names[2], &|other| python.contains(other) && !OTHERWISE_IN_PYTHON.contains(&other)),
        ];
        writeln!(page, "| {} |", cells.join(" | ")).expect("a string takes it");
    }
    page
}

#[test]
fn the_table_of_operations_is_that_of_the_sources() {
    let page = page();
    assert!(page.lines().count() > 60, "few operations were found:\n{page}");
    if std::env::var("LATCHLESS_OPERATIONS").is_ok_and(|how| how == "write") {
        std::fs::write(crate::workspace().join(PAGE), &page).expect("the page");
    }
    assert!(text_of(PAGE) == page, "{PAGE} is out of date: LATCHLESS_OPERATIONS=write writes it");
}
