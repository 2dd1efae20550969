//! A counter that many threads change without contention: each has its own cache line.
//!
//! # Thread safety
//! The first few lines are *owned*: while a thread lives, no other thread writes to its line, of any
//! counter. So it adds by a load and a store. A locked addition takes longer, and on x86-64 it delays all
//! later loads until all earlier stores are done. Threads that find all of these lines taken share the other
//! ones, and add atomically. The next owner of a line sees the last one's writes, because it acquires the
//! line after its release.

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

/// A sum of changes from many threads. Exact when no thread is changing it.
#[derive(Debug, Default)]
pub struct Striped {
    stripes: [Stripe; STRIPES],
}

impl Striped {
    /// Adds a number, which may be negative.
    #[inline(always)]
    pub fn add(&self, amount: i64) {
        let own = OWN.get();
        if own < OWNED {
            self.stripes[own].0.add_alone(amount as u64)
        } else {
            self.add_beside_others(amount)
        }
    }

    /// Adds a number for a thread that shares its line, or that counts for the first time. See
    /// [`Striped::add`].
    #[cold]
    #[inline(never)]
    fn add_beside_others(&self, amount: i64) {
        if OWN.get() == UNKNOWN {
            OWN.set(take());
            return self.add(amount);
        }
        self.stripes[OWN.get() % STRIPES].0.add(amount as u64);
    }

    /// Adds a number while no other thread is adding: an ordinary addition. See [`Striped::add`].
    #[inline(always)]
    pub fn add_alone(&self, amount: i64) {
        self.stripes[0].0.add_alone(amount as u64);
    }

    /// Returns the sum. While other threads add, it is a value between the old and the new sum.
    pub fn sum(&self) -> i64 {
        self.stripes.iter().fold(0i64, |sum, stripe| sum.wrapping_add(stripe.0.load_relaxed() as i64))
    }

    /// Sets the sum; no other thread may be adding.
    pub fn set(&mut self, sum: i64) {
        for (at, stripe) in self.stripes.iter().enumerate() {
            stripe.0.store_relaxed(if at == 0 { sum as u64 } else { 0 });
        }
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

    #[test]
    fn adds_up_over_threads() {
        let mut count = Striped::default();
        std::thread::scope(|scope| {
            for thread in 0..4i64 {
                let count = &count;
                scope.spawn(move || (0..100).for_each(|i| count.add(if i % 4 == 0 { -1 } else { thread })));
            }
        });
        assert_eq!(count.sum(), 75 * (1 + 2 + 3) - 25 * 4);
        count.set(-7);
        assert_eq!(count.sum(), -7);
    }

    #[test]
    fn more_threads_than_lines_of_their_own_add_up() {
        let (count, threads) = (Striped::default(), 3 * OWNED);
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
                    Striped::default().add(1);
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
        let owns = || std::thread::spawn(|| (Striped::default().add(1), OWN.get() < OWNED).1);
        let threads = if cfg!(miri) { 3 * OWNED } else { 20 * OWNED };
        let found = (0..threads).filter(|_| owns().join().expect("it ends well")).count();
        assert!(found > OWNED, "{found} threads had a line of their own");
    }
}
