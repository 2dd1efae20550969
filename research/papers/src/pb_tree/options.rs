//! The options of the family's indexes.

use super::node::Placement;
use super::tree::ScanPrefetch;
use latchless_core::search::Kernel;

/// Construction options of an index of the family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The maximum memory of its nodes, in bytes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether nodes are on huge pages if the system offers them.
    pub huge_pages: bool,
    /// The in-node search kernel. `None`: the fastest that this processor has.
    pub kernel: Option<Kernel>,
    /// Leaves that a scan prefetches ahead: the paper's prefetch distance k (Eq. 2 gives 2 for its
    /// machine; its experiments use 3).
    pub scan_ahead_leaves: usize,
    /// A scan that expects fewer entries leaves jump pointers alone: prefetching that far ahead costs more
    /// at the start than so short a scan gains (§4.3 suggests 100). 0: every scan uses them.
    pub short_scan_entries: usize,
    /// Which of the leaves ahead jump pointers prefetch, and how much of them.
    pub scan_prefetch: ScanPrefetch,
    /// Where a bulk load places nodes.
    pub placement: Placement,
    /// The number of nodes that references can distinguish; `None`: 2^32 − 1. Tests make it tiny.
    pub node_references: Option<u32>,
}

impl Options {
    /// The paper's algorithm in scans (§3.3), without this family's exceptions from it: every scan uses
    /// jump pointers, for the next three leaves and all their lines.
    pub fn of_the_paper() -> Self {
        Self { short_scan_entries: 0, scan_prefetch: ScanPrefetch::Whole, ..Self::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit_bytes: None,
            huge_pages: true,
            kernel: None,
            scan_ahead_leaves: 3,
            short_scan_entries: 100,
            scan_prefetch: ScanPrefetch::Needed,
            placement: Placement::InOrder,
            node_references: None,
        }
    }
}
