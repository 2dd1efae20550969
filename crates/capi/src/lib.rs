//! `liblatchless`: ordered indexes for C, and by `latchless.hpp` for C++. The header, `latchless.h`, is made
//! of [`exports`], and is where to read what the functions do.
//!
//! [`exports`] has the functions that C sees, thin ones, for each type of key. Below it: [`life`],
//! [`entries`], [`batches`], [`ranges`], [`cursors`] and [`files`] serve them, once for all types of
//! numbers, and [`bytes`] for byte strings; [`handle`] tells good handles from others, [`whole`] says what
//! an index is, [`border`] turns failures and panics into statuses, [`key`] turns numbers into words, and
//! [`column`] reads and writes the caller's arrays.
//!
//! What a caller owes is the same for all functions, and at the head of the header: pointers point to what
//! they are said to, nothing else writes what they point to during a call, and a handle isn't freed while
//! another thread uses it. Unsafe functions of this crate ask for just that.

pub mod exports;

mod batches;
mod border;
mod bytes;
mod column;
mod cursors;
mod entries;
mod failure;
mod files;
mod handle;
mod key;
mod life;
mod message;
mod options;
mod ranges;
mod stats;
mod status;
#[cfg(test)]
mod tests;
mod whole;
