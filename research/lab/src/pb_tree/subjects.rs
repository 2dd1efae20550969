//! The trees of the experiments, and their sizes.

use crate::subject::Subject;
use latchless_papers::pb_tree::Member;

pub const B_PLUS: Subject = Subject::PbTree(Member::BPlus);
pub const CSB: Subject = Subject::PbTree(Member::Csb);
pub const P2: Subject = Subject::PbTree(Member::P2);
pub const P4: Subject = Subject::PbTree(Member::P4);
pub const P8: Subject = Subject::PbTree(Member::P8);
pub const P16: Subject = Subject::PbTree(Member::P16);
pub const P8_CSB: Subject = Subject::PbTree(Member::P8Csb);
pub const P8_EXTERNAL: Subject = Subject::PbTree(Member::P8External);
pub const P8_INTERNAL: Subject = Subject::PbTree(Member::P8Internal);
pub const P8_SWEEP: Subject = Subject::PbTree(Member::P8Sweep);

/// The trees of §4.2, as Table 3 lists them.
pub const SEARCH_TREES: &[Subject] = &[B_PLUS, CSB, P2, P4, P8, P16, P8_CSB];
/// The trees of §4.3, and the sweep that §5 proposes.
pub const SCAN_TREES: &[Subject] = &[B_PLUS, P8, P8_EXTERNAL, P8_INTERNAL, P8_SWEEP];
/// The trees of §4.4; the paper calls all three similar.
pub const UPDATE_TREES: &[Subject] = &[B_PLUS, P8, P8_EXTERNAL, P8_INTERNAL];

/// 10K to 10M keys, where K and M are 1,000 and 1,000,000 (footnote 5).
pub const SIZES: &[usize] = &[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
pub const FILLS: &[usize] = &[60, 70, 80, 90, 100];
