//! One body for every map over byte strings of this build: the same requests, the same answers as
//! `BTreeMap`. A map has to refuse an operation that it lacks. It must never answer wrongly, except where
//! its adapter documents that.

use latchless_core::Error;
use latchless_rivals::Missing;
use latchless_rivals::bytes::{Peer, Session, Visitor, build, entries};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<Vec<u8>, u64>;

/// The answer, unless the map reports that it doesn't offer this.
fn offered<T>(answer: latchless_core::Result<T>) -> Option<T> {
    match answer {
        Err(Error::Unsupported { .. }) => None,
        other => Some(other.unwrap()),
    }
}

/// Wrong at times over keys that aren't of eight bytes: see its adapter. Here it gets such keys in
/// histories, and its scans of others aren't checked.
const WRONG_AT_TIMES: &str = "masstree";
const RIGHT_BYTES: usize = 8;

fn same_scan(name: &str, session: &impl Session, model: &Model, from: &[u8], limit: usize) {
    if name == WRONG_AT_TIMES && ![0, RIGHT_BYTES].contains(&from.len()) {
        return;
    }
    let mut found = Vec::new();
    let scanned = session.scan(from, |key, value| {
        found.push((key.to_vec(), value));
        found.len() < limit
    });
    if offered(scanned).is_some() {
        let expected = model.range(from.to_vec()..).take(limit).map(|(key, &value)| (key.clone(), value));
        assert_eq!(found, expected.collect::<Vec<_>>(), "{name}: {limit} from {from:?}");
    }
}

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>, u64),
    InsertMany(Vec<(Vec<u8>, u64)>),
    Remove(Vec<u8>),
    Get(Vec<u8>),
    Scan(Vec<u8>, usize),
}

impl Step {
    /// The step in the form in which this map gets it.
    fn as_put_to(&self, name: &str) -> Self {
        let mut step = self.clone();
        let cut = |key: &mut Vec<u8>| {
            *key = [&[7; RIGHT_BYTES][..], key].concat().split_off(key.len());
        };
        if name == WRONG_AT_TIMES {
            match &mut step {
                Self::Insert(key, _) | Self::Remove(key) | Self::Get(key) | Self::Scan(key, _) => cut(key),
                Self::InsertMany(entries) => entries.iter_mut().for_each(|(key, _)| cut(key)),
            }
        }
        step
    }
}

/// Runs a history on an empty map.
struct Run<'a> {
    name: &'a str,
    history: &'a [Step],
}

impl Visitor for Run<'_> {
    type Output = ();

    fn visit<P: Peer>(self, mut map: P) {
        let Self { name, history } = self;
        let mut model = Model::new();
        for steps in history.chunks(16) {
            let mut session = map.session();
            steps.iter().for_each(|step| serve(name, &mut session, &mut model, step));
            drop(session);
            assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()), "{name}");
        }
        let session = map.session();
        let keys: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
        let mut answers = vec![Some(1); keys.len()];
        session.get_many(&keys, &mut answers).unwrap();
        assert!(answers.into_iter().eq(model.values().copied().map(Some)), "{name}");
        same_scan(name, &session, &model, b"", usize::MAX);
    }
}

fn serve(name: &str, session: &mut impl Session, model: &mut Model, step: &Step) {
    match step {
        Step::Insert(key, value) => {
            if let Some(old) = offered(session.insert(key, *value)) {
                assert_eq!(old, model.insert(key.clone(), *value), "{name}: insert {key:?}");
            }
        }
        Step::InsertMany(entries) => {
            let lent: Vec<_> = entries.iter().map(|(key, value)| (key.as_slice(), *value)).collect();
            let mut replaced = vec![Some(1); lent.len()];
            session.insert_many(&lent, &mut replaced).unwrap();
            let expected: Vec<_> =
                entries.iter().map(|(key, value)| model.insert(key.clone(), *value)).collect();
            assert_eq!(replaced, expected, "{name}: {entries:?}");
        }
        Step::Remove(key) => assert_eq!(session.remove(key), model.remove(key), "{name}: remove {key:?}"),
        Step::Get(key) => assert_eq!(session.get(key), model.get(key).copied(), "{name}: get {key:?}"),
        Step::Scan(from, limit) => same_scan(name, session, model, from, *limit),
    }
}

/// Keys that meet often, are prefixes of each other, hold zeros, and share words of eight bytes.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let beginning = prop::sample::select(vec![
        "",
        "a",
        "https://",
        "https://www.example.org/",
        "user0000000001",
        "eight by",
        "eight byeight by",
    ]);
    let end = prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', b'b', 0xff]), 0..4);
    (beginning, end).prop_map(|(beginning, end)| [beginning.as_bytes(), &end].concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Insert(key, value)),
        1 => prop::collection::vec((key(), any::<u32>().prop_map(u64::from)), 0..9).prop_map(Step::InsertMany),
        3 => key().prop_map(Step::Remove),
        3 => key().prop_map(Step::Get),
        1 => (key(), 1usize..9).prop_map(|(from, limit)| Step::Scan(from, limit)),
    ]
}

/// Runs a test on every map of this build, or on the one that `LATCHLESS_RIVAL` names.
///
/// # Panics
/// If there is none: otherwise no test would run, and all would pass.
fn on_every_map(test: impl Fn(&'static str)) {
    let only = std::env::var("LATCHLESS_RIVAL").ok();
    let wanted = |name| only.as_deref().is_none_or(|only| only == name);
    let maps = entries().iter().filter(|entry| entry.compiled && wanted(entry.name));
    let tested = maps.inspect(|entry| println!("{}", entry.name)).map(|entry| test(entry.name)).count();
    assert!(tested > 0, "LATCHLESS_RIVAL={only:?} is no map of this build");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_history_gives_the_same_answers(history in prop::collection::vec(step(), 1..300)) {
        on_every_map(|name| {
            let history: Vec<Step> = history.iter().map(|step| step.as_put_to(name)).collect();
            build(name, Run { name, history: &history }).unwrap();
        });
    }
}

/// A bulk load, then every key and some scans.
struct Load<'a> {
    name: &'a str,
    model: &'a Model,
}

impl Visitor for Load<'_> {
    type Output = ();

    fn visit<P: Peer>(self, mut map: P) {
        let Self { name, model } = self;
        let loaded = map.load(model.iter().map(|(key, &value)| (key.as_slice(), value)));
        let Some(()) = offered(loaded) else { return };
        assert_eq!(map.len(), model.len(), "{name}");
        let session = map.session();
        assert!(model.iter().all(|(key, &value)| session.get(key) == Some(value)), "{name}");
        for from in model.keys().step_by(model.len() / 50 + 1) {
            same_scan(name, &session, model, from, 100);
            same_scan(name, &session, model, &[from, &b"\0"[..]].concat(), 3);
        }
    }
}

#[test]
fn bulk_loads_of_long_and_nested_keys() {
    let of = |keys: Vec<Vec<u8>>| -> Model { keys.into_iter().zip(1..).collect() };
    let addresses = (0..4000).map(|at| format!("https://www.example.org/folder-{}/page-{at}.html", at % 7));
    let nested = (0..200).map(|length| vec![b'a'; length]);
    let versions =
        (0..4000u64).map(|at| [format!("user{:010}", at / 2).as_bytes(), &at.to_be_bytes()].concat());
    let long = (0..50u64).map(|at| [&[b'x'; 4000][..], &at.to_be_bytes()].concat());
    let sets: [Model; 4] = [
        of(addresses.map(String::into_bytes).collect()),
        of(nested.collect()),
        of(versions.collect()),
        of(long.collect()),
    ];
    for model in &sets {
        on_every_map(|name| build(name, Load { name, model }).unwrap());
    }
}

#[test]
fn unknown_names_are_told_from_missing_features() {
    struct Nothing;
    impl Visitor for Nothing {
        type Output = ();
        fn visit<P: Peer>(self, _: P) {}
    }
    assert_eq!(build("nobody", Nothing), Err(Missing::Unknown));
    for entry in entries() {
        let expected = if entry.compiled { Ok(()) } else { Err(Missing::NotCompiled) };
        assert_eq!(build(entry.name, Nothing), expected, "{}", entry.name);
    }
    assert!(entries().iter().any(|entry| entry.name == "btreemap" && entry.compiled));
}
