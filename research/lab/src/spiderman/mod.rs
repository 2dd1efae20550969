//! The experiments of Vu, *Spiderman: Software Prefetching and Request Multiplexing to Mask Memory Accesses
//! in B+trees* (École Polytechnique, 2023), §4.
//!
//! The figures are images. The comparable results are the gains and orders that the text states. The
//! paper's form of the technique (*naive*) and ours (*ours*) run on the same tree.

mod branching;
mod figures;
mod in_flight;
mod indexes;
mod machines;
mod profile;
mod trie;
mod ways;

use crate::experiment::Paper;

/// The paper.
pub const PAPER_OF_SPIDERMAN: Paper = Paper {
    name: "spiderman",
    title: "Vu: Spiderman, Software Prefetching and Request Multiplexing (École Polytechnique, 2023)",
    experiments: &[
        profile::FIG_6,
        figures::FIG_9,
        figures::FIG_10,
        figures::FIG_11,
        figures::FIG_12,
        figures::FIG_13,
        machines::MACHINES,
        machines::SCANS,
        branching::BRANCHING,
        indexes::INDEXES,
        trie::TRIE,
        in_flight::IN_FLIGHT,
    ],
};
