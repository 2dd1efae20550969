//! The experiments of Xie, Cai, Jagadish, Ooi and Wong, *PI: a Parallel in-memory skip list based Index*
//! (2016), §5 and §6; and this library's additions: latency, tuned batch sizes, builds.
//!
//! The figures are images; the comparable results are the factors and the orders that the text states. The
//! paper's machine has four NUMA nodes, so its statements on nodes are checked on the model.

mod ablation;
mod analysis;
mod build;
mod case;
mod contestant;
mod entries;
mod latency;
mod machines;
mod measure;
mod measured;
mod modelled;
mod native;
mod pages;
mod parts;
mod rows;
mod size;
mod skew;
mod sorting;
mod traffic;

pub use contestant::{Contestant, Form};
pub use traffic::{Keys, NODES, Skewed, Source, Traffic};

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "pi",
    title: "Xie, Cai, Jagadish, Ooi, Wong: PI: a Parallel in-memory skip list based Index (2016)",
    experiments: &[
        analysis::SECTION_5,
        analysis::LINES,
        build::BUILD,
        parts::PARTS,
        size::FIG_6,
        size::FIG_7,
        size::FIG_8,
        skew::FIG_9,
        skew::FIG_10,
        skew::FIG_11,
        skew::FIG_13,
        skew::FIG_14,
        ablation::FIG_15,
        machines::MACHINES,
        machines::REBUILDS,
        machines::LATCHED,
        sorting::SORTING,
        pages::HUGE_PAGES,
        entries::ENTRY_KEYS,
        latency::AUTO_BATCH,
        latency::LATENCY,
    ],
};
