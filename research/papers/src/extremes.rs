//! Every option of every variant at its extremes: either it works, or a typed error names the option, its
//! value and the allowed values.

use crate::error::{Error, Result};
use core::ops::Bound::Unbounded;
use latchless_core::Error as Core;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::request::{Reply, Request};
use std::collections::BTreeMap;

type Boxed = Box<dyn OrderedIndex<u64, u64>>;

/// Returns whether an error is a refusal of memory.
fn is_refusal(error: &Core) -> bool {
    matches!(error, Core::OutOfMemory { .. } | Core::MemoryLimit { .. } | Core::ReferencesExhausted { .. })
}

/// Uses an index as one does. Memory may be refused, and then nothing has changed.
fn works(what: &str, index: &mut Boxed) {
    let mut model = BTreeMap::new();
    let entries: Vec<(u64, u64)> = (0..400).map(|nth| (nth * 3, nth)).collect();
    match index.bulk_load(&entries, FillFactor::FULL) {
        Ok(()) => model.extend(entries),
        Err(error) => assert!(is_refusal(&error), "{what}: {error}"),
    }
    for nth in 0..900u64 {
        let key = nth * 7919 % 1500;
        match index.insert(key, nth) {
            Ok(before) => assert_eq!(before, model.insert(key, nth), "{what}"),
            Err(error) => assert!(is_refusal(&error), "{what}: {error}"),
        }
        if nth % 3 == 0 {
            let key = nth * 31 % 1500;
            assert_eq!(index.remove(key), model.remove(&key), "{what}");
        }
    }
    let mut replies = Vec::new();
    let requests = [Request::Scan { from: 600, limit: 5 }, Request::Get(9), Request::Remove(9)];
    index.execute(&requests, &mut replies);
    let found = model.range(600..).take(5).map(|(&key, &value)| (key, value)).collect();
    assert_eq!(replies[0], Reply::Scanned(found), "{what}");
    assert_eq!(replies[2], Reply::Removed(model.remove(&9)), "{what}");
    let (keys, mut answers) = (Vec::from_iter(0..1500), vec![None; 1500]);
    index.get_many(&keys, &mut answers).unwrap();
    assert!(keys.iter().zip(&answers).all(|(key, answer)| model.get(key) == answer.as_ref()), "{what}");
    assert_eq!(index.count((Unbounded, Unbounded)), Ok(model.len()), "{what}");
    assert_eq!(index.len(), model.len(), "{what}");
    index.check_invariants().unwrap_or_else(|broken| panic!("{what}: {broken}"));
}

/// Builds an index with a setting, which either is refused by name or works.
fn takes_or_names(name: &'static str, value: usize, allowed: bool, built: Result<Boxed>) {
    let what = format!("{name} = {value}");
    match built {
        Ok(mut index) => {
            assert!(allowed, "{what} makes no sense");
            works(&what, &mut index);
        }
        Err(Error::Setting { name: named, value: given, allowed: range }) => {
            assert!(!allowed, "{what} was refused");
            assert_eq!((named, given), (name, value));
            assert!(!range.contains(&given));
        }
        Err(Error::Index(error)) => assert!(is_refusal(&error), "{what}: {error}"),
        Err(error) => panic!("{what}: {error}"),
    }
}

const EXTREMES: [usize; 4] = [0, 1, 1 << 40, usize::MAX];
const REFERENCES: [u32; 4] = [0, 1, 2, u32::MAX];

#[test]
#[cfg_attr(miri, ignore = "many indexes")]
fn cssl_refuses_by_name_what_makes_no_sense() {
    use super::cssl::{CsslMap, Options};
    let check = |name, value, allowed, options: &Options| {
        let built = CsslMap::<u64, u64>::with_options(options).map(|map| -> Boxed { Box::new(map) });
        takes_or_names(name, value, allowed, built);
    };
    let common = || Options { huge_pages: false, ..Options::default() };
    for value in [0, 1, 2, 1 << 20, (1 << 20) + 1, usize::MAX] {
        check("skip", value, (2..=1 << 20).contains(&value), &Options { skip: value, ..common() });
    }
    for value in [0, 1, 32, 33, usize::MAX] {
        check("lanes", value, (1..=32).contains(&value), &Options { lanes: Some(value), ..common() });
    }
    for value in EXTREMES {
        for guess in [false, true] {
            let options = Options { part_keys: Some(value), guess, ..common() };
            check("part_keys", value, value > 0, &options);
        }
        check("growth_percent", value, true, &Options { growth_percent: value, ..common() });
        check("limit_bytes", value, true, &Options { limit_bytes: Some(value), ..common() });
    }
    for value in REFERENCES {
        let options = Options { node_references: Some(value), ..common() };
        check("node_references", value as usize, value > 0 && value < 1 << 29, &options);
    }
}

#[test]
#[cfg_attr(miri, ignore = "many indexes")]
fn pi_refuses_by_name_what_makes_no_sense() {
    use super::pi::{Options, Pi};
    use crate::pi::batch::tune::QuerySetSize::Queries;
    let check = |name, value, allowed, options: Options| {
        for background in [false, true] {
            let options = Options { background, ..options.clone() };
            let built = Pi::<u64, u64>::with_options(&options).map(|map| -> Boxed { Box::new(map) });
            takes_or_names(name, value, allowed, built);
        }
    };
    let common = || Options { huge_pages: false, rebuild_from: 50, ..Options::default() };
    for value in [0, 1, 64, 4097, usize::MAX] {
        check("threads", value, (1..=4096).contains(&value), Options { threads: value, ..common() });
    }
    for value in [0, 1, 255, 256, usize::MAX] {
        let allowed = (1..=255).contains(&value);
        check("segment_nodes", value, allowed, Options { segment_nodes: value, ..common() });
    }
    for value in [0, 1, 3, 1 << 24, (1 << 24) + 1, usize::MAX] {
        let allowed = (1..=1 << 24).contains(&value);
        check("part_segments", value, allowed, Options { part_segments: Some(value), ..common() });
    }
    for value in [0, 1, 10_000, 10_001, usize::MAX] {
        let allowed = value <= 10_000;
        check("room_percent", value, allowed, Options { room_percent: value, ..common() });
    }
    for value in EXTREMES {
        check("group", value, value > 0, Options { group: value, ..common() });
        check("batch", value, value > 0, Options { batch: Queries(value), ..common() });
        check("rebuild_percent", value, true, Options { rebuild_percent: value, ..common() });
        check("rebuild_from", value, true, Options { rebuild_from: value, ..common() });
        check("limit_bytes", value, true, Options { limit_bytes: Some(value), ..common() });
        check("seed", value, true, Options { seed: value as u64, ..common() });
    }
}

#[test]
fn submissions_refuse_by_name_what_makes_no_sense_and_wait_as_long_as_they_are_told() {
    use super::pi::{Pi, SubmissionOptions, Submissions};
    use core::time::Duration;
    let common = SubmissionOptions::default;
    for value in EXTREMES {
        for (name, options) in [
            ("batch_queries_max", SubmissionOptions { batch_queries_max: value, ..common() }),
            ("capacity", SubmissionOptions { capacity: value, ..common() }),
        ] {
            let queue = Submissions::new(Pi::<u64, u64>::new().unwrap(), options);
            match queue {
                Ok(queue) => assert_eq!((value > 0, queue.insert(1, 2)), (true, Ok(None))),
                Err(error) => assert_eq!(error, Error::Setting { name, value: 0, allowed: 1..=usize::MAX }),
            }
        }
    }
    // A batch of two is full with two, and one of a hundred when no more find room.
    for (batch_queries_max, capacity) in [(2, 100), (100, 2)] {
        let options = SubmissionOptions { batch_queries_max, capacity, wait: Duration::MAX };
        let queue = Submissions::new(Pi::<u64, u64>::new().unwrap(), options).unwrap();
        std::thread::scope(|threads| {
            for thread in 0..2 {
                let queue = &queue;
                threads.spawn(move || assert_eq!(queue.insert(thread, 1), Ok(None)));
            }
        });
        assert_eq!(queue.len(), 2);
    }
}

#[test]
#[cfg_attr(miri, ignore = "many indexes")]
fn spiderman_refuses_by_name_what_makes_no_sense() {
    use super::spiderman::{BatchSize, Batching, Options, SpidermanMap};
    let build = |options: &Options| {
        SpidermanMap::<u64, u64>::with_options(options).map(|map| -> Boxed { Box::new(map) })
    };
    let common = || Options { huge_pages: false, ..Options::default() };
    for page_bytes in [0, 1, 64, 127, 128, 4096, 4160, usize::MAX] {
        match build(&Options { page_bytes, ..common() }) {
            Ok(mut index) => works(&format!("pages of {page_bytes} bytes"), &mut index),
            Err(error) => assert_eq!(error, Error::PageSize { given: page_bytes }),
        }
    }
    for given in EXTREMES {
        let batching = Some(Batching { size: BatchSize::Of(given), ..Batching::BEST });
        match build(&Options { batching, ..common() }) {
            Ok(mut index) => works(&format!("batches of {given}"), &mut index),
            Err(error) => assert!(matches!(error, Error::BatchSize { given: named, .. } if named == given)),
        }
        let options = Options { limit_bytes: Some(given), ..common() };
        takes_or_names("limit_bytes", given, true, build(&options));
    }
    for value in REFERENCES {
        let options = Options { page_references: Some(value), ..common() };
        takes_or_names("page_references", value as usize, value > 0, build(&options));
    }
}

#[test]
#[cfg_attr(miri, ignore = "many indexes")]
fn olfit_refuses_by_name_what_makes_no_sense() {
    use super::olfit::{Member, Options, build};
    let common = || Options { huge_pages: false, ..Options::default() };
    for member in Member::ALL {
        for node_bytes in [0, 1, 63, 64, 128, 512, 576, usize::MAX] {
            match build::<u64, u64>(member, &Options { node_bytes, ..common() }) {
                Ok(mut index) => works(&format!("{member:?}, nodes of {node_bytes} bytes"), &mut index),
                Err(error) => assert_eq!(error, Error::NodeSize { given: node_bytes }),
            }
        }
        for value in EXTREMES {
            let options = Options { limit_bytes: Some(value), ..common() };
            takes_or_names("limit_bytes", value, true, build(member, &options));
        }
        for value in REFERENCES {
            let options = Options { node_references: Some(value), ..common() };
            takes_or_names("node_references", value as usize, value > 0, build(member, &options));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "many indexes")]
fn pb_trees_refuse_by_name_what_makes_no_sense() {
    use super::pb_tree::{Member, Options, build};
    let common = || Options { huge_pages: false, ..Options::default() };
    for member in Member::ALL {
        for value in EXTREMES {
            let options = Options { scan_ahead_leaves: value, ..common() };
            takes_or_names("scan_ahead_leaves", value, true, build(member, &options));
            let options = Options { limit_bytes: Some(value), ..common() };
            takes_or_names("limit_bytes", value, true, build(member, &options));
        }
        for value in REFERENCES {
            let options = Options { node_references: Some(value), ..common() };
            takes_or_names("node_references", value as usize, value > 0, build(member, &options));
        }
    }
}
