//! OLFIT and its rivals, with lanes of either width. Nodes are the smallest that there are, so that leaves
//! split and go all the time.

use crate::subject::Subject;
use latchless::{Direction, FillFactor, Key, Result};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span};
use latchless_papers::olfit::tree::READ_TRIES;
use latchless_papers::olfit::{
    BPlus, Concurrent, CsbPlus, Family, LockCoupling, Olfit, OlfitAtOnce, OlfitMap, Options, Quiet,
    VersionedNodes, VersionedTree,
};
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// More nodes than one operation looks at, restarts left out.
const LOOKS_MAX: u64 = 24;

fn options(node_bytes: usize) -> Options {
    Options { node_bytes, huge_pages: false, ..Options::default() }
}

/// A member with 64-bit lanes, of the smallest nodes that there are.
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

fn restarts<K: Key, V: latchless::Fits<K::Bits>, F: Family>(
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

/// Lanes of 32 bits behind keys and values of 64, which tests keep below 2^32.
pub struct Narrow<F: Family>(OlfitMap<u32, u32, Quiet<u32, F>>);

fn lane(wide: u64) -> u32 {
    u32::try_from(wide).expect("tests use small numbers")
}

fn narrow_span(span: Span<u64>) -> Span<u32> {
    let narrow = |bound: Bound<u64>| match bound {
        Included(key) => Included(lane(key)),
        Excluded(key) => Excluded(lane(key)),
        Unbounded => Unbounded,
    };
    (narrow(span.0), narrow(span.1))
}

impl<F: Family<Scheme: Concurrent>> OrderedIndex<u64, u64> for Narrow<F> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(lane(key)).map(u64::from)
    }

    fn insert(&mut self, key: u64, value: u64) -> Result<Option<u64>> {
        self.insert_shared(key, value)
    }

    fn remove(&mut self, key: u64) -> Option<u64> {
        self.remove_shared(key)
    }

    fn scan(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        self.scanner(span, direction)?.fill(keys, values)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        Ok(Box::new(NarrowScan(OrderedIndex::scanner(&self.0, narrow_span(span), direction)?)))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        OrderedIndex::count(&self.0, narrow_span(span))
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], fill: FillFactor) -> Result<()> {
        let entries: Vec<(u32, u32)> = entries.iter().map(|&(key, value)| (lane(key), lane(value))).collect();
        self.0.bulk_load(&entries, fill)
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.memory_bytes())
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.0.check_invariants()
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<u64, u64>> {
        Some(self)
    }
}

impl<F: Family<Scheme: Concurrent>> ConcurrentIndex<u64, u64> for Narrow<F> {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        Ok(self.0.insert(lane(key), lane(value))?.map(u64::from))
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.0.remove(lane(key)).map(u64::from)
    }
}

impl<F: Family<Scheme: Concurrent>> Subject for Narrow<F> {
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

struct NarrowScan<'a>(Box<dyn Scanner<u32, u32> + 'a>);

impl Scanner<u64, u64> for NarrowScan<'_> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        let (mut narrow_keys, mut narrow_values) = (vec![0; keys.len()], vec![0; values.len()]);
        let found = self.0.fill(&mut narrow_keys, &mut narrow_values)?;
        keys.iter_mut().zip(narrow_keys).for_each(|(to, key)| *to = u64::from(key));
        values.iter_mut().zip(narrow_values).for_each(|(to, value)| *to = u64::from(value));
        Ok(found)
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        let mut keys = vec![0; values.len()];
        self.fill(&mut keys, values)
    }
}
