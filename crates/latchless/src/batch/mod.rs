//! Floor 10: what batches have in common: descents interleaved, their order by key, where they may be cut,
//! and edits side by side on many threads.

mod interleave;
mod order;
#[cfg(feature = "rayon")]
mod side_by_side;

pub use interleave::{BatchSize, Interleaving, interleave};
pub use order::{Order, cut};
#[cfg(feature = "rayon")]
pub use side_by_side::edit_side_by_side;
