//! The members of the family by name, built as trait objects.

use super::map::OlfitMap;
use super::options::Options;
use super::{BPlus, CsbPlus, Family};
use super::{
    LockCoupling, Olfit, OlfitAtOnce, OlfitPrefetched, OneLatch, VersionedNodes, VersionedTree, Without,
};
use crate::common::catalogue::members;
use crate::error::Result;
use crate::olfit::node::Of;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Trace};

members! {
    boxed;
    BPlusNo "b-no" false, "B+-Tree without concurrency control" => BPlus<Without>;
    BPlusOl "b-ol" true, "B+-Tree under OLFIT: latch and version in one word, links" => BPlus<Olfit>;
    BPlusOlAtOnce "b-ol-at-once" true, "b-ol that uses emptied nodes again at once" => BPlus<OlfitAtOnce>;
    BPlusOlPrefetched "b-ol-prefetched" true, "b-ol that prefetches whole nodes" => BPlus<OlfitPrefetched>;
    BPlusLc "b-lc" true, "B+-Tree under lock coupling" => BPlus<LockCoupling>;
    BPlusTl "b-tl" true, "B+-Tree under one reader-writer latch" => BPlus<OneLatch>;
    BPlusVn "b-vn" true, "B+-Tree with versions, latches on nodes" => BPlus<VersionedNodes>;
    BPlusVt "b-vt" true, "B+-Tree with versions, one latch for writers" => BPlus<VersionedTree>;
    CsbNo "csb-no" false, "full CSB+-Tree without concurrency control" => CsbPlus<Without>;
    CsbOl "csb-ol" true, "full CSB+-Tree under OLFIT" => CsbPlus<Olfit>;
    CsbOlAtOnce "csb-ol-at-once" true, "csb-ol that uses emptied groups again at once" => CsbPlus<OlfitAtOnce>;
    CsbOlPrefetched "csb-ol-prefetched" true, "csb-ol that prefetches whole nodes" => CsbPlus<OlfitPrefetched>;
    CsbLc "csb-lc" true, "full CSB+-Tree under lock coupling" => CsbPlus<LockCoupling>;
    CsbTl "csb-tl" true, "full CSB+-Tree under one reader-writer latch" => CsbPlus<OneLatch>;
    CsbVn "csb-vn" true, "full CSB+-Tree with versions of groups, latches on nodes" => CsbPlus<VersionedNodes>;
    CsbVt "csb-vt" true, "full CSB+-Tree with versions of groups, one latch for writers" => CsbPlus<VersionedTree>;
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
    build_traced::<K, V, NoTrace>(member, options)
}

fn boxed<K: Key, V: Fits<K::Bits>, F: Family, T: Trace>(
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    Ok(Box::new(OlfitMap::<K, V, Of<K::Bits, F, T>>::with_options(options)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::olfit::Scheme;

    #[test]
    fn names_are_the_families_and_the_schemes() {
        let schemes = [
            Without::NAME,
            Olfit::NAME,
            OlfitAtOnce::NAME,
            OlfitPrefetched::NAME,
            LockCoupling::NAME,
            OneLatch::NAME,
            VersionedNodes::NAME,
            VersionedTree::NAME,
        ];
        let named =
            ["b", "csb"].into_iter().flat_map(|family| schemes.map(|name| format!("{family}-{name}")));
        assert!(named.eq(Member::ALL.map(Member::name)));
        for member in Member::ALL {
            let built = build::<u32, u32>(member, &Options::default()).unwrap();
            assert_eq!(member.entry().concurrent, built.as_concurrent().is_some(), "{}", member.name());
        }
    }
}
