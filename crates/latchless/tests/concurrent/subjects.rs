//! The subjects: the reference, which shows that the tests are right, and the library's indexes.

use crate::bytes::{Bytes, Long};
use crate::flagship::Tree;
use crate::reference::Reference;
use crate::subject::Make;
use latchless::Index;
use latchless::index::{Group, Options};

/// Small trees need no huge pages.
pub const PLAIN_PAGES: Options = Options {
    limit_bytes: None,
    huge_pages: false,
    prefault: false,
    kernel: None,
    group: Group::Auto,
    node_references: u32::MAX,
};

/// Every index that takes updates from many threads.
pub const SUBJECTS: &[(&str, Make)] = &[
    ("reference", || Box::new(Reference::default())),
    ("index", || Box::new(Index::with_options(PLAIN_PAGES).expect("one leaf finds room"))),
    ("tree of 64-bit lanes", || Box::new(Tree::<u64>::default())),
    ("tree of 32-bit lanes", || Box::new(Tree::<u32>::default())),
    ("bytes", || Box::new(Bytes::<u64>::default())),
    ("bytes of long keys", || Box::new(Bytes::<Long>::default())),
];

/// By how much the tests of a subject are smaller: each of these runs code of its own, so all are tested
/// whole.
pub const fn part(_name: &str) -> usize {
    1
}
