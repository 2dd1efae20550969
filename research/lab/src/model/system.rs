//! Several processors: their number, and the cost of sharing.

use super::directory::PROCESSORS_MAX;
use crate::error::{LabError, Result};
use serde::Serialize;

/// The most nodes of a machine.
pub const NODES_MAX: usize = 8;

/// The node on which a page is placed, or a line if lines have separate numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Placement {
    /// The node of the processor that touches it first.
    #[default]
    FirstTouch,
    /// One node after the other.
    Interleaved,
}

/// The number of a machine's processors, and what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct System {
    /// Processors, each with its own caches: 1 to 64.
    pub processors: usize,
    /// Nodes, each with its own memory: 1 to 8, no more than processors. The processors are assigned in
    /// their order, the same number to each as far as possible.
    pub nodes: usize,
    /// The placement of pages that aren't placed explicitly.
    pub placement: Placement,
    /// The time from a miss in the primary cache to the line's arrival from another processor's cache.
    pub transfer_latency_cycles: u64,
    /// The time of a write to a line that others hold as well, until their copies are invalidated.
    pub upgrade_latency_cycles: u64,
    /// The additional time if another node has the line.
    pub remote_latency_cycles: u64,
    /// The maximum sleep of a processor that waits for a latch before it retries.
    pub wait_cycles: u64,
}

impl System {
    /// One processor. The cost of sharing doesn't matter.
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
