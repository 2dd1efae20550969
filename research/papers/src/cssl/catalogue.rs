//! The members of the family by name, and their options.

use super::map::CsslMap;
use super::options::{Options, PART_KEYS};
use crate::common::catalogue::members;
use crate::error::Result;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;

members! {
    Cssl "cssl" true, "Cache-Sensitive Skip List whose lanes are rebuilt in parts";
    Cssl2 "cssl2" true, "Cache-Sensitive Skip List, p = 1/2, lanes in one array";
    Cssl5 "cssl5" true, "Cache-Sensitive Skip List, p = 1/5, lanes in one array: the paper's best";
}

impl Member {
    /// These options, with the member's own choices put in.
    pub fn options(self, other: &Options) -> Options {
        let (skip, part_keys) = match self {
            Self::Cssl => (5, Some(PART_KEYS)),
            Self::Cssl2 => (2, None),
            Self::Cssl5 => (5, None),
        };
        Options { skip, part_keys, ..other.clone() }
    }
}

/// An empty index of the family.
///
/// ```
/// use latchless_core::base::index::OrderedIndex;
/// use latchless_papers::cssl::{Member, Options, build};
/// let index = build::<u32, u32>(Member::Cssl5, &Options::default())?;
/// let shared = index.as_concurrent().expect("the data list is made for many threads");
/// std::thread::scope(|threads| {
///     for thread in 0..2 {
///         threads.spawn(move || (0..1000).for_each(|i| _ = shared.insert_shared(2 * i + thread, i)));
///     }
/// });
/// assert_eq!(index.len(), 2000);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
///
/// # Errors
/// Those of [`CsslMap::with_options`].
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    Ok(Box::new(CsslMap::<K, V>::with_options(&member.options(options))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_their_own_skips() {
        let skip = |member: Member| member.options(&Options::default()).skip;
        assert_eq!((skip(Member::Cssl2), skip(Member::Cssl5)), (2, 5));
    }
}
