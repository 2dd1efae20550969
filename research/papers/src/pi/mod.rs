//! PI (Xie, Cai, Jagadish, Ooi, Wong: *PI: a Parallel in-memory skip list based Index*, 2016): batches of
//! queries over a skip list whose upper levels are arrays of SIMD entries.
//!
//! | paper | here |
//! |---|---|
//! | storage layer, data nodes (Definition 1, §4.1) | [`segments`] |
//! | entries, routing tables, traversal (§3.1, §3.2.1, §4.3.4) | [`routed`] |
//! | sorted query sets (Definition 3) | [`sorted`](latchless_core::batch::sorted) |
//! | redistribution by messages (§3.2.2, Algorithm 3), ranges (§3.2.5) | [`batch`](latchless_core::batch), `partition`; limited ranges `carry`, `ranges` |
//! | self-adjusted threading (§4.3.3) | [`threads_per_node`](crate::pi::batch::pool::threads_per_node), [`Pool`](crate::pi::batch::pool::Pool) |
//! | query processing, execution (Algorithms 1 and 4) | `engine`, `execute`, `context`, `work` |
//! | background updating (§4.3.5) | `rebuild` |
//! | the performance model (§5) | [`analysis`] |
//! | the typical skip list of Fig. 15 | [`SkipList`] |
//!
//! From its future work: rebuilds that lay out only segments that have changed, and for an index layer in
//! parts (`parted`, [`Options::part_segments`]) write only the parts over them; batches of a size that is
//! tuned at run time ([`QuerySetSize::Auto`](crate::pi::batch::tune::QuerySetSize)); huge pages; and
//! adjacent top levels.

pub mod analysis;
mod ask;
pub mod batch;
mod catalogue;
mod context;
pub mod crew;
mod domain;
mod engine;
mod execute;
mod layer;
mod map;
pub mod mem;
mod options;
mod ordered;
mod parted;
mod plain;
mod query;
mod ranges;
mod rebuild;
pub mod routed;
mod scan;
pub mod segments;
mod submissions;
#[cfg(test)]
mod tests;
mod walk;
mod work;
#[cfg(test)]
mod written;

pub use catalogue::{Member, build};
pub use layer::LayerStats;
pub use map::Pi;
pub use options::{EntryKeys, Options, Prefetch};
pub use plain::SkipList;
pub use query::Query;
pub use scan::{Entries, Scan};
pub use submissions::{SubmissionOptions, Submissions};
