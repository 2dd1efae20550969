//! The ledgers of what is to end: files in circles, and glob imports of a parent module. A crate that has any
//! has a ledger, `crates/tidy/ledger/CRATE.txt`, whose lines may only become fewer.
//!
//! `LATCHLESS_LEDGER=lower cargo test -p latchless-tidy` takes out the lines that nothing gives any more; it
//! adds none.

use crate::circles::Crate;
use crate::source::Source;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Keeps the ledgers of all crates, and returns what is wrong with them.
pub fn findings(folder: &Path, sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut kept: BTreeSet<_> = fs::read_dir(folder)
        .expect("the ledgers")
        .map(|entry| entry.expect("a ledger").file_name().into_string().expect("a crate's name"))
        .collect();
    for crate_folder in folders(sources) {
        let name = crate_folder.trim_end_matches("/src/").replace('/', "-") + ".txt";
        let path = folder.join(&name);
        let before = fs::read_to_string(&path).unwrap_or_default();
        let found = Crate::read(&crate_folder, sources).findings();
        let lines: Vec<String> = found.iter().map(|one| format!("{} {}", one.what, one.file)).collect();
        let is_lowered = std::env::var("LATCHLESS_LEDGER").is_ok_and(|how| how == "lower");
        if is_lowered && kept.contains(&name) {
            let left: Vec<&str> = before.lines().filter(|line| lines.iter().any(|one| one == line)).collect();
            let text: String = left.iter().map(|line| format!("{line}\n")).collect();
            if text.is_empty() { fs::remove_file(&path) } else { fs::write(&path, text) }.expect("a ledger");
        }
        kept.remove(&name);
        if !is_lowered {
            let why = found.iter().map(|one| one.why.as_str());
            let place = format!("{crate_folder}, {name}");
            faults.extend(compared(
                &place,
                &before,
                &lines.iter().map(String::as_str).zip(why).collect::<Vec<_>>(),
            ));
        }
    }
    faults.extend(kept.into_iter().map(|name| format!("{name}: no crate has this ledger")));
    faults
}

/// The folders of the crates' sources.
fn folders(sources: &[Source]) -> BTreeSet<String> {
    let root = |source: &Source| {
        let folder = source.path.strip_suffix("lib.rs").or(source.path.strip_suffix("main.rs"))?;
        folder.ends_with("/src/").then(|| folder.to_owned())
    };
    sources.iter().filter_map(root).collect()
}

/// Compares a ledger with what was found, each line with its reason.
fn compared(place: &str, before: &str, found: &[(&str, &str)]) -> Vec<String> {
    let before: BTreeSet<&str> = before.lines().collect();
    let added = found.iter().filter(|(line, _)| !before.contains(line));
    let added = added.map(|(line, why)| format!("{place}: new {line}, which {why}"));
    let gone = before.iter().filter(|line| found.iter().all(|(one, _)| one != *line));
    let gone = gone
        .map(|line| format!("{place}: {line} has ended: take the line out (LATCHLESS_LEDGER=lower does)"));
    added.chain(gone).collect()
}

#[test]
fn a_ledger_that_rises_or_is_out_of_date_is_refused() {
    let found = [("circle a.rs", "names b.rs"), ("circle b.rs", "names a.rs")];
    assert_eq!(compared("x", "circle a.rs\ncircle b.rs\n", &found), [""; 0]);
    assert_eq!(compared("x", "circle a.rs\n", &found), ["x: new circle b.rs, which names a.rs"]);
    let gone = compared("x", "circle a.rs\ncircle b.rs\nglob c.rs\n", &found);
    assert!(gone.len() == 1 && gone[0].starts_with("x: glob c.rs has ended"), "{gone:?}");
}
