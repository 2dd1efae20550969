//! Where misses are: in which phase of a batch, and at what.
//!
//! A batch walks first and serves then (Spiderman, §3.1). A walk says that it begins by [`Work::Walk`], and
//! a request that is served by [`Work::Serve`]. What is at an address the caller says, by a number.

use latchless_core::mem::touch::Work;

/// How many kinds of things addresses are sorted by.
pub const KINDS_MAX: usize = 8;

/// Which kind of thing is at an address, below [`KINDS_MAX`].
pub type KindOf = Box<dyn Fn(usize) -> usize>;

/// What a processor is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// It leads the walks of a batch.
    Walk,
    /// It serves requests.
    #[default]
    Serve,
}

/// Lines that came from memory or another processor's cache, and what waiting for data took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Missed {
    /// Lines that reads and writes fetched.
    pub demanded: u64,
    /// Lines that prefetches fetched.
    pub prefetched: u64,
    /// Slots in which reads and writes waited, whatever had the line.
    pub stall_slots: u64,
}

/// Misses by phase and kind.
pub struct Misses {
    kind_of: KindOf,
    /// By processor.
    phases: Vec<Phase>,
    counts: [[Missed; KINDS_MAX]; 2],
}

impl Misses {
    /// None yet, of so many processors.
    pub fn new(processors: usize, kind_of: KindOf) -> Self {
        Self { kind_of, phases: vec![Phase::default(); processors], counts: Default::default() }
    }

    /// `processor` does `work`: it may begin a phase.
    pub fn hear(&mut self, processor: usize, work: Work) {
        match work {
            Work::Walk => self.phases[processor] = Phase::Walk,
            Work::Serve => self.phases[processor] = Phase::Serve,
            _ => {}
        }
    }

    /// What was counted for `processor`'s phase and what is at `address`.
    pub fn at(&mut self, processor: usize, address: usize) -> &mut Missed {
        let kind = (self.kind_of)(address).min(KINDS_MAX - 1);
        &mut self.counts[self.phases[processor] as usize][kind]
    }

    /// All that was counted, by phase and kind.
    pub fn counts(&self) -> &[[Missed; KINDS_MAX]; 2] {
        &self.counts
    }

    /// What was counted in a phase for a kind.
    pub fn of(&self, phase: Phase, kind: usize) -> Missed {
        self.counts[phase as usize].get(kind).copied().unwrap_or_default()
    }
}

impl core::fmt::Debug for Misses {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Misses").field("counts", &self.counts).finish_non_exhaustive()
    }
}
