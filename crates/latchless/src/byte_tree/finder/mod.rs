//! The ways to a leaf: by a key's position, by its hash, at an end of all keys, and by a descent.

pub mod ends;
pub mod guesses;
pub mod positions;
pub mod start;
