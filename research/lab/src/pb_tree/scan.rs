//! §4.3, range scan performance: Figures 10 and 11.

use super::{B_PLUS, FILLS, P8, P8_EXTERNAL, P8_INTERNAL, SCAN_TREES};
use crate::experiment::{
    Axis, Body, Built, Claim, Experiment, Operation, Panel, Published, Scaled, Yardstick,
};
use crate::subject::Subject;

const OVER_B_PLUS: Yardstick = Yardstick::Speedup(B_PLUS);
const OVER_P8: Yardstick = Yardstick::Speedup(P8);
const OVER_INTERNAL: Yardstick = Yardstick::Speedup(P8_INTERNAL);
const JUMPING: &[Subject] = &[P8_EXTERNAL, P8_INTERNAL];
const KEYS: Scaled<usize> = Scaled::new(3_000_000, 30_000);

const LENGTHS: &[usize] = &[10, 100, 1_000, 10_000, 100_000, 1_000_000];
const SMALL_LENGTHS: &[usize] = &[10, 100, 1_000];
const SMALL_FILLS: &[usize] = &[60, 100];

const fn scans(segments: Scaled<usize>, entries: Scaled<usize>) -> Operation {
    Operation::Scan { starts: Scaled::new(100, 10), segments, entries }
}

const fn by_fill(name: &'static str, operation: Operation, claims: &'static [Claim]) -> Panel {
    Panel {
        name,
        axis: Axis::FillPercent(Scaled::new(FILLS, SMALL_FILLS)),
        keys: KEYS,
        fill_percent: 100,
        built: Built::Loaded,
        operation,
        series: SCAN_TREES,
        yardsticks: &[OVER_B_PLUS, OVER_P8, OVER_INTERNAL],
        claims,
    }
}

pub(super) const FIG_10: Experiment = Experiment {
    name: "fig-10",
    title: "Range scans from 100 random keys among 3M, by length and by fill factor, cold",
    remarks: &[
        "At 10 entries the paper calls p8 slightly faster and p8e and p8i slower. Most of such a scan is \
         the cold search before it, in which p8 is 1.6 times as fast (1.32 to 1.55 in the paper's own \
         Figure 7), and our p8e and p8i leave their jump pointers alone below 100 entries, as §4.3 \
         suggests.",
        "At 1,000 entries (16 leaves) the model's p8e and p8i stay below the paper's 6.5: a cold search of \
         830 cycles and the start-up come first, and then 2.8 cycles an entry, the price that makes the \
         B+-Tree stall for 84 % of its scan, are what is left. Longer scans lie inside the band.",
        "Below 100 % of fill the bands are still those of full nodes. The paper says itself that prefetching \
         gains even more there.",
        "p8e pays for prefetching two chunks of its jump-pointer array at the start, p8i for one node.",
    ],
    body: Body::Measured(&[
        Panel {
            name: "length",
            axis: Axis::Entries(Scaled::new(LENGTHS, SMALL_LENGTHS)),
            keys: KEYS,
            fill_percent: 100,
            built: Built::Loaded,
            operation: scans(Scaled::same(1), Scaled::same(0)),
            series: SCAN_TREES,
            yardsticks: &[OVER_B_PLUS, OVER_P8, OVER_INTERNAL],
            claims: &[
                Claim::between(1_000, 1_000_000, OVER_B_PLUS, JUMPING, Published::Within(6.5, 8.7)),
                Claim::between(1_000, 1_000_000, OVER_B_PLUS, &[P8], Published::Within(3.5, 3.7)),
                Claim::at(100, OVER_B_PLUS, &[P8, P8_EXTERNAL, P8_INTERNAL], Published::About(2.0)),
                Claim::at(10, OVER_B_PLUS, &[P8], Published::MoreThan(1.0)),
                Claim::at(10, OVER_B_PLUS, JUMPING, Published::LessThan(1.0)),
                Claim::between(1_000, 1_000_000, OVER_P8, JUMPING, Published::About(2.0)),
                Claim::everywhere(OVER_INTERNAL, &[P8_EXTERNAL], Published::About(1.0)),
            ],
        },
        by_fill(
            "fill",
            scans(Scaled::same(1), Scaled::same(1_000)),
            &[
                Claim::everywhere(OVER_B_PLUS, JUMPING, Published::Within(6.5, 8.7)),
                Claim::everywhere(OVER_B_PLUS, &[P8], Published::Within(3.5, 3.7)),
                Claim::everywhere(OVER_P8, JUMPING, Published::About(2.0)),
            ],
        ),
    ]),
};

pub(super) const FIG_11: Experiment = Experiment {
    name: "fig-11",
    title: "Scans of 1M entries in 1,000 segments of 1,000, by fill factor, cold at the start",
    remarks: &[
        "The paper says that the gains are similar to Figure 10's and gives no number; the bands are that \
         figure's. They are Figure 10 (a)'s, of full nodes: of emptier ones the paper says that a scan visits \
         more leaves and prefetching gains even more, without a number. So do ours.",
    ],
    body: Body::Measured(&[by_fill(
        "",
        scans(Scaled::new(1_000, 10), Scaled::new(1_000, 100)),
        &[
            Claim::everywhere(OVER_B_PLUS, JUMPING, Published::Within(6.5, 8.7)),
            Claim::everywhere(OVER_B_PLUS, &[P8], Published::Within(3.5, 3.7)),
            Claim::everywhere(OVER_P8, JUMPING, Published::About(2.0)),
        ],
    )]),
};
