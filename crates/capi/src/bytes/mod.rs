//! Calls for indexes of byte strings: what serves them.
//!
//! Keys are read where the caller has them: a call is given nothing that anything writes meanwhile. An
//! answer is written only when the key isn't read any more, so it may take the key's place.

pub mod batches;
pub mod cursors;
pub mod entries;
pub mod files;
pub mod ranges;

mod column;
mod key;

pub use key::KEY_MAX;
