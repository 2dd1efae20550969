//! Leaves with fences and links under the latch: a split moves keys right, a merge moves them left and the
//! emptied leaf is reused for another range at once. A reader or writer may have an older reference, because
//! inner nodes are read without validation.

use crate::latches::*;
use crate::race;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::{AtomicU64, Ordering, yield_now};

/// A descent that follows every rule.
const ALL_RULES: u8 = 0;
/// It doesn't check whether the leaf starts after the key.
const NO_LOW_FENCE_TEST: u8 = 1;
/// It doesn't move right.
const NO_HIGH_FENCE_TEST: u8 = 2;
/// The merge leaves the emptied leaf's fences unchanged.
const EMPTIED_KEEPS_FENCES: u8 = 3;

/// A leaf of the keys in `low..high`, each a bit of `keys`.
#[derive(Default)]
struct Leaf<L> {
    latch: L,
    low: AtomicU64,
    high: AtomicU64,
    link: AtomicU64,
    keys: AtomicU64,
}

/// A leaf's content at one version.
struct Content<V> {
    version: V,
    low: u64,
    high: u64,
    link: u64,
    keys: u64,
}

impl<L: Latch> Leaf<L> {
    fn set(&self, low: u64, high: u64, link: u64, keys: &[u64]) {
        self.low.store(low, Ordering::Relaxed);
        self.high.store(high, Ordering::Relaxed);
        self.link.store(link, Ordering::Relaxed);
        self.keys.store(keys.iter().map(|key| 1 << key).sum(), Ordering::Relaxed);
    }

    fn read(&self) -> Option<Content<L::Version>> {
        let version = self.latch.stable_version()?;
        let content = Content {
            version,
            low: self.low.load(Ordering::Relaxed),
            high: self.high.load(Ordering::Relaxed),
            link: self.link.load(Ordering::Relaxed),
            keys: self.keys.load(Ordering::Relaxed),
        };
        self.latch.validate(version).then_some(content)
    }
}

/// Three leaves and the inner node's reference to the one that contains [`KEY`].
struct Tree<L, const RULES: u8> {
    parent: AtomicU64,
    leaves: [Leaf<L>; 3],
}

/// The key that is present all the time.
const KEY: u64 = 15;
/// A key that a writer adds.
const ADDED: u64 = 12;
/// The maximum number of leaves that one operation visits before it gives up, which isn't a wrong answer.
const LOOKS: usize = 3;

impl<L: Latch, const RULES: u8> Tree<L, RULES> {
    fn new(parent: u64) -> Self {
        Self { parent: AtomicU64::new(parent), leaves: [(); 3].map(|()| Leaf::default()) }
    }

    fn leaf(&self, at: u64) -> &Leaf<L> {
        &self.leaves[at as usize]
    }

    fn root(&self) -> u64 {
        self.parent.load(Ordering::Relaxed)
    }

    /// Returns the leaf that covers `key`, and its content.
    fn descend(&self, key: u64) -> Option<(&Leaf<L>, Content<L::Version>)> {
        let mut at = self.root();
        for _ in 0..LOOKS {
            let leaf = self.leaf(at);
            match leaf.read() {
                Some(content) if RULES != NO_LOW_FENCE_TEST && key < content.low => at = self.root(),
                Some(content) if RULES != NO_HIGH_FENCE_TEST && key >= content.high => at = content.link,
                Some(content) => return Some((leaf, content)),
                None => yield_now(),
            }
        }
        None
    }

    /// Returns whether `key` is present, unless the reader gave up.
    fn contains(&self, key: u64) -> Option<bool> {
        self.descend(key).map(|(_, content)| content.keys >> key & 1 == 1)
    }

    /// Adds `key`, unless the writer gave up.
    fn add(&self, key: u64) -> bool {
        self.descend(key).is_some_and(|(leaf, content)| {
            let with = content.keys | 1 << key;
            leaf.latch.change_if(content.version, || leaf.keys.store(with, Ordering::Relaxed))
        })
    }

    /// Moves the upper half of leaf 0 (0..20) to leaf 1, which isn't reachable yet.
    fn split(&self) {
        let [left, right, _] = &self.leaves;
        left.latch.change(|| {
            let keys = left.keys.load(Ordering::Relaxed);
            let moving = keys & !((1 << 10) - 1);
            right.latch.change(|| {
                right.set(10, 20, 2, &[]);
                right.keys.store(moving, Ordering::Relaxed);
            });
            left.keys.store(keys & !moving, Ordering::Relaxed);
            left.high.store(10, Ordering::Relaxed);
            left.link.store(1, Ordering::Relaxed);
        });
        self.parent.store(1, Ordering::Relaxed);
    }

    /// Moves everything of leaf 1 (10..20), which becomes dead, to leaf 0 (0..10).
    fn merge(&self) {
        let [left, right, _] = &self.leaves;
        left.latch.change(|| {
            right.latch.change(|| {
                let keys = left.keys.load(Ordering::Relaxed) | right.keys.load(Ordering::Relaxed);
                left.keys.store(keys, Ordering::Relaxed);
                left.high.store(20, Ordering::Relaxed);
                left.link.store(2, Ordering::Relaxed);
                right.keys.store(0, Ordering::Relaxed);
                if RULES != EMPTIED_KEEPS_FENCES {
                    right.low.store(u64::MAX, Ordering::Relaxed);
                    right.high.store(0, Ordering::Relaxed);
                }
            });
        });
        self.parent.store(0, Ordering::Relaxed);
    }

    /// Reuses leaf 1, dead, for 30..40.
    fn recycle(&self) {
        let leaf = self.leaf(1);
        leaf.latch.change(|| leaf.set(30, 40, 2, &[35]));
    }
}

/// One leaf before a split.
fn one_leaf<L: Latch, const RULES: u8>() -> Tree<L, RULES> {
    let tree = Tree::new(0);
    tree.leaf(0).set(0, 20, 2, &[5, KEY]);
    tree
}

/// Two leaves before a merge.
fn two_leaves<L: Latch, const RULES: u8>() -> Tree<L, RULES> {
    let tree = Tree::new(1);
    tree.leaf(0).set(0, 10, 1, &[5]);
    tree.leaf(1).set(10, 20, 2, &[KEY]);
    tree
}

/// One thread changes the structure, the other searches for a key that is present throughout.
fn readers_find<L: Latch, const RULES: u8>(before: fn() -> Tree<L, RULES>, change: fn(&Tree<L, RULES>)) {
    race(
        before,
        change,
        |tree| assert_ne!(tree.contains(KEY), Some(false), "a key that is there wasn't found"),
        |tree, _| assert_eq!(tree.contains(KEY), Some(true), "a quiet tree can be read"),
    );
}

/// One thread changes the structure, the other adds a key.
fn writers_add<L: Latch, const RULES: u8>(before: fn() -> Tree<L, RULES>, change: fn(&Tree<L, RULES>)) {
    race(
        before,
        move |tree| {
            change(tree);
            false
        },
        |tree| tree.add(ADDED),
        |tree, [_, added]| {
            assert_eq!(tree.contains(ADDED), Some(added), "a key went into a leaf that isn't its own");
            assert_eq!(tree.contains(KEY), Some(true), "a quiet tree can be read");
        },
    );
}

fn split<L: Latch, const RULES: u8>(tree: &Tree<L, RULES>) {
    tree.split();
}

fn merge_and_recycle<L: Latch, const RULES: u8>(tree: &Tree<L, RULES>) {
    tree.merge();
    tree.recycle();
}

#[test]
fn a_reader_finds_what_a_split_moves() {
    readers_find::<OptimisticLatch, ALL_RULES>(one_leaf, split);
}

#[test]
#[should_panic(expected = "wasn't found")]
fn without_moving_right_a_reader_misses_what_a_split_moves() {
    readers_find::<OptimisticLatch, NO_HIGH_FENCE_TEST>(one_leaf, split);
}

#[test]
fn a_writer_adds_to_the_leaf_that_a_split_made() {
    writers_add::<OptimisticLatch, ALL_RULES>(one_leaf, split);
}

#[test]
#[should_panic(expected = "isn't its own")]
fn a_blind_upgrade_adds_to_the_wrong_side_of_a_split() {
    writers_add::<Flawed<BLIND_UPGRADE>, ALL_RULES>(one_leaf, split);
}

#[test]
fn a_reader_with_an_old_reference_is_sent_away_from_a_recycled_leaf() {
    readers_find::<OptimisticLatch, ALL_RULES>(two_leaves, merge_and_recycle);
}

#[test]
#[should_panic(expected = "wasn't found")]
fn without_the_low_fence_test_a_recycled_leaf_answers() {
    readers_find::<OptimisticLatch, NO_LOW_FENCE_TEST>(two_leaves, merge_and_recycle);
}

#[test]
#[should_panic(expected = "wasn't found")]
fn a_leaf_that_dies_with_its_fences_answers() {
    readers_find::<OptimisticLatch, EMPTIED_KEEPS_FENCES>(two_leaves, Tree::merge);
}

#[test]
#[should_panic(expected = "wasn't found")]
fn if_the_version_stays_a_recycled_leaf_answers() {
    readers_find::<Flawed<VERSION_STAYS>, ALL_RULES>(two_leaves, merge_and_recycle);
}

#[test]
fn a_writer_with_an_old_reference_is_sent_away_from_a_recycled_leaf() {
    writers_add::<OptimisticLatch, ALL_RULES>(two_leaves, merge_and_recycle);
}

#[test]
#[should_panic(expected = "isn't its own")]
fn a_blind_upgrade_adds_to_a_recycled_leaf() {
    writers_add::<Flawed<BLIND_UPGRADE>, ALL_RULES>(two_leaves, merge_and_recycle);
}
