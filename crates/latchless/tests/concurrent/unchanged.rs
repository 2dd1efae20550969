//! Answers during operations that change nothing: a leaf is latched and released unchanged, so a validation
//! of its version fails, and a later one of the same version succeeds. However a search handles the failed
//! validation, its answer must not change.

use crate::ordered::{Ordered, on_every_ordered};
use crate::subject::scaled;
use latchless::Direction;
use latchless_core::testing::Rng;
use std::sync::atomic::{AtomicBool, Ordering};

/// Every tenth key is present; its value is its tenth.
const STEP: u64 = 10;
/// Entries of several leaves.
const ENTRIES: u64 = 500;

/// Returns the nearest entry to a key, and the expected one.
fn nearest(map: &dyn Ordered, from: u64, direction: Direction) -> [Option<(u64, u64)>; 2] {
    let at = match direction {
        Direction::Forward => from.div_ceil(STEP),
        Direction::Reverse => from / STEP,
    };
    [map.nearest(from, direction), (at < ENTRIES).then_some((at * STEP, at))]
}

#[test]
fn operations_that_change_nothing_change_no_answer() {
    on_every_ordered(|make| {
        let map = make();
        (0..ENTRIES).for_each(|at| _ = map.put(at * STEP, at));
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut rng = Rng(1);
                while !over.load(Ordering::Acquire) {
                    // In few leaves, so that the search is in the same one.
                    assert_eq!(map.remove(STEP * rng.below(ENTRIES / 10) + 1 + rng.below(STEP - 1)), None);
                }
            });
            let mut rng = Rng(2);
            let wrong = (0..scaled(60_000, 10)).find_map(|at| {
                let direction = if at % 2 == 0 { Direction::Forward } else { Direction::Reverse };
                let from = rng.below(STEP * ENTRIES / 10);
                let [found, right] = nearest(&*map, from, direction);
                (found != right).then(|| format!("{from} {direction:?}: {found:?} instead of {right:?}"))
            });
            over.store(true, Ordering::Release);
            assert_eq!(wrong, None);
        });
    });
}
