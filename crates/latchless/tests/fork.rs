//! Children of a process: none waits for ever for a thread that only the parent has.
#![cfg(all(target_os = "linux", not(miri), not(loom)))]

use latchless::Index;
use latchless::index::Slot;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::forked::{Child, Ended};
use latchless_core::sync::{AtomicU64, Mutex, Origin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Tests that fork run one after the other, so that no other test panics meanwhile.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// The panic message of a child that waits for a thread of its parent.
const SAYS: &str = "\"After a fork\"";
const KEYS: u64 = if cfg!(debug_assertions) { 4_000 } else { 20_000 };

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Even keys stay; writers insert and remove odd ones.
fn filled() -> Index<u64, u64> {
    (0..KEYS).map(|key| (2 * key, key)).collect()
}

fn value_of(key: u64) -> Option<u64> {
    key.is_multiple_of(2).then_some(key / 2)
}

/// Sets a flag when it is dropped, by a panic as well.
struct Sets<'a>(&'a AtomicBool);

impl Drop for Sets<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Changes an index from several threads while `act` runs.
fn beside_writers(write: impl Fn(u64, bool) + Sync, act: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for nth in 0..2 {
            let (over, write) = (&over, &write);
            threads.spawn(move || {
                let mut state = nth + 1u64;
                while !over.load(Ordering::Relaxed) {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    write((state >> 33) % KEYS * 2 + 1, state >> 63 == 0);
                }
            });
        }
        let _over = Sets(&over);
        act();
    });
}

/// Forks until one of the children has met a held latch or mutex; none may hang or be wrong.
fn until_one_says_so(what: &str, act: impl Fn()) {
    const TOGETHER: usize = 8;
    for _ in 0..80 {
        let children: Vec<_> = (0..TOGETHER).map(|_| Child::start(SAYS, &act)).collect();
        let ended: Vec<_> = children.into_iter().map(Child::ended).collect();
        let fine = ended.iter().all(|ended| matches!(ended, Ended::Well | Ended::SayingSo));
        assert!(fine, "{what}: {ended:?}");
        if ended.contains(&Ended::SayingSo) {
            return;
        }
    }
    panic!("{what}: no child met a latch that was held");
}

#[test]
fn a_child_and_its_child_know_that_they_are_other_processes() {
    let _alone = alone();
    let parent = Origin::here();
    let child = Child::start(SAYS, || {
        let own = Origin::here();
        assert!(parent.is_inherited() && !own.is_inherited() && own == Origin::here());
        let grandchild = Child::start(SAYS, || assert!(own.is_inherited() && parent.is_inherited()));
        assert_eq!(grandchild.ended(), Ended::Well);
    });
    assert_eq!(child.ended(), Ended::Well);
    assert!(!parent.is_inherited() && parent == Origin::here());
}

#[test]
fn a_child_goes_on_with_an_index_that_nobody_was_changing() {
    let _alone = alone();
    let index = filled();
    let child = Child::start(SAYS, || {
        for key in 0..2 * KEYS {
            assert_eq!(index.get(key), value_of(key));
            index.insert(key, key).unwrap();
        }
        assert_eq!(index.range(..).count() as u64, 2 * KEYS);
        std::thread::scope(|threads| {
            for nth in 0..2 {
                let index = &index;
                threads.spawn(move || (nth..2 * KEYS).step_by(2).for_each(|key| _ = index.remove(key)));
            }
        });
        assert!(index.is_empty() && index.check_invariants().is_ok());
    });
    assert_eq!(child.ended(), Ended::Well);
    assert_eq!(index.len() as u64, KEYS, "the parent has its own");
}

#[test]
fn no_child_hangs_where_its_parent_was_writing() {
    let _alone = alone();
    let index = filled();
    let write = |key, insert| match insert {
        true => _ = index.insert(key, key).unwrap(),
        false => _ = index.remove(key),
    };
    beside_writers(write, || {
        until_one_says_so("get", || {
            let even = (0..KEYS).map(|key| 2 * key);
            even.for_each(|key| assert_eq!(index.get(key), value_of(key)));
        });
        until_one_says_so("iterate", || {
            let even = index.range(..).filter(|entry| entry.0 % 2 == 0);
            assert!(even.eq((0..KEYS).map(|key| (2 * key, key))));
        });
        until_one_says_so("insert", || {
            (0..KEYS).for_each(|key| assert_eq!(index.insert(2 * key, 7).unwrap(), Some(key)));
        });
    });
}

#[test]
fn no_child_hangs_where_its_parent_was_writing_boxed_values() {
    let _alone = alone();
    let index = Index::<u64, Slot<Box<u64>>>::new().unwrap();
    (0..KEYS).for_each(|key| _ = index.insert(2 * key, Box::new(key)).unwrap());
    let write = |key, insert| match insert {
        true => _ = index.insert(key, Box::new(key)).unwrap(),
        false => _ = index.remove(key),
    };
    beside_writers(write, || {
        until_one_says_so("get", || {
            (0..KEYS).for_each(|key| assert_eq!(index.get_with(2 * key, |value| **value), Some(key)));
        });
        until_one_says_so("insert", || {
            (0..2 * KEYS).for_each(|key| _ = index.insert(key, Box::new(key)).unwrap());
        });
    });
}

#[test]
fn what_was_held_at_the_fork_is_given_up() {
    let _alone = alone();
    let here = Origin::here();
    let (latch, mutex) = (OptimisticLatch::<AtomicU64>::default(), Mutex::new(()));
    let held = (latch.latch(&here), mutex.lock());
    let children =
        [Child::start(SAYS, || drop(latch.latch(&here))), Child::start(SAYS, || drop(mutex.lock()))];
    assert_eq!(children.map(Child::ended), [Ended::SayingSo; 2]);
    drop(held);
}

#[test]
fn what_a_child_made_is_waited_for_as_long_as_it_takes() {
    let _alone = alone();
    let child = Child::start(SAYS, || {
        let (latch, here) = (OptimisticLatch::<AtomicU64>::default(), Origin::here());
        let mutex = Mutex::new(());
        std::thread::scope(|threads| {
            let held = (latch.latch(&here), mutex.lock());
            let waiting = [threads.spawn(|| drop(latch.latch(&here))), threads.spawn(|| drop(mutex.lock()))];
            std::thread::sleep(Duration::from_secs(2));
            drop(held);
            waiting.into_iter().for_each(|thread| thread.join().expect("it got what it waited for"));
        });
    });
    assert_eq!(child.ended(), Ended::Well);
}
