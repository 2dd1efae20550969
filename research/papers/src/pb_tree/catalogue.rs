//! The members of the family by name, built as trait objects.

use super::map::PbTree;
use crate::common::catalogue::members;
use crate::error::Result;
use crate::pb_tree::node::{External, Form, Grouped, Internal, Placement, Plain, Shaped, Sweeping};
use crate::pb_tree::tree::ScanPrefetch;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Trace};
use latchless_core::search::Kernel;

members! {
    boxed;
    BPlus "b-plus" false, "B+-Tree, one-line nodes, no prefetch" => Plain<1>;
    P2 "p2" false, "pB+-Tree, two-line nodes, prefetched whole" => Plain<2>;
    P4 "p4" false, "pB+-Tree, four-line nodes" => Plain<4>;
    P8 "p8" false, "pB+-Tree, eight-line nodes: the paper's best width" => Plain<8>;
    P16 "p16" false, "pB+-Tree, sixteen-line nodes" => Plain<16>;
    P8External "p8e" false, "p8 with an external jump-pointer array for scans" => External<8>;
    P8Internal "p8i" false, "p8 with an internal jump-pointer array for scans" => Internal<8>;
    /// The paper hasn't got it, but it has the best width on processors that fetch more lines at once than
    /// the paper's machine did.
    P16Internal "p16i" false, "p16 with an internal jump-pointer array for scans" => Internal<16>;
    P8Sweep "p8-sweep" false, "p8 whose scans sweep the root-to-leaf path ahead of themselves" => Sweeping<8>;
    Csb "csb" false, "CSB+-Tree: one-line nodes, children in one group" => Grouped<1>;
    P8Csb "p8-csb" false, "CSB+-Tree with eight-line nodes, prefetched whole" => Grouped<8>;
}

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

/// An empty index of the family.
///
/// # Errors
/// [`Error::KernelUnavailable`](latchless_core::base::error::Error::KernelUnavailable), or when memory is
/// refused.
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_traced::<K, V, NoTrace>(member, options)
}

fn boxed<K: Key, V: Fits<K::Bits>, F: Form, T: Trace>(
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    Ok(Box::new(PbTree::<K, V, Shaped<K::Bits, F, T>>::with_options(options)?))
}
