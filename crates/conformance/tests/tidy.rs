//! Keeps the house style: floors import downwards only, files and functions stay short, atomics
//! keep to their floors, every file says what it is for. Reads the sources of all crates.

use std::fs;
use std::path::{Path, PathBuf};

/// The library's floors, lowest first. A module imports only from its own floor and lower ones.
const FLOORS: [&str; 13] = [
    "sync", "base", "mem", "search", "latch", "node", "walk", "layer", "chain", "tree", "batch", "variants",
    "index",
];
/// Floors that may name memory orderings; everything else goes through their named operations.
const FLOORS_WITH_ORDERINGS: [&str; 3] = ["sync", "latch", "node"];
/// Floors that may hold unsafe code; the others are safe code on top of what these promise.
const FLOORS_WITH_UNSAFE_CODE: [&str; 4] = ["sync", "mem", "search", "latch"];
/// What any floor may import: the unit tests' common helpers.
const TEST_HELPERS: &str = "testing";
/// The most lines in a file.
const FILE_LINES_MAX: usize = 500;
/// The most lines in a function.
const FUNCTION_LINES_MAX: usize = 70;

/// A source file.
struct Source {
    /// Relative to the workspace.
    path: String,
    text: String,
}

impl Source {
    fn finding(&self, line: usize, what: impl std::fmt::Display) -> String {
        format!("{}:{}: {what}", self.path, line + 1)
    }

    /// Lines with their zero-based numbers, comments left out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The file's floor, if it is of the library.
    fn floor(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("crates/latchless/src/")?;
        let first = inside.split('/').next()?;
        let first = first.strip_suffix(".rs").unwrap_or(first);
        (first != "lib").then_some(first)
    }

    /// Whether the file is its floor's root, from which `super` is the whole library.
    fn is_floor_root(&self) -> bool {
        self.floor().is_some_and(|floor| {
            ["/mod.rs", ".rs"].iter().any(|end| self.path.ends_with(&format!("/src/{floor}{end}")))
        })
    }
}

/// The identifiers that follow `before` in a line.
fn names_after<'a>(line: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(before).map(move |(at, _)| {
        let rest = &line[at + before.len()..];
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")
    })
}

fn imports_go_down(source: &Source) -> Vec<String> {
    let level = |name: &str| FLOORS.iter().position(|&floor| floor == name);
    let Some(floor) = source.floor().filter(|&floor| floor != TEST_HELPERS) else { return Vec::new() };
    let Some(own) = level(floor) else {
        return vec![source.finding(0, format!("{floor} is on no floor: add it to FLOORS"))];
    };
    let mut findings = Vec::new();
    for (number, line) in source.code() {
        let in_tests = source.text.lines().take(number).any(|line| line.trim() == "mod tests {");
        if line.contains("super::super") && !in_tests {
            findings.push(source.finding(number, "leaves its module through super::super: use crate::…"));
        }
        let from_root =
            names_after(line, "super::").filter(|name| source.is_floor_root() && level(name).is_some());
        for name in names_after(line, "crate::").chain(from_root).filter(|&name| name != TEST_HELPERS) {
            match level(name) {
                Some(other) if other <= own => {}
                Some(_) => {
                    findings.push(source.finding(number, format!("{floor} imports {name}, a higher floor")))
                }
                None => findings.push(source.finding(number, format!("crate::{name} names no floor"))),
            }
        }
    }
    findings
}

fn orderings_keep_to_their_floors(source: &Source) -> Vec<String> {
    // A rule of the library: programs count with atomics as they like.
    if source.floor().is_none_or(|floor| FLOORS_WITH_ORDERINGS.contains(&floor)) {
        return Vec::new();
    }
    let names = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    let bare = |line: &str| names_after(line, "Ordering::").any(|name| names.contains(&name));
    let found = source.code().filter(|(_, line)| bare(line));
    found.map(|(number, _)| source.finding(number, "a bare memory ordering outside of its floors")).collect()
}

fn unsafe_code_keeps_to_its_floors(source: &Source) -> Vec<String> {
    if source.floor().is_none_or(|floor| FLOORS_WITH_UNSAFE_CODE.contains(&floor)) {
        return Vec::new();
    }
    let found = source
        .code()
        .filter(|(_, line)| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "unsafe"));
    found.map(|(number, _)| source.finding(number, "unsafe code outside of its floors")).collect()
}

fn files_say_what_they_are_for(source: &Source) -> Vec<String> {
    let says =
        source.text.lines().find(|line| !line.starts_with("#!")).is_some_and(|line| line.starts_with("//!"));
    if says { Vec::new() } else { vec![source.finding(0, "doesn't open with a //! line")] }
}

fn nothing_is_left_open(source: &Source) -> Vec<String> {
    // Put together here, so that this file doesn't find itself.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["todo", "!("], ["unimplemented", "!("], ["dbg", "!("]]
        .map(|m| m.concat());
    let lines = source.text.lines().enumerate();
    let open = lines.filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)));
    open.map(|(number, line)| source.finding(number, format!("left open: {}", line.trim()))).collect()
}

fn files_and_functions_are_short(source: &Source) -> Vec<String> {
    let mut findings = Vec::new();
    let lines: Vec<&str> = source.text.lines().collect();
    if lines.len() > FILE_LINES_MAX {
        findings.push(source.finding(0, format!("{} lines, over {FILE_LINES_MAX}", lines.len())));
    }
    for (start, name) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, function_name(line)?))) {
        let length = function_lines(&lines[start..]);
        if length > FUNCTION_LINES_MAX {
            findings
                .push(source.finding(start, format!("{name} has {length} lines, over {FUNCTION_LINES_MAX}")));
        }
    }
    findings
}

/// The name of the function whose definition starts on this line.
fn function_name(line: &str) -> Option<&str> {
    const BEFORE: [&str; 5] = ["const", "async", "unsafe", "extern", "\"C\""];
    let mut words =
        line.split_whitespace().skip_while(|word| BEFORE.contains(word) || word.starts_with("pub"));
    if words.next() != Some("fn") {
        return None;
    }
    words.next()?.split(['(', '<']).next()
}

/// Lines of the function that starts on the first of these, as rustfmt lays functions out: it ends
/// with the brace (or, without a body, the semicolon) that stands as deep as it started.
fn function_lines(lines: &[&str]) -> usize {
    let indent = lines[0].len() - lines[0].trim_start().len();
    let as_deep = |line: &str| line.len() - line.trim_start().len() == indent && !line.trim().is_empty();
    let ends = |line: &&str| as_deep(line) && (line.ends_with('}') || line.ends_with(';'));
    lines.iter().position(ends).map_or(lines.len(), |last| last + 1)
}

fn findings(source: &Source) -> Vec<String> {
    let rules = [
        imports_go_down,
        orderings_keep_to_their_floors,
        unsafe_code_keeps_to_its_floors,
        files_say_what_they_are_for,
        nothing_is_left_open,
        files_and_functions_are_short,
    ];
    rules.iter().flat_map(|rule| rule(source)).collect()
}

/// Every Rust file below `folder`, build output left out.
fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn the_sources_are_tidy() {
    let workspace =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/latchless lies in it");
    let mut paths = Vec::new();
    ["crates", "fuzz"].iter().for_each(|folder| rust_files(&workspace.join(folder), &mut paths));
    assert!(paths.len() > 50, "only {} files found under {}", paths.len(), workspace.display());
    paths.sort();
    let read = |path: &PathBuf| Source {
        path: path.strip_prefix(workspace).expect("found below it").display().to_string(),
        text: fs::read_to_string(path).expect("a source file is text"),
    };
    let findings: Vec<String> = paths.iter().map(read).flat_map(|source| findings(&source)).collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

#[test]
#[cfg_attr(miri, ignore = "says nothing about memory")]
fn each_rule_finds_what_breaks_it() {
    let found = |path: &str, text: &str| {
        findings(&Source { path: format!("crates/{path}"), text: format!("//! A file.\n{text}") })
    };
    let long = |lines: usize| {
        format!("    pub(crate) const fn f<T>(\n    ) {{\n{}    }}\n", "        x();\n".repeat(lines))
    };
    let broken = [
        ("latchless/src/mem/a.rs", "use crate::tree::Tree;".to_owned(), "mem imports tree"),
        ("latchless/src/mem/mod.rs", "use super::tree::Tree;".to_owned(), "mem imports tree"),
        ("latchless/src/mem/a/b.rs", "use super::super::tree::Tree;".to_owned(), "super::super"),
        ("latchless/src/mem/a.rs", "use crate::{base::Key, tree::Tree};".to_owned(), "names no floor"),
        ("latchless/src/attic.rs", String::new(), "on no floor"),
        ("latchless/src/tree/a.rs", "x.load(Ordering::Relaxed);".to_owned(), "bare memory ordering"),
        ("latchless/src/mem/a.rs", "x.load(atomic::Ordering::SeqCst);".to_owned(), "bare memory ordering"),
        ("latchless/src/tree/a.rs", "let x = unsafe { y };".to_owned(), "unsafe code"),
        ("lab/src/a.rs", ["// TO", "DO"].concat(), "left open"),
        ("lab/src/a.rs", "\n".repeat(500), "501 lines"),
        ("lab/src/a.rs", long(68), "f has 71 lines"),
    ];
    for (path, text, what) in broken {
        let findings = found(path, &text);
        assert!(
            findings.len() == 1 && findings[0].contains(what),
            "{path} should say {what:?}: {findings:?}"
        );
    }
    let fine = [
        ("latchless/src/tree/a.rs", "use crate::mem::arena::Arena;\nuse super::check;".to_owned()),
        ("latchless/src/mem/a.rs", "//! See [`crate::tree`].\nuse core::cmp::Ordering::Less;".to_owned()),
        ("latchless/src/node/a.rs", "x.load(Ordering::Acquire);".to_owned()),
        ("lab/src/a.rs", long(67)),
        ("lab/src/a.rs", format!("trait T {{\n    fn f();\n    fn g() {{ 1 }}\n}}\n{}", "\n".repeat(80))),
    ];
    for (path, text) in fine {
        assert_eq!(found(path, &text), [""; 0], "{path}: {text}");
    }
    let unsaid = Source { path: "crates/lab/src/a.rs".to_owned(), text: "use std::fs;".to_owned() };
    assert_eq!(findings(&unsaid).len(), 1);
}
