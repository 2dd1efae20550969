//! The list alone, with the head as its only anchor.

use super::*;
use crate::common::units::NodePoolOptions;
use crate::cssl::guarded::Guarded;
use core::cell::RefCell;

fn guarded<B: Bits>() -> Guarded<B::Word, ()> {
    let options = NodePoolOptions {
        node_bytes: node_bytes::<B>(),
        unit_nodes: 1,
        limit_bytes: None,
        huge_pages: false,
        references: 10_000,
    };
    Guarded::new(options, ()).unwrap()
}

fn entries<B: Bits>(list: &List<'_, B>) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let shown = list.visit(list.head, B::MIN, B::MAX, |_, key, value| {
        found.push((key.to_u64(), value.to_u64()));
        true
    });
    shown.unwrap();
    found
}

fn keeps_entries_in_order<B: Bits>() {
    let guarded = guarded::<B>();
    let _inside = guarded.enter();
    let list = List::<B>::of(guarded.arena(), List::<B>::begin(guarded.arena()).unwrap());
    let lane = |number: u64| B::truncate(number);
    let coming = RefCell::new(0);
    for key in [5, 1, 9, 3, 7] {
        let put = |value: u64| list.insert(list.head, lane(key), lane(value), || *coming.borrow_mut() += 1);
        assert_eq!(put(key * 2).unwrap().unwrap().before, None);
        assert_eq!(put(key * 3).unwrap().unwrap().before, Some(lane(key * 2)));
    }
    assert_eq!(*coming.borrow(), 5, "what replaces a value doesn't come in");
    assert_eq!(entries(&list), [(1, 3), (3, 9), (5, 15), (7, 21), (9, 27)]);
    assert_eq!(list.find(list.head, lane(7)), Ok((Some(lane(21)), 3)));
    assert_eq!(list.find(list.head, lane(8)).unwrap().0, None);
    let mut anchor = None;
    list.visit(list.head, lane(4), lane(6), |node, _, _| {
        anchor = Some(node);
        false
    })
    .unwrap();
    let anchor = anchor.expect("5 is there");
    assert_eq!(list.find(anchor, lane(9)), Ok((Some(lane(27)), 1)));
    let going = RefCell::new(None);
    let removed = list.remove(list.head, lane(5), |node| *going.borrow_mut() = Some(node)).unwrap().unwrap();
    assert_eq!((removed.value, *going.borrow()), (lane(15), Some(anchor)));
    assert_eq!(list.remove(list.head, lane(5), |_| panic!("it is out")), Ok(None));
    assert_eq!(list.find(anchor, lane(9)), Err(DeadAnchor));
    assert_eq!(list.insert(anchor, lane(6), lane(6), || ()).map(|_| ()), Err(DeadAnchor));
    assert_eq!(list.remove(anchor, lane(7), |_| ()), Err(DeadAnchor));
    assert_eq!(list.visit(anchor, lane(0), lane(9), |_, _, _| true), Err(DeadAnchor));
    assert!(list.living_value(anchor).is_none() && !list.is_alive(anchor));
    assert_eq!(entries(&list), [(1, 3), (3, 9), (7, 21), (9, 27)]);
}

#[test]
fn entries_stay_in_order() {
    keeps_entries_in_order::<u32>();
    keeps_entries_in_order::<u64>();
}

#[test]
fn what_is_taken_in_hand_is_placed_and_stays_until_it_is_given_up() {
    let guarded = guarded::<u32>();
    let inside = guarded.enter();
    let list = List::<u32>::of(guarded.arena(), List::<u32>::begin(guarded.arena()).unwrap());
    for key in 0..20 {
        list.insert(list.head, key, key, || ()).unwrap().unwrap();
    }
    let mut taken = Vec::new();
    let whole = list.take_in_hand(list.head, 5, 14, |key, node| {
        taken.push((key, node));
        true
    });
    assert_eq!(whole, Ok(true));
    assert!(taken.iter().map(|one| one.0).eq(5..=14));
    let placed = |at: usize| list.node(taken[at].1).link().follow().is_placed();
    assert!((0..10).all(placed));
    list.remove(list.head, 7, |_| ()).unwrap().unwrap();
    list.remove(list.head, 3, |_| ()).unwrap().unwrap();
    drop(inside);
    guarded.arena().sweep::<NoTrace>();
    let inside = guarded.enter();
    let held = guarded.arena().held_bytes();
    // The unplaced node's memory is used again, the placed one's isn't.
    list.insert(list.head, 100, 0, || ()).unwrap().unwrap();
    assert_eq!((guarded.arena().held_bytes(), list.key(taken[2].1)), (held, 7));
    list.retire(taken[2].1);
    drop(inside);
    guarded.arena().sweep::<NoTrace>();
    let _inside = guarded.enter();
    list.insert(list.head, 101, 0, || ()).unwrap().unwrap();
    assert_eq!((guarded.arena().held_bytes(), list.key(taken[2].1)), (held, 101));
}

/// The place of the smallest key is found; then a smaller one is inserted before the node that was found
/// next, and that node dies. The walk continues through the smaller one.
#[test]
fn what_came_in_before_the_smallest_key_is_not_taken_in_hand() {
    let guarded = guarded::<u64>();
    let _inside = guarded.enter();
    let list = List::<u64>::of(guarded.arena(), List::<u64>::begin(guarded.arena()).unwrap());
    let put = |key| list.insert(list.head, key, key, || ()).unwrap().unwrap();
    let take = |key| list.remove(list.head, key, |_| ()).unwrap().unwrap();
    for key in [50, 70, 80] {
        put(key);
    }
    let place = list.place(list.head, 60).unwrap();
    for key in [55, 58, 65] {
        put(key);
    }
    take(70);
    let mut taken = Vec::new();
    let each = |key, node| {
        taken.push((key, node));
        true
    };
    assert!(list.take_from(place, 60, 80, each));
    assert!(taken.iter().map(|one| one.0).eq([65, 80]), "{taken:?}");
    assert!(taken.iter().all(|one| list.is_placed(one.1)));
    list.visit(list.head, 0, 59, |node, key, _| {
        assert!(!list.is_placed(node), "{key} is in no lane");
        true
    })
    .unwrap();
}

#[test]
fn threads_put_in_and_take_out_side_by_side() {
    let guarded = guarded::<u64>();
    let head = List::<u64>::begin(guarded.arena()).unwrap();
    let rounds = if cfg!(miri) { 3 } else { 200 };
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            let guarded = &guarded;
            scope.spawn(move || {
                for _ in 0..rounds {
                    for key in (0..10).map(|i| i * 3 + thread) {
                        let _inside = guarded.enter();
                        let list = List::<u64>::of(guarded.arena(), head);
                        let put = list.insert(head, key, thread, || ()).unwrap().unwrap();
                        assert_eq!(put.before, None, "each key has one thread");
                    }
                    for key in (0..10).map(|i| i * 3 + thread).filter(|key| key % 2 == 0) {
                        let _inside = guarded.enter();
                        let list = List::<u64>::of(guarded.arena(), head);
                        assert_eq!(list.find(head, key).unwrap().0, Some(thread));
                        assert_eq!(list.remove(head, key, |_| ()).unwrap().unwrap().value, thread);
                    }
                    for key in (0..10).map(|i| i * 3 + thread).filter(|key| key % 2 == 1) {
                        let _inside = guarded.enter();
                        let list = List::<u64>::of(guarded.arena(), head);
                        assert_eq!(list.remove(head, key, |_| ()).unwrap().unwrap().value, thread);
                    }
                }
            });
        }
    });
    let _inside = guarded.enter();
    assert_eq!(entries(&List::<u64>::of(guarded.arena(), head)), []);
}
