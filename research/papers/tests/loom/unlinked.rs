//! Leaves with high keys and links and without low fences, as in the paper: an emptied leaf leaves the
//! tree by losing the link and the reference that lead to it (§5.3). Nothing is reused here; a reader that
//! arrives late must detect that its leaf has left the tree.

use crate::latches::*;
use crate::race;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::{AtomicU64, Ordering, yield_now};

/// Everybody obeys every rule.
const ALL_RULES: u8 = 0;
/// A leaf that leaves the tree isn't marked.
const NO_MARK: u8 = 1;
/// The link to its left is unchanged.
const LINK_STAYS: u8 = 2;
/// A scan doesn't validate that its previous leaf still precedes the next one.
const NO_SECOND_LOOK: u8 = 3;

/// A leaf of keys up to `high`, each a bit of `keys`.
#[derive(Default)]
struct Leaf<L> {
    latch: L,
    dead: AtomicU64,
    high: AtomicU64,
    link: AtomicU64,
    keys: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct Content<V> {
    version: V,
    dead: bool,
    high: u64,
    link: u64,
    keys: u64,
}

impl<L: Latch> Leaf<L> {
    fn set(&self, high: u64, link: u64, keys: u64) {
        self.high.store(high, Ordering::Relaxed);
        self.link.store(link, Ordering::Relaxed);
        self.keys.store(keys, Ordering::Relaxed);
    }

    fn read(&self) -> Option<Content<L::Version>> {
        let version = self.latch.stable_version()?;
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let content = Content {
            version,
            dead: load(&self.dead) == 1,
            high: load(&self.high),
            link: load(&self.link),
            keys: load(&self.keys),
        };
        self.latch.validate(version).then_some(content)
    }
}

/// Leaf 0 holds keys up to 9, leaf 1 up to 19, leaf 2 the rest; and which leaf the parent names for the
/// middle keys.
struct Tree<const RULES: u8> {
    middle: AtomicU64,
    leaves: [Leaf<OptimisticLatch>; 3],
}

const KEY: u64 = 15;
const LAST: u64 = 25;
/// The maximum number of leaves that one operation visits before it gives up, which isn't a wrong answer.
const LOOKS: usize = 3;

fn start<const RULES: u8>(middle: u64) -> Tree<RULES> {
    let tree = Tree { middle: AtomicU64::new(1), leaves: [(); 3].map(|()| Leaf::default()) };
    tree.leaves[0].set(9, 1, 1 << 5);
    tree.leaves[1].set(19, 2, middle);
    tree.leaves[2].set(u64::MAX, 3, 1 << LAST);
    tree
}

impl<const RULES: u8> Tree<RULES> {
    /// The leaf that a middle key belongs to. `from_left`: found along the first leaf's link.
    fn find(
        &self,
        key: u64,
        from_left: bool,
    ) -> Option<(usize, Content<<OptimisticLatch as Latch>::Version>)> {
        let start = || if from_left { 0 } else { self.middle.load(Ordering::Relaxed) };
        let mut at = start() as usize;
        for _ in 0..LOOKS {
            match self.leaves[at].read() {
                Some(content) if content.dead => at = start() as usize,
                Some(content) if key > content.high => at = content.link as usize,
                Some(content) => return Some((at, content)),
                None => yield_now(),
            }
        }
        None
    }

    /// Adds a middle key, unless the writer gave up.
    fn add(&self, key: u64, from_left: bool) -> bool {
        self.find(key, from_left).is_some_and(|(at, content)| {
            let leaf = &self.leaves[at];
            leaf.latch
                .change_if(content.version, || leaf.keys.store(content.keys | 1 << key, Ordering::Relaxed))
        })
    }

    /// Leaf 1, if it is empty, leaves the tree; its keys belong to leaf 2 from then on.
    fn unlink(&self) -> bool {
        let [left, own, _] = &self.leaves;
        let mut done = false;
        left.latch.change(|| {
            own.latch.change(|| {
                if own.keys.load(Ordering::Relaxed) != 0 {
                    return;
                }
                done = true;
                if RULES != LINK_STAYS {
                    left.link.store(2, Ordering::Relaxed);
                }
                if RULES != NO_MARK {
                    own.dead.store(1, Ordering::Relaxed);
                }
                self.middle.store(2, Ordering::Relaxed);
            });
        });
        done
    }

    /// Takes [`KEY`] out of leaf 1, which leaves the tree by that, and adds it again.
    fn move_key(&self) {
        let leaf = &self.leaves[1];
        leaf.latch.change(|| leaf.keys.store(0, Ordering::Relaxed));
        self.unlink();
        self.add(KEY, false);
    }

    /// Returns how often a scan over leaf 1 and its successors sees [`KEY`], unless it gives up.
    fn scan(&self) -> Option<u32> {
        let before = self.leaves[1].read().filter(|content| !content.dead)?;
        let behind = self.leaves[2].read()?;
        if RULES != NO_SECOND_LOOK && self.leaves[1].read()?.dead {
            return None;
        }
        let seen = |keys: u64| (keys >> KEY & 1) as u32;
        Some(seen(before.keys) + seen(behind.keys))
    }
}

/// One thread removes the empty leaf from the tree, the other adds a key that belongs to it.
fn nothing_is_added_beside_the_tree<const RULES: u8>(from_left: bool) {
    race(
        || start::<RULES>(0),
        |tree| tree.unlink(),
        move |tree| tree.add(KEY, from_left),
        move |tree, [_, added]| {
            let found = tree.find(KEY, from_left).expect("a quiet tree can be read").1;
            assert_eq!(found.keys >> KEY & 1 == 1, added, "a key went into a leaf that has left the tree");
        },
    );
}

/// One thread moves a key to the next leaf by removing and adding it, the other scans.
fn nothing_is_seen_twice<const RULES: u8>() {
    race(
        || start::<RULES>(1 << KEY),
        |tree| tree.move_key(),
        |tree| assert!(tree.scan().is_none_or(|times| times <= 1), "a key was seen twice"),
        |tree, _| assert!(tree.find(KEY, false).is_some(), "a quiet tree can be read"),
    );
}

#[test]
fn a_writer_sees_that_its_leaf_has_left_the_tree() {
    nothing_is_added_beside_the_tree::<ALL_RULES>(false);
    nothing_is_added_beside_the_tree::<ALL_RULES>(true);
}

#[test]
#[should_panic(expected = "has left the tree")]
fn without_the_mark_a_writer_adds_beside_the_tree() {
    nothing_is_added_beside_the_tree::<NO_MARK>(false);
}

#[test]
#[should_panic(expected = "can be read")]
fn if_the_link_stays_who_follows_it_never_arrives() {
    nothing_is_added_beside_the_tree::<LINK_STAYS>(true);
}

#[test]
fn a_scan_sees_a_key_that_moves_once() {
    nothing_is_seen_twice::<ALL_RULES>();
}

#[test]
#[should_panic(expected = "seen twice")]
fn without_a_second_look_a_scan_sees_a_key_twice() {
    nothing_is_seen_twice::<NO_SECOND_LOOK>();
}
