//! A map as one object: the answers of operations by order depend on all keys at once. Only a few keys, the
//! *window*, are observed; all others lie beyond it, on either side, and may come and go.

use crate::history::Model;
use latchless::Direction;

/// Keys in the window.
pub const WINDOW: usize = 4;
/// The distance of the window's keys, so that searches begin between them as well.
pub const SPACING: u64 = 10;

/// The values of the window's keys, in order.
pub type Window = [Option<u64>; WINDOW];

/// An operation on the map; keys are places in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapOp {
    Get(usize),
    Put(usize, u64),
    Remove(usize),
    /// Finds the first entry in this direction from a [`Start`] on.
    Nearest(Start, Direction),
    /// Removes the first entry in this direction, from beyond the window on.
    Pop(Direction),
}

/// The start of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At a key, which may be the answer.
    At(usize),
    /// At a key, which may not be the answer.
    Beside(usize),
    /// Between a key and the next one.
    After(usize),
    /// At the map's end that the direction leads away from.
    End,
}

/// An answer of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The value of a key.
    Value(Option<u64>),
    /// An entry of the window: its place and its value.
    Entry(usize, u64),
    /// Nothing, or an entry beyond the window.
    Beyond,
}

impl Start {
    /// Returns the window's keys that a search may find, nearest first.
    fn candidates(self, direction: Direction) -> Vec<usize> {
        let (low, high) = match (self, direction) {
            (Self::At(key), Direction::Forward) => (key, WINDOW),
            (Self::At(key), Direction::Reverse) => (0, key + 1),
            (Self::Beside(key) | Self::After(key), Direction::Forward) => (key + 1, WINDOW),
            (Self::Beside(key), Direction::Reverse) => (0, key),
            (Self::After(key), Direction::Reverse) => (0, key + 1),
            (Self::End, _) => (0, WINDOW),
        };
        let mut candidates: Vec<usize> = (low..high).collect();
        if direction == Direction::Reverse {
            candidates.reverse();
        }
        candidates
    }

    /// Returns the entry that a search finds.
    fn nearest(self, direction: Direction, window: &Window) -> Found {
        let found = self.candidates(direction).into_iter().find_map(|at| Some((at, window[at]?)));
        found.map_or(Found::Beyond, |(at, value)| Found::Entry(at, value))
    }
}

impl MapOp {
    fn answer(self, window: &Window) -> Found {
        match self {
            Self::Get(at) | Self::Put(at, _) | Self::Remove(at) => Found::Value(window[at]),
            Self::Nearest(start, direction) => start.nearest(direction, window),
            Self::Pop(direction) => Start::End.nearest(direction, window),
        }
    }
}

impl Model for MapOp {
    type State = Window;
    type Answer = Found;

    fn after(self, mut window: Window) -> Window {
        match self {
            Self::Put(at, value) => window[at] = Some(value),
            Self::Remove(at) => window[at] = None,
            Self::Pop(_) => {
                if let Found::Entry(at, _) = self.answer(&window) {
                    window[at] = None;
                }
            }
            Self::Get(_) | Self::Nearest(..) => {}
        }
        window
    }

    fn fits(self, answer: Found, window: Window) -> bool {
        self.answer(&window) == answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Event, check};
    use Direction::{Forward, Reverse};
    use MapOp::*;
    use std::collections::BTreeSet;

    /// The times of call and return, the operation and its answer.
    type Row = (u64, u64, MapOp, Found);

    const EMPTY: Window = [None; WINDOW];
    const ABSENT: Found = Found::Value(None);

    fn has_an_order(rows: &[Row]) -> bool {
        let event = |&(called, returned, op, answer): &Row| Event { called, returned, op, answer };
        check(&mut rows.iter().map(event).collect::<Vec<_>>(), &BTreeSet::from([EMPTY])).is_ok()
    }

    #[test]
    fn searches_find_what_lies_in_their_direction() {
        let window = [Some(10), None, Some(12), None];
        let nearest = |start: Start, direction| start.nearest(direction, &window);
        assert_eq!(nearest(Start::At(2), Forward), Found::Entry(2, 12));
        assert_eq!(nearest(Start::Beside(2), Forward), Found::Beyond);
        assert_eq!(nearest(Start::After(0), Forward), Found::Entry(2, 12));
        assert_eq!(nearest(Start::At(1), Reverse), Found::Entry(0, 10));
        assert_eq!(nearest(Start::Beside(2), Reverse), Found::Entry(0, 10));
        assert_eq!(nearest(Start::After(2), Reverse), Found::Entry(2, 12));
        assert_eq!(nearest(Start::End, Forward), Found::Entry(0, 10));
        assert_eq!(nearest(Start::End, Reverse), Found::Entry(2, 12));
        assert_eq!(Pop(Reverse).after(window), [Some(10), None, None, None]);
        assert_eq!(Pop(Forward).after(EMPTY), EMPTY);
    }

    #[test]
    fn histories_that_have_an_order() {
        let one_by_one = [
            (1, 2, Put(1, 5), ABSENT),
            (3, 4, Put(3, 7), ABSENT),
            (5, 6, Nearest(Start::After(1), Forward), Found::Entry(3, 7)),
            (7, 8, Pop(Forward), Found::Entry(1, 5)),
            (9, 10, Nearest(Start::At(2), Reverse), Found::Beyond),
            (11, 12, Get(3), Found::Value(Some(7))),
        ];
        assert!(has_an_order(&one_by_one));
        // The far key was present before the near one was inserted, or after it was removed.
        let beside_a_writer = [
            (1, 2, Put(3, 7), ABSENT),
            (3, 6, Nearest(Start::At(0), Forward), Found::Entry(3, 7)),
            (4, 5, Put(1, 5), ABSENT),
        ];
        assert!(has_an_order(&beside_a_writer));
    }

    #[test]
    fn histories_that_have_none() {
        let passes_by = [
            (1, 10, Nearest(Start::At(0), Forward), Found::Entry(3, 7)),
            (2, 3, Put(1, 5), ABSENT),
            (4, 5, Put(3, 7), ABSENT),
        ];
        assert!(!has_an_order(&passes_by), "the near key was there whenever the far one was");
        let backwards = [
            (1, 10, Nearest(Start::End, Reverse), Found::Entry(0, 7)),
            (2, 3, Put(2, 5), ABSENT),
            (4, 5, Put(0, 7), ABSENT),
        ];
        assert!(!has_an_order(&backwards), "the same backwards");
        let popped_late =
            [(1, 2, Put(2, 7), ABSENT), (3, 4, Put(0, 5), ABSENT), (5, 6, Pop(Forward), Found::Entry(2, 7))];
        assert!(!has_an_order(&popped_late), "the popped key wasn't the first");
        let popped_twice = [
            (1, 2, Put(2, 7), ABSENT),
            (3, 6, Pop(Forward), Found::Entry(2, 7)),
            (4, 5, Pop(Reverse), Found::Entry(2, 7)),
        ];
        assert!(!has_an_order(&popped_twice), "one entry, popped twice");
        let missed = [(1, 2, Put(2, 7), ABSENT), (3, 4, Nearest(Start::End, Forward), Found::Beyond)];
        assert!(!has_an_order(&missed), "an entry was missed");
    }
}
