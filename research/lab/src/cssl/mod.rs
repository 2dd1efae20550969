//! The experiments of Sprenger, Zeuch and Leser, *Cache-Sensitive Skip List: Efficient Range Queries on
//! modern CPUs* (2016), §5, and the future work of its §7.
//!
//! Those of processor events, and the orders of Figures 4, 7 and 9, run on the model of the paper's machine.
//! The others run on this machine, whatever `--on` is; valgrind's counts are beside them.

mod art;
mod bpt;
mod contestant;
mod counters;
mod data;
mod eytzinger;
mod figures;
mod lookups;
mod modelled;
mod on_model;
mod race;
mod space;
mod threads;
mod updates;
mod who;

pub use counters::probe;

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "cssl",
    title: "Sprenger, Zeuch, Leser: Cache-Sensitive Skip List: Efficient Range Queries on modern CPUs (2016)",
    experiments: &[
        figures::FIG_4,
        figures::FIG_5,
        figures::FIG_5_HALF,
        on_model::FIG_6,
        lookups::FIG_7,
        on_model::FIG_8,
        counters::VALGRIND,
        figures::FIG_9,
        figures::FIG_10,
        art::ART,
        space::FIG_11,
        figures::SIMD,
        updates::UPDATES,
        threads::THREADS_TOGETHER,
        threads::REBUILD,
    ],
};
