//! `VersionedIndex`: every read against a map of its moment, and histories of concurrent transactions.

mod checker;
mod closures;
mod commits;
mod ends;
mod histories;
mod model;
mod moments;
