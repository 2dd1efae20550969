//! The options of a skip list.

use super::lanes::LaneOptions;
use super::link::LINKED_NODES_MAX;
use crate::error::{Error, Result};
use latchless_core::search::Kernel;

/// The maximum size of the highest lane: half of a small first-level cache.
const TOP_LANE_BYTES: usize = 16 << 10;
/// The same if lanes cover one stretch of keys each: then the cache holds the table of stretches, and
/// lanes are added until one fits two cache lines.
const TOP_LANE_OF_PART_BYTES: usize = 128;
/// The default number of entries in one stretch.
pub(super) const PART_KEYS: usize = 1 << 14;
/// The fewest inserts before lanes are rebuilt.
const ROOM_MIN: usize = 64;

/// Construction options of a skip list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The number of elements of a lane per element of the lane above: the paper's 1/p, 2 to 2^20.
    pub skip: usize,
    /// The number of fast lanes, 1 to 32, or fewer if one has a single key before; `None`: until the
    /// highest fits a first-level cache (§5).
    pub lanes: Option<usize>,
    /// The approximate number of entries with separate lanes, which are rebuilt without the others, at
    /// least 1; `None`: all, in one array, as in the paper.
    pub part_keys: Option<usize>,
    /// The excess of t over n after lanes are built, in percent (§3): after that many inserts the lanes
    /// are rebuilt.
    pub growth_percent: usize,
    /// Whether updates rebuild lanes when it is time; otherwise the owner does.
    pub rebuild_automatically: bool,
    /// The maximum memory of nodes and lanes, in bytes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether a small table, which the paper doesn't have, predicts the position of a key in lane 1:
    /// searches then wait for less memory if keys are evenly distributed, and cost the same otherwise.
    pub guess: bool,
    /// Whether nodes and large lanes are on huge pages if the system offers them.
    pub huge_pages: bool,
    /// The search kernel; `None`: the fastest that this processor has. [`Kernel::Scalar`] shows what SIMD
    /// is worth.
    pub kernel: Option<Kernel>,
    /// The number of nodes that references can distinguish, 1 to 2^29 − 1; `None`: 2^29 − 1. Tests make it
    /// tiny.
    pub node_references: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            skip: 5,
            lanes: None,
            part_keys: Some(PART_KEYS),
            growth_percent: 25,
            rebuild_automatically: true,
            limit_bytes: None,
            guess: true,
            huge_pages: true,
            kernel: None,
            node_references: None,
        }
    }
}

impl Options {
    /// Refuses settings that make no sense.
    pub(super) fn check(&self) -> Result<()> {
        self.lanes(0).checked()?;
        Error::check_setting("part_keys", self.part_keys.unwrap_or(1), 1..=usize::MAX)?;
        let references = self.node_references.unwrap_or(LINKED_NODES_MAX);
        Error::check_setting("node_references", references as usize, 1..=LINKED_NODES_MAX as usize)
    }

    /// Returns the options of lanes over `len` entries.
    pub(super) fn lanes(&self, len: usize) -> LaneOptions {
        let top_lane_bytes = match self.part_keys {
            Some(most) if len > most / 4 => TOP_LANE_OF_PART_BYTES,
            _ => TOP_LANE_BYTES,
        };
        LaneOptions {
            skip: self.skip,
            lanes: self.lanes,
            top_lane_bytes,
            guess: self.guess,
            huge_pages: self.huge_pages,
        }
    }

    /// Inserts after which lanes over `len` entries are rebuilt.
    pub(super) fn room(&self, len: usize) -> usize {
        (len / 100).saturating_mul(self.growth_percent).max(ROOM_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_by_a_fixed_fraction() {
        let options = Options { growth_percent: 10, ..Options::default() };
        assert_eq!([0, 1_000, 100_000].map(|len| options.room(len)), [64, 100, 10_000]);
    }
}
