//! Keeps the house style: imports go down only, files and functions stay short, orderings and unsafe code
//! keep to their places, no file is left out of the build, every file says what it is for, and no files form
//! a circle. Reads the sources of all crates: `cargo test -p latchless-tidy`.
#![cfg(test)]

mod circles;
mod documents;
mod house;
mod language;
mod operations;
mod paths;
mod planted;
mod rules;
mod source;

use source::Source;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/tidy is below the workspace")
}

/// Folders without files of ours.
const SKIPPED: [&str; 5] = ["target", ".git", "made", "node_modules", "artifacts"];

/// Every file below `folder` of the workspace by its path in the workspace, in order; one that is a link to
/// another isn't a file of its own.
fn files_below(folder: &str) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![workspace().join(folder)]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("a readable folder").path()) {
            let is_skipped =
                path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped));
            if is_skipped || path.is_symlink() {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(workspace()).expect("found below it").display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// The text of a file of the workspace.
fn text_of(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_sources_are_tidy() {
    let files = ["crates", "fuzz", "research"].into_iter().flat_map(files_below);
    let rust = files.filter(|path| path.ends_with(".rs"));
    let sources: Vec<Source> = rust.map(|path| Source::new(path.clone(), text_of(&path))).collect();
    assert!(sources.len() > 50, "only {} files found under {}", sources.len(), workspace().display());
    let mut findings: Vec<String> = sources.iter().flat_map(rules::findings).collect();
    findings.extend(rules::dead_files(&sources));
    findings.extend(rules::idle_errors(&sources));
    findings.extend(circles::findings(&sources));
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    let known: HashSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let stale = house::places().filter(|place| !known.iter().any(|path| path.starts_with(place)));
    assert_eq!(stale.collect::<Vec<_>>(), [""; 0], "the house names places that don't exist");
}
