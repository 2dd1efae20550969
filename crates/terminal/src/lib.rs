//! The programs' shared interface: output, error messages, and parsing of numbers and names on the command
//! line.

pub mod count;
pub mod failure;
pub mod file;
pub mod kernel;
pub mod nearest;
pub mod output;
pub mod program;
pub mod say;
