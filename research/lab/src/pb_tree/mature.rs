//! §4.2 and the full paper: mature trees, most of whose keys were inserted after the bulk load.

use super::subjects::{B_PLUS, P8, P8_EXTERNAL, P8_INTERNAL, SCAN_TREES, SEARCH_TREES};
use crate::experiment::{
    Axis, Body, Built, Claim, Experiment, Operation, Panel, Published, Scaled, Yardstick,
};

const OVER_B_PLUS: Yardstick = Yardstick::Speedup(B_PLUS);
const OVER_P8: Yardstick = Yardstick::Speedup(P8);
const SIZES: Scaled<&[usize]> = Scaled::new(&[30_000, 300_000, 3_000_000], &[30_000]);

const fn searches(name: &'static str, cold: bool, claims: &'static [Claim]) -> Panel {
    Panel {
        name,
        axis: Axis::Keys(SIZES),
        keys: Scaled::same(0),
        fill_percent: 100,
        built: Built::Mature,
        operation: Operation::Search { count: Scaled::new(100_000, 1_000), cold },
        series: SEARCH_TREES,
        yardsticks: &[OVER_B_PLUS],
        claims,
    }
}

pub(super) const MATURE: Experiment = Experiment {
    name: "mature",
    title: "Searches and scans in trees with a tenth of their keys loaded and the others inserted",
    remarks: &[
        "Of searches (§4.2) the paper finds \"similar performance for mature trees as for trees immediately after \
         bulkloads\", and shows it in its full version only; the bands are Figure 7's. It says nothing about \
         their scans; those are set beside Figure 10's, of full trees.",
        "Leaves of a mature tree are two thirds full and lie in memory in the order of their splits.",
    ],
    body: Body::Measured(&[
        searches("warm", false, &[Claim::everywhere(OVER_B_PLUS, &[P8], Published::Within(1.27, 1.47))]),
        searches("cold", true, &[Claim::everywhere(OVER_B_PLUS, &[P8], Published::Within(1.32, 1.55))]),
        Panel {
            name: "scan",
            axis: Axis::Entries(Scaled::new(&[100, 1_000, 10_000, 100_000], &[100, 1_000])),
            keys: Scaled::new(3_000_000, 30_000),
            fill_percent: 100,
            built: Built::Mature,
            operation: Operation::Scan {
                starts: Scaled::new(100, 10),
                segments: Scaled::same(1),
                entries: Scaled::same(0),
            },
            series: SCAN_TREES,
            yardsticks: &[OVER_B_PLUS, OVER_P8],
            claims: &[
                Claim::between(
                    1_000,
                    100_000,
                    OVER_B_PLUS,
                    &[P8_EXTERNAL, P8_INTERNAL],
                    Published::Within(6.5, 8.7),
                ),
                Claim::between(1_000, 100_000, OVER_B_PLUS, &[P8], Published::Within(3.5, 3.7)),
                Claim::at(100, OVER_B_PLUS, &[P8, P8_EXTERNAL, P8_INTERNAL], Published::About(2.0)),
            ],
        },
    ]),
};
