//! The prefetch options of Spiderman's walks (§3.3), and three more.

use crate::error::{Error, Result};
use core::fmt;

/// A set of prefetch options, which can be combined as the paper says: 1, 3, 5 and 6 with each other but
/// not with 4; 2 with any. Of our own, 7 replaces 3 and 4, 8 combines with any, and 9 says how 3 is done.
///
/// ```
/// use latchless_papers::Error;
/// use latchless_papers::spiderman::prefetch::Prefetch;
/// let papers = Prefetch::of(&[1, 2, 3])?;
/// assert!(papers.has(Prefetch::MIDDLE) && !papers.has(Prefetch::PAYLOAD));
/// assert_eq!(papers.to_string(), "1+2+3");
/// assert_eq!(Prefetch::of(&[4, 1]), Err(Error::PrefetchOptions { one: 1, other: 4 }));
/// assert_eq!(Prefetch::of(&[10]), Err(Error::PrefetchOption { given: 10, last: 9 }));
/// # Ok::<(), latchless_papers::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Prefetch(u16);

impl Prefetch {
    /// 1: the header of a node.
    pub const HEADER: u8 = 1;
    /// 2: only nodes below the first two levels; the others are in caches.
    pub const BELOW_TWO: u8 = 2;
    /// 3: the middle key, and then the half of the keys that it leads to.
    pub const MIDDLE: u8 = 3;
    /// 4: the whole node.
    pub const WHOLE: u8 = 4;
    /// 5: the place from which the child's address is read.
    pub const CHILD: u8 = 5;
    /// 6: a leaf's payload, for lookups.
    pub const PAYLOAD: u8 = 6;
    /// 7, ours: every key that a search reads, those of two steps at a time; and finally all keys of some
    /// two lines.
    pub const PROBES: u8 = 7;
    /// 8, ours: the entries that an insert or removal will move in a leaf, and those that a scan will
    /// copy.
    pub const RUN: u8 = 8;
    /// 9: option 3 as the paper's Algorithm 4 is printed. Its three conditions follow each other in one turn,
    /// so a walk waits for the header and for the middle key that it has just prefetched; only the half of
    /// the keys arrives during other walks. In the text (§4.3) a round lies between each two.
    pub const AT_ONCE: u8 = 9;
    /// The last option.
    pub const LAST: u8 = Self::AT_ONCE;

    /// None: descents are interleaved, and nothing is prefetched.
    pub const NONE: Self = Self(0);
    /// The paper's figures: 1, 2 and 3.
    pub const PAPER: Self = Self::bits(&[Self::HEADER, Self::BELOW_TWO, Self::MIDDLE]);
    /// The fastest set here: 1, 2, 5, 6, 7 and 8.
    pub const BEST: Self =
        Self::bits(&[Self::HEADER, Self::BELOW_TWO, Self::CHILD, Self::PAYLOAD, Self::PROBES, Self::RUN]);

    const fn bits(options: &[u8]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < options.len() {
            bits |= 1 << options[at];
            at += 1;
        }
        Self(bits)
    }

    /// The set of these options, by their numbers.
    ///
    /// # Errors
    /// [`Error::PrefetchOption`] for a number that none has, [`Error::PrefetchOptions`] for two that can't
    /// be combined.
    pub fn of(options: &[u8]) -> Result<Self> {
        if let Some(&given) = options.iter().find(|option| !(1..=Self::LAST).contains(*option)) {
            return Err(Error::PrefetchOption { given, last: Self::LAST });
        }
        let set = Self::bits(options);
        const APART: [(u8, u8); 8] = [
            (Prefetch::HEADER, Prefetch::WHOLE),
            (Prefetch::MIDDLE, Prefetch::WHOLE),
            (Prefetch::WHOLE, Prefetch::CHILD),
            (Prefetch::WHOLE, Prefetch::PAYLOAD),
            (Prefetch::MIDDLE, Prefetch::PROBES),
            (Prefetch::WHOLE, Prefetch::PROBES),
            (Prefetch::WHOLE, Prefetch::AT_ONCE),
            (Prefetch::PROBES, Prefetch::AT_ONCE),
        ];
        match APART.into_iter().find(|&(one, other)| set.has(one) && set.has(other)) {
            Some((one, other)) => Err(Error::PrefetchOptions { one, other }),
            None => Ok(set),
        }
    }

    /// Returns whether an option is in the set.
    #[inline(always)]
    pub const fn has(self, option: u8) -> bool {
        self.0 >> option & 1 == 1
    }

    /// The options in the set, ascending.
    pub fn options(self) -> impl Iterator<Item = u8> {
        (1..=Self::LAST).filter(move |&option| self.has(option))
    }
}

/// The numbers with `+` between them, as in the paper's Figure 13; `none` for the empty set.
impl fmt::Display for Prefetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("none");
        }
        for (nth, option) in self.options().enumerate() {
            write!(f, "{}{option}", if nth > 0 { "+" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_paper_combines_is_taken_and_nothing_else() {
        // "1, 3, 5, 6 with any but 4; 2 with any; 4 only with 2."
        for bits in 0u16..1 << 6 {
            let options: Vec<u8> = (1..=6).filter(|option| bits >> (option - 1) & 1 == 1).collect();
            let fits = !options.contains(&4) || options.iter().all(|option| [2, 4].contains(option));
            let set = Prefetch::of(&options);
            assert_eq!(set.is_ok(), fits, "{options:?}");
            match set {
                Ok(set) => assert!(set.options().eq(options)),
                Err(error) => assert!(matches!(error, Error::PrefetchOptions { .. }), "{error}"),
            }
        }
        assert!(Prefetch::of(&[3, 7]).is_err() && Prefetch::of(&[4, 7]).is_err());
        assert!(Prefetch::of(&[4, 9]).is_err() && Prefetch::of(&[7, 9]).is_err());
        assert!(Prefetch::of(&[2, 4, 8]).is_ok());
        assert_eq!(Prefetch::of(&[0]), Err(Error::PrefetchOption { given: 0, last: 9 }));
    }

    #[test]
    fn sets_are_written_as_in_figure_13() {
        assert_eq!(Prefetch::NONE.to_string(), "none");
        assert_eq!(Prefetch::PAPER.to_string(), "1+2+3");
        assert_eq!(Prefetch::BEST.to_string(), "1+2+5+6+7+8");
        assert_eq!(Prefetch::of(&[5, 1, 5]).unwrap().to_string(), "1+5");
        for set in [Prefetch::PAPER, Prefetch::BEST] {
            assert_eq!(Prefetch::of(&set.options().collect::<Vec<_>>()), Ok(set));
        }
    }
}
