//! The members by name, built as trait objects.

use super::map::{Batching, Options, SpidermanMap};
use super::trie::{TrieMap, TrieOptions};
use crate::common::catalogue::members;
use crate::error::Result;
use crate::spiderman::page::Form;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::NoTrace;

members! {
    Olc "olc" true, "B+-Tree of 4096-byte pages under optimistic lock coupling";
    Spiderman "spiderman" true, "olc whose batches interleave their descents and are served where these end";
    Naive "spiderman-naive" true, "olc with batches as the Spiderman paper has them: two descents, idle slots";
    Art "art" true, "adaptive radix tree under optimistic lock coupling, whose batches of lookups interleave";
}

impl Member {
    /// Returns how it serves batches.
    pub const fn batching(self) -> Option<Batching> {
        match self {
            Self::Olc => None,
            Self::Spiderman | Self::Art => Some(Batching::BEST),
            Self::Naive => Some(Batching::PAPER),
        }
    }
}

/// Creates an empty index; the member determines the batching, which overrides the option. `art` ignores
/// the page size as well.
///
/// ```
/// use latchless_core::base::index::OrderedIndex;
/// use latchless_papers::spiderman::{Member, Options, build};
/// let mut index = build::<u64, u64>(Member::Spiderman, &Options::default())?;
/// index.insert_many(&[(3, 30), (1, 10)], &mut [None; 2])?;
/// let mut answers = [None; 3];
/// index.get_many(&[1, 2, 3], &mut answers)?;
/// assert_eq!(answers, [Some(10), None, Some(30)]);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
///
/// # Errors
/// [`Error::PageSize`](crate::Error::PageSize), or when memory is refused.
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_traced::<K, V, NoTrace>(member, options)
}

/// Creates an empty index that reports every access to memory to `T`.
///
/// # Errors
/// Those of [`build`].
pub fn build_traced<K: Key, V: Fits<K::Bits>, T: Form>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    if member == Member::Art {
        let &Options { limit_bytes, huge_pages, page_references, .. } = options;
        let references = page_references.unwrap_or(u32::MAX);
        let options = TrieOptions { limit_bytes, huge_pages, references };
        return Ok(Box::new(TrieMap::<K, V, T>::with_options(options)?));
    }
    let options = Options { batching: member.batching(), ..options.clone() };
    Ok(Box::new(SpidermanMap::<K, V, T>::with_options(&options)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_say_whether_they_are_for_many_threads() {
        for member in Member::ALL {
            let built = build::<u64, u64>(member, &Options::default()).unwrap();
            assert_eq!(built.as_concurrent().is_some(), member.entry().concurrent);
        }
    }
}
