//! One processor: its clock, its caches, its miss handlers.
//!
//! # Modelled
//! - **Reads** wait for their line. A load is issued as early as the reorder buffer, the data it depends
//!   on and the last unpredictable branch allow (see below), so part of a miss overlaps with the work
//!   before it. The rest is a data stall.
//! - **Writes** don't wait (a store buffer holds them), unless every miss handler is taken. A
//!   missing line is fetched (write-allocate) and takes a handler and a memory access like a read's.
//! - **Prefetches** don't wait at all: one that finds every handler taken is kept in the memory system
//!   until one becomes free (the paper's footnote 4), or, on machines with that setting, waits for it.
//! - **Exchanges**, the locked steps that latches consist of, wait until the line is exclusive and all
//!   stores before them are done; nothing after them is issued earlier.
//! - **Address translation**, if it is modelled: a missing translation stalls a processor with one level of
//!   them; with two, the access is late, and what doesn't need it goes on. Table 2 has none.
//! - **Branches** of searches that are guessed: a wrong guess costs, and later loads are issued after it.
//! - **Waiting** for a latch takes no line and no instruction: the processor sleeps until a writer takes
//!   the line that it waits for.
//!
//! # How early a load is issued
//! No earlier than (1) the moment it enters the reorder buffer; (2) the arrival of the last line that this
//! processor waited for, because its address may come from there: chasing pointers, as trees do, makes
//! this the rule; (3) the last unpredictable branch (a binary search's compare, the end of its loop),
//! since the instructions after a mispredicted branch are discarded. A [`Change`](super::change::Change)
//! of the machine can lift (2) and (3): walks that take turns ([`Work::Walk`]) then don't depend on each
//! other's lines.
//!
//! # Not modelled
//! Instruction fetch (the loops fit the instruction cache), contention between the two caches, the order
//! of stores (except before an exchange). A read of several lines, by which a scan reports the entries
//! that it copies from a leaf, waits for all of them before the first is worked on.

use super::branches::{Branches, Depends};
use super::counters::Counters;
use super::directory::Set;
use super::hierarchy::Hierarchy;
use super::parameters::Parameters;
use super::prices::{Price, Prices};
use super::reorder::ReorderBuffer;
use super::translations::{Translated, Translations};
use latchless_core::mem::touch::Work;

/// Others lost a line to a write.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// The processors that lost it.
    pub from: Set,
    /// When it is the writer's.
    pub at: u64,
}

/// The search that a processor is within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    None,
    /// Its next step is another half: when it ends is a branch of its own.
    Halving,
    /// Keys are compared one after the other, or by vectors.
    Run,
}

impl Within {
    fn of(work: Work) -> Self {
        match work {
            Work::Probe => Self::Halving,
            Work::Compare(_) | Work::Vectors(_) | Work::Branch(_) => Self::Run,
            _ => Self::None,
        }
    }
}

/// One wrong guess.
const GUESS: u64 = 1 << 32;

/// 2^64 over the golden ratio: its multiples are spread evenly, whatever the number of guesses of a search.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// One modelled processor. Its caches are part of the hierarchy.
#[derive(Debug)]
pub struct Processor {
    /// Its number.
    number: usize,
    prices: Prices,
    /// The present, in slots.
    now: u64,
    /// The arrival of the last line that a read waited for.
    arrived: u64,
    /// The same before its last read.
    arrived_before: u64,
    /// When the last unpredictable branch was resolved.
    resolved: u64,
    /// When the last of its stores is done.
    stored: u64,
    /// The search that it is within.
    search: Within,
    /// The arrival of the last line that it waited for before that search.
    found: u64,
    /// Whether it is within a read of several lines that are requested in parallel.
    running: bool,
    branches: Branches,
    depends: Depends,
    /// How much of a wrong guess is due, in parts of [`GUESS`]. For [`Branches::WrongOnceIn`], a multiple of
    /// [`GOLDEN`].
    due: u64,
    reorder: ReorderBuffer,
    /// Whether prefetches wait for a miss handler.
    prefetches_wait: bool,
    translations: Option<Translations>,
    /// Slots by which translation delays the next access.
    late: u64,
    counters: Counters,
}

impl Processor {
    /// A processor at time 0. The parameters have been checked.
    pub fn new(number: usize, parameters: &Parameters) -> Self {
        Self {
            number,
            prices: parameters.prices,
            now: 0,
            arrived: 0,
            arrived_before: 0,
            resolved: 0,
            stored: 0,
            search: Within::None,
            found: 0,
            running: false,
            branches: parameters.branches,
            depends: parameters.depends,
            due: GUESS / 2,
            prefetches_wait: parameters.prefetches_wait,
            reorder: ReorderBuffer::new(parameters.reorder_buffer_instructions),
            translations: Translations::new(parameters),
            late: 0,
            counters: Counters::default(),
        }
    }

    /// Returns the parts of its time, and its own events; the hierarchy counts the others.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Its present, in slots.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sleeps until `moment`; the time isn't counted.
    pub fn skip_to(&mut self, moment: u64) {
        if moment > self.now {
            self.now = moment;
            self.reorder.graduate(0, moment);
        }
    }

    /// Has slept, waiting for a latch, until `moment`.
    pub fn wake(&mut self, moment: u64) {
        self.counters.wait_slots += moment.saturating_sub(self.now);
        self.skip_to(moment);
    }

    /// Everything in flight has landed. Takes no time.
    pub fn settle(&mut self) {
        self.arrived = self.arrived.min(self.now);
        self.stored = self.stored.min(self.now);
    }

    /// Does `work`.
    pub fn work(&mut self, work: Work) {
        if work == Work::Walk {
            // It isn't work, but the next address comes from none of the lines of the walk before.
            self.arrived = if self.depends == Depends::OnLastLine { self.arrived } else { 0 };
            return;
        }
        self.counters.visits += u64::from(work == Work::Visit);
        let search = Within::of(work);
        if self.search == Within::Halving && search != Within::Halving {
            self.spend(self.prices.of_search_exit());
            self.branch(2);
        }
        if self.search == Within::None && search != Within::None {
            // A search reports its first key before its first branch.
            let predicted = matches!(self.branches, Branches::Predicted | Branches::WrongOnceIn(_));
            self.found = if predicted { self.arrived_before } else { self.arrived };
        }
        self.search = search;
        self.spend(self.prices.of(work));
        match work {
            Work::Probe => self.branch(2),
            Work::Branch(ways) => self.branch(ways as u64),
            _ => {}
        }
        let starts_anew = match self.depends {
            Depends::OnLastLine => false,
            Depends::WithinOperation => work == Work::Operation,
            Depends::WithinVisit => matches!(work, Work::Operation | Work::Visit),
        };
        if starts_anew {
            self.arrived = 0;
        }
    }

    /// Looks up where `page` lies, before a read, a write or an exchange.
    pub fn translate(&mut self, page: u64) {
        let Some(translations) = &mut self.translations else { return };
        match translations.look_up(page) {
            Translated::AtHand => {}
            Translated::Second(slots) => {
                self.counters.second_translations += 1;
                self.late = slots;
            }
            Translated::Late(slots) => {
                self.counters.translation_misses += 1;
                self.late = slots;
            }
            Translated::Waits(slots) => {
                self.counters.translation_misses += 1;
                self.wait_until(self.now + slots);
            }
        }
    }

    /// The lines that are read from here on don't depend on each other.
    pub fn begin_run(&mut self) {
        if self.search == Within::None {
            self.found = self.arrived;
        }
        self.running = true;
    }

    /// The last of them was read.
    pub fn end_run(&mut self) {
        self.running = false;
    }

    /// Reads `line` and waits for it.
    pub fn read(&mut self, line: u64, hierarchy: &mut Hierarchy) {
        let asked = self.earliest_issue() + core::mem::take(&mut self.late);
        let ready = hierarchy.fetch(self.number, line, asked, false).ready;
        self.arrived_before = self.arrived;
        if ready > asked {
            self.arrived = self.arrived.max(ready);
        }
        self.wait_until(ready);
    }

    /// Writes to `line`; waits for a free miss handler only.
    pub fn write(&mut self, line: u64, hierarchy: &mut Hierarchy) -> Taken {
        let asked = self.now + core::mem::take(&mut self.late);
        let fetched = hierarchy.fetch(self.number, line, asked, true);
        self.stored = self.stored.max(fetched.ready);
        self.wait_until(fetched.started);
        Taken { from: fetched.lost_by, at: fetched.ready }
    }

    /// Reads and writes `line` in one locked step.
    pub fn exchange(&mut self, line: u64, hierarchy: &mut Hierarchy) -> Taken {
        self.counters.exchanges += 1;
        self.spend(self.prices.exchange);
        self.wait_until(self.stored);
        let asked = self.now + core::mem::take(&mut self.late);
        let fetched = hierarchy.fetch(self.number, line, asked, true);
        self.wait_until(fetched.ready);
        self.arrived = self.now;
        Taken { from: fetched.lost_by, at: fetched.ready }
    }

    /// Finds a latch held by another, and will retry.
    pub fn spin(&mut self) {
        self.counters.waits += 1;
        self.spend(self.prices.spin);
    }

    /// Prefetches `line`.
    pub fn prefetch(&mut self, line: u64, hierarchy: &mut Hierarchy) {
        hierarchy.count_prefetch(self.number);
        self.spend(self.prices.of_prefetches(1));
        let asked = self.earliest_issue();
        let fetched = hierarchy.fetch(self.number, line, asked, false);
        if self.prefetches_wait {
            self.wait_until(fetched.started);
        }
    }

    fn spend(&mut self, price: Price) {
        self.counters.busy_slots += price.busy;
        self.counters.other_stall_slots += price.other;
        self.now += price.busy + price.other;
        self.reorder.graduate(price.busy, self.now);
    }

    fn wait_until(&mut self, moment: u64) {
        if moment > self.now {
            self.counters.data_stall_slots += moment - self.now;
            self.now = moment;
            self.reorder.graduate(0, moment);
        }
    }

    /// A branch that can't be predicted, with that many ways. A guess is right once in as many times.
    fn branch(&mut self, ways: u64) {
        let wrong = match self.branches {
            Branches::Waited => true,
            Branches::HalfGuessed => {
                self.due += GUESS - GUESS / ways.max(1);
                let wrong = self.due >= GUESS;
                self.due -= if wrong { GUESS } else { 0 };
                wrong
            }
            Branches::WrongOnceIn(guesses) => {
                self.due = self.due.wrapping_add(GOLDEN);
                self.due < u64::MAX / guesses.max(1)
            }
            Branches::None | Branches::Predicted => false,
        };
        if !wrong {
            return;
        }
        self.counters.mispredictions += 1;
        if self.prices.misprediction.other > 0 {
            self.spend(self.prices.misprediction);
        }
        self.resolved = self.now;
    }

    fn earliest_issue(&self) -> u64 {
        // The next key depends on the branch, not on the last key's value: it isn't an address.
        let guessing = self.search != Within::None && self.branches != Branches::Waited;
        let address = if guessing || self.running { self.found } else { self.arrived };
        self.reorder.entered_at().max(address).max(self.resolved).min(self.now)
    }
}
