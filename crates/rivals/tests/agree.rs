//! One body for every map of this build: the same requests, the same answers as `BTreeMap`. A map has to
//! refuse an operation that it lacks; it must never answer wrongly.

use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Span, Sum};
use latchless_core::base::key::Bits;
use latchless_core::base::request::{Reply, Request};
use latchless_core::{Direction, Error, FillFactor, Fits, Key};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;

type Index<B> = Box<dyn OrderedIndex<B, B>>;

fn make<B: Key<Bits = B> + Fits<B> + Bits>(name: &str) -> Index<B> {
    latchless_rivals::build(name).unwrap()
}

/// A lane that the tests can count in.
trait Lane: Bits + Key<Bits = Self> + Fits<Self> {}
impl Lane for u32 {}
impl Lane for u64 {}

fn lane<B: Lane>(number: u64) -> B {
    <B as Bits>::truncate(number)
}

/// The answer, unless the map reports that it doesn't offer this.
fn offered<T>(answer: latchless_core::Result<T>) -> Option<T> {
    match answer {
        Err(Error::Unsupported { .. }) => None,
        other => Some(other.unwrap()),
    }
}

fn expected_scan<B: Lane>(model: &BTreeMap<B, B>, span: Span<B>, direction: Direction) -> Vec<(B, B)> {
    let inside = |key: &B| {
        (match span.0 {
            Bound::Included(low) => low <= *key,
            Bound::Excluded(low) => low < *key,
            Bound::Unbounded => true,
        }) && (match span.1 {
            Bound::Included(high) => *key <= high,
            Bound::Excluded(high) => *key < high,
            Bound::Unbounded => true,
        })
    };
    let ascending = model.iter().filter(|(key, _)| inside(key)).map(|(&key, &value)| (key, value));
    match direction {
        Direction::Forward => ascending.collect(),
        Direction::Reverse => ascending.rev().collect(),
    }
}

/// Scans `span` in one go and in paused pieces, both ways, and counts it.
fn same_ranges<B: Lane>(name: &str, index: &Index<B>, model: &BTreeMap<B, B>, span: Span<B>, room: usize) {
    for direction in [Direction::Forward, Direction::Reverse] {
        let expected = expected_scan(model, span, direction);
        let (mut keys, mut values) = (vec![lane(0); room], vec![lane(0); room]);
        if let Some(found) = offered(index.page(span, direction, &mut keys, &mut values)) {
            let got: Vec<_> = keys.iter().copied().zip(values.iter().copied()).take(found).collect();
            assert_eq!(got, expected[..room.min(expected.len())], "{name} {span:?} {direction:?}");
        }
        let mut scanner = index.scanner(span, direction).unwrap();
        let mut paused = Vec::new();
        while let Some(found) = offered(scanner.fill(&mut keys, &mut values)) {
            paused.extend(keys.iter().copied().zip(values.iter().copied()).take(found));
            if found == 0 {
                assert_eq!(paused, expected, "{name} paused {span:?} {direction:?}");
                break;
            }
        }
    }
    for limit in [0, room, usize::MAX] {
        let expected = expected_scan(model, span, Direction::Forward);
        if let Some(sum) = offered(index.sum(span, limit)) {
            let values = expected.iter().take(limit).map(|(_, value)| Bits::to_u64(*value));
            let total = values.fold(0u64, u64::wrapping_add);
            let entries = limit.min(expected.len());
            assert_eq!(sum, Sum { entries, total }, "{name} sum of {limit} in {span:?}");
        }
    }
    if let Some(count) = offered(index.count(span)) {
        assert_eq!(count, expected_scan(model, span, Direction::Forward).len(), "{name} {span:?}");
    }
}

fn same_gets<B: Lane>(name: &str, index: &Index<B>, model: &BTreeMap<B, B>, keys: &[B]) {
    let mut answers = vec![None; keys.len()];
    index.get_many(keys, &mut answers).unwrap();
    for (key, many) in keys.iter().zip(answers) {
        assert_eq!(index.get(*key), model.get(key).copied(), "{name} {key:?}");
        assert_eq!(many, model.get(key).copied(), "{name} {key:?} in a batch");
    }
}

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Insert(u64, u64),
    Remove(u64),
    Ranges(Bound<u64>, Bound<u64>, usize),
}

/// Keys on few bytes meet often; spread ones make every level of a radix tree fork.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..64, (0u64..64).prop_map(|key| key << 20), any::<u32>().prop_map(u64::from)]
}

fn bound() -> impl Strategy<Value = Bound<u64>> {
    prop_oneof![Just(Bound::Unbounded), key().prop_map(Bound::Included), key().prop_map(Bound::Excluded)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Insert(key, value)),
        3 => key().prop_map(Step::Remove),
        1 => (bound(), bound(), 1usize..9).prop_map(|(low, high, room)| Step::Ranges(low, high, room)),
    ]
}

fn run<B: Lane>(name: &str, history: &[Step]) {
    let mut index = make::<B>(name);
    let mut model = BTreeMap::new();
    let mut touched = Vec::new();
    for step in history {
        match *step {
            Step::Insert(key, value) => {
                let (key, value) = (lane::<B>(key), lane::<B>(value));
                match index.insert(key, value) {
                    Err(Error::Unsupported { .. }) => continue,
                    answer => assert_eq!(answer.unwrap(), model.insert(key, value), "{name} insert {key:?}"),
                }
                touched.push(key);
            }
            Step::Remove(key) => {
                let key = lane::<B>(key);
                assert_eq!(index.remove(key), model.remove(&key), "{name} remove {key:?}");
                touched.push(key);
            }
            Step::Ranges(low, high, room) => {
                let span = (low.map(lane::<B>), high.map(lane::<B>));
                if latchless_core::base::index::check_span(&span).is_ok() {
                    same_ranges(name, &index, &model, span, room);
                }
            }
        }
        assert_eq!(index.is_empty(), model.is_empty(), "{name}");
    }
    same_gets(name, &index, &model, &touched);
    same_ranges(name, &index, &model, (Bound::Unbounded, Bound::Unbounded), 7);
    assert_eq!(index.len(), model.len(), "{name}");
    index.check_invariants().unwrap();
}

fn bulk_and_edges<B: Lane>(name: &str) {
    let entries: Vec<(B, B)> = (0..5000).map(|at| (lane(at * 7 + 1), lane(at))).collect();
    let mut index = make::<B>(name);
    index.bulk_load(&entries, FillFactor::FULL).unwrap();
    let mut model: BTreeMap<B, B> = entries.iter().copied().collect();
    assert_eq!(index.len(), 5000, "{name}");
    assert_eq!(index.bulk_load(&entries, FillFactor::FULL), Err(Error::NotEmpty { len: 5000 }), "{name}");
    for key in [lane(0), <B as Bits>::MAX] {
        if offered(index.insert(key, lane(9))).is_some() {
            model.insert(key, lane(9));
        }
        assert_eq!(index.get(key), model.get(&key).copied(), "{name} {key:?}");
    }
    let (low, high) = (lane::<B>(700), lane::<B>(7 * 4000));
    for span in [
        (Bound::Unbounded, Bound::Unbounded),
        (Bound::Included(low), Bound::Included(high)),
        (Bound::Excluded(low), Bound::Excluded(high)),
        (Bound::Excluded(low), Bound::Excluded(low)),
        (Bound::Included(lane(701)), Bound::Included(lane(701))),
        (Bound::Excluded(<B as Bits>::MAX), Bound::Unbounded),
        (Bound::Unbounded, Bound::Excluded(lane(0))),
        (Bound::Included(high), Bound::Unbounded),
    ] {
        same_ranges(name, &index, &model, span, 1500);
    }
    let found = index.remove(lane(701));
    assert_eq!(found, model.remove(&lane(701)), "{name}");
    index.check_invariants().unwrap();
}

fn refusals(name: &str) {
    let mut index = make::<u64>(name);
    let unsorted = index.bulk_load(&[(2, 0), (1, 0)], FillFactor::FULL);
    assert_eq!(unsorted, Err(Error::Unsorted { position: 1 }));
    let twice = index.bulk_load(&[(1, 0), (2, 0), (2, 0)], FillFactor::FULL);
    assert_eq!(twice, Err(Error::DuplicateKey { position: 2 }));
    assert!(index.is_empty());
    let everything = (Bound::Unbounded, Bound::Unbounded);
    let scan = index.page(everything, Direction::Forward, &mut [], &mut []);
    assert_eq!(scan, Err(Error::EmptyBuffer));
    let scan = index.page(everything, Direction::Forward, &mut [0], &mut [0, 0]);
    assert_eq!(scan, Err(Error::UnequalBuffers { left: 1, right: 2 }));
    let inverted = (Bound::Included(2), Bound::Included(1));
    assert_eq!(index.count(inverted), Err(Error::InvertedRange));
    assert!(index.get_many(&[1], &mut []).is_err());
}

fn many_threads(name: &str) {
    let index = make::<u64>(name);
    let Some(shared) = index.as_concurrent() else { return };
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            scope.spawn(move || write_a_share(shared, thread));
        }
    });
    for key in 1..=4000u64 {
        assert_eq!(index.get(key), (key % 5 != 0).then_some(key * 3), "{key}");
    }
    index.check_invariants().unwrap();
}

/// Inserts every fourth key and takes those that five divides out again: the first half one by one,
/// the second in batches.
fn write_a_share(shared: &dyn ConcurrentIndex<u64, u64>, thread: u64) {
    for key in (1..=2000).filter(|key| key % 4 == thread) {
        assert_eq!(shared.insert_shared(key, key * 3).unwrap(), None);
        if key % 5 == 0 {
            assert_eq!(shared.remove_shared(key), Some(key * 3));
        }
    }
    let entries: Vec<_> = (2001..=4000).filter(|key| key % 4 == thread).map(|key| (key, key * 3)).collect();
    let mut old = vec![Some(7); entries.len()];
    shared.insert_many_shared(&entries, &mut old).unwrap();
    assert!(old.iter().all(Option::is_none));
    let taken: Vec<u64> = entries.iter().map(|&(key, _)| key).filter(|key| key % 5 == 0).collect();
    let mut old = vec![None; taken.len()];
    shared.remove_many_shared(&taken, &mut old).unwrap();
    assert!(old.iter().zip(&taken).all(|(&old, &key)| old == Some(key * 3)));
    assert!(shared.insert_many_shared(&entries, &mut []).is_err());
    let (key, mut replies) = (5000 + thread, Vec::new());
    let requests = [Request::Insert(key, 1), Request::Get(key), Request::Remove(key), Request::Get(key)];
    shared.execute_shared(&requests, &mut replies);
    let expected = [Reply::Inserted(None), Reply::Got(Some(1)), Reply::Removed(Some(1)), Reply::Got(None)];
    assert_eq!(replies, expected);
}

/// Runs a test on every map of this build, or on the one that `LATCHLESS_RIVAL` names.
///
/// # Panics
/// If there is none: otherwise no test would run, and all would pass.
fn on_every_map(test: impl Fn(&'static str)) {
    let only = std::env::var("LATCHLESS_RIVAL").ok();
    let wanted = |name| only.as_deref().is_none_or(|only| only == name);
    let maps = latchless_rivals::entries().iter().filter(|entry| entry.compiled && wanted(entry.name));
    let tested = maps.inspect(|entry| println!("{}", entry.name)).map(|entry| test(entry.name)).count();
    assert!(tested > 0, "LATCHLESS_RIVAL={only:?} is no map of this build");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_history_gives_the_same_answers(history in proptest::collection::vec(step(), 1..200)) {
        on_every_map(|name| {
            run::<u64>(name, &history);
            run::<u32>(name, &history);
        });
    }
}

#[test]
fn bulk_loads_and_edges() {
    on_every_map(|name| {
        bulk_and_edges::<u64>(name);
        bulk_and_edges::<u32>(name);
    });
}

#[test]
fn what_every_index_refuses_is_refused() {
    on_every_map(refusals);
}

#[test]
fn updates_from_many_threads_all_arrive() {
    on_every_map(many_threads);
}

#[test]
fn maps_for_many_threads_are_those_that_say_so() {
    for entry in latchless_rivals::entries().iter().filter(|entry| entry.compiled) {
        let map = make::<u64>(entry.name);
        assert_eq!(map.as_concurrent().is_some(), entry.concurrent, "{}", entry.name);
    }
}

#[test]
fn unknown_names_are_told_from_missing_features() {
    use latchless_rivals::{Missing, build, entries};
    assert_eq!(build::<u64, u64>("nobody").err(), Some(Missing::Unknown));
    for entry in entries().iter().filter(|entry| !entry.compiled) {
        assert_eq!(build::<u64, u64>(entry.name).err(), Some(Missing::NotCompiled));
    }
}
