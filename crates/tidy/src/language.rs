//! The language of comments and pages: words that have a clearer word in their place may only become fewer.
//!
//! A comment prefetches, is stored, returns; it doesn't ask for, stand or tell. To mend a finding,
//! name the thing that acts, and use the field's word for what it does.

use crate::{files_below, text_of};

/// Words and their better ones.
const WORDS: [(&str, &str); 20] = [
    ("ask for", "prefetch, request"),
    ("asks for", "prefetches, requests"),
    ("asked for", "prefetched, requested"),
    ("told", "given, known"),
    ("nobody", "no thread, no caller"),
    ("by turns", "alternately, interleaved"),
    ("put aside", "reserved, preallocated"),
    ("in vain", "without effect"),
    ("for good", "permanently"),
    ("anew", "again"),
    ("of one's own", "own"),
    ("makes of", "computes from"),
    ("comes to", "reaches"),
    ("stands in", "is stored in"),
    ("stands at", "is at"),
    ("stands beside", "is beside"),
    ("stands behind", "follows"),
    ("who comes", "that arrives"),
    ("who reads", "a reader"),
    ("whoever", "the thread that, the caller that"),
];

/// How often these words are in a folder's comments and pages, at most. Lower a number when it has fallen.
const AT_MOST: [(&str, usize); 9] = [
    (".github", 0),
    ("crates", 7),
    ("docs", 0),
    ("examples", 0),
    ("fuzz", 0),
    ("hosts", 0),
    ("python", 4),
    ("research", 13),
    ("", 4),
];

#[test]
fn words_that_have_a_clearer_one_only_become_fewer() {
    for (folder, at_most) in AT_MOST {
        // Of the workspace's own folder its own files, not those of all others.
        let is_own = |path: &String| !folder.is_empty() || !path.contains('/');
        let files = files_below(folder).into_iter().filter(|path| is_own(path) && is_read(path));
        let found: Vec<String> = files.flat_map(|path| words_in(&path, &text_of(&path))).collect();
        assert!(
            found.len() <= at_most,
            "{folder:?} has {} words, not {at_most}:\n{}",
            found.len(),
            found.join("\n")
        );
    }
}

#[test]
fn a_word_is_found_in_a_comment_and_in_a_page_and_not_in_code() {
    let found = |name: &str, text: &str| words_in(name, text).len();
    assert_eq!(found("a.rs", "/// A line that is asked for.\nlet told = 1; // whoever\n"), 1);
    assert_eq!(found("a.md", "It is made anew, by turns.\n`told`\n"), 3);
    assert_eq!(found("a.py", "# renewed, a whole, and foretold\n"), 0);
    assert_eq!(found("a.h", " * Nobody knows.\n"), 1);
}

/// Whether a file has comments or prose that these rules are about. The rules name the words themselves.
fn is_read(path: &str) -> bool {
    let kind = path.rsplit('.').next().unwrap_or_default();
    ["rs", "py", "h", "hpp", "c", "cpp", "md"].contains(&kind) && !path.starts_with("crates/tidy/")
}

/// A line for each word that is in a comment or a page.
fn words_in(path: &str, text: &str) -> Vec<String> {
    let is_page = path.ends_with(".md");
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let begins = line.trim_start();
        if !is_page && !["//", "#", "*", "/*", "\"\"\""].iter().any(|sign| begins.starts_with(sign)) {
            continue;
        }
        let line = line.to_lowercase();
        for (word, better) in WORDS {
            let ends = |beside: Option<char>| beside.is_none_or(|beside| !beside.is_alphanumeric());
            let whole = |at: usize| {
                ends(line[..at].chars().next_back()) && ends(line[at + word.len()..].chars().next())
            };
            for _ in line.match_indices(word).filter(|(at, _)| whole(*at)) {
                found.push(format!("{path}:{}: {word} ({better})", number + 1));
            }
        }
    }
    found
}
