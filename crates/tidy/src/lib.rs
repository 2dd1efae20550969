//! Keeps the house style: imports go down only, files and functions stay short, orderings and unsafe code
//! keep to their places, no file is left out of the build, every file says what it is for. Reads the sources
//! of all crates, once, in a time that grows with their length: `cargo test -p latchless-tidy`.
#![cfg(test)]

mod documents;
mod house;
mod language;
mod planted;
mod rules;
mod source;

use source::Source;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/tidy is below the workspace")
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
fn the_sources_are_tidy() {
    let workspace = workspace();
    let mut paths = Vec::new();
    ["crates", "fuzz", "research"].iter().for_each(|folder| rust_files(&workspace.join(folder), &mut paths));
    assert!(paths.len() > 50, "only {} files found under {}", paths.len(), workspace.display());
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(workspace).expect("found below it").display().to_string();
        Source::new(name, fs::read_to_string(path).expect("a source file is text"))
    };
    let sources: Vec<Source> = paths.iter().map(read).collect();
    let mut findings: Vec<String> = sources.iter().flat_map(rules::findings).collect();
    findings.extend(rules::dead_files(&sources));
    findings.extend(rules::idle_errors(&sources));
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    let known: HashSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let stale = house::places().filter(|place| !known.iter().any(|path| path.starts_with(place)));
    assert_eq!(stale.collect::<Vec<_>>(), [""; 0], "the house names places that don't exist");
}
