//! The subjects: the reference, which shows that the tests are right, and the papers' structures.

use crate::cssl;
use crate::olfit::{narrow, wide};
use crate::reference::Reference;
use crate::spiderman;
use crate::subject::Make;
use latchless_papers::olfit::{
    BPlus, CsbPlus, LockCoupling, Olfit, OlfitAtOnce, OlfitPrefetched, OneLatch, VersionedNodes,
    VersionedTree,
};

/// Every structure with concurrent updates. Each member of a family does a part of what others do
/// ([`part`]).
pub const SUBJECTS: &[(&str, Make)] = &[
    ("reference", || Box::new(Reference::default())),
    ("olc", spiderman::one_by_one),
    ("olc in batches", spiderman::in_batches),
    ("art", spiderman::trie),
    ("art in batches", spiderman::trie_in_batches),
    ("b-ol", wide::<BPlus<Olfit>>),
    ("b-ol-at-once", wide::<BPlus<OlfitAtOnce>>),
    ("b-ol-prefetched", wide::<BPlus<OlfitPrefetched>>),
    ("b-lc", wide::<BPlus<LockCoupling>>),
    ("b-tl", wide::<BPlus<OneLatch>>),
    ("b-vn", wide::<BPlus<VersionedNodes>>),
    ("b-vt", wide::<BPlus<VersionedTree>>),
    ("csb-ol", wide::<CsbPlus<Olfit>>),
    ("csb-ol-at-once", wide::<CsbPlus<OlfitAtOnce>>),
    ("csb-ol-prefetched", wide::<CsbPlus<OlfitPrefetched>>),
    ("csb-lc", wide::<CsbPlus<LockCoupling>>),
    ("csb-tl", wide::<CsbPlus<OneLatch>>),
    ("csb-vn", wide::<CsbPlus<VersionedNodes>>),
    ("csb-vt", wide::<CsbPlus<VersionedTree>>),
    ("b-ol of 32-bit lanes", narrow::<BPlus<Olfit>>),
    ("b-ol-at-once of 32-bit lanes", narrow::<BPlus<OlfitAtOnce>>),
    ("csb-ol-at-once of 32-bit lanes", narrow::<CsbPlus<OlfitAtOnce>>),
    ("csb-vn of 32-bit lanes", narrow::<CsbPlus<VersionedNodes>>),
    ("cssl", cssl::parts),
    ("cssl2", cssl::whole),
    ("cssl of 32-bit lanes", cssl::narrow),
    ("pi behind its queue", || Box::new(crate::pi::Front::default())),
];

/// The factor by which the tests of a subject are smaller: all members of a family run the same code.
pub fn part(name: &str) -> usize {
    match name {
        _ if name.starts_with("cssl") => 8,
        // Each of its requests waits for another thread.
        _ if name.starts_with("pi") => 10,
        _ if name.starts_with("b-") || name.starts_with("csb-") => 4,
        _ => 1,
    }
}
