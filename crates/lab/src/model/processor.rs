//! One processor: its clock, its caches, its miss handlers.
//!
//! # What is modelled
//! - **Reads** wait for their line. A load is issued as early as the reorder buffer, the data it
//!   depends on and the last unpredictable branch allow (see below), so part of a miss hides behind
//!   the work before it. What is left is a data stall.
//! - **Writes** don't wait (a store buffer holds them), unless every miss handler is taken. A
//!   missing line is fetched (write-allocate) and takes a handler and a memory access like a read's.
//! - **Prefetches** don't wait at all: one that finds every handler taken is kept in the memory
//!   system until one comes free (the paper's footnote 4).
//! - A dirty line that leaves the secondary cache takes one memory access to be written back,
//!   behind the fetch that evicts it. From the primary to the secondary cache write-backs are free:
//!   Table 2 gives no bandwidth between the two.
//! - The secondary cache includes the primary one, as on the R10000: what leaves it leaves both.
//!
//! # How early a load is issued
//! No earlier than (1) the moment it enters the reorder buffer; (2) the arrival of the last line
//! that this processor waited for, because its address may come from there: chasing pointers, which
//! is what trees do, makes this the rule; (3) the last branch that can't be predicted (a binary
//! search's compare, the end of its loop), since the instructions behind a mispredicted branch are
//! thrown away.
//!
//! # What isn't
//! Instruction fetch (the loops fit the instruction cache), address translation (Table 2 has none),
//! contention between the two caches, the order of stores. A read of several lines, which is how a
//! scan tells of the entries that it copies from a leaf, waits for all of them before the first is
//! worked on.

use super::cache::Cache;
use super::counters::Counters;
use super::memory::{Memory, MissHandlers};
use super::parameters::Parameters;
use super::prices::{Price, Prices};
use super::reorder::ReorderBuffer;
use latchless::mem::touch::Work;

/// When a line was asked for and when it is there, in slots.
#[derive(Debug, Clone, Copy)]
struct Fetched {
    started: u64,
    ready: u64,
}

/// One modelled processor with its private caches.
#[derive(Debug)]
pub struct Processor {
    prices: Prices,
    l2_latency: u64,
    /// The present, in slots.
    now: u64,
    /// The arrival of the last line that a read waited for.
    arrived: u64,
    /// When the last unpredictable branch was resolved.
    resolved: u64,
    /// Whether it is in the middle of a node's binary search.
    probing: bool,
    reorder: ReorderBuffer,
    handlers: MissHandlers,
    l1: Cache,
    l2: Cache,
    counters: Counters,
}

impl Processor {
    /// A processor with empty caches, at time 0. The parameters have been checked.
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            prices: parameters.prices,
            l2_latency: parameters.l2_latency_cycles * parameters.issue_width,
            now: 0,
            arrived: 0,
            resolved: 0,
            probing: false,
            reorder: ReorderBuffer::new(parameters.reorder_buffer_instructions),
            handlers: MissHandlers::new(parameters.miss_handlers),
            l1: Cache::new(parameters.l1),
            l2: Cache::new(parameters.l2),
            counters: Counters::default(),
        }
    }

    /// What it has done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Empties both caches, lets everything in flight land and forgets what was written. Takes no
    /// time.
    pub fn clear_caches(&mut self) {
        self.l1.clear();
        self.l2.clear();
        self.handlers.clear();
        self.arrived = self.arrived.min(self.now);
    }

    /// Does `work`.
    pub fn work(&mut self, work: Work) {
        let probes = Prices::is_unpredictable(work);
        if self.probing && !probes {
            self.spend(self.prices.of_search_exit());
            self.resolved = self.now;
        }
        self.probing = probes;
        self.spend(self.prices.of(work));
        if probes {
            self.resolved = self.now;
        }
    }

    /// Reads `line` and waits for it.
    pub fn read(&mut self, line: u64, memory: &mut Memory) {
        let asked = self.earliest_issue();
        let ready = self.fetch(line, asked, false, memory).ready;
        if ready > asked {
            self.arrived = self.arrived.max(ready);
        }
        self.wait_until(ready);
    }

    /// Writes to `line`; waits for a free miss handler only.
    pub fn write(&mut self, line: u64, memory: &mut Memory) {
        let fetched = self.fetch(line, self.now, true, memory);
        self.wait_until(fetched.started);
    }

    /// Asks for `line` ahead of use.
    pub fn prefetch(&mut self, line: u64, memory: &mut Memory) {
        self.counters.prefetches += 1;
        self.spend(self.prices.of_prefetches(1));
        let asked = self.earliest_issue();
        self.fetch(line, asked, false, memory);
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

    fn earliest_issue(&self) -> u64 {
        self.reorder.entered_at().max(self.arrived).max(self.resolved).min(self.now)
    }

    /// Brings `line` into the primary cache, asked for at `asked`.
    fn fetch(&mut self, line: u64, asked: u64, write: bool, memory: &mut Memory) -> Fetched {
        self.counters.l1_accesses += 1;
        if let Some(ready) = self.l1.access(line, write) {
            self.counters.late_reads += u64::from(ready > asked && !write);
            return Fetched { started: asked, ready: ready.max(asked) };
        }
        self.counters.l2_accesses += 1;
        let started = self.handlers.claim(asked);
        let ready = match self.l2.access(line, false) {
            Some(ready) => ready.max(started + self.l2_latency),
            None => self.fetch_from_memory(line, started, memory),
        };
        self.handlers.release_at(ready);
        if let Some(victim) = self.l1.fill(line, ready, write)
            && victim.dirty
        {
            self.l2.mark_dirty(victim.line);
        }
        Fetched { started, ready }
    }

    fn fetch_from_memory(&mut self, line: u64, at: u64, memory: &mut Memory) -> u64 {
        self.counters.memory_accesses += 1;
        let ready = memory.fetch(at);
        if let Some(victim) = self.l2.fill(line, ready, false) {
            let dirty_above = self.l1.invalidate(victim.line);
            if victim.dirty || dirty_above {
                self.counters.write_backs += 1;
                memory.write_back(at);
            }
        }
        ready
    }
}
