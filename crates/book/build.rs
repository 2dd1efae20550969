//! Writes a test for each block of Rust in the book.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A block of code: the line of the page on which it begins, and its text.
struct Block {
    line: usize,
    code: String,
}

/// The blocks of a page that are marked with this language.
fn blocks(page: &str, language: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut in_block, mut is_ours) = (false, false);
    for (at, line) in page.lines().enumerate() {
        if let Some(mark) = line.trim_start().strip_prefix("```") {
            in_block = !in_block;
            is_ours = in_block && mark == language;
            assert!(
                !in_block || !mark.starts_with("rust") || is_ours,
                "line {}: a block marked {mark}",
                at + 1
            );
            if is_ours {
                found.push(Block { line: at + 2, code: String::new() });
            }
        } else if is_ours {
            let block = found.last_mut().expect("a block has begun");
            block.code.push_str(line);
            block.code.push('\n');
        }
    }
    found
}

/// The pages that the summary links to.
fn pages(book: &Path) -> Vec<PathBuf> {
    let summary = fs::read_to_string(book.join("SUMMARY.md")).expect("the book has a summary");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(|link| book.join(link)).collect()
}

/// A test that runs this block, in a module of its own.
fn test(page: &Path, block: &Block) -> String {
    let name = page.file_stem().expect("a page's name").to_string_lossy().replace('-', "_");
    let Block { line, code } = block;
    let body = if code.contains("fn main()") {
        format!("{code}\n#[test]\nfn runs() {{ crate::run(|| Ok(main()?)); }}")
    } else {
        format!("#[test]\nfn runs() {{ crate::run(|| {{\n{code}\nOk(()) }}); }}")
    };
    format!("mod {name}_line_{line} {{\n{body}\n}}\n")
}

fn main() {
    let book = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("Cargo names the folder")).join("../../docs");
    println!("cargo::rerun-if-changed={}", book.display());
    let mut tests = String::new();
    for page in pages(&book) {
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        for block in blocks(&text, "rust") {
            write!(tests, "{}", test(&page, &block)).expect("memory");
        }
    }
    let out = Path::new(&env::var("OUT_DIR").expect("Cargo names a folder")).join("pages.rs");
    fs::write(out, tests).expect("the tests are written");
}
