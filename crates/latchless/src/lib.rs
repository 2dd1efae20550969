//! Concurrent ordered maps in main memory. The main type is [`Index`], which many threads read and change at
//! once.
//!
//! ```
//! use latchless::Index;
//!
//! let prices = Index::<u64, u32>::new()?;
//! for (item, price) in [(101, 7), (99, 5), (105, 3), (250, 9)] {
//!     prices.insert(item, price)?; // Through `&self`, from any thread.
//! }
//! assert_eq!(prices.get(99), Some(5));
//! assert_eq!(prices.floor(104), Some((101, 7)));
//! assert_eq!(prices.upsert(99, |price| price.unwrap_or(0) + 1)?, Some(5));
//! for (item, price) in prices.range(100..200) {
//!     println!("item {item} costs {price}");
//! }
//! // Many lookups at once take a fraction of the time of as many single ones.
//! assert_eq!(prices.get_all(&[250, 251, 99]), [Some(9), None, Some(6)]);
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! Keys are numbers, strings and tuples of them ([`IndexKey`]), values too ([`IndexValue`]), and an
//! [`Arc`](std::sync::Arc) of any type. The types choose how an [`Index`] stores its entries, as words or as byte
//! strings. [`mod@index`] documents the costs of all operations, the guarantees
//! with concurrent threads, and exclusive access without latches. [`api_parity`] compares the interface with
//! those of `BTreeMap` and `SkipMap`.
//!
//! [The book](https://github.com/latchless/latchless/blob/main/docs/introduction.md) is the guide: keys and
//! values, batches, ranges, threads, memory, files, and [what isn't
//! there](https://github.com/latchless/latchless/blob/main/docs/limitations.md).
//!
//! # Stability
//! Versions follow semantic versioning. Everything that this documentation shows is stable; a version that
//! breaks nothing may still add what the right column says:
//!
//! | items | may gain |
//! |---|---|
//! | [`Index`], [`IndexSet`], [`bytes::MultiIndex`], [`Reader`], [`Frozen`], [`index::Exclusive`], [`index::Budget`], [`versions::VersionedIndex`], [`table::Table`], [`intervals::IntervalIndex`] and its view, their iterators, cursors and scans, snapshots | methods, implementations of traits |
//! | traits for types of your own: [`Key`], [`Value`], [`BytesKey`], [`BytesValue`], [`WideValue`], [`IndexKey`], [`IndexValue`], [`Distance`], and those of features, `SavedValue` and `Driver` | items with defaults, implementations for types of the standard library |
//! | sealed traits: [`Bits`], [`KeyFor`], [`KeyForm`], [`bytes::Form`], [`bytes::FixedForm`], [`bytes::Holder`], [`index::ByReference`], [`index::Comparable`], [`index::Replacement`], [`table::TableKey`], [`table::EntryKey`], [`intervals::Position`], `Native`, `Steps` | items |
//! | `#[non_exhaustive]` types: [`Error`], [`table::TableError`], [`Stats`], [`Kernel`], [`index::Group`], a snapshot's `Error` and `DataType` | variants, fields |
//! | [`index::Options`] | fields: end its literals with `..Options::default()` |
//! | [`Direction`], [`Request`], [`Reply`], [`TryInsertError`], [`FillFactor`], [`Nanos`], [`index::Incomplete`], and all else | nothing: they are complete |
//!
//! The types that are defined in `latchless-core` and re-exported here are stable as part of this crate,
//! which requires exactly its own version of the core. Nothing else in the core is stable, nor are items
//! that this documentation hides, texts of messages, `Debug` output, [`Index::dump`], and the numbers in
//! [`Stats`].

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(doc)]
#[doc = include_str!("../docs/api-parity.md")]
pub mod api_parity {}

mod blink;
#[doc(hidden)]
pub mod byte_tree;
pub mod bytes;
/// What the code of `#[derive(Key)]` and `#[derive(Value)]` names.
#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod derived {
    pub use core::{cmp::Reverse, fmt::Debug};
    pub use latchless_core::base::bytes_key::BytesKey;
    pub use latchless_core::base::bytes_value::{BytesValue, WideValue, Words};
    pub use latchless_core::base::derived::{key_below, key_from, value_below, value_from};
    pub use latchless_core::base::index_key::{InBytes, InWord, IndexKey};
    pub use latchless_core::base::index_value::{InBox, IndexValue};
    pub use latchless_core::base::key::{Bits, Key};
    pub use latchless_core::base::value::Value;
    pub use std::borrow::Cow;
}
mod frozen;
pub mod index;
pub mod intervals;
mod node;
mod reads;
#[cfg(feature = "serde")]
mod serial;
mod set;
mod slot_map;
#[cfg(feature = "snapshot")]
pub mod snapshot;
pub mod table;
#[doc(hidden)]
pub mod tree;
pub mod versions;

pub use frozen::{Frozen, NotFrozen, Reader};
pub use index::engine::KeyFor;
pub use index::{Index, Keys, PrefixKey, TryInsertError};
#[cfg(feature = "derive")]
pub use latchless_derive::{Key, Value};
pub use set::{IndexSet, Merged, SetRange};
// The types in public signatures: users needn't depend on the core.
/// For `latchless-log`.
#[doc(hidden)]
pub use latchless_core::base::spans;
#[doc(inline)]
pub use latchless_core::base::{
    bytes_key::BytesKey,
    bytes_value::{BytesValue, WideValue},
    distance::Distance,
    error::{Broken, Error, Result},
    fill::FillFactor,
    index::Direction,
    index_key::{InBytes, InWord, IndexKey, KeyForm},
    index_value::{InBox, IndexValue},
    key::{Bits, Key},
    nanos::Nanos,
    request::{Reply, Request},
    stats::Stats,
    value::Value,
    versioned::VersionedKey,
};
#[doc(inline)]
pub use latchless_core::search::Kernel;
