//! Histories of whole maps: operations by order on a few keys, the window, while a thread inserts and
//! removes keys around them, so that the leaves under the window split, exchange entries and merge.

use crate::broken_order::{FlawedOrder, OrderFlaw};
use crate::history::{Event, Violation, check};
use crate::ordered::{Ordered, on_every_ordered};
use crate::subject::scaled;
use crate::whole::{Found, MapOp, SPACING, Start, WINDOW, Window};
use latchless::Direction;
use latchless_core::testing::Rng;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The window's first key.
const FIRST: u64 = 1 << 20;
/// The nearest key outside of the window on either side.
const BESIDE: [u64; 2] = [FIRST - SPACING, FIRST + WINDOW as u64 * SPACING];
/// Keys on one side that aren't further out. With the window's keys, those of both sides fill whole leaves
/// of 60 and of 120 places.
const AROUND: u64 = 120 - WINDOW as u64 / 2;
/// The maximum number of keys that come and go on one side: all of those but the two outermost.
const COMING: u64 = AROUND - 2;
/// Keys further out, which stay: their leaves are full, and never merged.
const STAYING: u64 = 240;

/// The place of the window among the map's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Start,
    Middle,
    End,
}

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub place: Place,
    pub threads: usize,
    /// The number of rounds. Between rounds all threads pause and the history is checked. There are more, up
    /// to [`MORE_ROUNDS`] times as many, until leaves ended within the window often enough: on a busy
    /// machine the thread that splits them rarely runs.
    pub rounds: usize,
    /// Operations per thread and round.
    pub operations: usize,
}

/// The maximum number of rounds, as a multiple of the planned ones.
const MORE_ROUNDS: usize = 30;

impl Plan {
    /// Returns the number of operations of all threads in the planned rounds.
    fn all_operations(&self) -> usize {
        self.threads * self.rounds * self.operations
    }
}

impl Place {
    fn has(self, side: Direction) -> bool {
        match side {
            Direction::Forward => self != Self::End,
            Direction::Reverse => self != Self::Start,
        }
    }

    /// Returns the keys that come and go on one side, in the order of their inserts.
    fn around(self, side: Direction, at: u64) -> u64 {
        beyond(side, if self == Self::Middle { 1 + at } else { COMING - at })
    }

    /// Returns the ends of the map at which the window is.
    fn ends(self) -> &'static [Direction] {
        match self {
            Self::Start => &[Direction::Forward],
            Self::Middle => &[],
            Self::End => &[Direction::Reverse],
        }
    }

    /// Inserts the keys that stay. Keys come in order, so that leaves are full. In the middle those around
    /// the window are inserted as well, and removed again except for the outermost: then no other key shares
    /// the window's leaves.
    fn furnish(self, map: &dyn Ordered) {
        let around = if self == Self::Middle { 0..AROUND } else { 0..0 };
        let keys = |side: Direction| {
            let all = around.clone().chain(AROUND..AROUND + STAYING);
            all.filter(move |_| self.has(side)).map(move |at| beyond(side, at))
        };
        let below: Vec<u64> = keys(Direction::Reverse).collect();
        below.iter().rev().for_each(|&key| _ = map.put(key, 0));
        (0..WINDOW).for_each(|at| _ = map.put(key_at(at), 0));
        keys(Direction::Forward).for_each(|key| _ = map.put(key, 0));
        (0..WINDOW).for_each(|at| _ = map.remove(key_at(at)));
        for side in SIDES.into_iter().filter(|_| self == Self::Middle) {
            (1..=COMING).for_each(|at| _ = map.remove(beyond(side, at)));
        }
    }
}

const SIDES: [Direction; 2] = [Direction::Reverse, Direction::Forward];

/// Returns a key beyond the window, the nearest first.
fn beyond(side: Direction, at: u64) -> u64 {
    if side == Direction::Forward { BESIDE[1] + at } else { BESIDE[0] - at }
}

fn key_at(place: usize) -> u64 {
    FIRST + place as u64 * SPACING
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Ran {
    pub operations: usize,
    /// Operations before which a leaf ended within the window, if the map can tell.
    pub across_leaves: usize,
}

impl Ran {
    /// Returns whether all rounds have run, and, if the map can tell, a leaf ended within the window before
    /// enough of them.
    fn is_enough(&self, plan: &Plan, map: &dyn Ordered) -> bool {
        let says = plan.place == Place::Middle && map.parts(0, 0).is_some() && !cfg!(miri);
        self.operations >= plan.all_operations() && (!says || self.across_leaves > plan.all_operations() / 50)
    }

    fn add(&mut self, client: Client<'_>) -> Vec<Event<MapOp>> {
        self.operations += client.events.len();
        self.across_leaves += client.across_leaves;
        client.events
    }
}

/// Runs the plan on an empty map.
pub fn run(map: &dyn Ordered, plan: &Plan) -> Result<Ran, Violation<MapOp>> {
    plan.place.furnish(map);
    let (clock, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let ran = std::thread::scope(|scope| {
        let around = scope.spawn(|| grow_and_shrink(map, plan.place, &over));
        let ran = catch_unwind(AssertUnwindSafe(|| run_rounds(map, plan, &clock)));
        over.store(true, Ordering::Release);
        around.join().expect("the map doesn't panic");
        ran.unwrap_or_else(|panic| resume_unwind(panic))
    });
    map.check();
    ran
}

fn run_rounds(map: &dyn Ordered, plan: &Plan, clock: &AtomicU64) -> Result<Ran, Violation<MapOp>> {
    let mut ran = Ran::default();
    let mut windows: BTreeSet<Window> = BTreeSet::from([[None; WINDOW]]);
    for round in 0..MORE_ROUNDS * plan.rounds {
        if ran.is_enough(plan, map) {
            break;
        }
        let start = Barrier::new(plan.threads);
        let mut history: Vec<Event<MapOp>> = std::thread::scope(|scope| {
            let client = |thread: usize| {
                let (start, number) = (&start, round * plan.threads + thread);
                let rng = Rng(number as u64);
                let mut client = Client { map, clock, plan, rng, across_leaves: 0, events: Vec::new() };
                scope.spawn(move || {
                    start.wait();
                    (0..plan.operations).for_each(|_| client.step(number));
                    client
                })
            };
            let clients: Vec<_> = (0..plan.threads).map(client).collect();
            let ended = clients.into_iter().map(|client| client.join().expect("the map doesn't panic"));
            ended.flat_map(|client| ran.add(client)).collect()
        });
        windows = check(&mut history, &windows)?;
        let found: Window = std::array::from_fn(|at| map.get(key_at(at)));
        assert!(windows.contains(&found), "{found:?}, but the history ended in one of {windows:?}");
        windows = BTreeSet::from([found]);
    }
    Ok(ran)
}

/// Inserts keys around the window and removes them again. In the map's middle they come outwards on both
/// sides: a leaf that is filled evenly is split within the window; one that is filled unevenly is split next
/// to it, or lends entries to its neighbour. At an end of the map they come inwards, all into the window's
/// leaf: when that is full and the map gets a new first or last key, this key gets a separate leaf. Emptied
/// leaves are merged.
fn grow_and_shrink(map: &dyn Ordered, place: Place, over: &AtomicBool) {
    let (mut rng, mut sizes, mut growing) = (Rng(77), [0; 2], false);
    while !over.load(Ordering::Acquire) {
        // Every other time to nearly nothing, so that leaves are merged and split again.
        growing = !growing;
        let (few, even) = (rng.below(8), COMING / 4 + rng.below(COMING * 3 / 4));
        let drawn = match rng.below(4) {
            _ if !growing => [few; 2],
            0 => [rng.below(COMING), rng.below(COMING)],
            _ => [even; 2],
        };
        let wanted = std::array::from_fn(|side| if place.has(SIDES[side]) { drawn[side] } else { 0 });
        while sizes != wanted && !over.load(Ordering::Acquire) {
            for (side, (size, wanted)) in SIDES.into_iter().zip(sizes.iter_mut().zip(wanted)) {
                if *size < wanted {
                    map.put(place.around(side, *size), 0);
                    *size += 1;
                } else if *size > wanted {
                    *size -= 1;
                    map.remove(place.around(side, *size));
                }
            }
            // Whatever the leaves are like now, the other threads should run on them.
            if rng.below(8) == 0 {
                std::thread::yield_now();
            }
        }
    }
    for (side, size) in SIDES.into_iter().zip(sizes) {
        (0..size).rev().for_each(|at| _ = map.remove(place.around(side, at)));
    }
}

/// The state of one thread.
struct Client<'a> {
    map: &'a dyn Ordered,
    clock: &'a AtomicU64,
    plan: &'a Plan,
    rng: Rng,
    across_leaves: usize,
    events: Vec<Event<MapOp>>,
}

impl Client<'_> {
    /// Returns a unique moment, totally ordered with everything that threads do before and after it.
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn random_op(&mut self, number: usize) -> MapOp {
        let at = self.rng.below(WINDOW as u64) as usize;
        let value = (number * self.plan.operations + self.events.len()) as u64 % (1 << 32);
        let direction = SIDES[self.rng.below(2) as usize];
        let ends = self.plan.place.ends();
        match self.rng.below(16) {
            0..4 => MapOp::Put(at, value),
            4..8 => MapOp::Remove(at),
            8 => MapOp::Get(at),
            9..11 if !ends.is_empty() => MapOp::Nearest(Start::End, ends[0]),
            11 if !ends.is_empty() => MapOp::Pop(ends[0]),
            9 | 12 => MapOp::Nearest(Start::At(at), direction),
            10 | 13 => MapOp::Nearest(Start::Beside(at), direction),
            _ => MapOp::Nearest(Start::After(at), direction),
        }
    }

    fn step(&mut self, number: usize) {
        let op = self.random_op(number);
        self.across_leaves += usize::from(self.map.parts(key_at(0), key_at(WINDOW - 1)) == Some(true));
        let called = self.now();
        let answer = ask(self.map, op);
        let returned = self.now();
        self.events.push(Event { called, returned, op, answer });
        // Two processors switch threads too rarely, so sometimes one yields.
        if self.rng.below(16) == 0 {
            std::thread::yield_now();
        }
    }
}

/// Runs an operation on the map, and returns the answer in terms of the window.
fn ask(map: &dyn Ordered, op: MapOp) -> Found {
    let entry = match op {
        MapOp::Get(at) => return Found::Value(map.get(key_at(at))),
        MapOp::Put(at, value) => return Found::Value(map.put(key_at(at), value)),
        MapOp::Remove(at) => return Found::Value(map.remove(key_at(at))),
        MapOp::Nearest(Start::At(at), direction) => map.nearest(key_at(at), direction),
        MapOp::Nearest(Start::Beside(at), direction) => map.beside(key_at(at), direction),
        MapOp::Nearest(Start::After(at), direction) => map.nearest(key_at(at) + SPACING / 2, direction),
        MapOp::Nearest(Start::End, direction) => map.end(direction),
        MapOp::Pop(direction) => map.pop(direction),
    };
    let in_window =
        |key: u64| key.checked_sub(FIRST).filter(|&from_first| from_first < WINDOW as u64 * SPACING);
    match entry.map(|(key, value)| (in_window(key), value)) {
        Some((Some(from_first), value)) => {
            assert_eq!(from_first % SPACING, 0, "{op:?} found a key that was never put in");
            Found::Entry((from_first / SPACING) as usize, value)
        }
        _ => Found::Beyond,
    }
}

const PLACES: [Place; 3] = [Place::Start, Place::Middle, Place::End];

#[test]
fn answers_by_order_belong_to_one_moment() {
    on_every_ordered(|make| {
        for place in PLACES {
            let plan = Plan { place, threads: 3, rounds: scaled(40, 1), operations: scaled(500, 12) };
            let map = make();
            let ran = run(&*map, &plan).unwrap_or_else(|violation| panic!("{plan:?}: {violation}"));
            assert!(ran.operations >= plan.all_operations());
            assert!(
                ran.is_enough(&plan, &*map),
                "the window was hardly ever in two leaves: {plan:?} {ran:?}"
            );
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs many schedules")]
fn broken_answers_by_order_are_found() {
    for place in PLACES {
        let plan = Plan { place, threads: 3, rounds: 10, operations: scaled(500, 12) };
        let broken = |flaw| run(&FlawedOrder::new(flaw, key_at(WINDOW / 2)), &plan).is_err();
        assert!(!broken(OrderFlaw::None), "the control is linearizable");
        assert!((0..20).any(|_| broken(OrderFlaw::TwoLooks)), "{place:?}");
        if !place.ends().is_empty() {
            assert!((0..20).any(|_| broken(OrderFlaw::LatePop)), "{place:?}");
        }
    }
}
