//! Indexes whose keys are `str` or `bytes`. Both are one index of byte strings: a text's UTF-8 has the
//! order of its characters. [`key_type`] has the types of keys, [`composite`] tuples as keys, [`keys`] makes columns of
//! strings from Python's objects and arrays, [`import`] from Arrow's, [`value`] defines the values, [`row`] rows among them, [`typed`] combines them with the index, [`snapshot`] reads and
//! writes files; [`rows`] is the class of keys that map to many rows, and [`pairs`]
//! are what it stores; [`engine`],
//! [`nearest`] and [`strings`] don't depend on Python. [`grouped`] joins large batches by the first parts of tuples.

pub mod composite;
pub mod engine;
pub mod grouped;
pub mod import;
pub mod key_type;
pub mod keys;
pub mod nearest;
pub mod pairs;
pub mod row;
pub mod rows;
pub mod snapshot;
pub mod strings;
pub mod typed;
pub mod value;
