//! Finds the commands in documents, and checks that a program knows all of their words.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Placeholders that the reader fills in.
const PLACEHOLDERS: [&str; 5] = ["NAME", "PAPER", "FILE", "PATH", "…"];

/// Returns the pages of a folder, without those of subfolders.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect()
}

/// Returns the words after the program's name (and after `--`, if cargo runs it) of each command of a
/// page: those of its code blocks, and those between backticks.
fn commands(page: &str, program: &str) -> Vec<Vec<String>> {
    let mut code = Vec::new();
    let mut in_block = false;
    for line in page.replace("\\\n", " ").lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            code.push(line.to_owned());
        } else {
            code.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    code.iter().filter_map(|command| words(command, program)).collect()
}

/// Returns the program's own words in a shell command; `None` if it isn't run.
fn words(command: &str, program: &str) -> Option<Vec<String>> {
    let command = command.split([';', '|', '>', '#']).next()?;
    let mut words = command.split_whitespace().map(|word| word.trim_matches('"').to_owned()).peekable();
    words.find(|word| word.rsplit('/').next() == Some(program))?;
    let rest: Vec<String> = words.collect();
    let own = rest.iter().position(|word| word == "--").map_or(0, |at| at + 1);
    let by_cargo = command.contains("cargo ");
    (own > 0 || !by_cargo).then(|| rest[own..].to_vec())
}

/// Returns the number of commands in the pages of these folders; the program, at `binary`, must know all
/// of their words.
pub fn known(program: &str, binary: &str, folders: &[&str]) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for path in folders.iter().flat_map(|folder| pages(&root.join(folder))) {
        let page = std::fs::read_to_string(&path).expect("a page");
        let mut commands = commands(&page, program);
        commands.sort();
        commands.dedup();
        let is_open =
            |word: &String| word.contains('$') || PLACEHOLDERS.iter().any(|name| word.contains(name));
        for words in commands.iter().filter(|words| words.len() > 1 && !words.iter().any(is_open)) {
            seen += 1;
            // With `--help` at the end it only parses the words before.
            let run = Command::new(binary).args(words).arg("--help").output().expect("the program runs");
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{}: {}: {said}", path.display(), words.join(" "));
        }
    }
    seen
}
