//! A leaf that was latched when the process was forked: no operation of the child waits for it for ever.

use super::*;
use latchless_core::sync::forked::{Child, Ended};
use std::process::Command;

/// Set in the process that runs one test only.
const ALONE: &str = "LATCHLESS_TEST_ALONE";

/// Returns whether this is such a process. Otherwise runs the test of that name in one.
fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let name = format!("tree::tests_fork::{name}");
    let alone = alone.args(["--exact", &name, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn a_child_goes_on_with_a_survey_and_does_without_one_that_is_held() {
    if !is_alone("a_child_goes_on_with_a_survey_and_does_without_one_that_is_held") {
        return;
    }
    const LEN: u64 = if cfg!(latchless_small_nodes) { 2_000 } else { 20_000 };
    let tree = BlinkTree::<u64>::new(BlinkOptions { prefault: true, ..BlinkOptions::default() }).unwrap();
    let put = |key: u64| _ = tree.edit::<Shared>(key, Edit::Put(key.wrapping_mul(2))).unwrap();
    let key = |at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..LEN).for_each(|at| put(key(at)));
    let grow = || {
        (LEN..2 * LEN).for_each(|at| put(key(at)));
        (0..2 * LEN).for_each(|at| assert_eq!(tree.get::<Shared>(key(at)), Some(key(at).wrapping_mul(2))));
        tree.check_invariants().unwrap();
    };
    tree.finder().begin_survey_with_pieces(if cfg!(latchless_small_nodes) { 1 } else { 5 });
    let before = tree.finder().directory().made_for();
    let child = Child::start("nothing", || {
        grow();
        assert!(tree.finder().directory().made_for() > before, "the survey was finished, and perhaps others");
    });
    assert_eq!(child.ended(), Ended::Well);
    let held = tree.finder().hold_survey();
    let child = Child::start("nothing", || {
        grow();
        assert_eq!(tree.finder().directory().made_for(), before);
    });
    assert_eq!(child.ended(), Ended::Well);
    drop(held);
    grow();
}

#[test]
fn a_leaf_that_was_latched_at_the_fork_ends_every_wait() {
    if !is_alone("a_leaf_that_was_latched_at_the_fork_ends_every_wait") {
        return;
    }
    let tree = BlinkTree::<u64>::new(BlinkOptions::default()).unwrap();
    let put = |key| tree.edit::<Shared>(key, Edit::Put(2 * key)).map(drop);
    (0..1000).for_each(|key| put(key).unwrap());
    let held =
        tree.store().latch::<Shared>(tree.finder().descend::<latchless_core::search::Scalar>(500).node);
    let child = |act: &dyn Fn()| Child::start("\"After a fork\"", act);
    let waiting = [
        child(&|| _ = tree.get::<Shared>(500)),
        child(&|| put(500).unwrap()),
        child(&|| _ = tree.edit::<Shared>(500, Edit::Remove).unwrap()),
        child(&|| _ = tree.count::<Shared>(0, u64::MAX)),
    ];
    assert_eq!(waiting.map(Child::ended), [Ended::SayingSo; 4]);
    let elsewhere = child(&|| {
        assert_eq!(tree.get::<Shared>(7), Some(14));
        put(7).unwrap();
    });
    assert_eq!(elsewhere.ended(), Ended::Well, "other leaves are as they were");
    drop(held);
    assert_eq!(tree.get::<Shared>(500), Some(1000));
}
