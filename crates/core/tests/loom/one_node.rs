//! One latch over two words: the visibility of writers to readers, and to other writers.

use crate::latches::*;
use crate::race;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::{AtomicU32, AtomicU64, Ordering};

/// A node of two words that always have the same number.
#[derive(Default)]
struct Twins<L> {
    latch: L,
    words: [AtomicU64; 2],
}

impl<L: Latch> Twins<L> {
    fn store(&self, number: u64) {
        self.words.iter().for_each(|word| word.store(number, Ordering::Relaxed));
    }

    fn load(&self) -> [u64; 2] {
        [0, 1].map(|i| self.words[i].load(Ordering::Relaxed))
    }

    /// Tries once to read both words; `None` if a writer interfered.
    fn read(&self) -> Option<[u64; 2]> {
        let version = self.latch.stable_version()?;
        let words = self.load();
        self.latch.validate(version).then_some(words)
    }
}

/// A reader during two changes sees both words of one of the three versions, or nothing.
fn reads_are_whole<L: Latch>() {
    race(
        Twins::<L>::default,
        |node| (1..=2).for_each(|number| node.latch.change(|| node.store(number))),
        |node| {
            if let Some([first, second]) = node.read() {
                assert_eq!(first, second, "a torn read");
            }
        },
        |node, _| assert_eq!(node.read(), Some([2, 2]), "a quiet node can be read"),
    );
}

#[test]
fn a_reader_sees_both_words_of_one_version() {
    reads_are_whole::<OptimisticLatch>();
    reads_are_whole::<OptimisticLatch<AtomicU32>>();
    reads_are_whole::<Flawed<NO_FLAW>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn without_the_readers_fence_reads_are_torn() {
    reads_are_whole::<Flawed<NO_READER_FENCE>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn without_the_writers_fence_reads_are_torn() {
    reads_are_whole::<Flawed<NO_WRITER_FENCE>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn after_a_relaxed_unlatch_reads_are_torn() {
    reads_are_whole::<Flawed<RELAXED_UNLATCH>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn without_the_latch_bit_test_reads_are_torn() {
    reads_are_whole::<Flawed<NO_LATCH_BIT_TEST>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn if_the_version_stays_reads_are_torn() {
    reads_are_whole::<Flawed<VERSION_STAYS>>();
}

/// Two threads count under the latch.
fn writers_take_turns<L: Latch>() {
    let count = |node: &Twins<L>| node.latch.change(|| node.store(node.load()[0] + 1));
    race(Twins::<L>::default, count, count, |node, _| {
        assert_eq!(node.read(), Some([2, 2]), "a count was lost");
    });
}

#[test]
fn two_writers_exclude_each_other() {
    writers_take_turns::<OptimisticLatch>();
    writers_take_turns::<OptimisticLatch<AtomicU32>>();
    writers_take_turns::<Flawed<NO_FLAW>>();
}

#[test]
#[should_panic(expected = "a count was lost")]
fn after_a_relaxed_latch_a_writer_misses_the_other() {
    writers_take_turns::<Flawed<RELAXED_LATCH>>();
}

#[test]
#[should_panic(expected = "a count was lost")]
fn after_a_relaxed_unlatch_a_writer_misses_the_other() {
    writers_take_turns::<Flawed<RELAXED_UNLATCH>>();
}

#[test]
fn a_holder_that_changed_nothing_leaves_the_version() {
    fn leaves_the_version<L: Latch>() {
        race(
            Twins::<L>::default,
            |node| {
                node.latch.look(|| assert_eq!(node.load(), [0, 0]));
                node.latch.stable_version()
            },
            |node| {
                let before = node.latch.stable_version();
                assert!([None, Some([0, 0])].contains(&node.read()));
                before
            },
            |node, seen| {
                let now = node.latch.stable_version().expect("the latch was let go");
                assert_eq!(seen[0], Some(now), "the version moved on");
                assert!(seen[1].is_none_or(|version| version == now), "the version moved on");
                assert!(node.latch.change_if(now, || node.store(1)), "the version is up to date");
                assert!(!node.latch.validate(now), "the version stayed");
            },
        );
    }
    leaves_the_version::<OptimisticLatch>();
    leaves_the_version::<Flawed<NO_FLAW>>();
}

/// Two threads count, each by reading first and upgrading its read, once. The node's count must be the
/// number of upgrades that were granted.
fn upgrades_count<L: Latch>() {
    let count = |node: &Twins<L>| -> u64 {
        let Some(version) = node.latch.stable_version() else { return 0 };
        let [number, _] = node.load();
        u64::from(node.latch.change_if(version, || node.store(number + 1)))
    };
    race(Twins::<L>::default, count, count, |node, granted| {
        let granted = granted.iter().sum();
        assert!(granted >= 1, "somebody always gets through");
        assert_eq!(node.read(), Some([granted; 2]), "a count was lost");
    });
}

#[test]
fn an_upgrade_fails_after_a_change() {
    upgrades_count::<OptimisticLatch>();
    upgrades_count::<Flawed<NO_FLAW>>();
}

#[test]
#[should_panic(expected = "a count was lost")]
fn a_blind_upgrade_overwrites_a_change() {
    upgrades_count::<Flawed<BLIND_UPGRADE>>();
}

#[test]
#[should_panic(expected = "a count was lost")]
fn if_the_version_stays_an_upgrade_overwrites_a_change() {
    upgrades_count::<Flawed<VERSION_STAYS>>();
}
