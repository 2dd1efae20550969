//! What the programs share: how they print, what they say when something goes wrong, and how numbers and
//! names on their command lines are read.

pub mod count;
pub mod failure;
pub mod kernel;
pub mod nearest;
pub mod output;
pub mod say;
