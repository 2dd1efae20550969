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

pub use analysis::{FILL, coherence_miss_probability, expected_height, update_probability};

use crate::experiment::{Paper, Scaled};

/// The B+-Tree under each scheme.
mod b_plus {
    use crate::subject::Subject;
    use latchless_papers::olfit::Member;

    pub const NO: Subject = Subject::Olfit(Member::BPlusNo);
    pub const OL: Subject = Subject::Olfit(Member::BPlusOl);
    pub const OL_AT_ONCE: Subject = Subject::Olfit(Member::BPlusOlAtOnce);
    pub const OL_PREFETCHED: Subject = Subject::Olfit(Member::BPlusOlPrefetched);
    pub const LC: Subject = Subject::Olfit(Member::BPlusLc);
    pub const TL: Subject = Subject::Olfit(Member::BPlusTl);
    pub const VN: Subject = Subject::Olfit(Member::BPlusVn);
    pub const VT: Subject = Subject::Olfit(Member::BPlusVt);
}

/// The full CSB+-Tree under each scheme.
mod csb_plus {
    use crate::subject::Subject;
    use latchless_papers::olfit::Member;

    pub const NO: Subject = Subject::Olfit(Member::CsbNo);
    pub const OL: Subject = Subject::Olfit(Member::CsbOl);
    pub const OL_AT_ONCE: Subject = Subject::Olfit(Member::CsbOlAtOnce);
    pub const OL_PREFETCHED: Subject = Subject::Olfit(Member::CsbOlPrefetched);
    pub const LC: Subject = Subject::Olfit(Member::CsbLc);
    pub const TL: Subject = Subject::Olfit(Member::CsbTl);
    pub const VN: Subject = Subject::Olfit(Member::CsbVn);
    pub const VT: Subject = Subject::Olfit(Member::CsbVt);
}

/// Of all measurements in §6.
const KEYS: Scaled<usize> = Scaled::new(10_000_000, 50_000);
/// The size that §6 settles on.
const NODE_BYTES: usize = 128;
/// The paper's eight processors, and on to the most that the model has.
const PROCESSORS: Scaled<&[usize]> = Scaled::new(&[1, 2, 4, 8, 16, 32, 64], &[1, 2, 8]);
const UPDATES: Scaled<&[usize]> = Scaled::new(&[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], &[0, 50, 100]);

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
