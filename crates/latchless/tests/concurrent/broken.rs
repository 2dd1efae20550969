//! Indexes that are broken on purpose, which the tests must detect. Each violates one guarantee of the
//! reference, as published maps have been seen to do.

use crate::driver::{Plan, run};
use crate::history::Edit;
use crate::reference::Reference;
use crate::subject::{Subject, scaled, updates_are_shared};
use latchless::{Direction, FillFactor, Result};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span};
use std::sync::RwLock;
use std::thread::yield_now;

/// A flaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// None: the control.
    None,
    /// Replacing removes the old entry and inserts the new one a little later.
    GapInReplace,
    /// Gets read a copy that is updated at the next change.
    StaleGet,
    /// An exchange reads first and changes a little later.
    LateExchange,
    /// An add reads first and changes a little later.
    LateAdd,
    /// A removal reads first and removes a little later, and returns the value that it read.
    LateRemove,
    /// A scan continues by position, not by key.
    ScanByPosition,
    /// A value is written in two halves.
    TornValue,
    /// A removal doesn't free the memory.
    Leak,
}

/// The reference with a flaw.
pub struct Flawed {
    pub flaw: Flaw,
    inner: Reference,
    /// For stale gets.
    copy: RwLock<Vec<(u64, u64)>>,
    leaked: std::sync::atomic::AtomicUsize,
}

impl Flawed {
    pub fn new(flaw: Flaw) -> Self {
        Self { flaw, inner: Reference::default(), copy: RwLock::default(), leaked: 0.into() }
    }

    fn remember(&self) {
        if self.flaw == Flaw::StaleGet {
            let entries = self.inner.read().iter().map(|(&key, &value)| (key, value)).collect();
            *self.copy.write().expect("no test panics with the lock held") = entries;
        }
    }
}

impl OrderedIndex<u64, u64> for Flawed {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        if self.flaw != Flaw::StaleGet {
            return self.inner.get(key);
        }
        let copy = self.copy.read().expect("no test panics with the lock held");
        copy.binary_search_by_key(&key, |entry| entry.0).ok().map(|at| copy[at].1)
    }

    fn page(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        self.scanner(span, direction)?.fill(keys, values)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        match self.flaw {
            Flaw::ScanByPosition => {
                Ok(Box::new(ByPosition { inner: &self.inner, span, direction, passed: 0 }))
            }
            _ => self.inner.scanner(span, direction),
        }
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        self.inner.count(span)
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], fill: FillFactor) -> Result<()> {
        self.inner.bulk_load(entries, fill)
    }

    fn memory_bytes(&self) -> Option<usize> {
        None
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        Ok(())
    }

    updates_are_shared!();
}

impl ConcurrentIndex<u64, u64> for Flawed {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        self.remember();
        match self.flaw {
            Flaw::GapInReplace => {
                let old = self.inner.remove_shared(key);
                yield_now();
                self.inner.insert_shared(key, value)?;
                Ok(old)
            }
            Flaw::TornValue => {
                let old = self.inner.get(key);
                let half = old.unwrap_or(0) & !0xFFFF | value & 0xFFFF;
                self.inner.insert_shared(key, half)?;
                yield_now();
                self.inner.insert_shared(key, value)?;
                Ok(old)
            }
            _ => self.inner.insert_shared(key, value),
        }
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.remember();
        if self.flaw == Flaw::LateRemove {
            let seen = self.inner.get(key);
            yield_now();
            self.inner.remove_shared(key);
            return seen;
        }
        let removed = self.inner.remove_shared(key);
        if self.flaw == Flaw::Leak && removed.is_some() {
            self.leaked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        removed
    }
}

impl Subject for Flawed {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn offers(&self, _: Edit) -> bool {
        true
    }

    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        match edit {
            Edit::Put(value) => self.insert_shared(key, value).expect("a BTreeMap has no limit"),
            Edit::Remove => self.remove_shared(key),
            Edit::Swap { expected, value } if self.flaw == Flaw::LateExchange => {
                let seen = self.inner.get(key);
                if seen == Some(expected) {
                    yield_now();
                    self.inner.write().insert(key, value);
                }
                seen
            }
            Edit::Add(value) if self.flaw == Flaw::LateAdd => {
                let seen = self.inner.get(key);
                if seen.is_none() {
                    yield_now();
                    self.inner.write().insert(key, value);
                }
                seen
            }
            other => {
                self.remember();
                self.inner.edit(key, other)
            }
        }
    }

    fn live_bytes(&self) -> Option<usize> {
        let leaked = self.leaked.load(std::sync::atomic::Ordering::Relaxed);
        self.inner.live_bytes().map(|live| live + leaked)
    }
}

/// A scan that remembers the number of entries that it has passed.
struct ByPosition<'a> {
    inner: &'a Reference,
    span: Span<u64>,
    direction: Direction,
    passed: usize,
}

impl Scanner<u64, u64> for ByPosition<'_> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        // In small pieces, as a scan over leaves would.
        let mut filled = 0;
        while filled < keys.len() {
            let piece = 4.min(keys.len() - filled);
            let map = self.inner.read();
            let mut found: Vec<_> = map.range(self.span).map(|(&key, &value)| (key, value)).collect();
            drop(map);
            if self.direction == Direction::Reverse {
                found.reverse();
            }
            let rest = found.get(self.passed..).unwrap_or(&[]);
            let next: Vec<_> = rest.iter().take(piece).collect();
            if next.is_empty() {
                break;
            }
            for &&(key, value) in &next {
                (keys[filled], values[filled]) = (key, value);
                filled += 1;
            }
            self.passed += next.len();
            yield_now();
        }
        Ok(filled)
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        let mut keys = vec![0; values.len()];
        self.fill(&mut keys, values)
    }
}

/// Returns whether `test` fails on an index with this flaw. Schedules are random, so it has several tries.
pub fn finds(flaw: Flaw, test: impl Fn(&dyn Subject) + std::panic::RefUnwindSafe) -> bool {
    (0..20).any(|_| std::panic::catch_unwind(|| test(&Flawed::new(flaw))).is_err())
}

#[test]
#[cfg_attr(miri, ignore = "needs many schedules")]
fn broken_histories_are_found() {
    let plan = Plan { threads: 3, keys: 6, hot_keys: 2, windows: 4, operations: scaled(2000, 50), seed: 9 };
    run(&Flawed::new(Flaw::None), &plan).expect("the control is linearizable");
    for flaw in [
        Flaw::GapInReplace,
        Flaw::StaleGet,
        Flaw::LateExchange,
        Flaw::LateAdd,
        Flaw::LateRemove,
        Flaw::TornValue,
    ] {
        let found = (0..20).any(|_| run(&Flawed::new(flaw), &plan).is_err());
        assert!(found, "{flaw:?} wasn't found");
    }
}
