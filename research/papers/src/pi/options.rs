//! Construction options of an index.

use crate::error::{Error, Result};
use crate::pi::batch::tune::QuerySetSize;
use crate::pi::mem::placement::Placement;
use crate::pi::mem::topology::Topology;
use crate::pi::routed::Heights;
use crate::pi::segments::{Form, SEGMENTS_MAX};
use latchless_core::search::Kernel;

/// Keys of an entry of the index layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EntryKeys {
    /// Four: the paper's, 128 bits of 32-bit keys.
    Four,
    /// Eight, the default: with 32-bit keys an entry and its routing table are one cache line, with 64-bit
    /// keys the entry alone is one. About a tenth faster than the paper's four on the model of its machine
    /// (`latchless-lab paper pi entry-keys --on model`).
    #[default]
    Eight,
    /// Sixteen: with 32-bit keys 512 bits.
    Sixteen,
}

/// What the queries of a batch prefetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Prefetch {
    /// Nothing.
    Nothing,
    /// Each its entry of the next level of the index layer: the paper's (§4.3.4).
    Entries,
    /// Entries, and then the segments and data nodes of later queries: the paper walks the list without.
    #[default]
    EntriesAndList,
}

impl Prefetch {
    /// Returns whether entries are prefetched.
    pub const fn of_entries(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Returns whether segments and data nodes are prefetched.
    pub const fn of_list(self) -> bool {
        matches!(self, Self::EntriesAndList)
    }
}

/// Construction options. The defaults are the paper's if it has any, with two exceptions, which are faster:
/// eight keys an entry, where the paper has four ([`EntryKeys`]), and prefetches of the list as well
/// ([`Prefetch`]). The laboratory's figures of the paper have four keys and prefetch entries alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Keys of an entry.
    pub entry_keys: EntryKeys,
    /// Threads that work on a batch, the caller's counted: 1 to 4096.
    pub threads: usize,
    /// The NUMA nodes among which keys are divided; `None`: the system's, as far as there are threads for
    /// them.
    pub topology: Option<Topology>,
    /// Whether threads but the caller's stay on the processors of their node, and off the caller's.
    pub pin: bool,
    /// Whether the number of each node's threads is proportional to its queries (§4.3.3), or equal.
    pub self_adjusted: bool,
    /// Queries of a batch, for each thread, at least 1.
    pub batch: QuerySetSize,
    /// Queries that go down the index layer together (§4.3.4), at least 1: one after the other.
    pub group: usize,
    /// What they prefetch.
    pub prefetch: Prefetch,
    /// The share of the keys, in percent, that may be inserted or deleted before the index layer is rebuilt
    /// (§4.3.5).
    pub rebuild_percent: usize,
    /// The least such number, for small indexes.
    pub rebuild_from: usize,
    /// Whether it is rebuilt by a thread in the background, and swapped in between batches. Otherwise the
    /// caller waits.
    pub background: bool,
    /// Nodes of a segment of the list, about: 1 to 255. A segment has one owner in a batch, and is
    /// copied if it is changed while a rebuild reads it.
    pub segment_nodes: usize,
    /// Room for further nodes that each segment has when it is laid out, in percent of its nodes, for
    /// inserts until the next rebuild. 0 to 10,000; 0, for an index that hardly ever changes, takes the
    /// least memory, and a segment's first insert then copies it.
    pub room_percent: usize,
    /// The approximate number of segments under a part of the index layer: 1 to 16,777,216. A rebuild
    /// writes only the parts under which something has changed, and the top, so its work is proportional
    /// to the changes, not to the index. 64 is a good choice. `None`: the index layer is one array, which
    /// every rebuild writes whole.
    pub part_segments: Option<usize>,
    /// The most memory that nodes and index layer may take, in bytes; while the index is being rebuilt it
    /// takes up to twice as much. `None`: no limit.
    pub limit_bytes: Option<usize>,
    /// Whether data nodes and index layer are on huge pages if the system offers them.
    pub huge_pages: bool,
    /// The search kernel. `None`: the fastest that this processor has.
    pub kernel: Option<Kernel>,
    /// The seed of the heights. An attacker that can choose the keys and knows the seed can create a
    /// degenerate index.
    pub seed: u64,
}

/// More threads than this are a mistake.
const THREADS_MAX: usize = 4096;

impl Options {
    /// Refuses settings that make no sense.
    pub(super) fn check(&self) -> Result<()> {
        Error::check_setting("threads", self.threads, 1..=THREADS_MAX)?;
        if let QuerySetSize::Queries(queries) = self.batch {
            Error::check_setting("batch", queries, 1..=usize::MAX)?;
        }
        Error::check_setting("group", self.group, 1..=usize::MAX)?;
        if let Some(part_segments) = self.part_segments {
            Error::check_setting("part_segments", part_segments, 1..=SEGMENTS_MAX)?;
        }
        self.form(None).map(|_| ())
    }

    /// Returns the form of the list of data nodes, on the NUMA node of this number if there is one.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn form(&self, node: Option<usize>) -> Result<Form> {
        let form = Form::new(self.segment_nodes, self.room_percent, Heights::new(self.seed))?;
        Ok(form.on(self.paper(node)))
    }

    /// Returns the placement of data nodes and index layer, on the NUMA node of this number if there is
    /// one.
    pub(super) fn paper(&self, node: Option<usize>) -> Placement {
        Placement { huge_pages: self.huge_pages, node }
    }

    /// Returns the topology.
    pub(super) fn resolved_topology(&self) -> Topology {
        let alone = || Topology::synthetic(1, self.threads);
        match &self.topology {
            Some(topology) => topology.clone(),
            None if self.threads <= 1 => alone(),
            None => Some(Topology::of_system())
                .filter(|system| system.nodes().len() <= self.threads)
                .unwrap_or_else(alone),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entry_keys: EntryKeys::default(),
            threads: 1,
            topology: None,
            pin: true,
            self_adjusted: true,
            batch: QuerySetSize::Queries(8192),
            group: 32,
            prefetch: Prefetch::default(),
            rebuild_percent: 15,
            rebuild_from: 512,
            background: true,
            segment_nodes: 128,
            room_percent: 25,
            part_segments: None,
            limit_bytes: None,
            huge_pages: true,
            kernel: None,
            seed: 0x5EED,
        }
    }
}
