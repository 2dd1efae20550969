//! Operations between any two accesses of another one, without threads: a tracing hook runs whole updates
//! at the moment before an operation reads its n-th word. The result must be that of one after the other,
//! in one of the two orders.

use super::*;
use crate::common::pages::{PageEnd, Pages};
use crate::common::walk::{Aim, Rounds, Walks};
use latchless_core::mem::touch::Work;
use latchless_core::testing::Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

type Model = BTreeMap<u32, u32>;
type Tested = Trie<u32, Between>;

/// Runs the pending updates at the chosen moment.
#[derive(Debug)]
struct Between;

/// Accesses that are left until something is run, and what.
type Waiting = (usize, Box<dyn FnOnce()>);

/// A number of accesses that means: when the first latch is taken.
const AT_A_LATCH: usize = usize::MAX;

thread_local! {
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// Another access; `last`: the first latch is about to be taken, after which others would wait for it.
fn tell(last: bool) {
    let now = WAITING.with_borrow_mut(|waiting| {
        let (left, _) = waiting.as_mut()?;
        let is_now = *left == 0 || last && *left == AT_A_LATCH;
        *left -= usize::from((1..AT_A_LATCH).contains(left));
        if is_now || last { waiting.take().filter(|_| is_now) } else { None }
    });
    if let Some((_, run)) = now {
        run();
    }
}

impl Trace for Between {
    const LISTENING: bool = false;

    fn read(_: *const u8, _: usize) {
        tell(false);
    }

    fn exchange(_: *const u8) {
        tell(true);
    }

    fn write(_: *const u8, _: usize) {}
    fn prefetch(_: *const u8, _: usize) {}
    fn wait(_: *const u8) {}
    fn work(_: Work) {}

    fn worker() -> Option<usize> {
        None
    }
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Put(u32, u32),
    Take(u32),
}

impl Change {
    fn of(self, trie: &Tested) -> Option<u32> {
        match self {
            Self::Put(key, value) => trie.put(key, value).unwrap(),
            Self::Take(key) => trie.take(key),
        }
    }

    fn of_model(self, model: &mut Model) -> Option<u32> {
        match self {
            Self::Put(key, value) => model.insert(key, value),
            Self::Take(key) => model.remove(&key),
        }
    }

    fn key(self) -> u32 {
        let (Self::Put(key, _) | Self::Take(key)) = self;
        key
    }
}

/// The interrupted operation.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Get(u32),
    /// The same, by a walk.
    Walk(u32),
    Change(Change),
}

impl Asked {
    fn of(self, trie: &Tested) -> Option<u32> {
        match self {
            Self::Get(key) => trie.get(key),
            Self::Change(change) => change.of(trie),
            Self::Walk(key) => {
                let (walk, mut walks) = (trie.walk(), Walks::default());
                let landed = walks.lead(&walk, Rounds::Unfinished, 1, |_| (key, Aim::Look))[0];
                landed.map_or_else(|| trie.get(key), |landed| trie.get_from(landed, key))
            }
        }
    }

    fn of_model(self, model: &mut Model) -> Option<u32> {
        match self {
            Self::Get(key) | Self::Walk(key) => model.get(&key).copied(),
            Self::Change(change) => change.of_model(model),
        }
    }

    fn key(self) -> u32 {
        match self {
            Self::Get(key) | Self::Walk(key) => key,
            Self::Change(change) => change.key(),
        }
    }
}

/// A trie, its expected content, and the source of the next operations.
struct History {
    trie: Rc<Tested>,
    model: Model,
    rng: Rng,
}

impl History {
    fn new(seed: u64) -> Self {
        let options = TrieOptions { huge_pages: false, ..TrieOptions::default() };
        Self { trie: Rc::new(Trie::new(options).unwrap()), model: Model::new(), rng: Rng(seed) }
    }

    fn below(&mut self, end: u32) -> u32 {
        self.rng.below(u64::from(end)) as u32
    }

    /// Returns a key with few values in each byte but one of two, so that there are nodes of all kinds at
    /// several depths; or one of two keys, so that the trie is empty now and then.
    fn key(&mut self, spread: u32) -> u32 {
        if spread == 0 {
            return self.below(2);
        }
        let wide = self.below(spread);
        let [top, second, other] = [2, 2, 3].map(|end| self.below(end));
        match self.below(2) {
            0 => top << 24 | second << 16 | wide << 8 | other,
            _ => top << 24 | wide << 16 | second << 8 | other,
        }
    }

    /// Returns updates of single keys, or of all keys but one, which empties nodes and reuses their memory
    /// for others. Now and then this key's leaf becomes another's.
    fn changes(&mut self, spread: u32, key: u32) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.below(3) == 0 {
            changes.push(Change::Take(key));
            changes.push(Change::Put(self.key(spread), self.below(1_000)));
        }
        for _ in 0..1 + self.below(3) {
            let key = self.key(spread);
            let beside = |bits: u32| key >> bits << bits..=(key | ((1 << bits) - 1));
            match self.below(6) {
                0 => changes.push(Change::Put(key, self.below(1_000))),
                1 => changes.push(Change::Take(key)),
                2 | 3 => {
                    let bits = [8, 16][self.below(2) as usize];
                    changes.extend(self.model.range(beside(bits)).map(|entry| Change::Take(*entry.0)));
                }
                _ => {
                    let (bits, more) =
                        ([0, 8, 16][self.below(3) as usize], 1 + self.below(20.min(spread + 1)));
                    changes.extend((0..more).map(|nth| Change::Put(key ^ nth << bits, nth)));
                }
            }
        }
        changes
    }

    /// Runs `act` interrupted by updates before some access, and returns their answers.
    fn interrupted<R>(
        &self,
        changes: &[Change],
        moment: usize,
        act: impl FnOnce(&Tested) -> R,
    ) -> (R, Vec<Option<u32>>) {
        let answers = Rc::new(RefCell::new(Vec::new()));
        let run = {
            let (trie, changes, answers) = (Rc::clone(&self.trie), changes.to_vec(), Rc::clone(&answers));
            move || *answers.borrow_mut() = changes.into_iter().map(|change| change.of(&trie)).collect()
        };
        let has_run = Rc::new(Cell::new(false));
        let (flag, later) = (Rc::clone(&has_run), run.clone());
        WAITING.set(Some((
            moment,
            Box::new(move || {
                flag.set(true);
                run();
            }),
        )));
        let done = act(&self.trie);
        WAITING.set(None);
        if !has_run.get() {
            later();
        }
        (done, answers.take())
    }

    /// Runs one operation, interrupted, and checks that one of the orders explains it.
    fn step(&mut self, spread: u32) {
        let (key, value) = (self.key(spread), self.below(1_000));
        let moment = if self.below(4) == 0 { AT_A_LATCH } else { self.below(32) as usize };
        let near = self.model.range(key..).next().map_or(key, |entry| *entry.0);
        let asked = match self.below(6) {
            0 | 1 => Asked::Get(near),
            2 => Asked::Walk(near),
            3 => Asked::Change(Change::Take(near)),
            4 => Asked::Change(Change::Put(near, value)),
            _ => Asked::Change(Change::Put(key, value)),
        };
        let changes = self.changes(spread, near);
        let (answer, answers) = self.interrupted(&changes, moment, |trie| asked.of(trie));
        let keys: Vec<u32> = changes.iter().map(|change| change.key()).chain([asked.key()]).collect();
        let found: Vec<_> = keys.iter().map(|key| self.trie.get(*key)).collect();
        let touched: Model = keys.iter().filter_map(|key| Some((*key, *self.model.get(key)?))).collect();
        let explains = |is_first: bool| {
            let mut model = touched.clone();
            let before = is_first.then(|| asked.of_model(&mut model));
            let between: Vec<_> = changes.iter().map(|change| change.of_model(&mut model)).collect();
            let own = before.unwrap_or_else(|| asked.of_model(&mut model));
            let left = keys.iter().map(|key| model.get(key).copied());
            own == answer && between == answers && left.eq(found.iter().copied())
        };
        assert!(
            explains(true) || explains(false),
            "{asked:x?}: {answer:?}, before access {moment}: {changes:x?}"
        );
        for (key, found) in keys.into_iter().zip(found) {
            match found {
                Some(value) => self.model.insert(key, value),
                None => self.model.remove(&key),
            };
        }
    }

    /// Runs a page of a scan, interrupted: it has the entries that were present throughout, and only
    /// entries that existed.
    fn scan(&mut self, spread: u32) {
        let (one, other, moment) = (self.key(spread), self.key(spread), self.below(70) as usize);
        let (low, high, forward) = (one.min(other), one.max(other), self.below(2) == 0);
        let nth = self.below(4) as usize;
        let among = self.model.range(low..=high).nth(nth).map_or(one, |entry| *entry.0);
        let changes = self.changes(spread, among);
        let before: Model = self.model.range(low..=high).map(|(&key, &value)| (key, value)).collect();
        let ((keys, values, end), _) = self.interrupted(&changes, moment, |trie| {
            let mut page = trie.empty_page(6);
            let end = if forward {
                trie.page_up(low, high, &mut page)
            } else {
                trie.page_down(low, high, &mut page)
            };
            (page.keys().to_vec(), page.values().to_vec(), end)
        });
        changes.iter().for_each(|change| _ = change.of_model(&mut self.model));
        let after = &self.model;
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:x?}");
        let (low, high) = match end {
            PageEnd::All => (low, high),
            PageEnd::UpTo(next) if forward => (low, next - 1),
            PageEnd::UpTo(next) => (next + 1, high),
        };
        for (&key, &value) in keys.iter().zip(&values) {
            let was = [before.get(&key), after.get(&key)];
            let put = changes
                .iter()
                .any(|change| matches!(*change, Change::Put(at, new) if (at, new) == (key, value)));
            assert!((low..=high).contains(&key) && (was.contains(&Some(&value)) || put), "{key:x}: {value}");
        }
        let taken = |key: u32| changes.iter().any(|change| matches!(*change, Change::Take(at) if at == key));
        for (key, _) in before.range(low..=high).filter(|entry| after.contains_key(entry.0)) {
            assert!(taken(*key) || keys.contains(key), "{key:x} was there throughout");
        }
    }
}

#[test]
fn an_operation_that_is_interrupted_is_before_or_behind() {
    for (seed, spread) in [(0, 0), (1, 3), (2, 8), (3, 20), (4, 60), (5, 255)] {
        let mut history = History::new(seed);
        for step in 0..if cfg!(miri) { 30 } else { 2_000 } {
            history.step(spread);
            if step % 2 == 0 {
                history.scan(spread);
            }
            if step % 16 == 0 {
                history.trie.check_invariants().unwrap();
                assert_eq!(history.trie.len(), history.model.len());
            }
        }
        assert!(cfg!(miri) || history.trie.restarts() > 100, "{} restarts", history.trie.restarts());
    }
}

/// The last node of a scan's way grows, and its memory becomes a node with fewer children.
#[test]
fn a_scan_does_not_end_at_a_node_that_was_replaced() {
    for moment in 0..if cfg!(miri) { 4 } else { 60 } {
        let history = History::new(0);
        let full: Vec<u32> = (0..4).map(|byte| byte << 24).collect();
        full.iter().for_each(|&key| _ = history.trie.put(key, 1).unwrap());
        let changes = [Change::Put(4 << 24, 1), Change::Put(1 << 16, 1)];
        let (keys, _) = history.interrupted(&changes, moment, |trie| {
            let mut page = trie.empty_page(10);
            assert_eq!(trie.page_up(0, u32::MAX, &mut page), PageEnd::All);
            page.keys().to_vec()
        });
        assert!(full.iter().all(|key| keys.contains(key)), "before access {moment}: {keys:x?}");
    }
}
