//! Layers of every width and shape, compared with the definition of an interception.

use super::*;
use crate::common::walk::{Aim, Step, Walk};
use crate::pi::crew::{one_by_one, side_by_side};
use crate::pi::mem::placement::Placement;
use latchless_core::mem::touch::NoTrace;
use latchless_core::search::{Dispatch, Kernel, Scalar};

/// Sorted tall nodes, cut into parts.
struct Nodes<B> {
    nodes: Vec<(B, usize, u32)>,
    cuts: Vec<usize>,
}

impl<B: Bits> Source<B> for Nodes<B> {
    fn parts(&self) -> usize {
        self.cuts.len() - 1
    }

    fn each(&self, part: usize, mut visit: impl FnMut(B, usize, u32)) {
        let nodes = &self.nodes[self.cuts[part]..self.cuts[part + 1]];
        nodes.iter().for_each(|&(key, height, anchor)| visit(key, height, anchor));
    }
}

const HEAD: u32 = 9_999_999;

fn nodes<B: Bits>(len: usize, parts: usize) -> Nodes<B> {
    let heights = Heights::new(3);
    let keys = (0..len as u64).map(|nth| B::truncate(nth * 5 + 3));
    let nodes: Vec<_> =
        keys.enumerate().map(|(nth, key)| (key, heights.of(key).max(2), nth as u32)).collect();
    // Parts of unequal lengths, empty ones among them.
    let mut cuts: Vec<usize> = (0..parts).map(|part| len * part * part / (parts * parts)).collect();
    cuts.push(len);
    Nodes { nodes, cuts }
}

fn holds_what_it_was_built_from<B: Bits, const M: usize>() {
    let sizes: &[usize] =
        if cfg!(miri) { &[0, 40] } else { &[0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 64, 300, 5000] };
    for &len in sizes {
        let all_parts: &[usize] = if cfg!(miri) { &[2] } else { &[1, 2, 5] };
        for &parts in all_parts {
            let source = nodes::<B>(len, parts);
            let run = if parts == 2 { side_by_side } else { one_by_one };
            let options = RoutedOptions { head: HEAD, paper: Placement::default() };
            let layer = Routed::<B, M>::build(&source, options, &run).unwrap();
            layer.check(&source).unwrap_or_else(|broken| panic!("{len} in {parts} parts: {broken}"));
            assert_eq!(layer.keys(), len);
            let keys: Vec<B> = (0..len as u64 * 5 + 9).map(B::truncate).chain([B::MAX]).collect();
            let expected: Vec<u32> = keys.iter().map(|&key| interception(&source.nodes, key)).collect();
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                for (group, prefetch) in [(1, false), (7, true), (64, false)] {
                    let mut anchors = vec![0; keys.len()];
                    let dispatch = Dispatch::of(kernel).unwrap();
                    layer.anchors::<NoTrace>(dispatch, &keys, &mut anchors, group, prefetch);
                    assert_eq!(anchors, expected, "{len} in {parts} parts, {kernel}, groups of {group}");
                }
            }
            for (&key, &anchor) in keys.iter().zip(&expected).step_by(3) {
                assert_eq!(step_by_step(&layer, key), anchor);
            }
        }
    }
}

/// By the definition: the node with the largest key up to this one.
fn interception<B: Bits>(nodes: &[(B, usize, u32)], key: B) -> u32 {
    let position = nodes.partition_point(|node| node.0 <= key);
    position.checked_sub(1).map_or(HEAD, |position| nodes[position].2)
}

fn step_by_step<B: Bits, const M: usize>(layer: &Routed<B, M>, key: B) -> u32 {
    let walk = layer.walk::<Scalar, NoTrace>();
    let mut place = walk.enter(key, Aim::Look);
    loop {
        if let Step::Landed(anchor) = walk.step(&mut place, key) {
            return anchor.expect("a layer is never changed under a walk");
        }
    }
}

#[test]
fn four_keys_an_entry() {
    holds_what_it_was_built_from::<u32, 4>();
    holds_what_it_was_built_from::<u64, 4>();
}

#[test]
fn eight_keys_an_entry() {
    holds_what_it_was_built_from::<u32, 8>();
    holds_what_it_was_built_from::<u64, 8>();
}

#[test]
fn sixteen_keys_an_entry() {
    holds_what_it_was_built_from::<u32, 16>();
    holds_what_it_was_built_from::<u64, 16>();
}

#[test]
fn parts_strung_together_are_as_long_as_their_keys_need() {
    let source = nodes::<u64>(if cfg!(miri) { 200 } else { 20_000 }, 3);
    let layer = Routed::<u64, 8>::build(&source, RoutedOptions::default(), &one_by_one).unwrap();
    // Each part may leave one entry of a level unfilled, and each level ends with one more.
    let keys: usize = source.nodes.iter().map(|node| node.1 - 1).sum();
    assert!(layer.entries() <= keys / 8 + layer.levels() * (3 + 1));
    assert_eq!(layer.memory_bytes(), layer.entries() * 8 * 12);
    assert_eq!(layer.addresses().len(), layer.memory_bytes());
}

/// The lowest level that fits an entry is the topmost one.
#[test]
fn levels_end_where_one_entry_is_enough() {
    let levels = |len: usize| {
        Routed::<u32, 4>::build(&nodes(len, 1), RoutedOptions::default(), &one_by_one).unwrap().levels()
    };
    assert_eq!((levels(0), levels(1), levels(4)), (0, 1, 1));
    assert!(levels(5) >= 2);
}

#[test]
fn a_quarter_goes_up_a_level() {
    let heights = Heights::new(1);
    let mut at_least = [0u32; LEVELS_MAX + 2];
    let keys: u32 = if cfg!(miri) { 3_000 } else { 200_000 };
    (0..keys).for_each(|key| at_least[1..=heights.of(key)].iter_mut().for_each(|count| *count += 1));
    for level in 1..4 {
        let share = f64::from(at_least[level + 1]) / f64::from(at_least[level]);
        assert!((0.2..0.3).contains(&share), "{share} of level {level} go up");
    }
    assert_eq!(heights.of(u64::MAX), 1, "the largest key is in no level");
    assert_ne!(
        (0..100u64).map(|key| Heights::new(1).of(key)).collect::<Vec<_>>(),
        (0..100u64).map(|key| Heights::new(2).of(key)).collect::<Vec<_>>()
    );
}

#[test]
fn a_wrong_source_is_found_out() {
    let source = nodes::<u64>(100, 1);
    let layer = Routed::<u64, 4>::build(&source, RoutedOptions::default(), &one_by_one).unwrap();
    let mut other = nodes::<u64>(100, 1);
    other.nodes[50].0 += 1;
    assert!(layer.check(&other).is_err());
    let mut other = nodes::<u64>(100, 1);
    other.nodes[50].2 += 1;
    assert!(layer.check(&other).is_err());
}
