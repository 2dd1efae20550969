//! The locations of misses: the phase of a batch, and the kind of data.
//!
//! A batch walks first and serves then (Spiderman, §3.1). A walk reports its start by [`Work::Walk`], and
//! a request that is served by [`Work::Serve`]. The caller gives the kind of data at an address as a
//! number.

use latchless_core::mem::touch::Work;

/// The maximum number of kinds of data.
pub const KINDS_MAX: usize = 8;

/// Returns the kind of data at an address, below [`KINDS_MAX`].
pub type KindOf = Box<dyn Fn(usize) -> usize>;

/// The phase of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// It leads the walks of a batch.
    Walk,
    /// It serves requests.
    #[default]
    Serve,
}

/// Lines that were served by memory or another processor's cache, and the time of waiting for data.
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
    /// Creates zero counts, for that many processors.
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

    /// Returns the count for `processor`'s phase and the kind of data at `address`.
    pub fn at(&mut self, processor: usize, address: usize) -> &mut Missed {
        let kind = (self.kind_of)(address).min(KINDS_MAX - 1);
        &mut self.counts[self.phases[processor] as usize][kind]
    }

    /// Returns all counts, by phase and kind.
    pub fn counts(&self) -> &[[Missed; KINDS_MAX]; 2] {
        &self.counts
    }

    /// Returns the count of a phase and a kind.
    pub fn of(&self, phase: Phase, kind: usize) -> Missed {
        self.counts[phase as usize].get(kind).copied().unwrap_or_default()
    }
}

impl core::fmt::Debug for Misses {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Misses").field("counts", &self.counts).finish_non_exhaustive()
    }
}
