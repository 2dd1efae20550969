//! A short history that still exercises every operation of every variant. Miri runs this one of the tests
//! against `BTreeMap`. A variant is here because it is in its catalogue.

use crate::common::{Rng, flagship, paged, pi_options, same, small_parts, smallest_node_bytes};
use crate::shared::Shared;
use latchless::{Direction, Error, FillFactor};
use latchless_core::base::index::OrderedIndex;
use latchless_core::mem::touch::Branching;
use latchless_papers::pb_tree::node::{Form, Grouped, Internal, Plain, Shaped};
use latchless_papers::pb_tree::{Member, Options, PbTree, Placement, build};
use latchless_papers::{cssl, olfit, pi, spiderman};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

/// Bulk load, updates that split and empty nodes, paused scans both ways, and the way to nothing.
fn short_history(name: &str, mut index: Box<dyn OrderedIndex<u64, u64>>) {
    // So that `--nocapture` shows a slow one.
    println!("{name}");
    // Two levels and more: one-line nodes hold 3 keys of this width, sixteen-line ones 63.
    let entries: Vec<(u64, u64)> = (0..80).map(|i| (i * 4, i)).collect();
    index.bulk_load(&entries, FillFactor::new(0.8).unwrap()).unwrap();
    let mut model: BTreeMap<u64, u64> = entries.into_iter().collect();
    let mut rng = Rng(17);
    for _ in 0..60 {
        let (key, gone) = (rng.below(330), rng.below(330));
        assert_eq!(index.insert(key, key).unwrap(), model.insert(key, key), "{name}");
        assert_eq!(index.remove(gone), model.remove(&gone), "{name}");
        assert_eq!(index.get(key), model.get(&key).copied(), "{name}");
    }
    same(name, &*index, &model, 0);
    let span = (Excluded(50), Included(200));
    let up: Vec<(u64, u64)> = model.range(span).map(|(&key, &value)| (key, value)).collect();
    assert_eq!(paged(&*index, span, Direction::Forward, 5, 0), up, "{name}");
    let down: Vec<(u64, u64)> = up.into_iter().rev().collect();
    assert_eq!(paged(&*index, span, Direction::Reverse, 5, 0), down, "{name}");
    for (&key, &value) in &model {
        assert_eq!(index.remove(key), Some(value), "{name}");
    }
    same(name, &*index, &BTreeMap::new(), 0);
}

#[test]
fn flagship_alone() {
    short_history("index, alone", Box::new(flagship(None).unwrap()));
}

#[test]
fn flagship_shared() {
    short_history("index, shared", Box::new(Shared(flagship(None).unwrap())));
}

#[test]
fn lists_in_small_parts() {
    short_history("cssl in small parts", Box::new(small_parts(None).unwrap()));
}

#[test]
fn lists() {
    for member in cssl::Member::ALL {
        let options = cssl::Options { huge_pages: false, ..cssl::Options::default() };
        short_history(member.name(), cssl::build(member, &options).unwrap());
    }
}

/// Refused memory loses nothing, whichever step of an insert it hits.
#[test]
fn refused_memory() {
    for (member, limit_bytes) in
        [(Member::BPlus, 4 << 10), (Member::P8External, 8 << 10), (Member::Csb, 12 << 10)]
    {
        let options = Options { huge_pages: false, limit_bytes: Some(limit_bytes), ..Options::default() };
        let mut index: Box<dyn OrderedIndex<u64, u64>> = build(member, &options).unwrap();
        let (mut model, mut rng) = (BTreeMap::new(), Rng(5));
        let error = loop {
            let key = rng.below(1 << 20);
            match index.insert(key, !key) {
                Ok(_) => model.insert(key, !key),
                Err(error) => break error,
            };
        };
        assert!(matches!(error, Error::MemoryLimit { .. }), "{}: {error}", member.name());
        same(member.name(), &*index, &model, 0);
    }
}

#[test]
fn prefetching_trees() {
    for member in Member::ALL {
        let options = Options { huge_pages: false, ..Options::default() };
        short_history(member.name(), build(member, &options).unwrap());
    }
}

/// The scans of the paper, in trees whose nodes lie scattered in memory.
#[test]
fn prefetching_trees_of_the_paper_loaded_in_random_places() {
    for member in Member::ALL {
        let placement = Placement::Scattered(3);
        let options = Options { huge_pages: false, placement, ..Options::of_the_paper() };
        short_history(member.name(), build(member, &options).unwrap());
    }
}

#[test]
fn trees_whose_searches_branch() {
    fn branching<F: Form>() -> Box<dyn OrderedIndex<u64, u64>> {
        let options = Options { huge_pages: false, ..Options::default() };
        Box::new(PbTree::<u64, u64, Shaped<u64, F, Branching>>::with_options(&options).unwrap())
    }
    short_history("b-plus, branching", branching::<Plain<1>>());
    short_history("csb, branching", branching::<Grouped<1>>());
    short_history("p8i, branching", branching::<Internal<8>>());
    let mut index = branching::<Plain<1>>();
    for key in (0..20).chain([u64::MAX]) {
        assert_eq!((index.get(key), index.insert(key, key).unwrap()), (None, None), "{key}");
        assert_eq!(index.get(key), Some(key));
    }
}

#[test]
fn trees_under_every_scheme() {
    for member in olfit::Member::ALL {
        let node_bytes = smallest_node_bytes(member);
        let options = olfit::Options { node_bytes, huge_pages: false, ..olfit::Options::default() };
        short_history(member.name(), olfit::build(member, &options).unwrap());
    }
}

#[test]
fn pages_one_by_one_and_in_batches() {
    for member in spiderman::Member::ALL {
        let options = spiderman::Options { page_bytes: 128, huge_pages: false, ..Default::default() };
        short_history(member.name(), spiderman::build(member, &options).unwrap());
    }
}

/// The same for the families whose updates always need memory: nothing is lost at the limit, and removals
/// need none.
#[test]
fn refused_memory_of_every_scheme() {
    for member in olfit::Member::ALL {
        let options = olfit::Options {
            node_bytes: smallest_node_bytes(member),
            limit_bytes: Some(8 << 10),
            huge_pages: false,
            ..olfit::Options::default()
        };
        let mut index: Box<dyn OrderedIndex<u64, u64>> = olfit::build(member, &options).unwrap();
        let (mut model, mut rng) = (BTreeMap::new(), Rng(5));
        for _ in 0..3 {
            let error = loop {
                let key = rng.below(1 << 20);
                match index.insert(key, !key) {
                    Ok(_) => model.insert(key, !key),
                    Err(error) => break error,
                };
            };
            assert!(matches!(error, Error::MemoryLimit { .. }), "{}: {error}", member.name());
            same(member.name(), &*index, &model, 0);
            while let Some((key, value)) = model.pop_first() {
                assert_eq!(index.remove(key), Some(value), "{}", member.name());
                if model.len() % 9 == 0 {
                    same(member.name(), &*index, &model, 0);
                }
            }
        }
    }
}

#[test]
fn forms_of_pi() {
    for member in pi::Member::ALL {
        for options in pi_options() {
            short_history(member.name(), pi::build(member, &options).unwrap());
        }
    }
}
