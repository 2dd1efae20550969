//! A leaf that was latched when the process was forked: no operation of the child waits for it for ever.

use super::*;
use latchless_core::sync::forked::{Child, Ended};
use std::process::Command;

const NAME: &str = "tree::tests_fork::a_leaf_that_was_latched_at_the_fork_ends_every_wait";
/// Set in the process that the test has for itself.
const ALONE: &str = "LATCHLESS_TEST_ALONE";

#[test]
fn a_leaf_that_was_latched_at_the_fork_ends_every_wait() {
    if std::env::var_os(ALONE).is_none() {
        let own = std::env::current_exe().unwrap();
        let mut alone = Command::new(own);
        let alone = alone.args(["--exact", NAME, "--nocapture"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&alone.stdout);
        assert!(alone.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let tree = BlinkTree::<u64>::new(BlinkOptions::default()).unwrap();
    let put = |key| tree.edit::<Shared>(key, Edit::Put(2 * key)).map(drop);
    (0..1000).for_each(|key| put(key).unwrap());
    let held = tree.latch::<Shared>(tree.descend::<latchless_core::search::Scalar>(500).node);
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
