//! Calls for indexes of byte strings: what serves them. Once for all types of [values](value), but for
//! batches of lookups: [`batches`] has those whose answers are numbers, [`gathered`] those whose answers
//! are byte strings.
//!
//! Keys are read where the caller has them: a call is given nothing that anything writes meanwhile. An
//! answer is written only when the key isn't read any more, so it may take the key's place.

pub mod batches;
pub mod cursors;
pub mod entries;
pub mod files;
pub mod gathered;
pub mod ranges;

mod column;
mod key;
mod value;

pub use key::{KEY_MAX, VALUE_MAX};
