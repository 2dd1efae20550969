//! What only indexes of byte strings have: [`cursors`] that move both ways, scans of one entry at a time,
//! [`files`], and batches whose answers are byte strings ([`gathered`]).
//!
//! Keys are read in the caller's memory, which no thread may write during the call. An answer is written
//! only after the last read of the key, so it may take the key's place.

pub mod cursors;
pub mod files;
pub mod gathered;
pub mod ranges;
