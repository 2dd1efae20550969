//! The unfinished parts of limited ranges, passed from each thread to its right neighbour (§3.2.5, and
//! beyond it).
//!
//! The paper gives a range to every thread that has keys of it. With a limit nearly all of them would
//! fetch entries that aren't needed: the first thread usually finds enough. So each thread first serves
//! its own limited ranges as far as its keys reach, all threads in parallel; then the unfinished parts
//! move from left to right, each with the limit less the entries found so far. A range that has enough
//! goes no further.

use super::partition::Piece;
use crate::pi::batch::mailbox::{Receiver, Sender, mailbox};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

/// A thread's place in the chain. The default is a place in none: nothing arrives, and nothing is passed
/// on.
#[derive(Debug)]
pub struct Carry<B: Bits> {
    from_left: Option<Receiver<Vec<Piece<B>>>>,
    to_right: Option<Sender<Vec<Piece<B>>>>,
}

impl<B: Bits> Default for Carry<B> {
    fn default() -> Self {
        Self { from_left: None, to_right: None }
    }
}

/// Creates a chain of that many threads, from left to right.
pub fn chain<B: Bits>(threads: usize) -> Vec<Carry<B>> {
    let mut chain: Vec<Carry<B>> = (0..threads).map(|_| Carry::default()).collect();
    for right in 1..threads {
        let (to_right, from_left) = mailbox();
        (chain[right - 1].to_right, chain[right].from_left) = (Some(to_right), Some(from_left));
    }
    chain
}

impl<B: Bits> Carry<B> {
    /// Returns whether entries that aren't found here can be found further right.
    pub fn goes_on(&self) -> bool {
        self.to_right.is_some()
    }

    /// Waits for the rests from the left, and sends what `work` leaves of them to the right.
    ///
    /// # Panics
    /// When the neighbour to the left has panicked.
    pub fn pass<T: Trace>(self, work: impl FnOnce(Vec<Piece<B>>) -> Vec<Piece<B>>) {
        let received = self.from_left.map(|from| from.receive::<T>().expect("a neighbour has panicked"));
        let rests = work(received.unwrap_or_default());
        if let Some(to_right) = self.to_right {
            to_right.send::<T>(rests);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::NoTrace;
    use std::sync::Mutex;

    #[test]
    fn each_thread_gets_what_the_one_to_its_left_leaves() {
        let seen = Mutex::new(vec![Vec::new(); 4]);
        std::thread::scope(|scope| {
            for (nth, carry) in chain::<u64>(4).into_iter().enumerate() {
                let seen = &seen;
                scope.spawn(move || {
                    assert_eq!(carry.goes_on(), nth < 3);
                    carry.pass::<NoTrace>(|rests| {
                        seen.lock().unwrap()[nth] = rests.iter().map(|piece| piece.limit).collect();
                        let own = Piece { number: nth as u32, high: 9, limit: 2 };
                        let less = rests.into_iter().map(|piece| Piece { limit: piece.limit - 1, ..piece });
                        less.filter(|piece| piece.limit > 0).chain([own]).collect()
                    });
                });
            }
        });
        assert_eq!(*seen.lock().unwrap(), [vec![], vec![2], vec![1, 2], vec![1, 2]]);
        assert!(!Carry::<u64>::default().goes_on());
    }
}
