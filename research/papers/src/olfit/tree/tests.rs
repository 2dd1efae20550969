//! Unit tests of the tree, of every kind: tiny nodes, every step checked.

use super::*;
use crate::olfit::node::*;
use latchless_core::mem::touch::NoTrace;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;

/// Runs a generic test on every kind with lanes of this width.
macro_rules! on_every_kind {
    ($lane:ty, $test:ident) => {
        on_every_kind!($lane, $test, BPlus, Without, Olfit, OlfitAtOnce, LockCoupling, OneLatch, VersionedNodes, VersionedTree);
        on_every_kind!($lane, $test, CsbPlus, Without, Olfit, OlfitAtOnce, LockCoupling, OneLatch, VersionedNodes, VersionedTree);
    };
    ($lane:ty, $test:ident, $family:ident, $($scheme:ty),*) => {$(
        println!("{} {}", stringify!($family), stringify!($scheme));
        $test::<Of<$lane, $family<$scheme>, NoTrace>>();
    )*};
}

fn options(node_bytes: usize, duplicates: bool) -> TreeOptions {
    TreeOptions { node_bytes, duplicates, limit_bytes: None, huge_pages: false, references: u32::MAX }
}

/// A tree of the smallest possible nodes.
fn tree<K: Kind>(duplicates: bool) -> OlfitTree<K> {
    OlfitTree::new(options(64, duplicates)).or_else(|_| OlfitTree::new(options(128, duplicates))).unwrap()
}

fn lane<B: Bits>(value: u64) -> B {
    B::truncate(value)
}

fn check<K: Kind>(tree: &OlfitTree<K>, what: &str) {
    tree.check_invariants().unwrap_or_else(|broken| {
        let mut drawing = String::new();
        tree.dump(&mut drawing).unwrap();
        panic!("{what}: {broken}\n{drawing}")
    });
}

/// Interpreters check only every tenth step.
fn looks_closely(step: u64) -> bool {
    !cfg!(miri) || step.is_multiple_of(10)
}

fn grows_and_shrinks<K: Kind>() {
    let (tree, mut model, mut rng) = (tree::<K>(false), BTreeMap::new(), Rng(3));
    let steps = if cfg!(miri) { 60 } else { 3000 };
    for step in 0..steps {
        let (key, grows) = (rng.below(300), step / 400 % 2 == 0);
        if rng.below(10) < if grows { 8 } else { 1 } {
            let before = tree.put(lane(key), lane(step)).unwrap();
            assert_eq!(before.map(Bits::to_u64), model.insert(key, step), "step {step}, {key}");
        } else {
            let taken = tree.take(lane(key), None);
            assert_eq!(taken.map(Bits::to_u64), model.remove(&key), "step {step}, {key}");
        }
        if looks_closely(step) {
            check(&tree, &format!("step {step}, {key}"));
        }
        let probe = rng.below(310);
        assert_eq!(
            tree.get(lane(probe)).map(Bits::to_u64),
            model.get(&probe).copied(),
            "step {step}: {probe}"
        );
    }
    for (&key, &value) in &model {
        assert_eq!(tree.take(lane(key), None).map(Bits::to_u64), Some(value));
        if looks_closely(key) {
            check(&tree, &format!("the end, {key}"));
        }
    }
    let stats = tree.stats();
    assert_eq!((stats.levels, stats.leaves, stats.inner_nodes), (1, 1, 0));
    assert_eq!(tree.live_bytes(), tree.layout().unit_nodes * tree.node_bytes());
}

#[test]
fn trees_of_tiny_nodes_grow_and_shrink() {
    on_every_kind!(u64, grows_and_shrinks);
}

#[test]
fn trees_of_tiny_nodes_with_narrow_lanes_grow_and_shrink() {
    on_every_kind!(u32, grows_and_shrinks);
}
