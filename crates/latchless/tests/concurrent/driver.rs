//! Runs threads over few keys, records their operations and answers, and checks every key's history.

use crate::history::{Answer, Edit, Event, Op, State, Violation, check};
use crate::subject::{Subject, walk};
use latchless::Direction;
use latchless_core::testing::Rng;
use std::collections::BTreeSet;
use std::ops::Bound::Included;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub threads: usize,
    /// The number of keys. Growing and shrinking takes them through splits and merges.
    pub keys: u64,
    /// The number of keys that half of all operations use, evenly distributed among the others.
    pub hot_keys: u64,
    /// The number of windows. Between windows all threads pause and histories are checked, so that they fit
    /// into memory.
    pub windows: usize,
    /// Operations per thread and window.
    pub operations: usize,
    pub seed: u64,
}

/// The distance of neighbouring keys.
const SPACING: u64 = 3;
/// Keys in a batch.
const BATCH: usize = 4;
/// Keys in the range of a scan.
const SCANNED: u64 = 10;

/// A history that isn't linearizable, and its key.
#[derive(Debug)]
pub struct Broken {
    pub key: u64,
    pub violation: Violation,
}

/// Runs the plan on an empty index and returns the number of operations that were checked.
pub fn run(subject: &dyn Subject, plan: &Plan) -> Result<usize, Broken> {
    let clock = AtomicU64::new(0);
    let mut states: Vec<BTreeSet<State>> = vec![BTreeSet::from([None]); plan.keys as usize];
    let mut checked = 0;
    for window in 0..plan.windows {
        let start = Barrier::new(plan.threads);
        let mut events: Vec<(u64, Event)> = std::thread::scope(|scope| {
            let client = |thread| {
                let mut client = Client::new(subject, &clock, plan, window, thread);
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    (0..plan.operations).for_each(|_| client.step());
                    client.events
                })
            };
            let clients: Vec<_> = (0..plan.threads).map(client).collect();
            clients.into_iter().flat_map(|client| client.join().expect("the index doesn't panic")).collect()
        });
        checked += events.len();
        events.sort_unstable_by_key(|(key, event)| (*key, event.called));
        for of_one_key in events.chunk_by(|left, right| left.0 == right.0) {
            let key = of_one_key[0].0;
            let mut history: Vec<Event> = of_one_key.iter().map(|&(_, event)| event).collect();
            let state = &mut states[key as usize];
            *state = check(&mut history, state).map_err(|violation| Broken { key, violation })?;
        }
        settle(subject, &states);
    }
    Ok(checked)
}

/// Checks that the index at rest has a state in which the histories may have ended.
fn settle(subject: &dyn Subject, states: &[BTreeSet<State>]) {
    let mut found = vec![None; states.len()];
    let mut entries = Vec::new();
    walk(subject.index(), 0, u64::MAX, Direction::Reverse, 50, |key, value| {
        assert_eq!(key % SPACING, 0, "nobody put {key} in");
        found[(key / SPACING) as usize] = Some(value);
        entries.push((key, value));
    });
    entries.reverse();
    subject.settle(&entries);
    for (key, (found, states)) in found.iter().zip(states).enumerate() {
        assert!(states.contains(found), "key {key} has {found:?} but ended in one of {states:?}");
    }
}

/// The state of one thread.
struct Client<'a> {
    subject: &'a dyn Subject,
    clock: &'a AtomicU64,
    plan: &'a Plan,
    rng: Rng,
    /// Of ten changes, how many are inserts.
    puts_in_ten: u64,
    next_value: u64,
    /// Values that were seen recently, as the expected values of exchanges.
    seen: [u64; 8],
    events: Vec<(u64, Event)>,
}

impl<'a> Client<'a> {
    fn new(
        subject: &'a dyn Subject,
        clock: &'a AtomicU64,
        plan: &'a Plan,
        window: usize,
        thread: usize,
    ) -> Self {
        let number = window * plan.threads + thread;
        Self {
            subject,
            clock,
            plan,
            rng: Rng(plan.seed ^ (number as u64) << 32),
            puts_in_ten: if window.is_multiple_of(2) { 8 } else { 2 },
            next_value: (number * plan.operations * BATCH) as u64,
            seen: [0; 8],
            events: Vec::with_capacity(plan.operations * 2),
        }
    }

    /// Returns a unique moment, totally ordered with everything that threads do before and after it.
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn random_key(&mut self) -> u64 {
        if self.rng.below(2) == 0 {
            self.rng.below(self.plan.hot_keys) * self.plan.keys / self.plan.hot_keys
        } else {
            self.rng.below(self.plan.keys)
        }
    }

    /// Returns a value that doesn't repeat, unless a run has billions of operations.
    fn fresh_value(&mut self) -> u64 {
        self.next_value += 1;
        self.next_value % (1 << 32)
    }

    fn random_edit(&mut self, key: u64) -> Edit {
        let value = self.fresh_value();
        let expected = self.seen[key as usize % self.seen.len()];
        let puts_in = self.rng.below(10) < self.puts_in_ten;
        let edit = match (puts_in, self.rng.below(4)) {
            (true, 0) => Edit::Add(value),
            (true, 1) => Edit::Replace(value),
            (true, 2) => Edit::Swap { expected, value },
            (false, 0) => Edit::RemoveIf(expected),
            (true, _) => Edit::Put(value),
            (false, _) => Edit::Remove,
        };
        let plain = if puts_in { Edit::Put(value) } else { Edit::Remove };
        if self.subject.offers(edit) { edit } else { plain }
    }

    fn step(&mut self) {
        match self.rng.below(16) {
            0 => self.scan(),
            1 => self.get_many(),
            2 => self.edit_many(),
            3 => self.find_near(),
            4..8 => self.get(),
            _ => self.edit(),
        }
        // Two processors switch threads too rarely, so sometimes one yields.
        if self.rng.below(256) == 0 {
            std::thread::yield_now();
        }
    }

    fn note(&mut self, key: u64, called: u64, op: Op, found: State) {
        if let Some(value) = found {
            self.seen[key as usize % self.seen.len()] = value;
        }
        let event = Event { called, returned: 0, op, answer: Answer::Was(found) };
        self.events.push((key, event));
    }

    /// Sets the time of return of the last `count` events.
    fn returned(&mut self, count: usize, returned: u64) {
        self.events.iter_mut().rev().take(count).for_each(|(_, event)| event.returned = returned);
    }

    fn get(&mut self) {
        let key = self.random_key();
        let called = self.now();
        let found = self.subject.look(key * SPACING);
        let returned = self.now();
        self.note(key, called, Op::Get, found);
        self.returned(1, returned);
    }

    fn edit(&mut self) {
        let key = self.random_key();
        let edit = self.random_edit(key);
        let called = self.now();
        let found = self.subject.edit(key * SPACING, edit);
        let returned = self.now();
        self.note(key, called, Op::Edit(edit), found);
        self.returned(1, returned);
    }

    fn get_many(&mut self) {
        let keys = [(); BATCH].map(|()| self.random_key());
        let mut answers = [None; BATCH];
        let called = self.now();
        let answered = self.subject.index().get_many(&keys.map(|key| key * SPACING), &mut answers);
        let returned = self.now();
        answered.expect("as many answers as keys");
        keys.into_iter().zip(answers).for_each(|(key, found)| self.note(key, called, Op::Get, found));
        self.returned(BATCH, returned);
    }

    fn edit_many(&mut self) {
        let keys = [(); BATCH].map(|()| self.random_key());
        let index = self.subject.index().as_concurrent().expect("it takes updates from many threads");
        let mut found = [None; BATCH];
        if self.rng.below(10) < self.puts_in_ten {
            let entries = keys.map(|key| (key * SPACING, self.fresh_value()));
            let called = self.now();
            let done = index.insert_many_shared(&entries, &mut found);
            let returned = self.now();
            done.expect("there is memory");
            for ((key, found), (_, value)) in keys.into_iter().zip(found).zip(entries) {
                self.note(key, called, Op::Edit(Edit::Put(value)), found);
            }
            self.returned(BATCH, returned);
        } else {
            let called = self.now();
            let done = index.remove_many_shared(&keys.map(|key| key * SPACING), &mut found);
            let returned = self.now();
            done.expect("as many answers as keys");
            for (key, found) in keys.into_iter().zip(found) {
                self.note(key, called, Op::Edit(Edit::Remove), found);
            }
            self.returned(BATCH, returned);
        }
    }

    /// The entry that is found was present at some moment, as for a get; a pop has removed it.
    fn find_near(&mut self) {
        let key = self.random_key();
        let direction = if self.rng.below(2) == 0 { Direction::Forward } else { Direction::Reverse };
        let pops = self.rng.below(8) == 0;
        let called = self.now();
        let found =
            if pops { self.subject.pop(direction) } else { self.subject.nearest(key * SPACING, direction) };
        let returned = self.now();
        if let Some((found, value)) = found {
            assert_eq!(found % SPACING, 0, "{found} was never put in");
            let op = if pops { Op::Edit(Edit::Remove) } else { Op::Get };
            self.note(found / SPACING, called, op, Some(value));
            self.returned(1, returned);
        }
    }

    /// A scan reads every key of its range at some moment: as a get would, also an absent one.
    fn scan(&mut self) {
        let low = self.random_key();
        let high = (low + self.rng.below(SCANNED)).min(self.plan.keys - 1);
        let direction = if self.rng.below(2) == 0 { Direction::Forward } else { Direction::Reverse };
        let (mut keys, mut values) = ([0; SCANNED as usize], [0; SCANNED as usize]);
        let span = (Included(low * SPACING), Included(high * SPACING));
        let called = self.now();
        let found = self.subject.index().page(span, direction, &mut keys, &mut values);
        let returned = self.now();
        let found = found.expect("the buffers have room");
        let (keys, values) = (&keys[..found], &values[..found]);
        let in_order = |pair: &[u64]| match direction {
            Direction::Forward => pair[0] < pair[1],
            Direction::Reverse => pair[0] > pair[1],
        };
        assert!(keys.windows(2).all(in_order), "{keys:?} out of order");
        let known = |key: &u64| key.is_multiple_of(SPACING) && (low..=high).contains(&(key / SPACING));
        assert!(keys.iter().all(known), "{keys:?} were never put in");
        for key in low..=high {
            let at = keys.iter().position(|&found| found == key * SPACING);
            self.note(key, called, Op::Get, at.map(|at| values[at]));
        }
        self.returned((high - low + 1) as usize, returned);
    }
}
