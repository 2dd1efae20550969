//! Cursors: a position in an index that moves in both directions.

use super::bytes_index::kind;
use super::{ByteStrings, Lent, stored};
use crate::byte_tree::{Bounds, Kept, LeafCopy};
use crate::frozen::{Frozen, Reader};
use crate::index::Index;
use crate::index::engine::KeyFor;
use core::fmt;
use core::ops::Bound;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::index_key::IndexKey;
use std::sync::Arc;

/// What holds an index for a cursor or an iterator: a reference, an `Arc`, a [`Frozen`] one, or the owner.
/// Sealed:
///
/// ```compile_fail,E0277
/// use latchless::bytes::Holder;
///
/// struct Own;
/// impl Holder for Own {
///     type Key = String;
///     type Value = u64;
///     fn index(&self) -> &latchless::bytes::ByteStrings<String, u64> {
///         unreachable!("it is no index")
///     }
/// }
/// ```
pub trait Holder: sealed::Sealed {
    /// The type of the keys.
    type Key: BytesKey<Self::Key>;
    /// The type of the values.
    type Value: BytesValue;
    /// What stores the entries.
    #[doc(hidden)]
    fn index(&self) -> &ByteStrings<Self::Key, Self::Value>;
}

mod sealed {
    /// Restricts [`super::Holder`] to what holds one index for as long as it lives.
    pub trait Sealed {}
}

macro_rules! holder {
    ($([$($key:tt)*] $holder:ty, $index:ident => $strings:expr;)*) => {$(
        impl<K: $($key)*, V: BytesValue> sealed::Sealed for $holder {}

        impl<K: $($key)*, V: BytesValue> Holder for $holder {
            type Key = K;
            type Value = V;

            fn index(&self) -> &ByteStrings<K, V> {
                let $index = self;
                $strings
            }
        }
    )*};
}
holder! {
    [BytesKey] ByteStrings<K, V>, holder => holder;
    [BytesKey] &ByteStrings<K, V>, holder => holder;
    [BytesKey] Arc<ByteStrings<K, V>>, holder => holder;
    [KeyInBytes<V>] Index<K, V>, holder => holder.engine();
    [KeyInBytes<V>] &Index<K, V>, holder => holder.engine();
    [KeyInBytes<V>] Arc<Index<K, V>>, holder => holder.engine();
    [KeyInBytes<V>] &Reader<Index<K, V>>, holder => holder.0.engine();
    [KeyInBytes<V>] Frozen<Index<K, V>>, holder => holder.held().engine();
}

/// A key whose entries an [`Index`] stores as byte strings: one of any length, or one of fixed width with
/// values that don't fit words. Sealed, as [`KeyFor`] is.
pub trait KeyInBytes<V: BytesValue>:
    BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<Self>> + KeyFor<V, Engine = ByteStrings<Self, V>>
{
}

impl<K, V: BytesValue> KeyInBytes<V> for K where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>> + KeyFor<V, Engine = ByteStrings<K, V>>
{
}

/// An index itself, of byte strings.
pub trait Whole: Holder {
    /// The index.
    #[doc(hidden)]
    fn index_mut(&mut self) -> &mut ByteStrings<Self::Key, Self::Value>;
}

impl<K: BytesKey, V: BytesValue> Whole for ByteStrings<K, V> {
    fn index_mut(&mut self) -> &mut Self {
        self
    }
}

impl<K: KeyInBytes<V>, V: BytesValue> Whole for Index<K, V> {
    fn index_mut(&mut self) -> &mut ByteStrings<K, V> {
        self.engine_mut()
    }
}

/// An entry that a cursor lends: the bytes of its key, and its value.
pub type LentEntry<'c, H> = (&'c [u8], Lent<'c, <H as Holder>::Value>);

/// A position in an index: on an entry, before the first one, or after the last one. The building block of
/// merging iterators.
///
/// A cursor has a copy of a leaf and no reference into the index. It sees a leaf's entries as of its
/// arrival there; a key that is there throughout is never passed over. Keys are lent as bytes.
///
/// ```
/// use latchless::Index;
/// use latchless::bytes::BytesCursor;
///
/// let index: Index<String, u32> = [("a".into(), 1), ("b".into(), 2), ("d".into(), 4)].into();
/// let mut cursor = BytesCursor::of(&index);
/// assert_eq!(cursor.seek("c"), Some((&b"d"[..], 4)));
/// assert_eq!(cursor.prev(), Some((&b"b"[..], 2)));
/// assert_eq!(cursor.seek_for_prev("azure"), Some((&b"a"[..], 1)));
/// assert!(cursor.prev().is_none() && cursor.current().is_none());
/// assert_eq!(cursor.next(), Some((&b"a"[..], 1)));
/// assert_eq!((cursor.key(), cursor.owned_key()), (Some(&b"a"[..]), Some("a".to_owned())));
/// ```
pub struct BytesCursor<H> {
    holder: H,
    leaf: Box<LeafCopy>,
    position: Position,
    key: Vec<u8>,
    word: u64,
    /// The value, if it has more than a word.
    kept: Kept,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    BeforeFirst,
    /// On this entry of the leaf.
    At(usize),
    AfterLast,
}

impl<H: Holder> BytesCursor<H> {
    /// A cursor before the first entry. The holder is a reference or an `Arc`: with that, the cursor can be
    /// kept and sent.
    pub fn of(holder: H) -> Self {
        let (leaf, key, kept) = (Box::default(), Vec::new(), Kept::of(kind::<H::Value>()));
        Self { holder, leaf, position: Position::BeforeFirst, key, word: 0, kept }
    }

    /// Moves to an entry of the leaf, if it still has a value.
    fn arrive(&mut self, at: usize) -> bool {
        let tree = &self.holder.index().tree;
        if !stored::keep::<H::Value>(tree, &mut self.leaf, (&mut self.kept, at)) {
            return false;
        }
        let (key, word) = self.leaf.entry(at);
        self.key.clear();
        self.key.extend_from_slice(key);
        (self.word, self.position) = (word, Position::At(at));
        true
    }

    /// Moves to the first entry of the leaf's part of the range, or of a later leaf.
    fn first_here(&mut self) {
        while !self.leaf.within().any(|at| self.arrive(at)) {
            if !self.holder.index().tree.load_next(Bounds::ALL, &mut self.leaf) {
                self.position = Position::AfterLast;
                return;
            }
        }
    }

    /// Moves to the last entry of the leaf's part of the range, or of an earlier leaf.
    fn last_here(&mut self) {
        while !self.leaf.within().rev().any(|at| self.arrive(at)) {
            if !self.holder.index().tree.load_previous(Bounds::ALL, &mut self.leaf) {
                self.position = Position::BeforeFirst;
                return;
            }
        }
    }

    /// Moves to the first entry at or after `key`, or after the last entry.
    pub fn seek<Q: BytesKey<H::Key> + ?Sized>(&mut self, key: &Q) -> Option<LentEntry<'_, H>> {
        key.with_bytes(|key| {
            let bounds = Bounds { low: Bound::Included(key), high: Bound::Unbounded };
            self.holder.index().tree.load_first(bounds, &mut self.leaf);
        });
        self.leaf.unbind();
        self.first_here();
        self.current()
    }

    /// Moves to the last entry at or before `key`, or before the first entry.
    pub fn seek_for_prev<Q: BytesKey<H::Key> + ?Sized>(&mut self, key: &Q) -> Option<LentEntry<'_, H>> {
        key.with_bytes(|key| {
            let bounds = Bounds { low: Bound::Unbounded, high: Bound::Included(key) };
            self.holder.index().tree.load_last(bounds, &mut self.leaf);
        });
        self.leaf.unbind();
        self.last_here();
        self.current()
    }

    /// Moves to the first entry, or after the end if there is none.
    pub fn seek_first(&mut self) -> Option<LentEntry<'_, H>> {
        self.holder.index().tree.load_first(Bounds::ALL, &mut self.leaf);
        self.first_here();
        self.current()
    }

    /// Moves to the last entry, or before the start if there is none.
    pub fn seek_last(&mut self) -> Option<LentEntry<'_, H>> {
        self.holder.index().tree.load_last(Bounds::ALL, &mut self.leaf);
        self.last_here();
        self.current()
    }

    /// Moves to the next entry, or after the last one and stays there.
    #[expect(clippy::should_implement_trait, reason = "a cursor goes both ways and lends its entries")]
    pub fn next(&mut self) -> Option<LentEntry<'_, H>> {
        match self.position {
            Position::BeforeFirst => return self.seek_first(),
            Position::AfterLast => return None,
            Position::At(at) => {
                if !(at + 1..self.leaf.entry_count()).any(|at| self.arrive(at)) {
                    if self.holder.index().tree.load_next(Bounds::ALL, &mut self.leaf) {
                        self.first_here();
                    } else {
                        self.position = Position::AfterLast;
                    }
                }
            }
        }
        self.current()
    }

    /// Moves to the previous entry, or before the first one and stays there.
    pub fn prev(&mut self) -> Option<LentEntry<'_, H>> {
        match self.position {
            Position::AfterLast => return self.seek_last(),
            Position::BeforeFirst => return None,
            Position::At(at) => {
                if !(0..at).rev().any(|at| self.arrive(at)) {
                    if self.holder.index().tree.load_previous(Bounds::ALL, &mut self.leaf) {
                        self.last_here();
                    } else {
                        self.position = Position::BeforeFirst;
                    }
                }
            }
        }
        self.current()
    }

    /// Returns the entry that the cursor is on: its key, as bytes, and its value, as it was when the cursor
    /// moved to its leaf, or, of a byte string outside of the leaf, to the entry. `None` before the first
    /// entry and after the last one. O(1).
    pub fn current(&self) -> Option<LentEntry<'_, H>> {
        matches!(self.position, Position::At(_))
            .then(|| (&self.key[..], stored::lent::<H::Value>(self.word, &self.kept)))
    }

    /// Returns the bytes of the key that the cursor is on. O(1).
    pub fn key(&self) -> Option<&[u8]> {
        self.current().map(|(key, _)| key)
    }

    /// Returns the key that the cursor is on, as an owned one.
    pub fn owned_key(&self) -> Option<H::Key> {
        self.key().map(H::Key::from_bytes)
    }
}

impl<H> fmt::Debug for BytesCursor<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesCursor").field("position", &self.position).finish_non_exhaustive()
    }
}

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// A cursor before the first entry: see [`BytesCursor`].
    pub fn cursor(&self) -> BytesCursor<&Self> {
        BytesCursor::of(self)
    }
}
