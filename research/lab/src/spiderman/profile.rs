//! §3.1.4, Figures 6 to 8: the phase in which lines are missed, and the part of a page. Only on the model:
//! there each miss has an address.

use super::ways::{BEST, MISSES, OVER_NONE, PAPER, naive, ours, panel};
use crate::experiment::{
    BatchedClaim, BatchedPanel, BatchedYardstick, Body, Experiment, Kind, Published, Spot, Way,
};
use crate::model::Phase;
use latchless_workload::Workload;

const PAGES: &[Kind] =
    &[Kind::InnerHeader, Kind::InnerKeys, Kind::Children, Kind::LeafHeader, Kind::LeafKeys, Kind::Payloads];
const HEADERS: &[Kind] = &[Kind::InnerHeader, Kind::LeafHeader];

const fn walked(name: &'static str, kinds: &'static [Kind]) -> Spot {
    Spot { name, phases: &[Phase::Walk], kinds }
}

const fn served(name: &'static str, kinds: &'static [Kind]) -> Spot {
    Spot { name, phases: &[Phase::Serve], kinds }
}

pub(super) const PHASE_1: Spot = walked("phase 1", PAGES);
pub(super) const PHASE_2: Spot = served("phase 2", PAGES);
pub(super) const PHASE_1_LEAF_KEYS: Spot = walked("phase 1, leaf keys", &[Kind::LeafKeys]);
pub(super) const PHASE_1_HEADERS: Spot = walked("phase 1, headers", HEADERS);
const PHASE_1_INNER_KEYS: Spot = walked("phase 1, inner keys", &[Kind::InnerKeys]);
const PHASE_1_CHILDREN: Spot = walked("phase 1, children", &[Kind::Children]);
pub(super) const PHASE_2_LEAF_KEYS: Spot = served("phase 2, leaf keys", &[Kind::LeafKeys]);
pub(super) const PHASE_2_PAYLOADS: Spot = served("phase 2, payloads", &[Kind::Payloads]);
const PHASE_2_REST: Spot = served(
    "phase 2, all but payloads",
    &[Kind::InnerHeader, Kind::InnerKeys, Kind::Children, Kind::LeafHeader, Kind::LeafKeys],
);

const fn over(name: &'static str, at: Spot, over: Spot) -> BatchedYardstick {
    BatchedYardstick::MissesOver { name, at, over }
}

/// The author's setting: walked, and nothing prefetched.
const LOOKED_AT: &str = "walked";

const fn says(over: &'static str) -> BatchedClaim {
    BatchedClaim { over, ways: &[LOOKED_AT], threads: &[1, 4], published: Published::MoreThan(1.0) }
}

pub(super) const FIG_6: Experiment = Experiment {
    name: "fig-6",
    title: "Where lines are missed: by phase and by what is read of a page (§3.1.4, Figures 6 to 8); workload C",
    remarks: &[
        "The author walked each batch before it was served, prefetched nothing, and had perf say which functions \
         miss the third-level cache: \"walked\". The text states orders: most misses are phase 1's; there \
         most are at leaves' keys, then at nodes' types, which lie in headers; phase 2 misses leaves' payloads \
         entirely. Figure 6 lists functions: phase 1's search in leaves is first, the lookup second, phase 1's \
         traversal third. The other ways show what prefetching leaves of that. Only misses that are waited for count, \
         not lines that a prefetch fetched.",
    ],
    body: Body::Batched(&[BatchedPanel {
        modelled_threads: &[1, 4],
        native_threads: &[],
        ways: &[
            Way::NONE,
            naive(LOOKED_AT, 16, &[]),
            naive("walked one by one", 1, &[]),
            naive("naive 1", 1, PAPER),
            naive("naive 16", 16, PAPER),
            ours("ours 16", 16, BEST),
        ],
        yardsticks: &[
            BatchedYardstick::MissesAt(PHASE_1),
            BatchedYardstick::MissesAt(PHASE_1_LEAF_KEYS),
            BatchedYardstick::MissesAt(PHASE_1_HEADERS),
            BatchedYardstick::MissesAt(PHASE_1_INNER_KEYS),
            BatchedYardstick::MissesAt(PHASE_1_CHILDREN),
            BatchedYardstick::MissesAt(PHASE_2),
            BatchedYardstick::MissesAt(PHASE_2_PAYLOADS),
            BatchedYardstick::MissesAt(PHASE_2_REST),
            over("phase 1's misses over phase 2's", PHASE_1, PHASE_2),
            over("leaf keys' misses over headers' in phase 1", PHASE_1_LEAF_KEYS, PHASE_1_HEADERS),
            over("headers' misses over inner keys' in phase 1", PHASE_1_HEADERS, PHASE_1_INNER_KEYS),
            over("payloads' misses over all others in phase 2", PHASE_2_PAYLOADS, PHASE_2_REST),
            over("leaf keys' misses in phase 1 over phase 2's", PHASE_1_LEAF_KEYS, PHASE_2),
            over("phase 2's misses over headers' in phase 1", PHASE_2, PHASE_1_HEADERS),
            BatchedYardstick::WaitsAt(PHASE_1),
            BatchedYardstick::WaitsAt(PHASE_2),
            MISSES,
            OVER_NONE,
        ],
        claims: &[
            says("phase 1's misses over phase 2's"),
            says("leaf keys' misses over headers' in phase 1"),
            says("headers' misses over inner keys' in phase 1"),
            // "Entirely": at least 99 of 100.
            BatchedClaim {
                published: Published::AtLeast(99.0),
                ..says("payloads' misses over all others in phase 2")
            },
            // Figure 6's first three functions: phase 1's search in leaves, the lookup, phase 1's traversal.
            says("leaf keys' misses in phase 1 over phase 2's"),
            says("phase 2's misses over headers' in phase 1"),
        ],
        ..panel(Workload::SpidermanC, &[])
    }]),
};
