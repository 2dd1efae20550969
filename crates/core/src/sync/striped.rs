//! A counter that many threads change without contention: each has its own cache line, once that pays.
//!
//! # Thread safety
//! A counter begins as one word, to which threads add atomically, or by a load and a store while the process
//! has one thread. When it has been [spread](Striped::spread), threads add to lines instead; the word keeps
//! what it has.
//!
//! The first few lines are *owned*: while a thread lives, no other thread writes to its line, of any
//! counter. So it adds by a load and a store. A locked addition takes longer, and on x86-64 it delays all
//! later loads until all earlier stores are done. Threads that find all of these lines taken share the other
//! ones, and add atomically. The next owner of a line sees the last one's writes, because it acquires the
//! line after its release.

use super::alone::is_alone;
use super::once_box::OnceBox;
use super::word::Word;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The number of lines of a counter.
const STRIPES: usize = 16;
/// The number of owned lines, which come first.
const OWNED: usize = 8;
/// The state of a thread that hasn't counted yet.
const UNKNOWN: usize = usize::MAX;

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(Word);

/// The lines of a counter: two kilobytes.
#[derive(Debug, Default)]
pub struct Stripes([Stripe; STRIPES]);

/// A sum of changes from many threads. Exact when no thread is changing it.
#[derive(Debug, Default)]
pub struct Striped {
    /// The changes of threads that had no lines, or that had the counter to themselves.
    base: Word,
    stripes: OnceBox<Stripes>,
}

impl Striped {
    /// Adds a number, which may be negative.
    #[inline(always)]
    pub fn add(&self, amount: i64) {
        let Some(Stripes(stripes)) = self.stripes.get() else { return self.add_to_base(amount) };
        let own = OWN.get();
        if own < OWNED {
            stripes[own].0.add_alone(amount as u64)
        } else {
            Self::add_beside_others(stripes, amount)
        }
    }

    /// Adds a number to a counter without lines. See [`Striped::add`].
    #[inline(always)]
    fn add_to_base(&self, amount: i64) {
        if is_alone() { self.base.add_alone(amount as u64) } else { self.base.add(amount as u64) }
    }

    /// Adds a number for a thread that shares its line, or that counts for the first time. See
    /// [`Striped::add`].
    #[cold]
    #[inline(never)]
    fn add_beside_others(stripes: &[Stripe; STRIPES], amount: i64) {
        if OWN.get() == UNKNOWN {
            OWN.set(take());
        }
        let own = OWN.get();
        if own < OWNED {
            stripes[own].0.add_alone(amount as u64)
        } else {
            stripes[own % STRIPES].0.add(amount as u64);
        }
    }

    /// Adds a number while no other thread is adding: an ordinary addition. See [`Striped::add`].
    #[inline(always)]
    pub fn add_alone(&self, amount: i64) {
        self.base.add_alone(amount as u64);
    }

    /// Returns whether threads have lines of their own.
    pub fn is_spread(&self) -> bool {
        self.stripes.get().is_some()
    }

    /// Gives threads lines of their own.
    pub fn spread(&self, stripes: Box<Stripes>) {
        self.stripes.set(stripes);
    }

    /// Returns the sum. While other threads add, it is a value between the old and the new sum.
    pub fn sum(&self) -> i64 {
        let base = self.base.load_relaxed() as i64;
        let stripes = self.stripes.get().map_or(&[][..], |stripes| &stripes.0[..]);
        stripes.iter().fold(base, |sum, stripe| sum.wrapping_add(stripe.0.load_relaxed() as i64))
    }

    /// Sets the sum; no other thread may be adding.
    pub fn set(&mut self, sum: i64) {
        self.base.store_relaxed(sum as u64);
        let stripes = self.stripes.get().map_or(&[][..], |stripes| &stripes.0[..]);
        stripes.iter().for_each(|stripe| stripe.0.store_relaxed(0));
    }
}

/// One bit for each owned line that a thread has.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The line that the calling thread owns or shares.
    static OWN: Cell<usize> = const { Cell::new(UNKNOWN) };
    /// Releases an owned line.
    static END: End = const { End };
}

/// Dropped when its thread ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        let own = OWN.replace(OWNED);
        if own < OWNED {
            TAKEN.fetch_and(!(1 << own), Ordering::Release);
        }
    }
}

/// Returns a line for the calling thread: an owned one, if one is free.
fn take() -> usize {
    static SHARING: AtomicUsize = AtomicUsize::new(0);
    let free = |taken: usize| Some((!taken).trailing_zeros() as usize).filter(|&free| free < OWNED);
    let with_one_more = |taken: usize| free(taken).map(|free| taken | 1 << free);
    // A thread that is ending can't release anything any more.
    let found = END.try_with(|_| TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, with_one_more));
    match found {
        Ok(Ok(taken)) => free(taken).expect("it was there to be taken"),
        _ => OWNED + SHARING.fetch_add(1, Ordering::Relaxed) % (STRIPES - OWNED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// A counter whose threads have lines of their own.
    fn spread() -> Striped {
        let count = Striped::default();
        count.spread(Box::default());
        count
    }

    #[test]
    fn adds_up_over_threads() {
        for mut count in [Striped::default(), spread()] {
            std::thread::scope(|scope| {
                for thread in 0..4i64 {
                    let count = &count;
                    scope.spawn(move || {
                        (0..100).for_each(|i| count.add(if i % 4 == 0 { -1 } else { thread }))
                    });
                }
            });
            assert_eq!(count.sum(), 75 * (1 + 2 + 3) - 25 * 4);
            count.set(-7);
            count.add_alone(2);
            assert_eq!(count.sum(), -5);
        }
    }

    #[test]
    fn nothing_is_lost_when_a_counter_is_spread_while_threads_add() {
        let (count, all) = (Striped::default(), Barrier::new(3));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (count, all) = (&count, &all);
                scope.spawn(move || {
                    all.wait();
                    for nth in 0..100 {
                        count.add(1);
                        if nth == 30 + thread {
                            count.spread(Box::default());
                        }
                    }
                });
            }
        });
        assert!(count.is_spread() && count.sum() == 300);
    }

    #[test]
    fn more_threads_than_lines_of_their_own_add_up() {
        let (count, threads) = (spread(), 3 * OWNED);
        for _ in 0..if cfg!(miri) { 2 } else { 20 } {
            // All of them exist at once, and none of the next round starts before all have ended.
            let (all, owned) = (Barrier::new(threads), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        count.add(1);
                        owned.fetch_or(1 << OWN.get(), Ordering::Relaxed);
                        all.wait();
                        (0..50).for_each(|_| count.add(1));
                    });
                }
            });
            // Other tests have threads that count, too, but not as many as lines.
            assert!(owned.into_inner() >> OWNED != 0, "threads without a line of their own share others");
        }
        assert_eq!(count.sum(), (if cfg!(miri) { 2 } else { 20 } * threads * 51) as i64);
    }

    #[test]
    fn no_two_living_threads_own_one_line() {
        let (all, owned) = (Barrier::new(OWNED), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..OWNED {
                scope.spawn(|| {
                    spread().add(1);
                    let own = OWN.get();
                    if own < OWNED {
                        assert_eq!(owned.fetch_or(1 << own, Ordering::Relaxed) >> own & 1, 0);
                    }
                    all.wait();
                });
            }
        });
    }

    #[test]
    fn a_thread_gives_its_line_back() {
        // More threads than lines, one after the other: each may find one, whatever other tests have.
        let owns = || std::thread::spawn(|| (spread().add(1), OWN.get() < OWNED).1);
        let threads = if cfg!(miri) { 3 * OWNED } else { 20 * OWNED };
        let found = (0..threads).filter(|_| owns().join().expect("it ends well")).count();
        assert!(found > OWNED, "{found} threads had a line of their own");
    }
}
