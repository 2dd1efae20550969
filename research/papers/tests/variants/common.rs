//! Shared by the model tests: every variant, key orders that have broken trees before, and one body that
//! compares an index with `BTreeMap`.

use crate::shared::Shared;
use latchless::{Direction, Index, Key, Result, Value, index};
use latchless_core::Fits;
use latchless_core::base::index::OrderedIndex;
use latchless_core::search::Kernel;
pub use latchless_core::testing::Rng;
use latchless_papers::pb_tree::{Member, Options, build};
use latchless_papers::pi::mem::topology::Topology;
use latchless_papers::{cssl, olfit, pi, spiderman};
use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

pub type Boxed<K> = Box<dyn OrderedIndex<K, K>>;

/// Every variant, by name, with every kernel that this processor has.
pub fn every_variant<K: Key + Value + Default + Fits<<K as Key>::Bits>>() -> Vec<(String, Boxed<K>)> {
    let mut variants = some_variants();
    for member in olfit::Member::ALL {
        for node_bytes in [smallest_node_bytes(member), 192] {
            let options = olfit::Options { node_bytes, huge_pages: false, ..olfit::Options::default() };
            let index = olfit::build(member, &options).expect("an empty index");
            variants.push((format!("{} of {node_bytes} bytes", member.name()), index));
        }
    }
    for member in spiderman::Member::ALL {
        for page_bytes in [128, 4096] {
            let options = spiderman::Options { page_bytes, huge_pages: false, ..Default::default() };
            let index = spiderman::build(member, &options).expect("an empty index");
            variants.push((format!("{} of {page_bytes} bytes", member.name()), index));
        }
    }
    for member in pi::Member::ALL {
        for options in pi_options() {
            let index = pi::build(member, &options).expect("an empty index");
            let (nodes, threads) = (options.topology.map_or(1, |made| made.nodes().len()), options.threads);
            variants.push((format!("{} on {threads} threads and {nodes} nodes", member.name()), index));
        }
    }
    variants
}

/// The variants that search with kernels: enough for what depends on the type of keys, which all others
/// turn into lanes in the same way. Every further type takes a compiler a minute for all of them.
pub fn some_variants<K: Key + Value + Default + Fits<<K as Key>::Bits>>() -> Vec<(String, Boxed<K>)> {
    let mut variants: Vec<(String, Boxed<K>)> = Vec::new();
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        for member in Member::ALL {
            let options = Options { kernel: Some(kernel), ..Options::default() };
            let index = build(member, &options).expect("an empty index");
            variants.push((format!("{} on {}", member.name(), kernel.name()), index));
        }
        for member in cssl::Member::ALL {
            let options =
                cssl::Options { kernel: Some(kernel), huge_pages: false, ..cssl::Options::default() };
            let index = cssl::build(member, &options).expect("an empty index");
            variants.push((format!("{} on {}", member.name(), kernel.name()), index));
        }
        let index = small_parts(Some(kernel)).expect("an empty index");
        variants.push((format!("cssl in small parts on {}", kernel.name()), Box::new(index)));
        let [alone, shared] = [(); 2].map(|()| flagship(Some(kernel)).expect("an empty index"));
        variants.push((format!("index, alone, on {}", kernel.name()), Box::new(alone)));
        variants.push((format!("index, shared, on {}", kernel.name()), Box::new(Shared(shared))));
    }
    variants
}

/// PI with small segments and early rebuilds: on one thread, the same with an index layer in parts, and on
/// two threads and three nodes with rebuilds in the background.
pub fn pi_options() -> [pi::Options; 3] {
    let harsh = pi::Options { segment_nodes: 6, rebuild_from: 30, group: 3, ..pi::Options::default() };
    let alone = pi::Options { background: false, kernel: Some(Kernel::Scalar), ..harsh.clone() };
    let in_parts = pi::Options { part_segments: Some(3), kernel: None, ..alone.clone() };
    [alone, in_parts, pi::Options { threads: 2, topology: Some(Topology::synthetic(3, 1)), ..harsh }]
}

/// The smallest nodes with 64-bit lanes.
pub fn smallest_node_bytes(member: olfit::Member) -> usize {
    if member == olfit::Member::BPlusOlAtOnce { 128 } else { 64 }
}

/// CSSL whose parts are rebuilt, split and dropped all the time.
pub fn small_parts<K: Key + Fits<<K as Key>::Bits>>(
    kernel: Option<Kernel>,
) -> latchless_papers::Result<cssl::CsslMap<K, K>> {
    let options = cssl::Options { kernel, part_keys: Some(20), huge_pages: false, ..Default::default() };
    cssl::CsslMap::with_options(&options)
}

/// The flagship. Through the trait it updates itself without latches.
pub fn flagship<K: Key + Value>(kernel: Option<Kernel>) -> Result<Index<K, K>> {
    Index::with_options(index::Options { kernel, huge_pages: false, ..index::Options::default() })
}

/// The amount of work of a test: all of it, or as much as an interpreter can do.
pub fn scaled(steps: usize) -> usize {
    if cfg!(miri) { (steps / 100).clamp(40, 250) } else { steps }
}

/// Orders in which `n` distinct keys below `n` can arrive.
pub fn orders(n: u64) -> Vec<(&'static str, Vec<u64>)> {
    let ascending: Vec<u64> = (0..n).collect();
    let mut shuffled = ascending.clone();
    let mut rng = Rng(7);
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, rng.below(i as u64 + 1) as usize);
    }
    let bits = 64 - n.leading_zeros();
    let reversed = |i: u64| i.reverse_bits() >> (64 - bits);
    let ends = |i: u64| if i.is_multiple_of(2) { i / 2 } else { n - 1 - i / 2 };
    let mut clustered: Vec<u64> =
        (0..n.div_ceil(16)).flat_map(|c| (c * 16..n.min(c * 16 + 16)).rev()).collect();
    let half = clustered.len() / 2;
    clustered.rotate_left(half);
    vec![
        ("descending", ascending.iter().rev().copied().collect()),
        ("alternating ends", (0..n).map(ends).collect()),
        ("bit-reversed", (0..1 << bits).map(reversed).filter(|&key| key < n).collect()),
        ("clustered", clustered),
        ("shuffled", shuffled),
        ("ascending", ascending),
    ]
}

/// The entries of a range as the model has them.
pub fn expected<K: Copy + Ord>(
    model: &BTreeMap<K, K>,
    span: (Bound<K>, Bound<K>),
    direction: Direction,
    limit: usize,
) -> Vec<(K, K)> {
    // BTreeMap panics on a range that excludes the same key twice; it is empty.
    if let (Excluded(low), Excluded(high)) = span
        && low == high
    {
        return Vec::new();
    }
    let range = model.range(span).map(|(&key, &value)| (key, value));
    match direction {
        Direction::Forward => range.take(limit).collect(),
        Direction::Reverse => range.rev().take(limit).collect(),
    }
}

/// The entries of a range as the index has them, through a scan that pauses every `page` entries.
pub fn paged<K: Key>(
    index: &dyn OrderedIndex<K, K>,
    span: (Bound<K>, Bound<K>),
    direction: Direction,
    page: usize,
    zero: K,
) -> Vec<(K, K)> {
    let mut scanner = index.scanner(span, direction).unwrap();
    let (mut keys, mut values, mut found) = (vec![zero; page], vec![zero; page], Vec::new());
    loop {
        let n = scanner.fill(&mut keys, &mut values).unwrap();
        if n == 0 {
            return found;
        }
        found.extend(keys.iter().copied().zip(values.iter().copied()).take(n));
    }
}

/// Holds the whole index against the model: length, every scan, counts, invariants.
pub fn same<K: Key + Ord>(name: &str, index: &dyn OrderedIndex<K, K>, model: &BTreeMap<K, K>, zero: K) {
    index.check_invariants().unwrap_or_else(|broken| panic!("{name}: {broken}"));
    assert_eq!(index.len(), model.len(), "{name}");
    let all = (Unbounded, Unbounded);
    for direction in [Direction::Forward, Direction::Reverse] {
        for page in [7, 1000] {
            let found = paged(index, all, direction, page, zero);
            assert_eq!(found, expected(model, all, direction, usize::MAX), "{name} by {page} {direction:?}");
        }
    }
    assert_eq!(index.count(all).unwrap(), model.len(), "{name}");
}

/// Holds random ranges of the index against the model.
pub fn same_ranges(
    name: &str,
    index: &dyn OrderedIndex<u64, u64>,
    model: &BTreeMap<u64, u64>,
    rng: &mut Rng,
    space: u64,
) {
    let bound = |kind: u64, key: u64| match kind % 5 {
        0 | 1 => Included(key),
        2 | 3 => Excluded(key),
        _ => Unbounded,
    };
    for _ in 0..scaled(400).min(400) {
        let (a, b) = (rng.below(space), rng.below(space));
        let span = (bound(rng.next(), a.min(b)), bound(rng.next(), a.max(b)));
        let limit = 1 + rng.below(1 + space / 2) as usize;
        for direction in [Direction::Forward, Direction::Reverse] {
            let (mut keys, mut values) = (vec![0; limit], vec![0; limit]);
            let n = index.page(span, direction, &mut keys, &mut values).unwrap();
            let found: Vec<_> = keys.into_iter().zip(values).take(n).collect();
            assert_eq!(found, expected(model, span, direction, limit), "{name} {span:?} {direction:?}");
        }
        let in_model = expected(model, span, Direction::Forward, usize::MAX).len();
        assert_eq!(index.count(span).unwrap(), in_model, "{name} {span:?}");
    }
}
