//! `Table`: every index against a map of the rows, readers beside writers, and histories of transactions.

#[path = "../versions/checker.rs"]
mod checker;
mod loads;
mod model;
mod moments;
mod people;
mod transactions;
