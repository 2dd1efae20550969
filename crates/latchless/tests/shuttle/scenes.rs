//! Scenes: an index in a state in which a structural change is due, and threads that make it or read.

use crate::history::{Ask, Event, is_linearizable};
use crate::schedules::together;
use crate::subject::Subject;
use latchless::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Larger than all keys of scenes.
const LARGEST: u64 = 1 << 40;

/// The initial state of an index: the keys that are inserted, in this order, and those that are removed
/// then. Values are the keys times a thousand.
#[derive(Debug, Clone, Copy)]
pub struct State {
    pub put: &'static [u64],
    pub removed: &'static [u64],
}

impl State {
    pub fn make<S: Subject>(self) -> S {
        let index = S::empty();
        self.put.iter().for_each(|&key| _ = index.insert(key, key * 1000));
        self.removed.iter().for_each(|key| assert!(index.remove(*key).is_some()));
        index
    }
}

/// Runs a scene on an [`Index`]. See [`play_on`].
pub fn play(state: State, threads: &[&'static [Ask]]) {
    play_on::<Index<u64, u64>>(state, threads);
}

/// Runs threads with their requests, and checks their answers and the final state.
pub fn play_on<S: Subject>(state: State, threads: &[&'static [Ask]]) {
    let index = Arc::new(state.make::<S>());
    let start: BTreeMap<_, _> = index.range(0, LARGEST).into_iter().collect();
    let named = threads.iter().flat_map(|asks| asks.iter()).flat_map(|ask| ask.keys());
    let keys: Arc<BTreeSet<_>> = Arc::new(start.keys().copied().chain(named).collect());
    let (clock, events) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    together(threads.iter().map(|&asks| {
        let (index, keys) = (Arc::clone(&index), Arc::clone(&keys));
        let (clock, events) = (Arc::clone(&clock), Arc::clone(&events));
        Box::new(move || {
            let tick = || clock.fetch_add(1, Ordering::Relaxed);
            for ask in asks {
                let begin = tick();
                let told = ask.of(&*index, &keys);
                let end = tick();
                let told = told.into_iter().map(|(ask, told)| Event { ask, told, begin, end });
                events.lock().expect("a panic ends the test").extend(told);
            }
        }) as Box<dyn FnOnce() + Send>
    }));
    index.check();
    let end: BTreeMap<_, _> = index.range(0, LARGEST).into_iter().collect();
    let events = events.lock().expect("a panic ends the test");
    assert!(is_linearizable(&start, &events, &end), "from {start:?} to {end:?} by {events:?}");
    for key in &*keys {
        assert_eq!(index.get(*key), end.get(key).copied(), "{key} at the end");
    }
}
