//! Plans as a whole: shares, determinism, and the properties of streams that code which checks answers
//! uses.

use latchless_workload::{
    BytesKeySet, Distribution, Error, KeySet, Kind, Lane, Operation, Spec, Workload, value_of,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn spec(workload: Workload) -> Spec {
    Spec { records: 2000, ops: 1500, ..Spec::new(workload) }
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        (0.0..5.0f64).prop_map(|theta| Distribution::Zipf { theta }),
        (0.01..0.99f64).prop_map(|theta| Distribution::ZipfYcsb { theta }),
        Just(Distribution::Sequential),
        Just(Distribution::Dense),
        Just(Distribution::Sparse),
    ]
}

fn kind_of<L>(operation: &Operation<L>, is_update: bool) -> Kind {
    match operation {
        Operation::Get(_) => Kind::Get,
        Operation::Chain(_) => Kind::Chain,
        Operation::Range(..) => Kind::Range,
        Operation::Visit(..) => Kind::Visit,
        Operation::Sum(..) => Kind::Sum,
        Operation::SumRange(..) => Kind::SumRange,
        Operation::Count(..) => Kind::Count,
        Operation::Insert(..) if is_update => Kind::Update,
        Operation::Insert(..) => Kind::Insert,
        Operation::Remove(_) => Kind::Remove,
        Operation::Scan(..) => Kind::Scan,
        Operation::ReadModifyWrite(..) => Kind::ReadModifyWrite,
    }
}

#[test]
fn every_workload_has_the_shares_that_it_is_named_for() {
    for workload in Workload::ALL {
        let spec = Spec { records: 50_000, ops: 40_000, ..Spec::new(workload) };
        let plan = spec.plan::<u64>().unwrap();
        let updates = workload.has(Kind::Update);
        for &(kind, share) in workload.mix().shares {
            // A lookup of an absent key is a get.
            let kind_seen = if kind == Kind::Absent { Kind::Get } else { kind };
            let of_kind = |operation: &&Operation<u64>| kind_of(operation, updates) == kind_seen;
            let seen = plan.streams[0].iter().filter(of_kind).count();
            let (expected, share) = (400.0 * f64::from(share), f64::from(share) / 100.0);
            let deviation = (40_000.0 * share * (1.0 - share)).sqrt();
            let off = (seen as f64 - expected).abs();
            assert!(off <= 6.0 * deviation, "{workload} {kind:?}: {seen}, not {expected}");
        }
    }
}

/// Each lane of a chain makes a key that is there out of the last answer, and the chain wanders.
fn chain_finds_its_keys<L: Lane>(spec: &Spec, stream: &[Operation<L>], model: &BTreeMap<L, L>) {
    let (mut answer, mut keys) = (L::truncate(0), BTreeMap::new());
    for operation in stream {
        let Operation::Chain(lane) = operation else { continue };
        let key = L::truncate(lane.to_u64() ^ answer.to_u64());
        answer = *model.get(&key).unwrap_or_else(|| panic!("{spec:?}: {key:?} is there"));
        keys.insert(key, ());
    }
    let wanders = keys.len() > stream.len() / 3 || spec.distribution != Distribution::Uniform;
    assert!(wanders || spec.workload != Workload::Chain, "{spec:?}: {} keys", keys.len());
}

/// Replays a stream on a model and checks the assumptions of every answer.
fn is_a_possible_history<L: Lane>(spec: &Spec) {
    let plan = spec.plan::<L>().unwrap();
    let mut model: BTreeMap<L, L> = plan.loaded.iter().map(|&key| (key, value_of(key, 0))).collect();
    assert_eq!(model.len(), spec.records, "{spec:?}: distinct keys");
    assert_eq!(plan.streams.iter().map(Vec::len).sum::<usize>(), spec.ops, "{spec:?}");
    let inserts_new = spec.workload.has(Kind::Insert);
    plan.streams.iter().for_each(|stream| chain_finds_its_keys(spec, stream, &model));
    for &operation in plan.streams.iter().flatten() {
        match operation {
            Operation::Chain(_) => {}
            Operation::SumRange(low, high) | Operation::Count(low, high) => {
                assert!(low <= high, "{spec:?}");
            }
            Operation::Get(key)
            | Operation::Scan(key, _)
            | Operation::Range(key, _)
            | Operation::Visit(key, _)
            | Operation::Sum(key, _)
                if !spec.workload.has(Kind::Remove) =>
            {
                let is_there = spec.workload != Workload::Absent;
                assert_eq!(model.contains_key(&key), is_there, "{spec:?}: {key:?}");
            }
            Operation::Get(_) => {}
            Operation::Scan(_, length)
            | Operation::Range(_, length)
            | Operation::Visit(_, length)
            | Operation::Sum(_, length) => assert!(length > 0),
            Operation::Insert(key, value) => {
                assert_eq!(model.insert(key, value).is_none(), inserts_new, "{spec:?}: {key:?}");
            }
            Operation::ReadModifyWrite(key, value) => {
                assert!(model.insert(key, value).is_some(), "{spec:?}: {key:?} is there");
            }
            Operation::Remove(key) => {
                let found = model.remove(&key).is_some();
                assert!(found || !spec.workload.is_only(Kind::Remove), "{spec:?}: {key:?} is there");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn streams_ask_for_what_is_there(distribution in distribution(), threads in 1usize..5, seed: u64) {
        for workload in Workload::ALL.into_iter().filter(|&workload| workload != Workload::Load) {
            let spec = Spec { records: 400, ops: 300, distribution, threads, seed, ..Spec::new(workload) };
            is_a_possible_history::<u32>(&spec);
            is_a_possible_history::<u64>(&spec);
        }
    }

    #[test]
    fn same_seed_same_plan(distribution in distribution(), seed: u64) {
        let spec = Spec { distribution, seed, threads: 2, ..spec(Workload::Mixed) };
        let plan = spec.plan::<u64>().unwrap();
        prop_assert_eq!(&plan, &spec.plan::<u64>().unwrap());
        let other = Spec { seed: seed.wrapping_add(1), ..spec };
        prop_assert_ne!(plan, other.plan::<u64>().unwrap());
    }
}

/// A thread's answers must not depend on the progress of the others.
#[test]
fn answers_of_several_threads_do_not_depend_on_who_comes_first() {
    for workload in Workload::ALL.into_iter().filter(|&workload| workload != Workload::Load) {
        let spec = Spec { threads: 3, ..spec(workload) };
        let plan = spec.plan::<u64>().unwrap();
        let answers = |order: [usize; 3]| {
            let mut model: BTreeMap<u64, u64> =
                plan.loaded.iter().map(|&key| (key, value_of(key, 0))).collect();
            let mut answers = vec![Vec::new(); 3];
            for thread in order {
                for &operation in &plan.streams[thread] {
                    answers[thread].push(match operation {
                        Operation::Get(key) => model.get(&key).copied(),
                        Operation::Insert(key, value) | Operation::ReadModifyWrite(key, value) => {
                            model.insert(key, value)
                        }
                        Operation::Remove(key) => model.remove(&key),
                        // Reads alone.
                        _ => None,
                    });
                }
            }
            (answers, model)
        };
        assert_eq!(answers([0, 1, 2]), answers([2, 1, 0]), "{workload}");
    }
}

#[test]
fn scan_lengths_follow_their_workload() {
    let lengths = |workload, scan_length| {
        let spec = Spec { ops: 20_000, scan_length, ..spec(workload) };
        let stream = spec.plan::<u64>().unwrap().streams.remove(0);
        stream
            .into_iter()
            .filter_map(|operation| match operation {
                Operation::Scan(_, length) => Some(f64::from(length)),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let mean = |lengths: &[f64]| lengths.iter().sum::<f64>() / lengths.len() as f64;
    let sums = Spec { ops: 100, scan_length: 7, ..spec(Workload::Sum) }.plan::<u64>().unwrap();
    assert!(sums.streams[0].iter().all(|operation| matches!(operation, Operation::Sum(_, 7))));
    assert!(lengths(Workload::Scan, 7).iter().all(|&length| length == 7.0));
    let up_to = lengths(Workload::YcsbE, 100);
    assert!(up_to.iter().all(|length| (1.0..=100.0).contains(length)));
    assert!((mean(&up_to) - 50.5).abs() < 1.5, "{}", mean(&up_to));
    // Cutting the lower tail at 1 lifts the mean of 48 by a little more than one.
    let normal = lengths(Workload::SpidermanD, 100);
    assert!((mean(&normal) - 49.3).abs() < 1.5, "{}", mean(&normal));
}

#[test]
fn the_newest_keys_are_asked_for_most() {
    let spec = Spec { ops: 20_000, ..spec(Workload::YcsbD) };
    let plan = spec.plan::<u64>().unwrap();
    let inserted: Vec<_> = plan.streams[0]
        .iter()
        .filter_map(|operation| match operation {
            Operation::Insert(key, _) => Some(*key),
            _ => None,
        })
        .collect();
    let hits =
        plan.streams[0].iter().filter(|op| matches!(op, Operation::Get(key) if inserted.contains(key)));
    // A third of the keys at the end, and far fewer before, are new; popularity by age directs most
    // requests to them.
    assert!(hits.count() > 12_000);
}

#[test]
fn numbers_that_cannot_be_served_are_refused() {
    let good = spec(Workload::Get);
    let refusal = |spec: Spec| spec.plan::<u32>().unwrap_err();
    assert_eq!(refusal(Spec { records: 0, ..good }), Error::Zero { what: "the number of records" });
    assert_eq!(refusal(Spec { ops: 0, ..good }), Error::Zero { what: "the number of operations" });
    assert_eq!(refusal(Spec { threads: 0, ..good }), Error::Zero { what: "the number of threads" });
    assert_eq!(refusal(Spec { scan_length: 0, ..good }), Error::Zero { what: "the scan length" });
    assert_eq!(
        refusal(Spec { records: 3, threads: 4, ..good }),
        Error::TooFewRecords { records: 3, threads: 4 }
    );
    assert_eq!(
        refusal(Spec { ops: 2001, ..spec(Workload::Remove) }),
        Error::NothingLeft { ops: 2001, records: 2000 }
    );
    for given in [0.0, -0.5, 1.1, f64::NAN] {
        let refused = refusal(Spec { range_share: given, ..good });
        assert!(matches!(refused, Error::RangeShare { .. }), "{given}: {refused:?}");
    }
    let skewed = Spec { distribution: Distribution::Zipf { theta: f64::NAN }, ..good };
    assert!(matches!(refusal(skewed), Error::SkewOutOfRange { .. }));
}

#[test]
fn a_bulk_load_needs_no_requests() {
    let plan = spec(Workload::Load).plan::<u64>().unwrap();
    assert!(plan.streams.is_empty());
    assert_eq!(plan.loaded.len(), 2000);
}

#[test]
fn keys_that_are_asked_for_in_vain_are_of_the_set() {
    let spec = Spec { records: 500, ops: 300, threads: 2, ..Spec::new(Workload::Absent) };
    let plan = spec.plan_over::<u64>(&KeySet::Prefix { bits: 20 }).unwrap();
    let upper = |key: u64| key >> 44;
    let asked: BTreeSet<u64> = plan.streams.iter().flatten().map(asked_for).collect();
    assert_eq!(asked.len(), 300, "each key is asked for once");
    assert!(asked.iter().all(|&key| upper(key) == upper(plan.loaded[0]) && !plan.loaded.contains(&key)));
}

fn asked_for(operation: &Operation<u64>) -> u64 {
    if let Operation::Get(key) = operation { *key } else { panic!("{operation:?}") }
}

#[test]
fn plans_over_byte_strings_ask_by_number() {
    let spec = |workload| Spec { records: 300, ops: 200, threads: 2, ..Spec::new(workload) };
    let of = |workload| spec(workload).plan_bytes(&BytesKeySet::Word).unwrap();
    let (gets, inserts) = (of(Workload::Get), of(Workload::Insert));
    assert_eq!((gets.keys.loaded(), gets.keys.len(), inserts.keys.len()), (300, 300, 500));
    assert!(gets.streams.iter().flatten().all(|get| asked_for(get) < 300));
    let mut inserted: Vec<(u64, u64)> =
        inserts
            .streams
            .iter()
            .flatten()
            .map(|insert| {
                if let Operation::Insert(key, value) = *insert { (key, value) } else { panic!("{insert:?}") }
            })
            .collect();
    inserted.sort_unstable();
    assert!(inserted.iter().copied().eq((300..500).map(|key| (key, value_of(key, 0)))));
    assert!(of(Workload::Absent).streams.iter().flatten().all(|get| (300..500).contains(&asked_for(get))));
    // A chain: each lane makes the next key's number out of the last answer.
    let plan = Spec { threads: 1, ..spec(Workload::Chain) }.plan_bytes(&BytesKeySet::Word).unwrap();
    let mut answer = 0;
    for operation in &plan.streams[0] {
        let Operation::Chain(lane) = operation else { panic!("{operation:?}") };
        let number = lane ^ answer;
        assert!(number < 300, "{number}");
        answer = value_of(number, 0);
    }
    let twice = Spec { distribution: Distribution::Dense, ..spec(Workload::Get) };
    assert!(matches!(twice.plan_bytes(&BytesKeySet::Url), Err(Error::KeysTwice { .. })));
    let many = Spec { records: 20_000, ..spec(Workload::Get) }.plan_bytes(&BytesKeySet::LongEnds);
    assert!(matches!(many, Err(Error::TooFewKeys { there: 16_384, .. })), "{many:?}");
}
