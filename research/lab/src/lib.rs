//! The papers' experiments as data, one runner, and the memory-hierarchy model.
//!
//! | module | meaning |
//! |---|---|
//! | [`experiment`] | an experiment as data |
//! | [`pb_tree`] | the pB+-Tree paper's experiments |
//! | [`olfit`] | the OLFIT paper's experiments |
//! | [`cssl`] | the CSSL paper's experiments |
//! | [`spiderman`] | the Spiderman paper's experiments |
//! | [`pi`] | the PI paper's experiments |
//! | [`catalogue`](mod@catalogue) | which papers and experiments there are, by name |
//! | [`runner`] | runs any of them on the model or natively |
//! | [`model`] | the memory-hierarchy model |
//! | [`on`], [`row`], [`results`], [`report`] | the results: where they are from, one row each, files, a page with charts |
//! | [`claims`] | the papers' claims beside kept results, with a verdict on each |
//!
//! ```
//! use latchless_lab::experiment::Scale;
//! use latchless_lab::runner::{Places, run};
//!
//! let selected = latchless_lab::select(&["pb-tree".to_string(), "eq-1".to_string()]).unwrap();
//! let rows = run(&selected, Places::Model, Scale::Small, &mut |_| ()).unwrap();
//! assert!(rows.iter().any(|row| row.published.is_some()));
//! ```

/// The same allocator as the program's: weighed allocations and arenas need it.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: latchless_measure::counting::Counting = latchless_measure::counting::Counting;

pub mod catalogue;
pub mod claims;
pub mod cssl;
pub mod error;
pub mod experiment;
pub mod model;
pub mod olfit;
pub mod on;
pub mod pb_tree;
pub mod pi;
pub mod report;
pub mod results;
pub mod row;
pub mod runner;
pub mod spiderman;
pub mod subject;

pub use catalogue::{catalogue, select};
pub use error::{LabError, Result};
