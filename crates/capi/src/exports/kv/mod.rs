//! Indexes whose keys and values are byte strings.

pub mod batches;
pub mod cursors;
pub mod entries;
pub mod life;
pub mod order;
pub mod ranges;

pub use cursors::latchless_kv_cursor;
pub use life::latchless_kv;
