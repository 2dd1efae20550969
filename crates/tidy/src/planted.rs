//! Each rule finds what breaks it, and leaves alone what looks like it.

use crate::rules::{dead_files, findings, idle_errors};
use crate::source::Source;

fn file(path: &str, text: &str) -> Source {
    let folder = if path.starts_with("papers/") { "research" } else { "crates" };
    Source::new(format!("{folder}/{path}"), format!("//! A file.\n{text}"))
}

fn found(path: &str, text: &str) -> Vec<String> {
    findings(&file(path, text))
}

fn function(lines: usize) -> String {
    format!("    pub(crate) const fn f<T>(\n    ) {{\n{}    }}\n", "        x();\n".repeat(lines))
}

#[test]
fn each_rule_finds_what_breaks_it() {
    let broken = [
        // Rooms of a crate.
        ("core/src/sync/a.rs", "use crate::mem::Mapping;".to_owned(), "sync imports mem"),
        ("core/src/mem/mod.rs", "use super::search::Kernel;".to_owned(), "mem imports search"),
        ("latchless/src/node/a.rs", "use crate::tree::BlinkTree;".to_owned(), "node imports tree"),
        (
            "latchless/src/tree/a.rs",
            "fn f(_: crate::slot_map::SlotState) {}".to_owned(),
            "tree imports slot_map",
        ),
        ("latchless/src/tree/a.rs", "use crate::{node::Leaf, tree::Edit};".to_owned(), "name each"),
        ("latchless/src/attic.rs", String::new(), "on no floor"),
        // Papers don't import each other, nor does what they share import them.
        ("papers/src/cssl/a.rs", "use crate::olfit::tree::OlfitTree;".to_owned(), "cssl imports olfit"),
        ("papers/src/common/scan.rs", "use crate::pi::Pi;".to_owned(), "common imports pi"),
        // Rooms of a paper.
        ("papers/src/pb_tree/node/a.rs", "use crate::pb_tree::tree::Tree;".to_owned(), "node imports tree"),
        ("papers/src/pi/crew.rs", "use super::mem::topology;".to_owned(), "crew imports mem"),
        ("core/src/mem/a/b.rs", "use super::super::line;".to_owned(), "super::super"),
        // Orderings, in every spelling.
        ("latchless/src/tree/a.rs", "x.load(Ordering::Relaxed);".to_owned(), "memory ordering"),
        ("core/src/mem/a.rs", "x.load(atomic::Ordering::SeqCst);".to_owned(), "memory ordering"),
        (
            "papers/src/pi/a.rs",
            "use core::sync::atomic::Ordering::{self, Relaxed};".to_owned(),
            "memory ordering",
        ),
        ("latchless/src/tree/a.rs", "let x = unsafe { y };".to_owned(), "unsafe code"),
        ("lab/src/a.rs", ["// TO", "DO"].concat(), "left open"),
        ("lab/src/a.rs", "\n".repeat(500), "501 lines"),
        ("lab/src/a.rs", function(68), "f has over 70 lines"),
        ("lab/src/a.rs", function(200), "f has over 70 lines"),
        ("lab/src/a.rs", format!("// {}", "word ".repeat(60)), "comment over"),
        ("latchless/src/tree/a.rs", ["#[al", "low(dead_code)]\nfn f() {}"].concat(), "without a reason"),
    ];
    for (path, text, what) in broken {
        let findings = found(path, &text);
        assert!(
            findings.len() == 1 && findings[0].contains(what),
            "{path} should say {what:?}: {findings:?}"
        );
    }
    let unsaid = Source::new("research/lab/src/a.rs", "use std::fs;");
    assert_eq!(findings(&unsaid).len(), 1);
}

#[test]
fn what_keeps_the_rules_is_left_alone() {
    let fine = [
        ("latchless/src/tree/a.rs", "use crate::node::Leaf;\nuse super::check;".to_owned()),
        ("core/src/mem/a.rs", "//! See [`crate::search`].\nuse core::cmp::Ordering::Less;".to_owned()),
        ("core/src/latch/a.rs", "x.load(Ordering::Acquire);".to_owned()),
        (
            "core/src/base/a.rs",
            "mod tests {\n    use super::super::*;\n    use crate::search::Kernel;\n}".to_owned(),
        ),
        ("papers/src/pi/tests.rs", "use crate::pi::batch::pool::Pool;".to_owned()),
        (
            "papers/src/pi/engine.rs",
            "use crate::pi::batch::pool::Pool;\nuse super::domain::Domain;".to_owned(),
        ),
        ("lab/src/a.rs", function(67)),
        ("lab/src/a.rs", format!("trait T {{\n    fn f();\n    fn g() {{ 1 }}\n}}\n{}", "\n".repeat(80))),
        ("lab/src/a.rs", format!("// [a link]({})", "a".repeat(200))),
        ("lab/src/a.rs", ["#[al", "low(dead_code, reason = \"tests\")]\nfn f() {}"].concat()),
    ];
    for (path, text) in fine {
        assert_eq!(found(path, &text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn files_that_no_other_names_are_dead() {
    let sources = [
        file("core/src/lib.rs", "mod a;\npub mod b;\n// mod dead;"),
        file("core/src/a.rs", "mod inside;"),
        file("core/src/a/inside.rs", ""),
        file("core/src/b/mod.rs", "#[path = \"../far.rs\"]\nmod far;\nmod tests;"),
        file("core/src/b/tests.rs", ""),
        file("core/src/dead.rs", ""),
        file("core/tests/many.rs", ""),
        file("core/tests/some/main.rs", "mod part;"),
        file("core/tests/some/part.rs", ""),
        file("core/tests/some/left.rs", ""),
    ];
    let dead = dead_files(&sources);
    assert!(
        dead.len() == 2 && dead[0].contains("src/dead.rs") && dead[1].contains("some/left.rs"),
        "{dead:?}"
    );
}

#[test]
fn errors_that_no_operation_of_the_product_returns_are_idle() {
    let errors = "pub enum Error {\n    Closed,\n    NotEmpty {\n        len: usize,\n    },\n    Full,\n    Unsupported,\n}\n";
    let sources = [
        file("core/src/base/error.rs", errors),
        file("latchless/src/index/load.rs", "return Err(Error::NotEmpty { len });\n// Error::Closed"),
        file("core/src/mem/space.rs", "fn f() {}\nmod tests {\n    const E: Error = Error::Full;\n}"),
        file("papers/src/pi/submissions.rs", "return Err(Error::Closed);"),
    ];
    let idle = idle_errors(&sources);
    assert!(idle.len() == 2 && idle[0].contains("Closed") && idle[1].contains("Full"), "{idle:?}");
}
