//! Small thread numbers, by which each thread finds its entry of a table: its pool of nodes, its epoch.
//!
//! A number is a hint: two threads may have the same one, and users of a number must tolerate that.

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Number of table entries that threads share: more than the processors of most machines.
pub const SLOTS: usize = 64;

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Returns the calling thread's number, below [`SLOTS`].
#[inline(always)]
pub fn slot() -> usize {
    let own = OWN.try_with(Cell::get).unwrap_or(0);
    if own < SLOTS { own } else { first_slot() }
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
    fn a_thread_keeps_its_number() {
        let own = slot();
        assert_eq!(slot(), own);
        let other = std::thread::spawn(|| (slot(), slot())).join().unwrap();
        assert!(other.0 == other.1 && other.0 < SLOTS);
    }
}
