//! Adapters that drive published ordered maps as latchless drives its own.
//!
//! A map joins the race by implementing [`Peer`]: a handful of operations over `u32` or `u64` lanes,
//! written the way the map's own users would write them at their fastest. [`Driven`] turns any peer into a
//! [`latchless_core::base::index::OrderedIndex`] for every key type, so that bounds, buffers and bulk loads
//! are checked in one place and every map gets exactly the same requests.
//!
//! Maps over keys of any length are in [`bytes`].
//!
//! The standard library's map and a sorted array are always there; every published crate is
//! built by a feature of its own, and `all` turns them all on.
//!
//! ```
//! use latchless_core::base::index::OrderedIndex;
//! let mut map = latchless_rivals::build::<u64, u64>("btreemap").unwrap();
//! assert_eq!(map.insert(1, 10).unwrap(), None);
//! assert_eq!(map.get(1), Some(10));
//! ```

pub mod bytes;
mod catalogue;
mod driven;
mod entry;
mod ordered;
mod peer;
mod peers;

pub use catalogue::{Missing, build, entries};
pub use driven::Driven;
pub use entry::Entry;
pub use peer::{Ask, Peer, SharedPeer};
pub use peers::BTree;
