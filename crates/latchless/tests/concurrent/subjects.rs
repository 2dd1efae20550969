//! The subjects: the reference, which validates the tests, and the library's indexes.

use crate::bytes::{Bytes, Long};
use crate::flagship::Tree;
use crate::reference::Reference;
use crate::subject::Make;
use latchless::Index;
use latchless::index::{Group, Options};

/// Small trees need no huge pages.
pub const PLAIN_PAGES: Options = Options {
    limit_bytes: None,
    budget: None,
    huge_pages: false,
    prefault: false,
    kernel: None,
    group: Group::Auto,
    node_references: u32::MAX,
};

/// Every index that supports concurrent updates.
pub const SUBJECTS: &[(&str, Make)] = &[
    ("reference", || Box::new(Reference::default())),
    ("index", || Box::new(Index::with_options(PLAIN_PAGES).expect("one leaf finds room"))),
    ("tree of 64-bit lanes", || Box::new(Tree::<u64>::default())),
    ("tree of 32-bit lanes", || Box::new(Tree::<u32>::default())),
    ("bytes", || Box::new(Bytes::<u64>::default())),
    ("bytes of long keys", || Box::new(Bytes::<Long>::default())),
];

/// Returns the divisor of the tests' size for a subject: each of these has different code, so all are tested
/// in full.
pub const fn part(_name: &str) -> usize {
    1
}
