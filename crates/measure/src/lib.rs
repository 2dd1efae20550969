//! What the programs that measure share.
//!
//! [`counting`] is an allocator that counts; [`apart`](mod@apart) gives a structure an arena that begins
//! empty; [`huge_pages`] puts a process on huge pages. [`host`] has the facts about the machine, [`built`]
//! those about the build, and [`machine`] says both, in a line or as an object.

/// As in the programs.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

pub mod apart;
pub mod built;
pub mod counting;
pub mod host;
pub mod huge_pages;
pub mod machine;
