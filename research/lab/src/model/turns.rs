//! Turns: processors that run together take turns by their clocks.
//!
//! The processor with the earliest clock runs, until its next step is visible to others and its clock has
//! passed another's. So accesses happen in the order of the modelled time, whatever this machine does, and
//! two runs are the same to the last access.
//!
//! A processor that waits for a latch sleeps until the latch's line is taken from its cache, like one that
//! spins in its own cache, or for a bounded time. If processors wait again and again and none of them
//! touches anything else in between, they wait for latches that will never be released: a bug. A long wait
//! of one processor while others proceed isn't a bug: unfair latches can starve it, and here, where
//! everything repeats itself, they do.

use super::processor::{Processor, Taken};

/// The number of consecutive waits, without any other step, after which processors count as stuck.
const PATIENCE_WAITS: u32 = 100_000;
/// The clock of a finished processor, after all others.
const DONE: u64 = u64::MAX;

/// The object of a processor's wait.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    line: u64,
    asleep: bool,
}

/// The order in which processors run.
#[derive(Debug, Default)]
pub struct Turns {
    /// The time at which each processor continues; for the running one, the time at which it started.
    clocks: Vec<u64>,
    waiting: Vec<Option<Waiting>>,
    /// The number of waits since the last other step.
    waits_in_a_row: u32,
    current: usize,
    /// The earliest clock of the others.
    horizon: u64,
    stuck: Option<usize>,
}

impl Turns {
    /// Creates turns for that many processors, which all start at `start`.
    pub fn new(processors: usize, start: u64) -> Self {
        Self {
            clocks: vec![start; processors],
            waiting: vec![None; processors],
            waits_in_a_row: 0,
            current: 0,
            horizon: start,
            stuck: None,
        }
    }

    /// The next to run: the earliest, of equals the first. `None` when all are done. If it
    /// slept, it wakes up. O(processors).
    pub fn next(&mut self, processors: &mut [Processor]) -> Option<usize> {
        let (next, &clock) = self.clocks.iter().enumerate().min_by_key(|&(_, &clock)| clock)?;
        if clock == DONE {
            return None;
        }
        let others = self.clocks.iter().enumerate().filter(|&(other, _)| other != next);
        self.horizon = others.map(|(_, &clock)| clock).min().unwrap_or(DONE);
        self.current = next;
        if let Some(waiting) = self.waiting[next].as_mut().filter(|waiting| waiting.asleep) {
            waiting.asleep = false;
            processors[next].wake(clock);
        }
        Some(next)
    }

    /// Returns whether another processor goes first, before the running one takes a step that is visible
    /// to others.
    pub fn is_over(&self, now: u64) -> bool {
        now > self.horizon || self.stuck.is_some() || self.is_asleep()
    }

    fn is_asleep(&self) -> bool {
        self.waiting[self.current].is_some_and(|waiting| waiting.asleep)
    }

    /// The processor that ran continues at `now`, unless it sleeps.
    pub fn suspend(&mut self, now: u64) {
        if !self.is_asleep() {
            self.clocks[self.current] = now;
        }
    }

    /// The one that ran is done.
    pub fn finish(&mut self) {
        self.clocks[self.current] = DONE;
    }

    /// The one that runs touches `line`.
    pub fn touches(&mut self, line: u64) {
        let waiting = &mut self.waiting[self.current];
        if waiting.is_none_or(|waiting| waiting.line != line) {
            *waiting = None;
            self.waits_in_a_row = 0;
        }
    }

    /// The one that runs waits for `line`: asleep until it is taken from it, or until that moment; or
    /// awake, because it has been taken already.
    pub fn wait(&mut self, line: u64, asleep_until: Option<u64>) {
        self.waiting[self.current] = Some(Waiting { line, asleep: asleep_until.is_some() });
        self.waits_in_a_row += 1;
        if let Some(moment) = asleep_until {
            self.clocks[self.current] = moment;
        }
        if self.waits_in_a_row >= PATIENCE_WAITS {
            self.stuck = Some(self.current);
        }
    }

    /// Records that `line` was taken: the processors that sleep because of it continue at that moment.
    pub fn taken(&mut self, line: u64, taken: Taken, processors: &mut [Processor]) {
        for sleeper in super::directory::members(taken.from) {
            let Some(waiting) = self.waiting.get_mut(sleeper).and_then(Option::as_mut) else { continue };
            if waiting.asleep && waiting.line == line {
                waiting.asleep = false;
                processors[sleeper].wake(taken.at);
                self.clocks[sleeper] = processors[sleeper].now();
                self.horizon = self.horizon.min(self.clocks[sleeper]);
            }
        }
    }

    /// The processor that waits for what won't come, if there is one.
    pub fn stuck(&self) -> Option<usize> {
        self.stuck
    }

    /// The one that runs.
    pub fn current(&self) -> usize {
        self.current
    }
}
