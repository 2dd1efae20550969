//! `VersionedIndex`: every read against a map of its moment, and histories of concurrent transactions.

mod checker;
mod closures;
mod commits;
mod histories;
mod model;
mod moments;
