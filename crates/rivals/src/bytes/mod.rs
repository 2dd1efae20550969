//! Published ordered maps over byte strings, values of 64 bits.
//!
//! A map joins by implementing [`Peer`]; its requests go through a [`Session`], written the way the map's
//! own users would write them at their fastest. A caller that doesn't know a map's type passes a
//! [`Visitor`], whose code is compiled for each map.
//!
//! ```
//! use latchless_rivals::bytes::{Peer, Reach, Session, Visitor, build};
//!
//! struct Ask;
//! impl Visitor for Ask {
//!     type Output = Option<u64>;
//!     fn visit<P: Peer>(self, mut map: P) -> Option<u64> {
//!         let mut session = map.session();
//!         session.insert(b"a longer key", 7).unwrap();
//!         session.get(b"a longer key")
//!     }
//! }
//! assert_eq!(build("btreemap", Ask), Ok(Some(7)));
//! ```

#[cfg(feature = "artmap")]
mod artmap;
mod btreemap;
#[cfg(feature = "crossbeam-skiplist")]
mod crossbeam_skiplist;
#[cfg(feature = "masstree")]
mod masstree;
mod peer;
#[cfg(feature = "scc")]
mod scc;

pub use peer::{Peer, Reach, Session, Way};

use crate::catalogue::Missing;
use crate::entry::Entry;

/// An operation on an empty map of any type.
pub trait Visitor {
    /// The result.
    type Output;
    /// Does it.
    fn visit<P: Peer>(self, map: P) -> Self::Output;
}

/// Makes two things of the table: `ENTRIES`, which describes every map, and `build`.
macro_rules! maps {
    ($(
        #[cfg($compiled:meta)]
        $name:literal: $about:literal, concurrent: $concurrent:literal, pairs: $pairs:literal, $map:ty;
    )*) => {
        const ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            about: $about,
            compiled: cfg!($compiled),
            concurrent: $concurrent,
            pairs: $pairs,
        }),*];

        /// Shows `visitor` an empty map of that name.
        ///
        /// # Errors
        /// [`Missing`] if there is no such map, or none in this build.
        pub fn build<V: Visitor>(name: &str, visitor: V) -> Result<V::Output, Missing> {
            match name {
                $(
                    #[cfg($compiled)]
                    $name => Ok(visitor.visit(<$map>::default())),
                )*
                name if ENTRIES.iter().any(|entry| entry.name == name) => Err(Missing::NotCompiled),
                _ => Err(Missing::Unknown),
            }
        }
    };
}

// `pairs`: about as many pairs of two words have the size of one entry without its key's bytes.
maps! {
    #[cfg(all())]
    "btreemap": "std::collections::BTreeMap<Box<[u8]>, u64>, the baseline", concurrent: false, pairs: 4,
        btreemap::BTree;
    #[cfg(feature = "artmap")]
    "artmap": "concurrent adaptive radix tree", concurrent: true, pairs: 10,
        artmap::Art;
    #[cfg(feature = "artmap")]
    "artmap-arena": "the same in an arena of up to 4 GiB, which frees nothing", concurrent: true, pairs: 8,
        artmap::ArenaArt;
    #[cfg(feature = "crossbeam-skiplist")]
    "crossbeam-skiplist": "lock-free skip list", concurrent: true, pairs: 6,
        crossbeam_skiplist::Skip;
    #[cfg(feature = "masstree")]
    "masstree": "concurrent trie of B+-Trees; keys of up to 256 bytes", concurrent: true, pairs: 16,
        masstree::Mass;
    #[cfg(feature = "scc")]
    "scc": "TreeIndex: concurrent B+-Tree, lock-free reads", concurrent: true, pairs: 6,
        scc::Tree;
}

/// Every map over byte strings that this crate knows, whether this build has it or not; the baseline first.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}
