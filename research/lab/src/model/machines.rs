//! The machines of the other papers: the OLFIT paper's, extended beyond its eight processors, the Spiderman
//! paper's, one of several nodes, and the CSSL paper's.

use super::branches::{Branches, Depends};
use super::parameters::{
    CacheShape, Granule, Parameters, SecondTranslation, SharedCache, StreamShape, Translation,
};
use super::prices::Prices;
use super::system::{Placement, System};

impl Parameters {
    /// The machine of the OLFIT paper's §6, with that many processors: a Sun Enterprise 5500 of 400 MHz
    /// UltraSPARC II with 8 MB of secondary cache each, lines of 64 bytes, 8 clocks to the secondary cache
    /// and 100 to memory (§2.1).
    ///
    /// One number is calibrated, because the paper doesn't publish it: the cost of a missing translation.
    /// It makes one processor without concurrency control do 475K searches a second among 10M keys in a
    /// B+-Tree, where Fig. 9's axis, which ends at 500K, shows its highest curve. Absolute throughputs
    /// depend on it; orders and the scaling to eight processors don't: OLFIT's experiment `translation`
    /// has both at no cost, at half of it and at the chosen one. All other numbers of the model are
    /// predictions.
    ///
    /// Properties that the paper doesn't give are from the processor's manual and the machine's data
    /// sheet: the UltraSPARC II does everything in order, with 16 KB of direct-mapped primary cache, a
    /// store buffer of eight and translations for 512 KB; the Enterprise's bus carries a line in 20 ns, 8
    /// clocks, and a line that another cache has changed uses that bus like any other. The Enterprise
    /// holds 14 processors. An Enterprise of more has the same processors and the four interleaved buses
    /// and the crossbar of an Enterprise 10000, which carry a line in 5 ns, 2 clocks; the larger distance
    /// of its memory is left out, so that one number changes, not two.
    pub const fn olfit(processors: usize) -> Self {
        Self {
            clock_mhz: 400,
            issue_width: 4,
            reorder_buffer_instructions: 0,
            l1: CacheShape { bytes: 16 << 10, ways: 1 },
            l2: CacheShape { bytes: 8 << 20, ways: 1 },
            l3: None,
            translation: Some(Translation { pages: 128, ways: 4, miss_cycles: 72, second: None }),
            streams: None,
            l2_latency_cycles: 8,
            memory_latency_cycles: 100,
            memory_interval_cycles: if processors <= Self::ONE_BUS_PROCESSORS_MAX { 8 } else { 2 },
            miss_handlers: 8,
            prefetches_wait: false,
            runs_overlap: false,
            branches: Branches::Waited,
            depends: Depends::OnLastLine,
            prices: Prices::OLFIT,
            granule: Granule::Line,
            system: System {
                processors,
                nodes: 1,
                placement: Placement::FirstTouch,
                transfer_latency_cycles: 100,
                upgrade_latency_cycles: 40,
                remote_latency_cycles: 0,
                wait_cycles: 10_000,
            },
        }
    }

    /// The same processors on several NUMA nodes, each with a separate bus and memory; lines of another
    /// node arrive 100 clocks later. Not a machine of the OLFIT paper.
    pub const fn on_nodes(self, nodes: usize) -> Self {
        let one_bus = self.system.processors <= Self::ONE_BUS_PROCESSORS_MAX * nodes;
        Self {
            memory_interval_cycles: if one_bus { 8 } else { 2 },
            system: System { nodes, remote_latency_cycles: 100, ..self.system },
            ..self
        }
    }

    /// Processors that the Enterprise's one bus carries.
    const ONE_BUS_PROCESSORS_MAX: usize = 14;

    /// The machine of the Spiderman paper's §4, with that many threads, each pinned to a core of one
    /// socket: a Xeon Gold 6254 of 3.1 GHz, 32 KB of primary and 1 MB of secondary cache per core.
    /// Latencies are typical for it: 14 clocks to the secondary cache, 270 (87 ns) to the socket's memory;
    /// 200 to another core's cache; 70 to the 24 MB that its cores share. A core can have twelve outstanding
    /// misses. Its memory is on huge pages, so translation takes no time.
    ///
    /// # Bandwidth
    /// The paper's server, a PowerEdge R740xd, has 125 GB in two sockets. That is eight modules of 16 GB,
    /// four for each socket's six channels: twelve equal modules would be 96 or 192 GB. The processor's six
    /// channels of DDR4-2933 have 141 GB/s, of which streams reach some 105; by its vendor's *Balanced Memory
    /// with 2nd Generation Intel Xeon Scalable Processors* (2019, section 6) four modules have a third less.
    /// That is 70 GB/s, a line in 3 clocks (66 GB/s).
    ///
    /// # Overlap
    /// The processor has 224 instructions in flight, requests the lines of a run of entries in parallel, and
    /// predicts branches: see [`Parameters::SPIDERMAN_BRANCHES`].
    pub const fn spiderman(threads: usize) -> Self {
        Self {
            clock_mhz: 3_100,
            issue_width: 4,
            reorder_buffer_instructions: 224,
            l1: CacheShape { bytes: 32 << 10, ways: 8 },
            l2: CacheShape { bytes: 1 << 20, ways: 16 },
            l3: Some(SharedCache { shape: CacheShape { bytes: 24 << 20, ways: 12 }, latency_cycles: 70 }),
            translation: None,
            streams: None,
            l2_latency_cycles: 14,
            memory_latency_cycles: 270,
            memory_interval_cycles: 3,
            miss_handlers: 12,
            prefetches_wait: false,
            runs_overlap: true,
            branches: Self::SPIDERMAN_BRANCHES,
            depends: Depends::WithinOperation,
            prices: Prices::PB_TREE,
            granule: Granule::Line,
            system: System {
                processors: threads,
                nodes: 1,
                placement: Placement::FirstTouch,
                transfer_latency_cycles: 200,
                upgrade_latency_cycles: 100,
                remote_latency_cycles: 0,
                wait_cycles: 10_000,
            },
        }
    }

    /// The branches of a search on that machine. The paper's code branches at each key, and the paper doesn't
    /// say how many of these its processor predicts. That is the machine's one free choice, calibrated by one
    /// number, the 6 % that batches gain in Figure 11 on one thread: one guess of seven is wrong, about one a
    /// page. If none is, batches lose there, and with more they gain more (experiment `machines`). All
    /// other numbers are predictions.
    pub const SPIDERMAN_BRANCHES: Branches = Branches::WrongOnceIn(7);

    /// The machine of the CSSL paper's §5, of which its experiments use one core: a 2 GHz Xeon E5-2620 with
    /// 15 MB of third-level cache.
    ///
    /// The paper gives no more; what follows is from Intel's *64 and IA-32 Architectures Optimization
    /// Reference Manual*, its chapter on Sandy Bridge. Of a core: 32 KB of primary cache and 256 KB of
    /// secondary, 12 cycles away; ten lines on their way to the primary one; 168 instructions in flight, four
    /// a cycle. Third level: 26 to 31 cycles, 2.5 MB a core in 20 ways; a hash distributes the lines over its
    /// slices. Pages of 4 KB, 64 translations and 512 behind them, seven cycles away. The stream prefetcher
    /// follows 32 runs, up to 20 lines ahead, into the third level, and "not far ahead" into the secondary
    /// cache: half of that here, by 16 requests. Memory: 200 cycles, 100 ns, typical for it; its four
    /// channels of DDR3-1333 carry a line in 3 cycles. A translation that no level has takes 30 cycles: the
    /// page table's entry comes from the third level.
    ///
    /// Branches are guessed: of one with n ways that are equally likely, n - 1 of n times wrongly. Loads wait
    /// for addresses out of others, but not across operations.
    pub const fn cssl() -> Self {
        Self {
            clock_mhz: 2_000,
            issue_width: 4,
            reorder_buffer_instructions: 168,
            l1: CacheShape { bytes: 32 << 10, ways: 8 },
            l2: CacheShape { bytes: 256 << 10, ways: 8 },
            l3: Some(SharedCache { shape: CacheShape { bytes: 15 << 20, ways: 20 }, latency_cycles: 30 }),
            translation: Some(Translation {
                pages: 64,
                ways: 4,
                miss_cycles: 30,
                second: Some(SecondTranslation { pages: 512, ways: 4, hit_cycles: 7 }),
            }),
            streams: Some(StreamShape { streams: 32, near_lines: 10, ahead_lines: 20, miss_handlers: 16 }),
            l2_latency_cycles: 12,
            memory_latency_cycles: 200,
            memory_interval_cycles: 3,
            miss_handlers: 10,
            prefetches_wait: true,
            runs_overlap: true,
            branches: Branches::HalfGuessed,
            depends: Depends::WithinOperation,
            prices: Prices::CSSL,
            granule: Granule::Page,
            system: System::ALONE,
        }
    }

    /// The same for a structure whose searches compute the next key instead of branching to it.
    pub const fn cssl_without_branches() -> Self {
        Self { branches: Branches::None, prices: Prices::CSSL_COMPUTED, ..Self::cssl() }
    }

    /// A machine of several nodes, like the PI paper's (§4): 2 GHz Xeon 7540, which have six cores a
    /// node, 32 KB of primary and 256 KB of secondary cache each, and 18 MB that a node's cores share.
    /// Latencies are those usual for it: 10 clocks to the secondary cache, 50 to the shared one, 200 to the
    /// node's own memory, 120 more to another node's; a node's memory carries a line in 7 clocks.
    pub const fn numa(nodes: usize, processors: usize) -> Self {
        Self {
            clock_mhz: 2_000,
            issue_width: 4,
            reorder_buffer_instructions: 128,
            l1: CacheShape { bytes: 32 << 10, ways: 8 },
            l2: CacheShape { bytes: 256 << 10, ways: 8 },
            l3: Some(SharedCache { shape: CacheShape { bytes: 18 << 20, ways: 18 }, latency_cycles: 50 }),
            translation: None,
            streams: None,
            l2_latency_cycles: 10,
            memory_latency_cycles: 200,
            memory_interval_cycles: 7,
            miss_handlers: 10,
            prefetches_wait: false,
            runs_overlap: false,
            branches: Branches::Waited,
            depends: Depends::OnLastLine,
            prices: Prices::PB_TREE,
            granule: Granule::Line,
            system: System {
                processors,
                nodes,
                placement: Placement::FirstTouch,
                transfer_latency_cycles: 200,
                upgrade_latency_cycles: 100,
                remote_latency_cycles: 120,
                wait_cycles: 10_000,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_machines_can_be_built() {
        for processors in [1, 2, 8, 14, 15, 64] {
            let machine = Parameters::olfit(processors);
            machine.check().unwrap();
            assert_eq!(machine.l2.sets(), 131_072);
        }
        for nodes in [2, 4, 8] {
            let machine = Parameters::olfit(32).on_nodes(nodes);
            machine.check().unwrap();
            assert_eq!(machine.memory_interval_cycles, if nodes == 2 { 2 } else { 8 });
        }
        for (nodes, processors) in [(1, 8), (4, 32), (8, 64)] {
            Parameters::numa(nodes, processors).check().unwrap();
        }
        [1, 4, 16].into_iter().for_each(|threads| Parameters::spiderman(threads).check().unwrap());
        let cssl = Parameters::cssl();
        cssl.check().unwrap();
        assert_eq!(cssl.l3.map(|shared| shared.shape.sets()), Some(12_288));
        Parameters::cssl_without_branches().check().unwrap();
        assert!(Parameters::olfit(65).check().is_err() && Parameters::numa(9, 32).check().is_err());
    }
}
