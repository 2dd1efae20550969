//! An index reports its refusals, and is unharmed and complete afterwards.

use crate::common::{Boxed, every_variant, same};
use crate::shared::Shared;
use latchless::{Direction, Error, FillFactor, Index, index};
use latchless_core::base::index::OrderedIndex;
use latchless_core::search::Kernel;
use latchless_papers::cssl;
use latchless_papers::pb_tree::{Member, Options, PInternalTree, build};
use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};

#[test]
fn unsorted_and_repeated_bulk_loads_are_refused_by_position() {
    for (name, mut index) in every_variant::<u64>() {
        let load = |index: &mut Boxed<u64>, keys: &[u64]| {
            let entries: Vec<_> = keys.iter().map(|&key| (key, key)).collect();
            index.bulk_load(&entries, FillFactor::FULL)
        };
        assert_eq!(load(&mut index, &[1, 2, 9, 4, 5]), Err(Error::Unsorted { position: 3 }), "{name}");
        assert_eq!(load(&mut index, &[1, 2, 2]), Err(Error::DuplicateKey { position: 2 }), "{name}");
        assert!(index.is_empty());
        assert_eq!(load(&mut index, &[]), Ok(()));
        assert_eq!(load(&mut index, &[1, 2]), Ok(()));
        assert_eq!(load(&mut index, &[3]), Err(Error::NotEmpty { len: 2 }), "{name}");
        same(&name, &*index, &BTreeMap::from([(1, 1), (2, 2)]), 0);
    }
}

#[test]
fn inverted_ranges_and_useless_buffers_are_refused() {
    for (name, mut index) in every_variant::<u64>() {
        index.insert(1, 1).unwrap();
        let inverted = (Included(5), Included(4));
        let (mut keys, mut values) = ([0; 2], [0; 2]);
        let scan = index.page(inverted, Direction::Forward, &mut keys, &mut values);
        assert_eq!(scan, Err(Error::InvertedRange), "{name}");
        assert_eq!(index.count(inverted), Err(Error::InvertedRange), "{name}");
        assert!(matches!(index.scanner(inverted, Direction::Reverse), Err(Error::InvertedRange)), "{name}");
        let all = (Unbounded, Unbounded);
        assert_eq!(index.page(all, Direction::Forward, &mut [], &mut []), Err(Error::EmptyBuffer));
        let unequal = Err(Error::UnequalBuffers { left: 2, right: 1 });
        assert_eq!(index.page(all, Direction::Forward, &mut keys, &mut values[..1]), unequal);
        let mut scanner = index.scanner(all, Direction::Forward).unwrap();
        assert_eq!(scanner.fill(&mut [], &mut []), Err(Error::EmptyBuffer));
        assert_eq!(scanner.fill_values(&mut []), Err(Error::EmptyBuffer));
        assert_eq!(scanner.fill_values(&mut values), Ok(1), "a refusal doesn't move the scan");
        assert_eq!(index.get_many(&[1, 2], &mut [None]).map(|()| 0), unequal);
    }
}

/// Fills an index until it refuses, and checks that nothing was lost.
fn fill_until_refused(name: &str, index: &mut dyn OrderedIndex<u64, u64>) -> (usize, Error) {
    let mut model = BTreeMap::new();
    let mut rng = crate::common::Rng(5);
    let error = loop {
        let key = rng.next();
        match index.insert(key, !key) {
            Ok(_) => model.insert(key, !key),
            Err(error) => break error,
        };
    };
    same(name, index, &model, 0);
    // Entries that fit into the existing nodes are still inserted, and removals make room.
    let first = *model.keys().next().unwrap();
    assert_eq!(index.insert(first, 1), Ok(Some(!first)), "replacing needs no memory");
    for key in model.keys() {
        assert!(index.remove(*key).is_some());
    }
    index.check_invariants().unwrap();
    for key in 0..model.len() as u64 / 2 {
        index.insert(key, key).unwrap();
    }
    index.check_invariants().unwrap();
    (model.len(), error)
}

/// The flagship under limits, updated alone and as if others were there.
fn limited_flagships(limit_bytes: Option<usize>, node_references: u32) -> [(&'static str, Boxed<u64>); 2] {
    let options =
        index::Options { limit_bytes, node_references, huge_pages: false, ..index::Options::default() };
    let index = || Index::<u64, u64>::with_options(options.clone()).unwrap();
    [("index, alone", Box::new(index())), ("index, shared", Box::new(Shared(index())))]
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn a_memory_limit_is_a_typed_error_that_loses_nothing() {
    let limit_bytes = 300_000;
    let check = |name: &str, index: &mut dyn OrderedIndex<u64, u64>| {
        let (held, error) = fill_until_refused(name, index);
        assert!(matches!(error, Error::MemoryLimit { .. }), "{name}: {error}");
        assert!(held * 64 > limit_bytes, "{name} used little of its limit: {held} keys");
        assert!(index.memory_bytes().unwrap() <= limit_bytes, "{name}");
    };
    for member in Member::ALL {
        let options = Options { limit_bytes: Some(limit_bytes), ..Options::default() };
        check(member.name(), &mut *build::<u64, u64>(member, &options).unwrap());
    }
    for (name, mut index) in limited_flagships(Some(limit_bytes), u32::MAX) {
        check(name, &mut *index);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn more_nodes_than_references_is_a_typed_error_that_loses_nothing() {
    let check = |name: &str, index: &mut dyn OrderedIndex<u64, u64>, references: u32| {
        let (_, error) = fill_until_refused(name, index);
        assert_eq!(error, Error::ReferencesExhausted { limit: u64::from(references) }, "{name}");
    };
    for member in Member::ALL {
        // 2^32 nodes take more memory than most machines have; a tiny limit takes the same path.
        let references = if matches!(member, Member::Csb | Member::P8Csb) { 2000 } else { 100 };
        let options = Options { node_references: Some(references), ..Options::default() };
        check(member.name(), &mut *build::<u64, u64>(member, &options).unwrap(), references);
    }
    for references in [3, 100] {
        for (name, mut index) in limited_flagships(None, references) {
            check(name, &mut *index, references);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn a_bulk_load_over_the_limit_leaves_an_empty_index() {
    let entries: Vec<(u64, u64)> = (0..8000).map(|i| (i, i)).collect();
    let check = |name: &str, index: &mut dyn OrderedIndex<u64, u64>| {
        let refused = index.bulk_load(&entries, FillFactor::FULL);
        assert!(matches!(refused, Err(Error::MemoryLimit { .. })), "{name}: {refused:?}");
        index.check_invariants().unwrap();
        assert!(index.is_empty());
        index.bulk_load(&entries[..50], FillFactor::FULL).unwrap();
        index.check_invariants().unwrap();
        assert_eq!(index.len(), 50);
    };
    for member in Member::ALL {
        let options = Options { limit_bytes: Some(100_000), ..Options::default() };
        check(member.name(), &mut *build::<u64, u64>(member, &options).unwrap());
    }
    for (name, mut index) in limited_flagships(Some(100_000), u32::MAX) {
        check(name, &mut *index);
    }
    for member in cssl::Member::ALL {
        check(member.name(), &mut *limited_list(member, 100_000));
    }
}

fn limited_list(member: cssl::Member, limit_bytes: usize) -> Boxed<u64> {
    let options =
        cssl::Options { limit_bytes: Some(limit_bytes), huge_pages: false, ..cssl::Options::default() };
    cssl::build(member, &options).unwrap()
}

/// Nodes that were in use before, or that a refused load had taken, must not be missing from a load.
#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs short.rs")]
fn a_bulk_load_finds_all_memory_that_an_empty_index_may_take() {
    let entries: Vec<(u64, u64)> = (0..4000).map(|i| (i, i)).collect();
    let mut unsorted = entries.clone();
    unsorted.swap(3998, 3999);
    let check = |name: &str, index: &mut dyn OrderedIndex<u64, u64>| {
        for round in 0..3 {
            let refused = index.bulk_load(&unsorted, FillFactor::FULL);
            assert_eq!(refused, Err(Error::Unsorted { position: 3999 }), "{name}, round {round}");
            index.bulk_load(&entries, FillFactor::FULL).unwrap_or_else(|error| panic!("{name}: {error}"));
            index.check_invariants().unwrap();
            for (key, _) in &entries {
                assert!(index.remove(*key).is_some());
            }
        }
    };
    for member in Member::ALL {
        let options = Options { limit_bytes: Some(200_000), ..Options::default() };
        check(member.name(), &mut *build::<u64, u64>(member, &options).unwrap());
    }
    for member in cssl::Member::ALL {
        check(member.name(), &mut *limited_list(member, 200_000));
    }
    for (name, mut index) in limited_flagships(Some(100_000), u32::MAX) {
        check(name, &mut *index);
    }
}

#[test]
fn unavailable_kernels_are_refused_by_name() {
    for kernel in Kernel::ALL.into_iter().filter(|kernel| !kernel.is_available()) {
        let options = Options { kernel: Some(kernel), ..Options::default() };
        let refused = build::<u32, u32>(Member::P8, &options).map(|_| ());
        assert_eq!(refused, Err(Error::KernelUnavailable { kernel: kernel.name() }.into()));
    }
}

#[test]
fn errors_say_what_was_wrong_and_where() {
    let text = |error: Error| error.to_string();
    assert!(text(Error::Unsorted { position: 3 }).contains("position 3"));
    assert!(text(Error::MemoryLimit { requested_bytes: 10, limit_bytes: 9 }).contains("9 bytes"));
    assert!(text(FillFactor::new(1.5).unwrap_err()).contains("1.5"));
}

#[test]
fn the_typed_map_offers_what_the_trait_does_and_more() {
    let mut map = PInternalTree::<i32, f32, 8>::new().unwrap();
    assert_eq!((map.first_key_value(), map.last_key_value(), map.floor(0)), (None, None, None));
    for key in (-1000..1000).rev() {
        map.insert(key * 2, key as f32).unwrap();
    }
    assert_eq!(map.first_key_value(), Some((-2000, -1000.0)));
    assert_eq!(map.last_key_value(), Some((1998, 999.0)));
    assert_eq!(map.floor(5), Some((4, 2.0)));
    assert_eq!(map.ceiling(5), Some((6, 3.0)));
    assert_eq!(map.ceiling(1999), None);
    assert!(map.contains_key(0) && !map.contains_key(1));
    assert_eq!(map.count(-4..4).unwrap(), 4);
    let reversed: Vec<_> = map.range_reverse(..=-1996).unwrap().map(|(key, _)| key).collect();
    assert_eq!(reversed, [-1996, -1998, -2000]);
    assert_eq!(map.iter().count(), 2000);
    assert_eq!(format!("{:?}", PInternalTree::<u32, (), 8>::new().unwrap()), "{}");
    let mut drawing = String::new();
    map.dump(&mut drawing).unwrap();
    assert!(drawing.starts_with("2000 keys") && drawing.contains("leaf"));
    map.clear();
    assert!(map.is_empty() && map.iter().next().is_none());
    map.insert(1, 1.0).unwrap();
    map.check_invariants().unwrap();
    let sorted = PInternalTree::<i32, u32, 8>::from_sorted(&[(1, 1), (2, 2)], FillFactor::FULL).unwrap();
    assert_eq!((&sorted).into_iter().collect::<Vec<_>>(), [(1, 1), (2, 2)]);
    let index: &dyn OrderedIndex<i32, u32> = &sorted;
    assert_eq!(index.memory_bytes(), Some(sorted.memory_bytes()));
}
