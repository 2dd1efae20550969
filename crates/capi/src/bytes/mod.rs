//! The functions that serve the calls for indexes of byte strings. They are generic over the type of
//! [values](value), except batches of lookups: [`batches`] has those whose answers are words, [`gathered`]
//! those whose answers are byte strings.
//!
//! Keys are read in the caller's memory, which no thread may write during the call. An answer is written
//! only after the last read of the key, so it may take the key's place.

pub mod batches;
pub mod cursors;
pub mod entries;
pub mod files;
pub mod gathered;
pub mod ranges;
