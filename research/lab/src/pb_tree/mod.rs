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
mod subjects;
mod update;

use crate::experiment::Paper;

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
