//! The numbers at which snapshots read.

use latchless_core::sync::{Mutex, Word};
use std::collections::BTreeMap;

/// The snapshots in use, and the numbers that others may have.
///
/// A snapshot takes its number while the state is locked. So a commit or a pruning that locks the state
/// afterwards finds the snapshot, and one that locked it before has raised the floor to what it drops.
#[derive(Debug)]
pub(super) struct Readers {
    newest: Word,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many snapshots read at each number.
    counts: BTreeMap<u64, usize>,
    /// Below it, only versions that these snapshots see are certain to be there.
    floor: u64,
}

impl State {
    fn enter(&mut self, number: u64) {
        *self.counts.entry(number).or_default() += 1;
    }
}

impl Readers {
    /// Readers of an index whose newest commit has this number.
    pub(super) fn new(newest: u64) -> Self {
        Self { newest: Word::new(newest), state: Mutex::new(State { floor: newest, ..State::default() }) }
    }

    /// Returns the number of the newest commit, whose versions the caller then sees.
    #[inline]
    pub(super) fn newest(&self) -> u64 {
        self.newest.follow()
    }

    /// Lets readers see a commit: everything that was written before.
    pub(super) fn publish(&self, number: u64) {
        self.newest.publish(number);
    }

    /// Makes 0 the newest number, unless there is a snapshot. Returns whether it has.
    pub(super) fn restart(&self) -> bool {
        let mut state = self.state.lock();
        let is_alone = state.counts.is_empty();
        if is_alone {
            state.floor = 0;
            self.newest.publish(0);
        }
        is_alone
    }

    /// Adds a snapshot at the newest number, and returns that.
    pub(super) fn enter(&self) -> u64 {
        let mut state = self.state.lock();
        let number = self.newest();
        state.enter(number);
        number
    }

    /// Adds a snapshot at this number.
    ///
    /// # Errors
    /// The range of the numbers of which all versions are there.
    pub(super) fn enter_at(&self, number: u64) -> Result<(), [u64; 2]> {
        let mut state = self.state.lock();
        let newest = self.newest();
        if number > newest || number < state.floor && !state.counts.contains_key(&number) {
            return Err([state.floor, newest]);
        }
        state.enter(number);
        Ok(())
    }

    /// Removes a snapshot.
    pub(super) fn leave(&self, number: u64) {
        let mut state = self.state.lock();
        if let Some(count) = state.counts.get_mut(&number) {
            *count -= 1;
            if *count == 0 {
                state.counts.remove(&number);
            }
        }
    }

    /// Returns the smallest number at which a snapshot reads now or later. No snapshot reads before the
    /// newest number later, unless `keeps_all`: then none reads before the floor.
    pub(super) fn horizon(&self, keeps_all: bool) -> u64 {
        let mut state = self.state.lock();
        if !keeps_all {
            state.floor = self.newest();
        }
        state.counts.first_key_value().map_or(state.floor, |(&oldest, _)| oldest.min(state.floor))
    }

    /// Raises the floor to this number or to the newest, and returns it, and the numbers of all snapshots,
    /// ascending.
    pub(super) fn raise(&self, to: u64) -> (u64, Vec<u64>) {
        let mut state = self.state.lock();
        state.floor = state.floor.max(to.min(self.newest()));
        (state.floor, state.counts.keys().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_oldest_snapshot_or_the_newest_number() {
        let readers = Readers::new(0);
        readers.publish(5);
        assert_eq!((readers.horizon(true), readers.horizon(false)), (0, 5));
        let numbers = [readers.enter(), readers.enter()];
        readers.publish(7);
        assert_eq!((numbers, readers.enter(), readers.horizon(false)), ([5, 5], 7, 5));
        readers.leave(5);
        assert_eq!((readers.horizon(false), readers.raise(3)), (5, (7, vec![5, 7])));
        readers.leave(5);
        readers.leave(7);
        assert_eq!((readers.horizon(false), readers.raise(100)), (7, (7, vec![])));
    }

    #[test]
    fn a_snapshot_in_the_past_needs_all_versions_or_another_one_there() {
        let readers = Readers::new(0);
        readers.publish(9);
        assert_eq!((readers.enter_at(4), readers.enter_at(10)), (Ok(()), Err([0, 9])));
        assert_eq!(readers.raise(6), (6, vec![4]));
        assert_eq!(
            (readers.enter_at(5), readers.enter_at(4), readers.enter_at(6)),
            (Err([6, 9]), Ok(()), Ok(()))
        );
        assert_eq!(readers.horizon(true), 4);
    }
}
