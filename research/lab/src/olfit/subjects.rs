//! The indexes of the experiments, and their sizes.

use crate::experiment::Scaled;

/// The B+-Tree under each scheme.
pub mod b_plus {
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
pub mod csb_plus {
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
pub const KEYS: Scaled<usize> = Scaled::new(10_000_000, 50_000);
/// The size that §6 settles on.
pub const NODE_BYTES: usize = 128;
/// The paper's eight processors, and on to the most that the model has.
pub const PROCESSORS: Scaled<&[usize]> = Scaled::new(&[1, 2, 4, 8, 16, 32, 64], &[1, 2, 8]);
pub const UPDATES: Scaled<&[usize]> =
    Scaled::new(&[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], &[0, 50, 100]);
