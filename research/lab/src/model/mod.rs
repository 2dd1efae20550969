//! The memory-hierarchy model: computes the time that the paper's simulated machine would have taken,
//! while the real code runs.
//!
//! Structures made with the `model` feature report every line that they read, write and prefetch to the
//! listening [`Sink`]. [`Listener`] is one: it passes the reports to a shared [`Machine`].
//!
//! | file | idea |
//! |---|---|
//! | `parameters`, `machines`, `system` | Table 2; other machines; several processors |
//! | `change` | one thing that is unlike the paper's machine |
//! | `branches` | how branches of a search are treated, and on what loads depend |
//! | `prices` | the cost of instructions, and its calibration |
//! | `processor` | the clock; reads, writes, prefetches; the parts that are modelled |
//! | `reorder` | how early a load is issued |
//! | `hierarchy` | the path of a line, and its time |
//! | `cache`, `memory`, `pages`, `homes`, `streams`, `translations` | its parts |
//! | `described` | the machines that a run built, for the heads of results |
//! | `misses` | misses by phase of a batch and kind of data |
//! | `directory` | the holders of each line, for coherent private caches |
//! | `turns`, `suspend`, `together` | several processors on one thread, in the order of the modelled time |
//!
//! A machine has one processor or several, which [`Listener::together`] runs. They differ from one only
//! there: a single processor takes no turns, and shares no line.

mod branches;
mod cache;
mod change;
mod counters;
mod described;
mod directory;
mod hierarchy;
mod homes;
mod machines;
mod memory;
mod misses;
mod pages;
mod parameters;
mod prices;
mod processor;
mod reorder;
mod streams;
mod suspend;
mod system;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_cssl;
#[cfg(test)]
mod tests_together;
mod together;
mod translations;
mod turns;

pub use branches::{Branches, Depends};
pub use change::Change;
pub use counters::Counters;
pub(crate) use described::{built, described};
pub use directory::PROCESSORS_MAX;
pub use misses::{KINDS_MAX, KindOf, Missed, Misses, Phase};
pub use parameters::{
    CacheShape, Granule, PAGE_BYTES, Parameters, SecondTranslation, SharedCache, StreamShape, Translation,
};
pub use prices::{Price, Prices};
pub use system::{NODES_MAX, Placement, System};
pub use together::Worker;

use crate::error::{LabError, Result};
use core::ops::Range;
use hierarchy::Hierarchy;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::touch::{Sink, Work};
use pages::{Numbers, Pages};
use processor::{Processor, Taken};
use std::cell::RefCell;
use std::rc::Rc;
use turns::Turns;

/// A modelled machine.
#[derive(Debug)]
pub struct Machine {
    parameters: Parameters,
    pages: Pages,
    hierarchy: Hierarchy,
    processors: Vec<Processor>,
    /// The processor that works while none take turns.
    acting: usize,
    running: bool,
    /// Processors that run together.
    turns: Option<Turns>,
    misses: Option<Misses>,
}

/// An access to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Prefetch,
    Exchange,
}

impl Machine {
    /// A machine with empty caches whose clocks don't advance. It only learns which pages there are until
    /// [`Machine::start`] is called.
    ///
    /// # Errors
    /// When there can't be such a machine.
    pub fn new(parameters: Parameters) -> Result<Self> {
        parameters.check()?;
        described::note(parameters);
        let processors = 0..parameters.system.processors;
        Ok(Self {
            parameters,
            pages: Pages::new(parameters.granule),
            hierarchy: Hierarchy::new(&parameters),
            processors: processors.map(|number| Processor::new(number, &parameters)).collect(),
            acting: 0,
            running: false,
            turns: None,
            misses: None,
        })
    }

    /// From here on everything takes time.
    pub fn start(&mut self) {
        self.running = true;
    }

    /// From here on nothing takes time, and touches only number the pages.
    pub fn stop(&mut self) {
        self.running = false;
    }

    /// From here on misses are sorted by phase and by the kind of data at their addresses; earlier counts
    /// are discarded.
    pub fn sort_misses(&mut self, kind_of: KindOf) {
        self.misses = Some(Misses::new(self.processors.len(), kind_of));
    }

    /// Misses by phase and kind, since [`Machine::sort_misses`].
    pub fn misses(&self) -> Option<&Misses> {
        self.misses.as_ref()
    }

    /// Outside of [`Listener::together`], assigns the accesses from here on to this processor; at first to
    /// processor 0. So structures that belong to a node are built there.
    ///
    /// # Errors
    /// [`LabError::Machine`] if there is no such processor.
    pub fn act_as(&mut self, processor: usize) -> Result<()> {
        if processor >= self.processors.len() {
            return Err(LabError::Machine { what: "it has no such processor" });
        }
        self.acting = processor;
        Ok(())
    }

    /// Puts all lines of an address range onto `node`, whichever processor touches them; where pages
    /// have numbers, all lines of its pages.
    ///
    /// # Errors
    /// [`LabError::Machine`] if there is no such node.
    pub fn place(&mut self, addresses: Range<usize>, node: usize) -> Result<()> {
        if node >= self.parameters.system.nodes {
            return Err(LabError::Machine { what: "it has no such node" });
        }
        for at in (addresses.start / LINE_BYTES * LINE_BYTES..addresses.end).step_by(LINE_BYTES) {
            let line = self.settle(at).line;
            self.hierarchy.homes.move_line(line, node);
        }
        Ok(())
    }

    /// Empties the caches, at no cost in time: the paper's cold cache. Lines in flight are lost, but memory
    /// still delivers them: they keep their miss handlers and their accesses.
    pub fn clear_caches(&mut self) {
        self.hierarchy.clear();
        self.processors.iter_mut().for_each(Processor::settle);
    }

    /// Returns the events of its processors since the machine was made, in total.
    pub fn counters(&self) -> Counters {
        let each = (0..self.processors.len()).map(|number| self.counters_of(number));
        each.fold(Counters::default(), |sum, one| sum + one)
    }

    /// Returns the events of one processor since the machine was made; zero for one that doesn't exist.
    pub fn counters_of(&self, processor: usize) -> Counters {
        let processor = self.processors.get(processor).map(|found| (processor, found.counters()));
        processor.map_or(Counters::default(), |(number, own)| own + self.hierarchy.counters(number))
    }

    /// The latest clock, in slots since the machine was made.
    pub fn now_slots(&self) -> u64 {
        self.processors.iter().map(Processor::now).max().unwrap_or(0)
    }

    /// Slots as cycles of this machine.
    pub fn cycles(&self, slots: u64) -> f64 {
        slots as f64 / self.parameters.issue_width as f64
    }

    /// Slots as seconds of this machine.
    pub fn seconds(&self, slots: u64) -> f64 {
        self.cycles(slots) / (self.parameters.clock_mhz as f64 * 1e6)
    }

    /// Returns its parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the number of touched pages, each of [`PAGE_BYTES`].
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    fn current(&self) -> usize {
        self.turns.as_ref().map_or(self.acting, Turns::current)
    }

    /// Returns the place of `address`, which the working processor touches now.
    fn settle(&mut self, address: usize) -> Numbers {
        let place = self.pages.translate(address);
        self.hierarchy.homes.settle(place.line, self.current());
        place
    }

    fn touch(&mut self, at: usize, bytes: usize, access: Access) {
        if bytes == 0 {
            return;
        }
        let (first, last) = (at / LINE_BYTES, at.saturating_add(bytes - 1) / LINE_BYTES);
        let current = self.current();
        let side_by_side = self.parameters.runs_overlap && access == Access::Read && last > first;
        if side_by_side {
            self.processors[current].begin_run();
        }
        for line in first..=last {
            let place = self.settle(line * LINE_BYTES);
            if !self.running {
                continue;
            }
            let before = self.misses.is_some().then(|| self.counters_of(self.current()));
            self.touch_line(place, access);
            if let Some(before) = before {
                self.sort_miss(at.max(line * LINE_BYTES), access, before);
            }
        }
        self.processors[current].end_run();
    }

    /// Counts what an access missed, given what its processor had counted before.
    fn sort_miss(&mut self, address: usize, access: Access, before: Counters) {
        let current = self.current();
        let more = self.counters_of(current) - before;
        let Some(misses) = &mut self.misses else { return };
        let missed = misses.at(current, address);
        match access {
            Access::Prefetch => missed.prefetched += more.memory_accesses,
            _ => missed.demanded += more.memory_accesses,
        }
        missed.stall_slots += more.data_stall_slots;
    }

    fn touch_line(&mut self, Numbers { line, page }: Numbers, access: Access) {
        const NOTHING: Taken = Taken { from: 0, at: 0 };
        let current = self.current();
        let (processor, hierarchy) = (&mut self.processors[current], &mut self.hierarchy);
        if access != Access::Prefetch {
            processor.translate(page);
        }
        let taken = match access {
            Access::Read => {
                processor.read(line, hierarchy);
                NOTHING
            }
            Access::Prefetch => {
                processor.prefetch(line, hierarchy);
                NOTHING
            }
            Access::Write => processor.write(line, hierarchy),
            Access::Exchange => processor.exchange(line, hierarchy),
        };
        if let Some(turns) = &mut self.turns {
            turns.touches(line);
            if taken.from != 0 {
                turns.taken(line, taken, &mut self.processors);
            }
        }
    }
}

/// The operations that [`Listener::together`] uses.
impl Machine {
    fn begin_together(&mut self, workers: usize) -> Result<()> {
        if self.turns.is_some() {
            return Err(LabError::Machine { what: "its processors run together already" });
        }
        if workers > self.processors.len() {
            return Err(LabError::Machine { what: "every worker has a processor" });
        }
        let start = self.now_slots();
        self.processors.iter_mut().for_each(|processor| processor.skip_to(start));
        self.turns = Some(Turns::new(workers, start));
        Ok(())
    }

    fn next_turn(&mut self) -> Option<usize> {
        self.turns.as_mut()?.next(&mut self.processors)
    }

    fn suspend_turn(&mut self) -> Result<()> {
        let Some(turns) = &mut self.turns else { return Ok(()) };
        turns.suspend(self.processors[turns.current()].now());
        turns.stuck().map_or(Ok(()), |processor| Err(LabError::Stuck { processor }))
    }

    fn finish_turn(&mut self) {
        if let Some(turns) = &mut self.turns {
            turns.finish();
        }
    }

    fn end_together(&mut self) {
        self.turns = None;
    }
}

impl Sink for Machine {
    fn read(&mut self, at: usize, bytes: usize) {
        self.touch(at, bytes, Access::Read);
    }

    fn write(&mut self, at: usize, bytes: usize) {
        self.touch(at, bytes, Access::Write);
    }

    fn prefetch(&mut self, at: usize, bytes: usize) {
        self.touch(at, bytes, Access::Prefetch);
    }

    fn exchange(&mut self, at: usize) {
        self.touch(at, 1, Access::Exchange);
    }

    /// A processor that no longer has the line retries at once: it was written since.
    fn wait(&mut self, at: usize) {
        let line = self.settle(at).line;
        if !self.running {
            return;
        }
        let current = self.current();
        self.processors[current].spin();
        if let Some(turns) = &mut self.turns {
            let longest = self.parameters.system.wait_cycles * self.parameters.issue_width;
            let until = self.processors[current].now() + longest;
            turns.wait(line, self.hierarchy.holds(current, line).then_some(until));
        }
    }

    fn work(&mut self, work: Work) {
        let current = self.current();
        if let Some(misses) = &mut self.misses {
            misses.hear(current, work);
        }
        // The start of the second phase isn't work.
        if self.running && work != Work::Serve {
            self.processors[current].work(work);
        }
    }

    fn worker(&self) -> Option<usize> {
        self.turns.as_ref().map(Turns::current)
    }

    fn pause(&mut self) -> Option<fn()> {
        let turns = self.turns.as_ref()?;
        turns.is_over(self.processors[turns.current()].now()).then_some(suspend::suspend)
    }
}

/// A shared handle to a machine, which listens to a structure and gives access to the machine afterwards.
///
/// ```
/// use latchless_core::mem::touch::{Traced, Trace, listen};
/// use latchless_lab::model::{Listener, Machine, Parameters};
///
/// let machine = Listener::new(Machine::new(Parameters::PB_TREE).unwrap());
/// let lane = [0u8; 4];
/// listen(Box::new(machine.clone()), || {
///     machine.with(Machine::start);
///     Traced::read(lane.as_ptr(), 4);
/// });
/// let stalled = machine.with(|machine| machine.cycles(machine.counters().data_stall_slots));
/// assert_eq!(stalled, 150.0);
/// ```
#[derive(Debug, Clone)]
pub struct Listener(Rc<RefCell<Machine>>);

impl Listener {
    /// A handle to `machine`.
    pub fn new(machine: Machine) -> Self {
        Self(Rc::new(RefCell::new(machine)))
    }

    /// Calls `act` with the machine.
    pub fn with<R>(&self, act: impl FnOnce(&mut Machine) -> R) -> R {
        act(&mut self.0.borrow_mut())
    }
}

impl Sink for Listener {
    fn read(&mut self, at: usize, bytes: usize) {
        self.0.borrow_mut().read(at, bytes);
    }

    fn write(&mut self, at: usize, bytes: usize) {
        self.0.borrow_mut().write(at, bytes);
    }

    fn prefetch(&mut self, at: usize, bytes: usize) {
        self.0.borrow_mut().prefetch(at, bytes);
    }

    fn exchange(&mut self, at: usize) {
        self.0.borrow_mut().exchange(at);
    }

    fn wait(&mut self, at: usize) {
        self.0.borrow_mut().wait(at);
    }

    fn work(&mut self, work: Work) {
        self.0.borrow_mut().work(work);
    }

    fn worker(&self) -> Option<usize> {
        self.0.borrow().worker()
    }

    fn pause(&mut self) -> Option<fn()> {
        self.0.borrow_mut().pause()
    }
}
