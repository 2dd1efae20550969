//! What the tests ask of an index, and which indexes they ask.

use crate::cssl;
use crate::flagship::Tree;
use crate::history::Edit;
use crate::olfit::{narrow, wide};
use crate::reference::Reference;
use crate::spiderman;
use latchless::index::{Group, Options};
use latchless::variants::olfit::{
    BPlus, CsbPlus, LockCoupling, Olfit, OlfitAtOnce, OneLatch, VersionedNodes, VersionedTree,
};
use latchless::{Direction, Index, OrderedIndex};
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

    /// Does an edit that is offered and says what stood there.
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

    /// Takes out the first entry in that direction, where that is offered.
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

        fn as_concurrent(&self) -> Option<&dyn latchless::base::index::ConcurrentIndex<u64, u64>> {
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
    kernel: None,
    group: Group::Auto,
    node_references: u32::MAX,
};

/// A way to make a subject.
pub type Make = fn() -> Box<dyn Subject>;

/// Every index that takes updates from many threads. The reference shows that the tests are right. Of a
/// family each member is asked to do a part of what others do ([`part`]).
pub const SUBJECTS: [(&str, Make); 26] = [
    ("reference", || Box::new(Reference::default())),
    ("index", || Box::new(Index::with_options(PLAIN_PAGES).expect("one leaf finds room"))),
    ("tree of 64-bit lanes", || Box::new(Tree::<u64>::default())),
    ("tree of 32-bit lanes", || Box::new(Tree::<u32>::default())),
    ("olc", spiderman::one_by_one),
    ("olc in batches", spiderman::in_batches),
    ("b-ol", wide::<BPlus<Olfit>>),
    ("b-ol-at-once", wide::<BPlus<OlfitAtOnce>>),
    ("b-lc", wide::<BPlus<LockCoupling>>),
    ("b-tl", wide::<BPlus<OneLatch>>),
    ("b-vn", wide::<BPlus<VersionedNodes>>),
    ("b-vt", wide::<BPlus<VersionedTree>>),
    ("csb-ol", wide::<CsbPlus<Olfit>>),
    ("csb-ol-at-once", wide::<CsbPlus<OlfitAtOnce>>),
    ("csb-lc", wide::<CsbPlus<LockCoupling>>),
    ("csb-tl", wide::<CsbPlus<OneLatch>>),
    ("csb-vn", wide::<CsbPlus<VersionedNodes>>),
    ("csb-vt", wide::<CsbPlus<VersionedTree>>),
    ("b-ol of 32-bit lanes", narrow::<BPlus<Olfit>>),
    ("b-ol-at-once of 32-bit lanes", narrow::<BPlus<OlfitAtOnce>>),
    ("csb-ol-at-once of 32-bit lanes", narrow::<CsbPlus<OlfitAtOnce>>),
    ("csb-vn of 32-bit lanes", narrow::<CsbPlus<VersionedNodes>>),
    ("cssl", cssl::parts),
    ("cssl2", cssl::whole),
    ("cssl of 32-bit lanes", cssl::narrow),
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

/// Runs a test on a fresh one of every subject, or on the one that `LATCHLESS_SUBJECT` names.
pub fn on_every_subject(test: impl Fn(&dyn Subject)) {
    // The reference would take most of an interpreter's time.
    let only = std::env::var("LATCHLESS_SUBJECT").ok();
    for (name, make) in SUBJECTS.into_iter().skip(usize::from(cfg!(miri))) {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        println!("{name}");
        PART.set(part(name));
        test(&*make());
    }
    PART.set(1);
}

/// How much a test does: what was asked for, or the subject's part of it, times the effort that the
/// environment asks for; or `few`, which is what an interpreter can bear.
pub fn scaled(usual: usize, few: usize) -> usize {
    let effort = std::env::var("LATCHLESS_EFFORT").ok().and_then(|effort| effort.parse().ok());
    let own = (usual / PART.get()).max(1) as f64 * effort.unwrap_or(1.0f64);
    if cfg!(miri) { few } else { (own as usize).max(1) }
}
