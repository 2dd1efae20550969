//! The experiments of Cha, Hwang, Kim and Kwon, *Cache-Conscious Concurrency Control of Main-Memory
//! Indexes on Shared-Memory Multiprocessor Systems* (VLDB 2001), §3.2 and §6.
//!
//! The figures are images. The comparable results are the orders that the text states, and the highest
//! curves according to their axes.

mod analysis;
mod form;
mod mixture;
mod scaling;
mod settings;
mod subjects;

pub use analysis::{FILL, coherence_miss_probability, expected_height, update_probability};

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "olfit",
    title: "Cha, Hwang, Kim, Kwon: Cache-Conscious Concurrency Control of Main-Memory Indexes (VLDB 2001)",
    experiments: &[
        scaling::EQ_1,
        form::FIG_2,
        form::SIZES,
        form::TABLE_1,
        mixture::FIG_6,
        mixture::NODE_SIZES,
        scaling::FIG_7,
        scaling::FIG_8,
        mixture::FIG_9,
        mixture::READERS,
        mixture::FIG_10,
        settings::INSERTS,
        settings::DUPLICATES,
        settings::TRANSLATION,
        settings::BUS,
        settings::SKEW,
        settings::NODES,
    ],
};
