//! Units are allocated and freed, at once or later, and none is lost.

use super::*;
use latchless_core::base::error::Error;
use latchless_core::mem::touch::NoTrace;
use latchless_core::sync::{Word, Word32};

fn options(unit_nodes: usize, limit_bytes: Option<usize>) -> NodePoolOptions {
    NodePoolOptions { node_bytes: 128, unit_nodes, limit_bytes, huge_pages: false, references: u32::MAX }
}

fn arena(reuse: Reuse, reserved: usize, limit_bytes: Option<usize>) -> UnitArena<Word32> {
    UnitArena::new(options(3, limit_bytes), reuse, reserved).unwrap()
}

#[test]
fn nodes_of_a_unit_stand_side_by_side_and_apart() {
    let arena = arena(Reuse::AtOnce, 0, None);
    let units: Vec<NodeRef> = (0..20).map(|_| arena.allocate::<NoTrace>(0).unwrap()).collect();
    let nodes = || units.iter().flat_map(|unit| (0..3).map(|at| unit.offset(at)));
    for (number, node) in nodes().enumerate() {
        assert_eq!(arena.words(node).len(), 32);
        arena.words(node).iter().for_each(|word| word.store_relaxed(number as u32));
        assert_eq!(arena.address(node), arena.words(node).as_ptr().cast());
    }
    for (number, node) in nodes().enumerate() {
        assert!(arena.words(node).iter().all(|word| word.load_relaxed() == number as u32));
    }
    assert_eq!(arena.live_bytes(), 20 * 3 * 128);
    let wide = UnitArena::<Word>::new(options(1, None), Reuse::AtOnce, 0).unwrap();
    assert_eq!(wide.words(wide.allocate::<NoTrace>(0).unwrap()).len(), 16);
}

#[test]
fn units_come_back_at_once_for_their_kind() {
    let arena = arena(Reuse::AtOnce, 0, None);
    let (leaf, inner) = (arena.allocate::<NoTrace>(0).unwrap(), arena.allocate::<NoTrace>(1).unwrap());
    arena.retire::<NoTrace>(0, leaf);
    arena.free::<NoTrace>(1, inner);
    assert_eq!(arena.live_bytes(), 0);
    assert_eq!(arena.allocate::<NoTrace>(1), Ok(inner));
    assert_eq!(arena.allocate::<NoTrace>(0), Ok(leaf));
    assert!(arena.pin::<NoTrace>().is_none(), "nothing is kept back, so nobody need say that he is in");
}

#[test]
fn units_come_back_when_everybody_inside_has_gone() {
    let arena = arena(Reuse::Later, 0, None);
    let units: Vec<NodeRef> = (0..10).map(|_| arena.allocate::<NoTrace>(0).unwrap()).collect();
    let pin = arena.pin::<NoTrace>();
    units.iter().for_each(|&unit| arena.retire::<NoTrace>(0, unit));
    assert_eq!(arena.live_bytes(), 0, "retired units aren't in use");
    let other = arena.allocate::<NoTrace>(0).unwrap();
    assert!(!units.contains(&other), "somebody may be reading them");
    let later = arena.pin::<NoTrace>();
    drop(pin);
    let reused = arena.allocate::<NoTrace>(0).unwrap();
    assert!(units.contains(&reused), "who came in after they were unlinked can't find them");
    drop(later);
    (0..9).for_each(|_| assert!(units.contains(&arena.allocate::<NoTrace>(0).unwrap())));
    assert_eq!(arena.held_bytes(), 11 * 3 * 128);
}

#[test]
fn a_refusal_is_made_only_when_nothing_idle_is_left() {
    let arena = arena(Reuse::Later, 0, Some(3 * 3 * 128));
    let units: Vec<NodeRef> = (0..3).map(|_| arena.allocate::<NoTrace>(0).unwrap()).collect();
    assert!(matches!(arena.allocate::<NoTrace>(0), Err(Error::MemoryLimit { .. })));
    let pin = arena.pin::<NoTrace>();
    arena.retire::<NoTrace>(0, units[1]);
    assert!(arena.allocate::<NoTrace>(0).is_err());
    drop(pin);
    // Another thread's shelf has it.
    let taken = std::thread::scope(|scope| scope.spawn(|| arena.allocate::<NoTrace>(0)).join().unwrap());
    assert_eq!(taken, Ok(units[1]));
}

#[test]
fn the_reserve_serves_whom_nothing_may_be_refused() {
    let mut arena = arena(Reuse::Later, 2, Some(3 * 3 * 128));
    let only = arena.allocate::<NoTrace>(0).unwrap();
    assert!(arena.allocate::<NoTrace>(0).is_err(), "the reserve isn't for everybody");
    assert_eq!(arena.live_bytes(), 3 * 128);
    let mut units = [NodeRef::NIL; 2];
    for _ in 0..5 {
        arena.allocate_surely::<NoTrace>(&mut units);
        assert!(units[0] != units[1] && !units.contains(&only));
        units.iter().for_each(|&unit| arena.retire::<NoTrace>(0, unit));
    }
    // One available unit and one in reserve: both are used.
    let unit = arena.reserve.lock().pop().unwrap_or_else(|| arena.allocate::<NoTrace>(0).unwrap());
    arena.space.free(0, unit);
    arena.allocate_surely::<NoTrace>(&mut units);
    units.iter().for_each(|&unit| arena.retire::<NoTrace>(0, unit));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..if cfg!(miri) { 3 } else { 300 } {
                    let mut units = [NodeRef::NIL; 2];
                    let pin = arena.pin::<NoTrace>();
                    drop(pin);
                    arena.allocate_surely::<NoTrace>(&mut units);
                    units.iter().for_each(|&unit| arena.retire::<NoTrace>(0, unit));
                }
            });
        }
    });
    assert_eq!(arena.live_bytes(), 3 * 128);
    arena.clear().unwrap();
    assert_eq!((arena.live_bytes(), arena.held_bytes()), (0, 2 * 3 * 128));
}

#[test]
fn more_threads_than_places_wait_for_one() {
    let arena = arena(Reuse::Later, 0, None);
    let mut pins: Vec<_> = (0..SLOTS - 1).map(|_| arena.pin::<NoTrace>()).collect();
    let rounds = if cfg!(miri) { 2 } else { 50 };
    let come_and_go = || (0..rounds).for_each(|_| drop(arena.pin::<NoTrace>()));
    std::thread::scope(|scope| (0..3).for_each(|_| _ = scope.spawn(come_and_go)));
    pins.clear();
}
