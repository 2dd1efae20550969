//! Forked children of a process that shares a paper's structures: none waits forever for a thread that
//! only the parent has.
#![cfg(all(target_os = "linux", not(miri), not(loom)))]

use latchless_core::sync::forked::{Child, Ended};
use latchless_core::sync::{AtomicU64, Origin};
use latchless_papers::Error;
use latchless_papers::cssl::link::{Link, Seen};
use latchless_papers::olfit::shared_latch::SharedLatch;
use latchless_papers::pi::crew::{ScopedPool, ScopedTask};
use latchless_papers::pi::{Options, Pi, SubmissionOptions, Submissions};

/// Tests that fork run one after the other, so that no other thread panics meanwhile.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// The message of a child that waits for a thread of its parent.
const SAYS: &str = "\"After a fork\"";
const KEYS: u64 = if cfg!(debug_assertions) { 4_000 } else { 20_000 };

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[test]
fn latches_that_were_held_at_the_fork_are_given_up() {
    let _alone = alone();
    let here = Origin::here();
    let shared = SharedLatch::<AtomicU64>::default();
    let link = Link::<AtomicU64>::new(Seen::to(None));
    let held = (shared.alone(&here), link.claim(&here));
    let children = [
        Child::start(SAYS, || drop(shared.alone(&here))),
        Child::start(SAYS, || drop(shared.together(&here))),
        Child::start(SAYS, || drop(link.claim(&here))),
    ];
    assert_eq!(children.map(Child::ended), [Ended::SayingSo; 3]);
    drop(held);
}

#[test]
fn a_crew_says_that_its_threads_stayed_with_the_parent() {
    let _alone = alone();
    let crew = ScopedPool::new(2, |_| Box::new(|| ())).unwrap();
    let job = || Box::new(|| ()) as ScopedTask<'_>;
    let child = Child::start("the process that this one was forked from", || {
        crew.run(vec![job()]);
        crew.run(vec![job(), job()]);
    });
    assert_eq!(child.ended(), Ended::SayingSo);
    let mut crew = Some(crew);
    assert_eq!(Child::start(SAYS, || drop(crew.take())).ended(), Ended::Well);
}

#[test]
fn a_rebuild_that_stayed_with_the_parent_is_let_go() {
    let _alone = alone();
    let options = Options { threads: 1, rebuild_from: 0, rebuild_percent: 1, ..Options::default() };
    assert!(options.background);
    let mut index = Pi::<u64, u64>::with_options(&options).unwrap();
    let entries: Vec<_> = (0..50 * KEYS).map(|key| (2 * key, key)).collect();
    index.bulk_load(&entries).unwrap();
    let more: Vec<_> = (0..KEYS).map(|key| (2 * key + 1, key)).collect();
    index.insert_many(&more, &mut vec![None; more.len()]).unwrap();
    // The background has just begun to lay out the whole list.
    let done = index.rebuilds();
    let mut lent = Some(index);
    let child = Child::start(SAYS, || {
        let mut index = lent.take().unwrap();
        index.settle().unwrap();
        assert_eq!((index.rebuilds(), index.get(7), index.get(8)), (done, Some(3), Some(4)));
        index.remove_many(&[7, 8], &mut [None; 2]).unwrap();
        index.rebuild().unwrap();
        assert_eq!((index.get(7), index.check_invariants()), (None, Ok(())));
    });
    assert_eq!(child.ended(), Ended::Well);
    let mut index = lent.unwrap();
    index.settle().unwrap();
    assert!(index.rebuilds() > done && index.get(7) == Some(3), "the parent's goes on");
}

#[test]
fn a_queue_says_that_its_thread_stayed_with_the_parent() {
    let _alone = alone();
    let index = Submissions::new(Pi::<u64, u64>::new().unwrap(), SubmissionOptions::default()).unwrap();
    index.insert(7, 70).unwrap();
    let mut lent = Some(index);
    let child = Child::start(SAYS, || {
        let index = lent.take().unwrap();
        assert_eq!(index.get(7), Err(Error::Closed));
        assert_eq!(index.with(|_| ()), Err(Error::Closed));
        index.shut_down();
        assert_eq!(index.into_inner().map(|_| ()), Err(Error::Closed));
    });
    assert_eq!(child.ended(), Ended::Well);
    assert_eq!(lent.unwrap().get(7), Ok(Some(70)));
}
