//! OLFIT and its rivals, with lanes of either width. Nodes have the smallest possible size, so that leaves
//! are split and removed all the time.

use crate::narrow::Narrow;
use crate::subject::Subject;
use latchless::{Direction, Key};
use latchless_core::base::index::OrderedIndex;
use latchless_papers::olfit::tree::READ_TRIES;
use latchless_papers::olfit::{
    BPlus, Concurrent, CsbPlus, Family, LockCoupling, Olfit, OlfitAtOnce, OlfitMap, Options, Quiet,
    VersionedNodes, VersionedTree,
};

/// More nodes than one operation reads, restarts left out.
const LOOKS_MAX: u64 = 24;

fn options(node_bytes: usize) -> Options {
    Options { node_bytes, huge_pages: false, ..Options::default() }
}

/// A member with 64-bit lanes and the smallest possible nodes.
pub fn wide<F: Family<Scheme: Concurrent>>() -> Box<dyn Subject> {
    let map = OlfitMap::<u64, u64, Quiet<u64, F>>::with_options(&options(64))
        .or_else(|_| OlfitMap::with_options(&options(128)));
    Box::new(map.expect("one leaf finds room"))
}

/// A member with 32-bit lanes, of the paper's nodes.
pub fn narrow<F: Family<Scheme: Concurrent>>() -> Box<dyn Subject> {
    Box::new(Narrow(
        OlfitMap::<u32, u32, Quiet<u32, F>>::with_options(&options(128)).expect("one leaf finds room"),
    ))
}

/// A way to make a subject with a memory limit, or with few references.
pub type MakeLimited = fn(Option<usize>, Option<u32>) -> Box<dyn Subject>;

/// Members that differ in when memory is used again, and in how much of it an update needs.
pub fn with_limit() -> [(&'static str, MakeLimited); 8] {
    fn limited<F: Family<Scheme: Concurrent>>(
        bytes: Option<usize>,
        references: Option<u32>,
    ) -> Box<dyn Subject> {
        let options = Options { limit_bytes: bytes, node_references: references, ..options(128) };
        Box::new(OlfitMap::<u64, u64, Quiet<u64, F>>::with_options(&options).expect("one leaf finds room"))
    }
    [
        ("b-ol", limited::<BPlus<Olfit>>),
        ("b-ol-at-once", limited::<BPlus<OlfitAtOnce>>),
        ("b-lc", limited::<BPlus<LockCoupling>>),
        ("b-vn", limited::<BPlus<VersionedNodes>>),
        ("b-vt", limited::<BPlus<VersionedTree>>),
        ("csb-ol-at-once", limited::<CsbPlus<OlfitAtOnce>>),
        ("csb-vn", limited::<CsbPlus<VersionedNodes>>),
        ("csb-vt", limited::<CsbPlus<VersionedTree>>),
    ]
}

fn restarts<K: Key, V: latchless_core::Fits<K::Bits>, F: Family>(
    map: &OlfitMap<K, V, Quiet<K, F>>,
) -> Option<(u64, u64)> {
    Some((map.stats().restarts, LOOKS_MAX * (u64::from(READ_TRIES) + 1)))
}

impl<F: Family<Scheme: Concurrent>> Subject for OlfitMap<u64, u64, Quiet<u64, F>> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        if direction == Direction::Forward { self.ceiling(key) } else { self.floor(key) }
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(OlfitMap::live_bytes(self))
    }

    fn restarts(&self) -> Option<(u64, u64)> {
        restarts(self)
    }
}

impl<F: Family<Scheme: Concurrent>> Subject for Narrow<OlfitMap<u32, u32, Quiet<u32, F>>> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(self.0.live_bytes())
    }

    fn restarts(&self) -> Option<(u64, u64)> {
        restarts(&self.0)
    }
}
