//! The shared latch over two words: a shared holder sees both words of one writer, and writers take turns.

use crate::race;
use latchless_core::sync::{Atom, AtomicU32, AtomicU64, Ordering, Origin, yield_now};
use latchless_papers::shared_latch::SharedLatch;

/// The operations of a shared latch that the protocols use.
trait Latch: Default + Send + Sync + 'static {
    /// Holds the latch alone meanwhile.
    fn alone(&self, work: impl FnOnce());
    /// Holds it together with others meanwhile.
    fn together<R>(&self, work: impl FnOnce() -> R) -> R;
}

impl<A: Atom> Latch for SharedLatch<A> {
    fn alone(&self, work: impl FnOnce()) {
        let _held = SharedLatch::alone(self, &Origin::here());
        work();
    }

    fn together<R>(&self, work: impl FnOnce() -> R) -> R {
        let _held = SharedLatch::together(self, &Origin::here());
        work()
    }
}

/// The latch written again without any flaw.
const NO_FLAW: u8 = 0;
/// It is taken alone by a relaxed exchange.
const RELAXED_ALONE: u8 = 1;
/// It is taken together by a relaxed exchange.
const RELAXED_TOGETHER: u8 = 2;
/// An exclusive holder releases it by a relaxed store.
const RELAXED_LET_GO: u8 = 3;
/// An exclusive holder doesn't wait for shared ones.
const MINDS_NOBODY: u8 = 4;
/// A failed try releases a latch that it hasn't taken.
const LETS_GO_OF_NOTHING: u8 = 5;

/// A shared latch with one flaw.
#[derive(Default)]
struct Flawed<const FLAW: u8>(AtomicU64);

impl<const FLAW: u8> Flawed<FLAW> {
    fn exchange(&self, word: u64, taken: u64, relaxed: u8) -> bool {
        let order = if FLAW == relaxed { Ordering::Relaxed } else { Ordering::Acquire };
        self.0.compare_exchange(word, taken, order, Ordering::Relaxed).is_ok()
    }

    /// Releases exclusive access, whichever thread has it.
    fn let_go(&self) {
        let order = if FLAW == RELAXED_LET_GO { Ordering::Relaxed } else { Ordering::Release };
        self.0.fetch_and(!1, order);
    }
}

impl<const FLAW: u8> Latch for Flawed<FLAW> {
    fn alone(&self, work: impl FnOnce()) {
        loop {
            let word = self.0.load(Ordering::Relaxed);
            let free = word == 0 || FLAW == MINDS_NOBODY && word & 1 == 0;
            if free && self.exchange(word, word | 1, RELAXED_ALONE) {
                break;
            }
            yield_now();
        }
        work();
        self.let_go();
    }

    fn together<R>(&self, work: impl FnOnce() -> R) -> R {
        loop {
            let word = self.0.load(Ordering::Relaxed);
            if word & 1 == 0 && self.exchange(word, word + 2, RELAXED_TOGETHER) {
                break;
            }
            if FLAW == LETS_GO_OF_NOTHING && word & 1 == 1 {
                // It tries again at once: loom lets a thread that yields wait for the others.
                self.let_go();
                continue;
            }
            yield_now();
        }
        let result = work();
        self.0.fetch_sub(2, Ordering::Release);
        result
    }
}

/// Two words that always hold the same number.
#[derive(Default)]
struct Twins<L> {
    latch: L,
    words: [AtomicU64; 2],
}

impl<L: Latch> Twins<L> {
    fn load(&self) -> [u64; 2] {
        [0, 1].map(|i| self.words[i].load(Ordering::Relaxed))
    }

    /// Doesn't read them before: loom would lose sight of the readers in between.
    fn set(&self) {
        self.latch.alone(|| self.words.iter().for_each(|word| word.store(1, Ordering::Relaxed)));
    }

    fn count(&self) {
        self.latch.alone(|| {
            let [number, _] = self.load();
            self.words.iter().for_each(|word| word.store(number + 1, Ordering::Relaxed));
        });
    }
}

fn reads_are_whole<L: Latch>() {
    race(
        Twins::<L>::default,
        |node| node.set(),
        |node| {
            let [first, second] = node.latch.together(|| node.load());
            assert_eq!(first, second, "a torn read");
        },
        |node, _| assert_eq!(node.latch.together(|| node.load()), [1, 1], "a quiet node can be read"),
    );
}

fn writers_take_turns<L: Latch>() {
    race(
        Twins::<L>::default,
        |node| node.count(),
        |node| node.count(),
        |node, _| assert_eq!(node.latch.together(|| node.load()), [2, 2], "a count was lost"),
    );
}

#[test]
fn who_holds_it_together_sees_both_words_of_one_writer() {
    reads_are_whole::<SharedLatch>();
    reads_are_whole::<SharedLatch<AtomicU32>>();
    reads_are_whole::<Flawed<NO_FLAW>>();
}

#[test]
fn who_holds_it_alone_takes_turns() {
    writers_take_turns::<SharedLatch>();
    writers_take_turns::<SharedLatch<AtomicU32>>();
    writers_take_turns::<Flawed<NO_FLAW>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn taken_together_by_a_relaxed_exchange_it_shows_torn_words() {
    reads_are_whole::<Flawed<RELAXED_TOGETHER>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn let_go_of_by_a_relaxed_subtraction_it_shows_torn_words() {
    reads_are_whole::<Flawed<RELAXED_LET_GO>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn taken_alone_beside_readers_it_shows_torn_words() {
    reads_are_whole::<Flawed<MINDS_NOBODY>>();
}

#[test]
#[should_panic(expected = "a count was lost")]
fn taken_alone_by_a_relaxed_exchange_it_loses_counts() {
    writers_take_turns::<Flawed<RELAXED_ALONE>>();
}

#[test]
#[should_panic(expected = "a torn read")]
fn let_go_of_by_who_never_had_it_it_shows_torn_words() {
    reads_are_whole::<Flawed<LETS_GO_OF_NOTHING>>();
}
