//! [`MultiIndex`]: keys that map to many rows, as in a secondary index.

mod keys;
mod multi_index;
mod order;
mod range;
mod traits;

pub use keys::MultiKeys;
pub use multi_index::MultiIndex;
pub use range::MultiEntries;
pub use traits::MultiIntoEntries;
