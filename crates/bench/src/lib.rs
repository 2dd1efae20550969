//! Races of ordered indexes against each other, and what their operations cost.
//!
//! The program `latchless-bench` is [`args`] and [`run`] of [`races`], and [`witness`] (what operations cost
//! in events of the processor), [`versions`] (indexes that keep versions, beside one that doesn't) and
//! [`small`] (indexes of few entries), which a build without the feature `races` has alone; [`list`] prints
//! all names of the races' command line.

#![expect(rustdoc::private_intra_doc_links, reason = "its readers read the sources")]

/// As in the program: races weigh indexes with it.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: latchless_measure::counting::Counting = latchless_measure::counting::Counting;

mod clock;
#[cfg(feature = "races")]
mod races;
mod rounds;
pub mod small;
pub mod versions;
pub mod witness;

#[cfg(feature = "races")]
pub use races::{Args, Batch, Load, Order, args, bytes, catalogue, list, progress, report, run};
