//! The memory-hierarchy model: what the paper's simulated machine would have taken, computed while
//! the real code runs.
//!
//! Structures made with the `model` feature tell every line that they read, write and prefetch to
//! the listening [`Sink`]. [`Listener`] is one: it passes all of it to a shared [`Machine`].
//!
//! | file | idea |
//! |---|---|
//! | `parameters` | Table 2 |
//! | `prices` | what instructions cost, and what that is calibrated on |
//! | `processor` | the clock; reads, writes, prefetches; what is modelled and what isn't |
//! | `reorder` | how early a load is issued |
//! | `cache`, `memory`, `pages` | the parts |
//!
//! The machine has one processor today. Processors are kept apart from what they share (memory,
//! pages), so that several of them can stand in front of one memory.

mod cache;
mod counters;
mod memory;
mod pages;
mod parameters;
mod prices;
mod processor;
mod reorder;
#[cfg(test)]
mod tests;

pub use counters::Counters;
pub use parameters::{CacheShape, PAGE_BYTES, Parameters};
pub use prices::{Price, Prices};

use crate::error::Result;
use latchless::mem::line::LINE_BYTES;
use latchless::mem::touch::{Sink, Work};
use memory::Memory;
use pages::Pages;
use processor::Processor;
use std::cell::RefCell;
use std::rc::Rc;

/// A modelled machine.
#[derive(Debug)]
pub struct Machine {
    parameters: Parameters,
    pages: Pages,
    memory: Memory,
    processor: Processor,
    running: bool,
}

impl Machine {
    /// A machine with empty caches whose clock stands. It only learns which pages there are until
    /// [`Machine::start`] is called.
    ///
    /// # Errors
    /// When there can't be such a machine.
    pub fn new(parameters: Parameters) -> Result<Self> {
        parameters.check()?;
        let slots = |cycles: u64| cycles * parameters.issue_width;
        Ok(Self {
            parameters,
            pages: Pages::new(),
            memory: Memory::new(
                slots(parameters.memory_latency_cycles),
                slots(parameters.memory_interval_cycles),
            ),
            processor: Processor::new(&parameters),
            running: false,
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

    /// Empties the caches and lets everything in flight land, at no cost in time: the paper's cold
    /// cache.
    pub fn clear_caches(&mut self) {
        self.processor.clear_caches();
        self.memory.settle();
    }

    /// What the processor has done since the machine was made.
    pub fn counters(&self) -> Counters {
        self.processor.counters()
    }

    /// Slots as cycles of this machine.
    pub fn cycles(&self, slots: u64) -> f64 {
        slots as f64 / self.parameters.issue_width as f64
    }

    /// How many pages have been touched, each of [`PAGE_BYTES`].
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    fn for_each_line(&mut self, at: usize, bytes: usize, act: fn(&mut Processor, u64, &mut Memory)) {
        if bytes == 0 {
            return;
        }
        let (first, last) = (at / LINE_BYTES, at.saturating_add(bytes - 1) / LINE_BYTES);
        for line in first..=last {
            let line = self.pages.translate(line * LINE_BYTES) / LINE_BYTES as u64;
            if self.running {
                act(&mut self.processor, line, &mut self.memory);
            }
        }
    }
}

impl Sink for Machine {
    fn read(&mut self, at: usize, bytes: usize) {
        self.for_each_line(at, bytes, Processor::read);
    }

    fn write(&mut self, at: usize, bytes: usize) {
        self.for_each_line(at, bytes, Processor::write);
    }

    fn prefetch(&mut self, at: usize, bytes: usize) {
        self.for_each_line(at, bytes, Processor::prefetch);
    }

    fn work(&mut self, work: Work) {
        if self.running {
            self.processor.work(work);
        }
    }
}

/// A shared handle to a machine, to listen with and to look at it afterwards.
///
/// ```
/// use latchless::mem::touch::{Modelled, Touch, listen};
/// use latchless_lab::model::{Listener, Machine, Parameters};
///
/// let machine = Listener::new(Machine::new(Parameters::PB_TREE).unwrap());
/// let lane = [0u8; 4];
/// listen(Box::new(machine.clone()), || {
///     machine.with(Machine::start);
///     Modelled::read(lane.as_ptr(), 4);
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

    /// Looks at the machine, or tells it something.
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

    fn work(&mut self, work: Work) {
        self.0.borrow_mut().work(work);
    }
}
