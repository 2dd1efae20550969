//! `liblatchless`: ordered indexes for C, and by `latchless.hpp` for C++. The header, `latchless.h`, is
//! generated from [`exports`], and documents the functions.
//!
//! [`exports`] has the functions that C sees, thin ones, each once. Below it: [`life`], [`entries`],
//! [`batches`] and [`ranges`] serve them for words and byte strings alike, by what a [`family`] of handles
//! says of its keys and values, each a [`datum`]. [`cursors`] and [`files`] are of words, [`bytes`] has what
//! only byte strings have, and [`multi`] serves keys that have many rows. [`handle`] validates handles,
//! [`whole`] has the operations on a whole index, [`border`] turns failures and panics into statuses, [`key`]
//! has what words mean, and [`column`], [`place`] and [`strings`] read and write the caller's memory.
//!
//! The caller's obligations are the same for all functions, and are at the head of the header: pointers
//! point to what the function's documentation says, no other thread writes there during a call, and a
//! handle isn't freed while another thread uses it. They are the safety contract of this crate's unsafe
//! functions.

pub mod exports;

mod batches;
mod border;
mod budget;
mod bytes;
mod column;
mod cursors;
mod datum;
mod entries;
mod failure;
mod family;
mod files;
mod handle;
mod key;
mod life;
mod message;
mod movement;
mod multi;
mod near;
mod options;
mod place;
mod ranges;
mod rows_cursor;
mod shell;
mod stats;
mod status;
mod strings;
#[cfg(test)]
mod tests;
mod whole;
