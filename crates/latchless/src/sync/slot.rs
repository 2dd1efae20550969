//! Numbers that threads share out among themselves, so that each finds a place of its own in a table:
//! its pool of nodes, its epoch.
//!
//! A number is a hint, never a right: two threads may bear the same one, and whoever uses it makes
//! sure that both get along.

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Places in a table that threads share out: more than the processors of most machines.
pub const SLOTS: usize = 64;

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The calling thread's number, below [`SLOTS`].
#[inline(always)]
pub fn slot() -> usize {
    let own = OWN.try_with(Cell::get).unwrap_or(0);
    if own < SLOTS { own } else { first_slot() }
}

/// Gives the calling thread another number, for a simulation that runs many processors on one thread,
/// and says which one it had.
pub fn enter_slot(number: usize) -> usize {
    let before = slot();
    // A thread that is just ending has no number any more, and needs none.
    let _ = OWN.try_with(|own| own.set(number % SLOTS));
    before
}

#[cold]
fn first_slot() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    let own = THREADS.fetch_add(1, Ordering::Relaxed) % SLOTS;
    let _ = OWN.try_with(|cell| cell.set(own));
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_number_until_it_gets_another() {
        let own = slot();
        assert_eq!(slot(), own);
        assert_eq!(enter_slot(5), own);
        assert_eq!(enter_slot(SLOTS + 7), 5);
        assert_eq!(slot(), 7);
        assert!(std::thread::spawn(slot).join().unwrap() < SLOTS);
    }
}
