//! The parameters of the modelled machine.

use super::branches::{Branches, Depends};
use super::prices::Prices;
use super::system::System;
use crate::error::{LabError, Result};
use latchless_core::mem::line::LINE_BYTES;
use serde::Serialize;

/// Bytes in a page of the modelled machine.
pub const PAGE_BYTES: usize = 4096;
/// Lines in a page.
pub const LINES_OF_PAGE: u64 = (PAGE_BYTES / LINE_BYTES) as u64;

/// The unit that gets its number, and with that its place in the caches and its node, by the order of
/// first touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Granule {
    /// A page of [`PAGE_BYTES`], as an operating system does it.
    Page,
    /// Each line. Results then don't depend on where within its pages a structure outside of an arena
    /// is placed, which the allocator decides.
    Line,
}

/// Address translation: the pages for which a processor has translations, and the cost of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Translation {
    /// Pages of [`PAGE_BYTES`] at hand.
    pub pages: usize,
    /// The number of them that fit one set.
    pub ways: usize,
    /// The cost of a lookup that misses. A processor without a second level waits for it; with one, the
    /// access comes later, and what doesn't depend on it needn't wait.
    pub miss_cycles: u64,
    /// More pages, which take longer.
    pub second: Option<SecondTranslation>,
}

/// The second level of address translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SecondTranslation {
    /// Pages of [`PAGE_BYTES`].
    pub pages: usize,
    /// The number of them that fit one set.
    pub ways: usize,
    /// The cost of a page that this level has and the first hasn't.
    pub hit_cycles: u64,
}

/// Translations as a cache, one line a page.
const fn as_cache(pages: usize, ways: usize) -> CacheShape {
    CacheShape { bytes: pages * LINE_BYTES, ways }
}

impl Translation {
    /// The translations as a cache, one line a page.
    pub const fn shape(self) -> CacheShape {
        as_cache(self.pages, self.ways)
    }
}

impl SecondTranslation {
    /// The translations as a cache, one line a page.
    pub const fn shape(self) -> CacheShape {
        as_cache(self.pages, self.ways)
    }
}

/// A stream prefetcher, each processor's own: see `streams`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StreamShape {
    /// Pages whose runs are followed.
    pub streams: usize,
    /// How far ahead of a run lines are fetched into the secondary cache.
    pub near_lines: usize,
    /// How far ahead of a run lines are fetched into the shared cache.
    pub ahead_lines: usize,
    /// Lines that can be on their way.
    pub miss_handlers: usize,
}

/// The most slices of a shared cache.
const SLICES_MAX: usize = 63;

/// The size and associativity of one cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CacheShape {
    /// Capacity in bytes.
    pub bytes: usize,
    /// Lines that one set holds; 1 is direct-mapped.
    pub ways: usize,
}

impl CacheShape {
    /// Returns the number of sets of the cache.
    pub const fn sets(self) -> usize {
        self.bytes / (LINE_BYTES * self.ways)
    }

    fn check(self, name: &'static str) -> Result<()> {
        self.check_slices(name, 1)
    }

    /// Refuses sets that aren't a power of two times an odd number of slices up to `most`.
    fn check_slices(self, name: &'static str, most: usize) -> Result<()> {
        let slices = |sets: usize| sets >> sets.trailing_zeros();
        let fits = self.ways > 0
            && self.sets() > 0
            && slices(self.sets()) <= most
            && self.sets() * self.ways * LINE_BYTES == self.bytes;
        if fits { Ok(()) } else { Err(LabError::CacheShape { name, bytes: self.bytes, ways: self.ways }) }
    }
}

/// A cache that all processors of a node share, below their own two. If its number of sets isn't a power of
/// two, it consists of an odd number of equal slices, at most 63, over which a hash distributes the
/// lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SharedCache {
    /// Its size and associativity.
    pub shape: CacheShape,
    /// The time from a miss in the primary cache to the line's arrival from this one.
    pub latency_cycles: u64,
}

/// A machine, in the terms of the paper's Table 2. Latencies are in processor cycles and counted
/// from the access to the word's arrival, as the table counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameters {
    /// Cycles in a microsecond.
    pub clock_mhz: u64,
    /// Instructions that can graduate in one cycle: the machine's *graduation slots* per cycle.
    pub issue_width: u64,
    /// Instructions that may be in flight after the oldest one that hasn't graduated; 0 for a
    /// processor that does everything in order.
    pub reorder_buffer_instructions: u64,
    /// The primary data cache, one for each processor.
    pub l1: CacheShape,
    /// The secondary cache, one for each processor.
    pub l2: CacheShape,
    /// The cache that the processors of a node share, one for each node; `None`: they share none.
    pub l3: Option<SharedCache>,
    /// Address translation, each processor's own; `None`: it takes no time.
    pub translation: Option<Translation>,
    /// The stream prefetcher of each processor; `None`: it has none.
    pub streams: Option<StreamShape>,
    /// The time from a miss in the primary cache to the line's arrival from the secondary one.
    pub l2_latency_cycles: u64,
    /// The time from a miss in the primary cache to the line's arrival from memory (the paper's T1).
    pub memory_latency_cycles: u64,
    /// Between the starts of two memory accesses (the paper's Tnext).
    pub memory_interval_cycles: u64,
    /// Data misses that one processor can have outstanding.
    pub miss_handlers: usize,
    /// Whether a prefetch that finds all of them taken waits for one. If not, the memory system keeps it
    /// until one becomes free (the pB+-Tree paper's footnote 4).
    pub prefetches_wait: bool,
    /// Whether the lines of one read are requested in parallel. If not, one after the other, as if each
    /// had the address of the next.
    pub runs_overlap: bool,
    /// The treatment of the branches of a binary search.
    pub branches: Branches,
    /// The condition for issuing a load.
    pub depends: Depends,
    /// The cost of the instructions between memory accesses.
    pub prices: Prices,
    /// The unit whose neighbourhood is kept when addresses are renamed.
    pub granule: Granule,
    /// The number of processors, and what they share.
    pub system: System,
}

impl Parameters {
    /// The machine of the pB+-Tree paper's Table 2: a 1 GHz, four-issue, dynamically scheduled
    /// processor in front of the memory system of a Compaq ES40.
    pub const PB_TREE: Self = Self {
        clock_mhz: 1_000,
        issue_width: 4,
        reorder_buffer_instructions: 64,
        l1: CacheShape { bytes: 64 << 10, ways: 2 },
        l2: CacheShape { bytes: 2 << 20, ways: 1 },
        l3: None,
        translation: None,
        streams: None,
        l2_latency_cycles: 15,
        memory_latency_cycles: 150,
        memory_interval_cycles: 10,
        miss_handlers: 32,
        prefetches_wait: false,
        runs_overlap: false,
        branches: Branches::Waited,
        depends: Depends::OnLastLine,
        prices: Prices::PB_TREE,
        granule: Granule::Page,
        system: System::ALONE,
    };

    /// Refuses what can't be built: sets that aren't a power of two, no miss handler, no slot.
    ///
    /// # Errors
    /// [`LabError::CacheShape`], [`LabError::Machine`].
    pub fn check(&self) -> Result<()> {
        self.l1.check("primary")?;
        self.l2.check("secondary")?;
        if let Some(shared) = self.l3 {
            shared.shape.check_slices("shared", SLICES_MAX)?;
        }
        if let Some(translation) = self.translation {
            translation.shape().check("translation")?;
            translation.second.map_or(Ok(()), |second| second.shape().check("second translation"))?;
        }
        if self.streams.is_some_and(|streams| streams.streams == 0 || streams.miss_handlers == 0) {
            return Err(LabError::Machine { what: "its prefetcher follows no stream" });
        }
        if self.streams.is_some() && self.granule != Granule::Page {
            return Err(LabError::Machine {
                what: "a prefetcher follows runs through pages, and its lines have none",
            });
        }
        if self.miss_handlers == 0 {
            return Err(LabError::Machine { what: "it has no miss handler" });
        }
        if self.issue_width == 0 {
            return Err(LabError::Machine { what: "it graduates no instruction" });
        }
        if self.clock_mhz == 0 {
            return Err(LabError::Machine { what: "its clock has no frequency" });
        }
        self.system.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_2_is_a_machine() {
        let machine = Parameters::PB_TREE;
        machine.check().unwrap();
        assert_eq!((machine.l1.sets(), machine.l2.sets()), (512, 32_768));
    }

    #[test]
    fn refuses_machines_that_cannot_be_built() {
        let odd = CacheShape { bytes: 3 << 10, ways: 1 };
        assert!(matches!(
            Parameters { l1: odd, ..Parameters::PB_TREE }.check(),
            Err(LabError::CacheShape { name: "primary", .. })
        ));
        let none = CacheShape { bytes: 64 << 10, ways: 0 };
        let without_ways = Parameters { l2: none, ..Parameters::PB_TREE };
        assert!(matches!(without_ways.check(), Err(LabError::CacheShape { name: "secondary", .. })));
        let uneven = CacheShape { bytes: (3 << 10) + 64, ..odd };
        assert!(SharedCache { shape: odd, latency_cycles: 50 }.shape.check_slices("shared", 3).is_ok());
        assert!(odd.check_slices("shared", 1).is_err());
        let l3 = Some(SharedCache { shape: CacheShape { ways: 5, ..uneven }, latency_cycles: 50 });
        let odd_shared = Parameters { l3, ..Parameters::PB_TREE };
        assert!(matches!(odd_shared.check(), Err(LabError::CacheShape { name: "shared", .. })));
        let translation = Translation { pages: 100, ways: 4, miss_cycles: 50, second: None };
        let odd_pages = Parameters { translation: Some(translation), ..Parameters::PB_TREE };
        assert!(matches!(odd_pages.check(), Err(LabError::CacheShape { name: "translation", .. })));
        let second = Some(SecondTranslation { pages: 100, ways: 4, hit_cycles: 7 });
        let translation = Some(Translation { pages: 64, second, ..translation });
        let odd_second = Parameters { translation, ..Parameters::PB_TREE };
        assert!(matches!(odd_second.check(), Err(LabError::CacheShape { name: "second translation", .. })));
        let streams = StreamShape { streams: 0, near_lines: 1, ahead_lines: 2, miss_handlers: 1 };
        let by_line = Parameters {
            granule: Granule::Line,
            streams: Some(StreamShape { streams: 1, ..streams }),
            ..Parameters::PB_TREE
        };
        assert!(matches!(by_line.check(), Err(LabError::Machine { .. })));
        for broken in [
            Parameters { miss_handlers: 0, ..Parameters::PB_TREE },
            Parameters { issue_width: 0, ..Parameters::PB_TREE },
            Parameters { clock_mhz: 0, ..Parameters::PB_TREE },
            Parameters { streams: Some(streams), ..Parameters::PB_TREE },
            Parameters { system: System { nodes: 9, ..System::ALONE }, ..Parameters::PB_TREE },
        ] {
            assert!(matches!(broken.check(), Err(LabError::Machine { .. })));
        }
    }
}
