//! A durable table: each commit is one record of primary keys and rows, and is back as a whole, in all
//! indexes, or not at all.

mod folders;
mod histories;
mod people;
