//! Several processors: how many there are, and what sharing costs.

use super::directory::PROCESSORS_MAX;
use crate::error::{LabError, Result};

/// The most nodes of a machine.
pub const NODES_MAX: usize = 8;

/// Which node a page is put onto, or a line where lines have numbers of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// The node of the processor that touches it first.
    #[default]
    FirstTouch,
    /// One node after the other.
    Interleaved,
}

/// How many processors a machine has, and what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// Processors, each with its own caches: 1 to 64.
    pub processors: usize,
    /// Nodes, each with its own memory: 1 to 8, no more than processors. The processors are dealt out
    /// in their order, the same number to each as far as that goes.
    pub nodes: usize,
    /// Where pages are put unless they are placed by hand.
    pub placement: Placement,
    /// From a miss in the primary cache to the line's arrival from another processor's cache.
    pub transfer_latency_cycles: u64,
    /// From a write to a line that others hold as well to its end: the others have lost it.
    pub upgrade_latency_cycles: u64,
    /// What it takes longer if another node has the line.
    pub remote_latency_cycles: u64,
    /// How long a processor that waits for a latch sleeps at most before it looks again.
    pub wait_cycles: u64,
}

impl System {
    /// One processor. What sharing costs doesn't matter.
    pub const ALONE: Self = Self {
        processors: 1,
        nodes: 1,
        placement: Placement::FirstTouch,
        transfer_latency_cycles: 0,
        upgrade_latency_cycles: 0,
        remote_latency_cycles: 0,
        wait_cycles: 10_000,
    };

    /// Refuses what can't be built.
    ///
    /// # Errors
    /// [`LabError::Machine`].
    pub fn check(&self) -> Result<()> {
        let refuse = |what| Err(LabError::Machine { what });
        match self {
            _ if !(1..=PROCESSORS_MAX).contains(&self.processors) => refuse("it has 1 to 64 processors"),
            _ if !(1..=NODES_MAX).contains(&self.nodes) => refuse("it has 1 to 8 nodes"),
            _ if self.nodes > self.processors => refuse("every node has a processor"),
            _ if self.wait_cycles == 0 => refuse("who waits must sleep"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_machines_that_cannot_be_built() {
        System::ALONE.check().unwrap();
        System { processors: 64, nodes: 8, ..System::ALONE }.check().unwrap();
        for broken in [
            System { processors: 0, ..System::ALONE },
            System { processors: 65, ..System::ALONE },
            System { nodes: 0, ..System::ALONE },
            System { processors: 16, nodes: 9, ..System::ALONE },
            System { processors: 3, nodes: 4, ..System::ALONE },
            System { wait_cycles: 0, ..System::ALONE },
        ] {
            assert!(matches!(broken.check(), Err(LabError::Machine { .. })), "{broken:?}");
        }
    }
}
