//! The members by name, made as trait objects.

use super::map::{Batching, Options, SpidermanMap};
use crate::error::Result;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Trace};

/// The tree without batches, and with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// `olc`: one request after the other.
    Olc,
    /// `spiderman`: batches, with [`Batching::BEST`].
    Spiderman,
    /// `spiderman-naive`: batches as the paper has them, with [`Batching::PAPER`].
    Naive,
}

impl Member {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Olc, Self::Spiderman, Self::Naive];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Olc => "olc",
            Self::Spiderman => "spiderman",
            Self::Naive => "spiderman-naive",
        }
    }

    /// One line for people.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Olc => "B+-Tree of 4096-byte pages under optimistic lock coupling",
            Self::Spiderman => "olc whose batches interleave their descents and are served where these end",
            Self::Naive => "olc with batches as the Spiderman paper has them: two descents, idle slots",
        }
    }

    /// The member of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|member| member.name() == name)
    }

    /// How it serves batches.
    pub const fn batching(self) -> Option<Batching> {
        match self {
            Self::Olc => None,
            Self::Spiderman => Some(Batching::BEST),
            Self::Naive => Some(Batching::PAPER),
        }
    }
}

/// An empty index; of the options all but the batching count, which is the member's.
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
    build_touching::<K, V, NoTrace>(member, options)
}

/// An empty index that tells the thread's memory-hierarchy model what it does.
///
/// # Errors
/// As [`build`].
#[cfg(feature = "model")]
pub fn build_modelled<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_touching::<K, V, latchless_core::mem::touch::Traced>(member, options)
}

fn build_touching<K: Key, V: Fits<K::Bits>, T: Trace>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    let options = Options { batching: member.batching(), ..options.clone() };
    Ok(Box::new(SpidermanMap::<K, V, T>::with_options(&options)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_their_names() {
        for member in Member::ALL {
            assert_eq!(Member::from_name(member.name()), Some(member));
            let built = build::<u64, u64>(member, &Options::default()).unwrap();
            assert!(built.as_concurrent().is_some());
        }
        assert_eq!(Member::from_name("olfit"), None);
    }
}
