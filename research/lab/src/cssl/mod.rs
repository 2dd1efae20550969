//! The experiments of Sprenger, Zeuch and Leser, *Cache-Sensitive Skip List: Efficient Range Queries on
//! modern CPUs* (2016), §5, and the future work of its §7.
//!
//! They run on this machine, whatever `--on` is: there is no model of the paper's processor; its events
//! are counted by valgrind's.

mod art;
mod bpt;
mod contestant;
mod counters;
mod data;
mod eytzinger;
mod figures;
mod lookups;
mod race;
mod space;
mod threads;
mod updates;

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
        counters::FIG_6,
        lookups::FIG_7,
        counters::FIG_8,
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
