//! A counter that many threads change without meeting: each has a cache line of its own.

use super::word::Word;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Lines that threads share out among themselves.
const STRIPES: usize = 16;

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
        self.stripes[own_stripe()].0.add(amount as u64);
    }

    /// As [`Striped::add`], for a caller that is sure that no other thread is adding: an ordinary addition.
    #[inline(always)]
    pub fn add_alone(&self, amount: i64) {
        let word = &self.stripes[0].0;
        word.store_relaxed(word.load_relaxed().wrapping_add(amount as u64));
    }

    /// The sum. While others add, one that lies between what it was and what it will be.
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

/// Which line the calling thread has.
#[inline(always)]
fn own_stripe() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed) % STRIPES;
    }
    OWN.try_with(|own| *own).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
