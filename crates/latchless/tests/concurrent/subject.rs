//! What the tests ask of an index, and which indexes they ask.

use crate::bytes::{Bytes, Long};
#[cfg(feature = "cssl")]
use crate::cssl;
use crate::flagship::Tree;
use crate::history::Edit;
#[cfg(feature = "olfit")]
use crate::olfit::{narrow, wide};
use crate::reference::Reference;
#[cfg(feature = "spiderman")]
use crate::spiderman;
use latchless::index::{Group, Options};
use latchless::{Direction, Index};
use latchless_core::base::index::OrderedIndex;
#[cfg(feature = "olfit")]
use latchless_papers::olfit::{
    BPlus, CsbPlus, LockCoupling, Olfit, OlfitAtOnce, OneLatch, VersionedNodes, VersionedTree,
};
use std::cell::Cell;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// An index under test, shared by threads. Values stay below 2^32, so that narrow lanes can hold
/// them.
pub trait Subject: Send + Sync {
    fn index(&self) -> &dyn OrderedIndex<u64, u64>;

    /// Whether the index offers this edit in one atomic step.
    fn offers(&self, edit: Edit) -> bool {
        matches!(edit, Edit::Put(_) | Edit::Remove)
    }

    /// Does an edit that is offered and returns the value before it.
    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        let index = self.index().as_concurrent().expect("a subject takes updates from many threads");
        match edit {
            Edit::Put(value) => index.insert_shared(key, value).expect("there is memory"),
            Edit::Remove => index.remove_shared(key),
            other => panic!("{other:?} isn't offered"),
        }
    }

    /// The entry at `key` or the next one in that direction, where that is offered.
    fn nearest(&self, _key: u64, _direction: Direction) -> Option<(u64, u64)> {
        None
    }

    /// The next entry after `key` in that direction, where that is offered.
    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(next_to(key, direction), direction)
    }

    /// The first entry in that direction, where that is offered.
    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(if direction == Direction::Forward { 0 } else { u64::from(u32::MAX) }, direction)
    }

    /// The largest key that belongs to the same leaf as `key`, where the index says.
    fn leaf_end(&self, _key: u64) -> Option<u64> {
        None
    }

    /// Removes the first entry in that direction, where that is offered.
    fn pop(&self, _direction: Direction) -> Option<(u64, u64)> {
        None
    }

    /// Bytes of what is in use now, where the index knows.
    fn live_bytes(&self) -> Option<usize> {
        None
    }

    /// How often readers have started again, and the most that one read may, where the index says.
    fn restarts(&self) -> Option<(u64, u64)> {
        None
    }

    fn put(&self, key: u64, value: u64) -> Option<u64> {
        self.edit(key, Edit::Put(value))
    }

    fn take(&self, key: u64) -> Option<u64> {
        self.edit(key, Edit::Remove)
    }

    fn look(&self, key: u64) -> Option<u64> {
        self.index().get(key)
    }

    /// Looks at the whole structure, which must be at rest, and that it holds exactly this.
    fn settle(&self, expected: &[(u64, u64)]) {
        self.index().check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(self.index().len(), expected.len());
        assert_eq!(self.index().count((Unbounded, Unbounded)), Ok(expected.len()));
        let mut found = Vec::new();
        walk(self.index(), 0, u64::MAX, Direction::Forward, 100, |key, value| found.push((key, value)));
        assert_eq!(found, expected);
        for &(key, value) in expected {
            assert_eq!(self.look(key), Some(value), "{key}");
        }
    }
}

/// The key that follows in that direction.
pub fn next_to(key: u64, direction: Direction) -> u64 {
    if direction == Direction::Forward { key + 1 } else { key - 1 }
}

/// Inside `impl OrderedIndex`: an index that, lent by `&mut`, does as it does beside others.
macro_rules! updates_are_shared {
    () => {
        fn insert(&mut self, key: u64, value: u64) -> latchless::Result<Option<u64>> {
            self.insert_shared(key, value)
        }

        fn remove(&mut self, key: u64) -> Option<u64> {
            self.remove_shared(key)
        }

        fn as_concurrent(&self) -> Option<&dyn latchless_core::base::index::ConcurrentIndex<u64, u64>> {
            Some(self)
        }
    };
}
pub(crate) use updates_are_shared;

/// Walks over `low..=high` with a scanner that pauses every `page` entries.
pub fn walk(
    index: &dyn OrderedIndex<u64, u64>,
    low: u64,
    high: u64,
    direction: Direction,
    page: usize,
    mut visit: impl FnMut(u64, u64),
) {
    let high = if high == u64::MAX { Unbounded } else { Included(high) };
    let low = if low.is_multiple_of(2) { Included(low) } else { Excluded(low - 1) };
    let mut scanner = index.scanner((low, high), direction).expect("the range is in order");
    let (mut keys, mut values) = (vec![0; page], vec![0; page]);
    loop {
        let found = scanner.fill(&mut keys, &mut values).expect("the buffers have room");
        if found == 0 {
            return;
        }
        keys[..found].iter().zip(&values[..found]).for_each(|(&key, &value)| visit(key, value));
    }
}

/// Small trees need no huge pages.
pub const PLAIN_PAGES: Options = Options {
    limit_bytes: None,
    huge_pages: false,
    prefault: false,
    kernel: None,
    group: Group::Auto,
    node_references: u32::MAX,
};

/// A way to make a subject.
pub type Make = fn() -> Box<dyn Subject>;

/// Every index that takes updates from many threads. The reference shows that the tests are right. Of a
/// family each member is asked to do a part of what others do ([`part`]).
pub const SUBJECTS: &[(&str, Make)] = &[
    ("reference", || Box::new(Reference::default())),
    ("index", || Box::new(Index::with_options(PLAIN_PAGES).expect("one leaf finds room"))),
    ("tree of 64-bit lanes", || Box::new(Tree::<u64>::default())),
    ("tree of 32-bit lanes", || Box::new(Tree::<u32>::default())),
    ("bytes", || Box::new(Bytes::<u64>::default())),
    ("bytes of long keys", || Box::new(Bytes::<Long>::default())),
    #[cfg(feature = "spiderman")]
    ("olc", spiderman::one_by_one),
    #[cfg(feature = "spiderman")]
    ("olc in batches", spiderman::in_batches),
    #[cfg(feature = "spiderman")]
    ("art", spiderman::trie),
    #[cfg(feature = "spiderman")]
    ("art in batches", spiderman::trie_in_batches),
    #[cfg(feature = "olfit")]
    ("b-ol", wide::<BPlus<Olfit>>),
    #[cfg(feature = "olfit")]
    ("b-ol-at-once", wide::<BPlus<OlfitAtOnce>>),
    #[cfg(feature = "olfit")]
    ("b-lc", wide::<BPlus<LockCoupling>>),
    #[cfg(feature = "olfit")]
    ("b-tl", wide::<BPlus<OneLatch>>),
    #[cfg(feature = "olfit")]
    ("b-vn", wide::<BPlus<VersionedNodes>>),
    #[cfg(feature = "olfit")]
    ("b-vt", wide::<BPlus<VersionedTree>>),
    #[cfg(feature = "olfit")]
    ("csb-ol", wide::<CsbPlus<Olfit>>),
    #[cfg(feature = "olfit")]
    ("csb-ol-at-once", wide::<CsbPlus<OlfitAtOnce>>),
    #[cfg(feature = "olfit")]
    ("csb-lc", wide::<CsbPlus<LockCoupling>>),
    #[cfg(feature = "olfit")]
    ("csb-tl", wide::<CsbPlus<OneLatch>>),
    #[cfg(feature = "olfit")]
    ("csb-vn", wide::<CsbPlus<VersionedNodes>>),
    #[cfg(feature = "olfit")]
    ("csb-vt", wide::<CsbPlus<VersionedTree>>),
    #[cfg(feature = "olfit")]
    ("b-ol of 32-bit lanes", narrow::<BPlus<Olfit>>),
    #[cfg(feature = "olfit")]
    ("b-ol-at-once of 32-bit lanes", narrow::<BPlus<OlfitAtOnce>>),
    #[cfg(feature = "olfit")]
    ("csb-ol-at-once of 32-bit lanes", narrow::<CsbPlus<OlfitAtOnce>>),
    #[cfg(feature = "olfit")]
    ("csb-vn of 32-bit lanes", narrow::<CsbPlus<VersionedNodes>>),
    #[cfg(feature = "cssl")]
    ("cssl", cssl::parts),
    #[cfg(feature = "cssl")]
    ("cssl2", cssl::whole),
    #[cfg(feature = "cssl")]
    ("cssl of 32-bit lanes", cssl::narrow),
    #[cfg(feature = "pi")]
    ("pi behind its queue", || Box::new(crate::pi::Front::default())),
];

/// By how much the tests of a subject are smaller: all members of a family run the same code.
fn part(name: &str) -> usize {
    match name {
        _ if name.starts_with("cssl") => 8,
        // Each of its requests waits for another thread.
        _ if name.starts_with("pi") => 10,
        _ if name.starts_with("b-") || name.starts_with("csb-") => 4,
        _ => 1,
    }
}

thread_local! {
    /// The [`part`] of the subject that this thread is testing.
    static PART: Cell<usize> = const { Cell::new(1) };
}

/// Every subject, or the one of this name.
///
/// # Panics
/// When there is none: otherwise nothing would run, and all tests pass.
fn asked_for(only: Option<&str>) -> Vec<(&'static str, Make)> {
    let Some(only) = only else {
        // The reference would take most of an interpreter's time.
        return SUBJECTS.iter().copied().skip(usize::from(cfg!(miri))).collect();
    };
    let found: Vec<_> = SUBJECTS.iter().copied().filter(|&(name, _)| name == only).collect();
    let names: Vec<_> = SUBJECTS.iter().map(|&(name, _)| name).collect();
    assert!(
        !found.is_empty(),
        "LATCHLESS_SUBJECT={only} is no subject of this build; these are: {}",
        names.join(", ")
    );
    found
}

#[test]
fn one_subject_is_asked_for_by_name_and_all_without() {
    assert!(asked_for(None).len() > 1);
    assert_eq!(asked_for(Some("index")).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["index"]);
}

#[test]
#[should_panic(expected = "LATCHLESS_SUBJECT=idnex is no subject")]
fn a_subject_that_is_not_there_is_an_error_and_not_a_run_of_nothing() {
    asked_for(Some("idnex"));
}

/// Runs a test on a fresh one of every subject, or on the one that `LATCHLESS_SUBJECT` names.
pub fn on_every_subject(test: impl Fn(&dyn Subject)) {
    for (name, make) in asked_for(std::env::var("LATCHLESS_SUBJECT").ok().as_deref()) {
        println!("{name}");
        PART.set(part(name));
        test(&*make());
    }
    PART.set(1);
}

/// The effort when the environment asks for none: the usual tests are to be short.
const USUAL_EFFORT: f64 = 0.5;

/// How much a test does: what was asked for, or the subject's part of it, times the effort that the
/// environment asks for; or `few`, which is what an interpreter can bear.
pub fn scaled(usual: usize, few: usize) -> usize {
    let effort = std::env::var("LATCHLESS_EFFORT").ok().and_then(|effort| effort.parse().ok());
    let own = (usual / PART.get()).max(1) as f64 * effort.unwrap_or(USUAL_EFFORT);
    if cfg!(miri) { few } else { (own as usize).max(1) }
}
