//! The documents: every link leads somewhere, the book's summary lists every page, and commands name packages
//! and files that exist.

use crate::{files_below, text_of, workspace};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// Where the repository's files are for readers of the book, which has none but its own pages.
const REPOSITORY: [&str; 2] = [
    "https://github.com/latchless/latchless/blob/main/",
    "https://github.com/latchless/latchless/tree/main/",
];
const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";
/// Pages that the team reads, beside the book.
const INTERNAL: &str = "docs/internals/";
/// Folders of the repository, one of which begins a path in a command.
const FOLDERS: [&str; 8] =
    ["crates/", "docs/", "examples/", "fuzz/", "hosts/", "python/", "research/", ".ci/"];

/// All documents by their paths, and whether a path is in the repository.
struct Documents<'a> {
    pages: HashMap<String, String>,
    exists: &'a dyn Fn(&str) -> bool,
}

/// A line of a document.
struct Line<'a> {
    number: usize,
    text: &'a str,
    /// The language of the block of code that it is in, if it is in one.
    block: Option<&'a str>,
}

fn lines(page: &str) -> impl Iterator<Item = Line<'_>> {
    let mut block = None;
    page.lines().enumerate().filter_map(move |(at, text)| {
        if let Some(language) = text.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            return None;
        }
        Some(Line { number: at + 1, text, block })
    })
}

/// The targets of the links of a line, those between backticks left out.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(move |(at, _)| {
        let is_quoted = line[..at].matches('`').count() % 2 == 1;
        let target = line[at + 2..].split([')', ' ']).next()?;
        (!is_quoted).then_some(target)
    })
}

/// The names by which a page's headings are linked to.
fn anchors(page: &str) -> HashSet<String> {
    let headings = lines(page).filter(|line| line.block.is_none() && line.text.starts_with('#'));
    let name = |heading: &str| {
        let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>()
    };
    headings.map(|line| name(line.text).replace(' ', "-")).collect()
}

/// Resolves a relative link of a page; none if it leaves the repository.
fn resolved(page: &str, link: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for part in Path::new(page).parent()?.join(link).components() {
        match part {
            Component::ParentDir if !path.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            part => path.push(part),
        }
    }
    Some(path.to_str()?.to_owned())
}

impl Documents<'_> {
    /// The pages of the book, as its summary lists them.
    fn listed(&self) -> HashSet<String> {
        let summary = self.pages.get(SUMMARY).map_or("", String::as_str);
        summary.lines().flat_map(links).filter_map(|link| resolved(SUMMARY, link)).collect()
    }

    /// What is wrong with a link, if anything is.
    fn fault(&self, page: &str, link: &str, listed: &HashSet<String>) -> Option<&'static str> {
        let (link, anchor) = link.split_once('#').unwrap_or((link, ""));
        let own = REPOSITORY.iter().find_map(|prefix| link.strip_prefix(prefix));
        if own.is_none() && (link.contains("://") || link.starts_with("mailto:") || link.contains("::")) {
            return None;
        }
        let path = match own {
            Some(path) => path.to_owned(),
            None if link.is_empty() => page.to_owned(),
            None => match resolved(page, link) {
                Some(path) => path,
                None => return Some("leaves the repository"),
            },
        };
        if !(self.exists)(&path) {
            return Some("leads nowhere");
        }
        let is_heading = |target: &String| anchors(target).contains(anchor);
        if !anchor.is_empty() && self.pages.get(&path).is_some_and(|target| !is_heading(target)) {
            return Some("leads to no heading");
        }
        let is_picture = path.starts_with(BOOK) && path.ends_with(".svg");
        let is_outside = own.is_none() && listed.contains(page) && !listed.contains(&path) && !is_picture;
        is_outside.then_some("leaves the book: link to the repository's page by https://github.com/…")
    }

    fn findings(&self) -> Vec<String> {
        let listed = self.listed();
        let mut findings = Vec::new();
        for (page, text) in &self.pages {
            let is_of_the_book = page.starts_with(BOOK) && !page.starts_with(INTERNAL) && page != SUMMARY;
            if is_of_the_book && !listed.contains(page) {
                findings.push(format!("{page}: {SUMMARY} doesn't list it"));
            }
            for line in lines(text) {
                let place = format!("{page}:{}", line.number);
                match line.block {
                    None => findings.extend(links(line.text).filter_map(|link| {
                        self.fault(page, link, &listed).map(|fault| format!("{place}: {link} {fault}"))
                    })),
                    Some("console" | "sh") => findings.extend(self.command(&place, line.text)),
                    Some(_) => {}
                }
            }
        }
        findings.sort();
        findings
    }

    /// What a command names that isn't there: packages of the workspace, and paths of the repository.
    fn command<'l>(&'l self, place: &'l str, command: &'l str) -> impl Iterator<Item = String> + 'l {
        let words: Vec<&str> = command.split_whitespace().collect();
        let packages = words.windows(2).filter(|pair| pair[0] == "-p" && command.contains("cargo "));
        let packages = packages.filter_map(|pair| {
            let folder = pair[1].strip_prefix("latchless-").unwrap_or(pair[1]);
            let places = ["crates", "research"].map(|parent| format!("{parent}/{folder}/Cargo.toml"));
            (!places.iter().any(|path| (self.exists)(path))).then(|| pair[1].to_owned())
        });
        let is_path = |word: &&str| FOLDERS.iter().any(|folder| word.starts_with(folder));
        let is_open = |word: &&str| word.contains(['*', '$', '{', '…']) || word.contains("NAME");
        let paths: Vec<&str> = words.iter().copied().filter(is_path).filter(|word| !is_open(word)).collect();
        let paths = paths.into_iter().filter(|path| !(self.exists)(path.trim_end_matches(['/', ';', ','])));
        let missing: Vec<String> = packages.chain(paths.map(str::to_owned)).collect();
        missing.into_iter().map(move |name| format!("{place}: there is no {name}"))
    }
}

#[test]
fn every_link_leads_somewhere_and_the_summary_lists_every_page() {
    let documents = files_below("").into_iter().filter(|path| path.ends_with(".md"));
    let pages: HashMap<String, String> = documents.map(|path| (path.clone(), text_of(&path))).collect();
    assert!(pages.len() > 40, "only {} documents were found", pages.len());
    let documents = Documents { pages, exists: &|path| workspace().join(path).exists() };
    let findings = documents.findings();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn each_broken_link_page_and_command_is_found() {
    let pages = [
        (SUMMARY, "- [One](one.md)\n- [Two](deep/two.md)"),
        (
            "docs/one.md",
            "# A `good` heading, here\n[fine](deep/two.md) [fine](#a-good-heading-here) `[no](link)` [away](https://b.c/d)\n\
             [gone](three.md)\n[up](../README.md)\n[no heading](deep/two.md#none)\n\
             [gone too](https://github.com/latchless/latchless/blob/main/crates/gone)\n[out](../../../x.md)",
        ),
        ("docs/deep/two.md", "[fine](../one.md#a-good-heading-here)\n```text\n[no](link.md)\n```\n"),
        ("docs/forgotten.md", "[fine](../README.md)"),
        (
            "README.md",
            "[fine](docs/one.md) [code](crate::index)\n```console\ncargo run -p latchless-core -- crates/core/x\n\
             cargo test -p latchless-attic\n.ci/run NAME crates/*/x\n```\n",
        ),
    ];
    let pages: HashMap<String, String> = pages.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    let known: HashSet<String> =
        pages.keys().cloned().chain(["crates/core/Cargo.toml".to_owned(), ".ci/run".to_owned()]).collect();
    let documents = Documents { pages, exists: &|path| known.contains(path) };
    let expected = [
        "README.md:3: there is no crates/core/x",
        "README.md:4: there is no latchless-attic",
        "docs/forgotten.md: docs/SUMMARY.md doesn't list it",
        "docs/one.md:3: three.md leads nowhere",
        "docs/one.md:4: ../README.md leaves the book: link to the repository's page by https://github.com/…",
        "docs/one.md:5: deep/two.md#none leads to no heading",
        "docs/one.md:6: https://github.com/latchless/latchless/blob/main/crates/gone leads nowhere",
        "docs/one.md:7: ../../../x.md leaves the repository",
    ];
    assert_eq!(documents.findings(), expected);
}
