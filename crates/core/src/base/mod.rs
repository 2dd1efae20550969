//! The vocabulary of all indexes: keys, values, requests, errors, and the trait that tests, the command line
//! and benchmarks use. Nothing here knows what a node is.

pub mod bytes_key;
pub mod bytes_value;
mod closed;
pub mod derived;
pub mod distance;
pub mod error;
pub mod fill;
pub mod index;
pub mod index_key;
pub mod index_value;
pub mod key;
pub mod key_forms;
pub mod nanos;
pub mod parts;
pub mod replacement;
pub mod request;
pub mod span;
pub mod spans;
pub mod stats;
pub mod strings;
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
pub mod times;
pub mod tuples;
pub mod value;
pub mod versioned;
pub mod wide;
pub mod wrapped;
