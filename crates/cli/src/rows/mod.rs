//! The rows of a file, their keys, and an index over these: shared by all commands that read files of rows.
//!
//! In reading order: [`how`] (what the command line says about files), [`input`], [`unpacked`] and
//! [`decoder`] (bytes and text), [`reader`] with [`delimited`], [`json_lines`] and `parquet_rows` (the
//! formats), [`lines`] and [`ragged`] (places and numbers of odd rows), [`source`], [`gathered`] and
//! [`stream`] (the files' text), [`delimiter`], [`dialect`], [`heads`], [`mod@line`], [`fields`] and
//! [`table`] (rows and fields), [`few`], [`number`], [`numeric`] and [`key`] (numbers as order-keeping bits),
//! [`form`] (dates, times, addresses and so on as order-keeping bytes), [`kind`], [`meant`], [`guess`] and
//! [`key_types`] (the type of a column), [`keys`] and [`mod@column`] (each row's key), [`postings`] (grouping
//! of equal keys), [`place`] and [`given`] (spans of keys), [`filter`] (conditions on rows), [`sort`] and
//! [`runs`] (the index). [`mod@print`] prints rows, [`report`] statistics. [`progress`] runs in parallel to
//! all of them; [`error`] has all errors.

pub mod column;
mod decoder;
mod delimited;
pub mod delimiter;
pub mod dialect;
pub mod error;
mod few;
mod fields;
pub mod filter;
pub mod form;
pub mod gathered;
pub mod given;
pub mod guess;
mod heads;
pub mod how;
mod input;
mod json_lines;
pub mod key;
pub mod key_types;
pub mod keys;
pub mod kind;
pub mod line;
pub mod lines;
pub mod mapped;
pub mod meant;
pub mod number;
mod numeric;
pub mod options;
#[cfg(feature = "parquet")]
mod parquet_rows;
pub mod place;
pub mod postings;
pub mod print;
pub mod progress;
pub mod ragged;
mod reader;
pub mod report;
pub mod runs;
mod sort;
pub mod source;
pub mod stream;
pub mod table;
mod unpacked;
