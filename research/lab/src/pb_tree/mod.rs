//! The experiments of Chen, Gibbons and Mowry, *Improving Index Performance through Prefetching*
//! (SIGMOD 2001), §4.
//!
//! The figures' curves are images; the comparable results are the numbers that the text states. They are
//! the claims of each panel.

mod baselines;
mod breakdown;
mod form;
mod machines;
mod mature;
mod scan;
mod search;
mod sensitivity;
mod update;

use crate::experiment::Paper;
use crate::subject::Subject;
use latchless_papers::pb_tree::Member;

const B_PLUS: Subject = Subject::PbTree(Member::BPlus);
const CSB: Subject = Subject::PbTree(Member::Csb);
const P2: Subject = Subject::PbTree(Member::P2);
const P4: Subject = Subject::PbTree(Member::P4);
const P8: Subject = Subject::PbTree(Member::P8);
const P16: Subject = Subject::PbTree(Member::P16);
const P8_CSB: Subject = Subject::PbTree(Member::P8Csb);
const P8_EXTERNAL: Subject = Subject::PbTree(Member::P8External);
const P8_INTERNAL: Subject = Subject::PbTree(Member::P8Internal);
const P8_SWEEP: Subject = Subject::PbTree(Member::P8Sweep);

/// The trees of §4.2, as Table 3 lists them.
const SEARCH_TREES: &[Subject] = &[B_PLUS, CSB, P2, P4, P8, P16, P8_CSB];
/// The trees of §4.3, and the sweep that §5 proposes.
const SCAN_TREES: &[Subject] = &[B_PLUS, P8, P8_EXTERNAL, P8_INTERNAL, P8_SWEEP];
/// The trees of §4.4; the paper calls all three similar.
const UPDATE_TREES: &[Subject] = &[B_PLUS, P8, P8_EXTERNAL, P8_INTERNAL];

/// 10K to 10M keys, where K and M are 1,000 and 1,000,000 (footnote 5).
const SIZES: &[usize] = &[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
const FILLS: &[usize] = &[60, 70, 80, 90, 100];

/// The paper.
pub const PAPER: Paper = Paper {
    name: "pb-tree",
    title: "Chen, Gibbons, Mowry: Improving Index Performance through Prefetching (SIGMOD 2001)",
    experiments: &[
        form::FIG_2,
        form::EQ_1,
        form::SPACE,
        breakdown::FIG_1,
        form::TABLE_3,
        search::FIG_7,
        search::FIG_8,
        machines::CHAINED,
        machines::FAR,
        mature::MATURE,
        baselines::BASELINES,
        baselines::FRACTAL,
        baselines::BUFFERS,
        baselines::PREFIXES,
        search::FIG_9,
        scan::FIG_10,
        scan::FIG_11,
        scan::NEIGHBOURS,
        sensitivity::B,
        sensitivity::K,
        sensitivity::C,
        sensitivity::SHORT,
        update::FIG_12,
        update::COLD_UPDATES,
        update::FIG_13,
        breakdown::FIG_14,
    ],
};
