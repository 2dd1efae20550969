//! Keys and values of any length: byte strings, texts, UUIDs, tuples of them. An [`Index`](crate::Index) of
//! such types stores its entries so. [`MultiIndex`] is for keys that map to many rows.
//!
//! ```
//! use latchless::Index;
//!
//! let pages = Index::<String, u64>::new()?;
//! pages.insert("https://example.org/", 1)?; // Through `&self`, from any thread.
//! pages.insert("https://example.org/about", 2)?;
//! pages.insert("https://example.net/", 3)?;
//! assert_eq!(pages.get("https://example.org/about"), Some(2));
//! let found: Vec<_> = pages.prefix("https://example.org/").collect();
//! assert_eq!(found.len(), 2);
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! # Keys
//! A key is any [`BytesKey`](crate::BytesKey): `Vec<u8>`, `String`, `[u8; N]`, the integers of up to 128 bits, `Ipv6Addr`,
//! tuples of these, in the order of their parts. Lookups take borrowed forms: `&str` in an index of
//! `String`, `(u64, &str)` in one of `(u64, String)`. The longest key has [`KEY_LEN_MAX`] bytes; operations
//! that would add a longer one return [`KeyTooLong`](crate::Error::KeyTooLong), and others don't find it.
//!
//! # Values
//! A value is any [`BytesValue`](crate::BytesValue): the numbers, `u128`, `[u8; N]` of up to 64 bytes, pairs and arrays of
//! numbers, types of your own of up to eight words, and the byte strings `Vec<u8>` and `String`. All of
//! them are stored next to their keys. Only a byte string of more than 192 bytes is stored outside of its
//! leaf: its lookup costs one more miss per 248 bytes. The longest value has [`VALUE_LEN_MAX`] bytes;
//! operations that would store a longer one return [`ValueTooLong`](crate::Error::ValueTooLong). Byte
//! strings are taken and lent as slices:
//!
//! ```
//! use latchless::Index;
//!
//! let titles = Index::<String, String>::new()?;
//! titles.insert("https://example.org/", "Example Domain")?;
//! assert_eq!(titles.get("https://example.org/"), Some("Example Domain".to_owned()));
//! // This allocates nothing.
//! assert_eq!(titles.get_with("https://example.org/", |title| title.len()), Some(14));
//!
//! let extents = Index::<String, (u64, u64)>::new()?;
//! extents.insert("file", (4096, 512))?;
//! extents.update("file", |(start, len)| (start, len + 1));
//! assert_eq!(extents.get("file"), Some((4096, 513)));
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! # Cost
//! `n`: entries in the index, `r`: entries in the range, `l`: bytes of a key.
//!
//! | operation | cost | takes a latch |
//! |---|---|---|
//! | [`get`](crate::Index::get), [`first`](crate::Index::first), [`floor`](crate::Index::floor), … | O(log n + l) | no |
//! | [`get_with`](crate::Index::get_with), [`ceiling_with`](crate::Index::ceiling_with), … | the same, and nothing is allocated | no |
//! | [`insert`](crate::Index::insert), [`remove`](crate::Index::remove), … | O(log n + l) | one leaf's |
//! | [`get_many`](crate::Index::get_many), [`insert_many`](crate::Index::insert_many), … | as the single ones, their waits for memory overlap | as the single ones |
//! | [`get_each`](crate::Index::get_each), [`insert_columns`](crate::Index::insert_columns) | as these | as these |
//! | [`scan`](crate::Index::scan), [`range`](crate::Index::range), [`prefix`](crate::Index::prefix), [`count`](crate::Index::count) | O(log n + r) | no |
//! | [`remove_range`](crate::Index::remove_range) | O(log n + r) | one leaf's at a time |
//! | [`from_sorted`](crate::Index::from_sorted), [`bulk_load`](crate::Index::bulk_load) | O(n) | none |
//!
//! The common prefix of a leaf's keys is stored once. So similar neighbours, such as addresses, take less
//! memory than their bytes.
//!
//! An index of more than a megabyte samples its keys. If they are numbers in any notation, random bytes,
//! UUIDs, or digits after a common prefix, a table over their range gives each key's leaf, whether the key
//! is present or not, without a descent. It takes about half a byte per key. Otherwise, an index of more
//! than 40,000 keys of more than eight bytes makes a table from hashes to leaves if lookups find keys
//! often. It takes 6 to 13 bytes per key, and is dropped when most lookups find nothing. Both stay within
//! the memory limit; [`Index::stats`](crate::Index::stats) counts wrong predictions.
//!
//! A range that starts after its end is empty for reads; [`try_range`](crate::Index::try_range) and
//! [`remove_range`](crate::Index::remove_range) refuse it, [as
//! everywhere](crate::index#ranges-that-start-after-their-end).
//!
//! # Guarantees
//! The guarantees are those of [`Index`](mod@crate::index). Operations on one key and on the nearest key
//! are linearizable, and so is each request of a batch. Ranges and cursors are weakly consistent: the
//! entries of one leaf are of one moment, and a key that is there throughout is seen exactly once. A byte
//! string of more than 192 bytes is read when it is shown: if its leaf has changed since, the present value
//! is shown, and a removed key isn't. Readers hold no latches. Refused memory is a typed error, and the
//! index is then as before. No code of the caller runs while a latch is held.

mod batch;
mod bounds;
mod boxed;
mod by_order;
mod bytes_index;
mod closures;
mod cursor;
mod engine;
mod load;
mod multi;
mod newest;
mod order;
mod point;
mod range;
mod stored;
mod traits;

/// The most bytes that a key may have: 16,777,215.
pub const KEY_LEN_MAX: usize = LEN_MAX;
/// The most bytes that a byte string as a value may have: 16,777,215.
pub const VALUE_LEN_MAX: usize = LEN_MAX;

use crate::byte_tree::LEN_MAX;
#[doc(hidden)]
pub use bytes_index::ByteStrings;
pub use bytes_index::Lent;
pub use cursor::{BytesCursor, Holder, KeyInBytes, LentEntry, Whole};
#[doc(inline)]
pub use latchless_core::base::bytes_value::{ByteString, FixedForm, Form, Text, Word, Words};
pub use multi::{MultiEntries, MultiIndex, MultiIntoEntries, MultiKeys};
#[doc(hidden)]
pub use range::BytesEntries;
pub use range::{BytesValues, Entries};

/// The former name of an [`Index`](crate::Index) of byte strings. Keys are named there by value:
/// `get(7)`, `get(("a", 7))`.
#[deprecated(since = "0.1.0", note = "write `latchless::Index<K, V>`")]
pub type BytesIndex<K, V> = crate::Index<K, V>;
