//! The members of the family by name, made as trait objects.

use super::map::OlfitMap;
use super::{BPlus, CsbPlus, Family};
use super::{LockCoupling, Olfit, OlfitAtOnce, OneLatch, Scheme, VersionedNodes, VersionedTree, Without};
use crate::error::Result;
use crate::olfit::node::Of;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Trace};

macro_rules! members {
    ($($member:ident: $family:ident<$scheme:ident>, $name:literal, $about:literal;)*) => {
        /// A member of the family: B+-Tree or CSB+-Tree, under a scheme.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Member {
            $(#[doc = concat!("`", $name, "`: ", $about, ".")] $member,)*
        }

        impl Member {
            /// The whole family.
            pub const ALL: [Self; 14] = [$(Self::$member),*];

            /// The name on the command line: `b` or `csb`, and the scheme as the paper calls it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$member => $name,)*
                }
            }

            /// One line for people.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$member => $about,)*
                }
            }

            /// Whether many threads may use it at once.
            pub const fn is_concurrent(self) -> bool {
                match self {
                    $(Self::$member => <$scheme as Scheme>::CONCURRENT,)*
                }
            }
        }

        fn build_touching<K: Key, V: Fits<K::Bits>, T: Trace>(
            member: Member,
            options: &Options,
        ) -> Result<Box<dyn OrderedIndex<K, V>>> {
            match member {
                $(Member::$member => boxed::<K, V, $family<$scheme>, T>(options),)*
            }
        }
    };
}

members! {
    BPlusNo: BPlus<Without>, "b-no", "B+-Tree without concurrency control";
    BPlusOl: BPlus<Olfit>, "b-ol", "B+-Tree under OLFIT: latch and version in one word, links";
    BPlusOlAtOnce: BPlus<OlfitAtOnce>, "b-ol-at-once", "b-ol that uses emptied nodes again at once";
    BPlusLc: BPlus<LockCoupling>, "b-lc", "B+-Tree under lock coupling";
    BPlusTl: BPlus<OneLatch>, "b-tl", "B+-Tree under one reader-writer latch";
    BPlusVn: BPlus<VersionedNodes>, "b-vn", "B+-Tree with versions, latches on nodes";
    BPlusVt: BPlus<VersionedTree>, "b-vt", "B+-Tree with versions, one latch for writers";
    CsbNo: CsbPlus<Without>, "csb-no", "full CSB+-Tree without concurrency control";
    CsbOl: CsbPlus<Olfit>, "csb-ol", "full CSB+-Tree under OLFIT";
    CsbOlAtOnce: CsbPlus<OlfitAtOnce>, "csb-ol-at-once", "csb-ol that uses emptied groups again at once";
    CsbLc: CsbPlus<LockCoupling>, "csb-lc", "full CSB+-Tree under lock coupling";
    CsbTl: CsbPlus<OneLatch>, "csb-tl", "full CSB+-Tree under one reader-writer latch";
    CsbVn: CsbPlus<VersionedNodes>, "csb-vn", "full CSB+-Tree with versions of groups, latches on nodes";
    CsbVt: CsbPlus<VersionedTree>, "csb-vt", "full CSB+-Tree with versions of groups, one latch for writers";
}

impl Member {
    /// The member of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|member| member.name() == name)
    }
}

/// What an index of the family can be told when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes of a node: 64, 128 and so on up to 512. The paper's are of 128 bytes, which suit its machine
    /// best (Fig. 6).
    pub node_bytes: usize,
    /// Whether a key may be there more than once: see the [module's head](super).
    pub duplicates: bool,
    /// The most memory that nodes may take, in bytes. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether nodes stand on huge pages where the system offers them.
    pub huge_pages: bool,
    /// How many nodes references can tell apart; `None`: 2^32 − 1. Tests make it tiny.
    pub node_references: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node_bytes: 128,
            duplicates: false,
            limit_bytes: None,
            huge_pages: true,
            node_references: None,
        }
    }
}

/// An empty index of the family.
///
/// ```
/// use latchless_core::base::index::OrderedIndex;
/// use latchless_papers::olfit::{Member, Options, build};
/// let index = build::<u32, u32>(Member::BPlusOl, &Options::default())?;
/// let shared = index.as_concurrent().expect("OLFIT is made for many threads");
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
/// [`Error::NodeSize`](crate::Error::NodeSize), or when memory is refused.
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_touching::<K, V, NoTrace>(member, options)
}

/// An empty index of the family that tells the thread's memory-hierarchy model what it does.
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

fn boxed<K: Key, V: Fits<K::Bits>, F: Family, T: Trace>(
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    Ok(Box::new(OlfitMap::<K, V, Of<K::Bits, F, T>>::with_options(options)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_families_and_the_schemes() {
        let schemes = [
            Without::NAME,
            Olfit::NAME,
            OlfitAtOnce::NAME,
            LockCoupling::NAME,
            OneLatch::NAME,
            VersionedNodes::NAME,
            VersionedTree::NAME,
        ];
        let named =
            ["b", "csb"].into_iter().flat_map(|family| schemes.map(|name| format!("{family}-{name}")));
        assert!(named.eq(Member::ALL.map(Member::name)));
        assert!(Member::ALL.iter().all(|&member| Member::from_name(member.name()) == Some(member)));
        assert_eq!(Member::ALL.iter().filter(|member| member.is_concurrent()).count(), 12);
    }
}
