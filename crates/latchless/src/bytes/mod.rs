//! [`BytesIndex`]: an ordered map with keys of any length: byte strings, texts, UUIDs, tuples of them.
//!
//! ```
//! use latchless::bytes::BytesIndex;
//!
//! let pages = BytesIndex::<String, u64>::new()?;
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
//! A key is any [`BytesKey`]: `Vec<u8>`, `String`, `[u8; N]`, the integers of up to 128 bits, `Ipv6Addr`,
//! tuples of these, in the order of their parts. Lookups take borrowed forms: `str` in an index of
//! `String`, `(u64, &str)` in one of `(u64, String)`. Numbers need no suffix: `get(&5)`, `range(2..5)`,
//! `get(&("a", 7))`. The longest key has 65,535 bytes; operations that would add a longer one return
//! [`KeyTooLong`](crate::Error::KeyTooLong), and others don't find it.
//!
//! # Values
//! A value is any [`BytesValue`]: the numbers, `u128`, `[u8; N]` of up to 64 bytes, pairs and arrays of
//! numbers, types of your own of up to eight words, and the byte strings `Vec<u8>` and `String`. All of
//! them are stored next to their keys. Only a byte string of more than 192 bytes is stored outside of its
//! leaf: its lookup costs one more miss per 248 bytes. The longest value has 65,535 bytes; operations that
//! would store a longer one return [`ValueTooLong`](crate::Error::ValueTooLong). Byte strings are taken and
//! lent as slices:
//!
//! ```
//! use latchless::bytes::BytesIndex;
//!
//! let titles = BytesIndex::<String, String>::new()?;
//! titles.insert("https://example.org/", "Example Domain")?;
//! assert_eq!(titles.get("https://example.org/"), Some("Example Domain".to_owned()));
//! // This allocates nothing.
//! assert_eq!(titles.get_with("https://example.org/", |title| title.len()), Some(14));
//!
//! let extents = BytesIndex::<String, (u64, u64)>::new()?;
//! extents.insert("file", (4096, 512))?;
//! extents.update("file", |(start, len)| (start, len + 1))?;
//! assert_eq!(extents.get("file"), Some((4096, 513)));
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! For keys that fit 64 bits [`Index`](crate::Index) is faster and takes less memory. [`MultiIndex`] is for
//! keys that map to many rows, [`BoxedBytesIndex`] for values of any type and size.
//!
//! # Cost
//! `n`: entries in the index, `r`: entries in the range, `l`: bytes of a key.
//!
//! | operation | cost | takes a latch |
//! |---|---|---|
//! | [`get`](BytesIndex::get), [`first`](BytesIndex::first), [`floor`](BytesIndex::floor), … | O(log n + l) | no |
//! | [`get_with`](BytesIndex::get_with), [`ceiling_with`](BytesIndex::ceiling_with), … | the same, and nothing is allocated | no |
//! | [`insert`](BytesIndex::insert), [`remove`](BytesIndex::remove), … | O(log n + l) | one leaf's |
//! | [`get_many`](BytesIndex::get_many), [`insert_many`](BytesIndex::insert_many), … | as the single ones, their waits for memory overlap | as the single ones |
//! | [`get_each`](BytesIndex::get_each), [`insert_columns`](BytesIndex::insert_columns) | as these | as these |
//! | [`scan`](BytesIndex::scan), [`range`](BytesIndex::range), [`prefix`](BytesIndex::prefix), [`count`](BytesIndex::count) | O(log n + r) | no |
//! | [`remove_range`](BytesIndex::remove_range) | O(log n + r) | one leaf's at a time |
//! | [`from_sorted`](BytesIndex::from_sorted), [`bulk_load`](BytesIndex::bulk_load) | O(n) | none |
//!
//! The common prefix of a leaf's keys is stored once. So similar neighbours, such as addresses, take less
//! memory than their bytes.
//!
//! An index of more than a megabyte samples its keys. If they are numbers in any notation, random bytes,
//! UUIDs, or digits after a common prefix, a table over their range gives each key's leaf, whether the key
//! is present or not, without a descent. It takes about half a byte per key. Otherwise, an index of more
//! than 40,000 keys of more than eight bytes makes a table from hashes to leaves if lookups find keys
//! often. It takes 6 to 13 bytes per key, and is dropped when most lookups find nothing. Both stay within
//! the memory limit; [`BytesIndex::stats`] counts wrong predictions.
//!
//! A range that starts after its end is empty for reads; [`try_range`](BytesIndex::try_range) and
//! [`remove_range`](BytesIndex::remove_range) refuse it, [as
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
mod boxed;
mod by_order;
mod closures;
mod cursor;
mod engine;
mod load;
mod multi;
mod order;
mod point;
mod range;
mod stored;
mod traits;

pub use boxed::{BoxedBytesCursor, BoxedBytesEntries, BoxedBytesIndex, BoxedBytesIntoEntries};
pub use cursor::{BytesCursor, Holder, LentEntry};
#[doc(inline)]
pub use latchless_core::base::bytes_value::{ByteString, FixedForm, Form, Text, Word, Words};
pub use multi::{MultiEntries, MultiIndex};
pub use range::{BytesEntries, BytesValues, Entries};

use crate::byte_tree::{Bounds, ByteTree};
use crate::index::Options;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::stats::Stats;

/// The form in which operations take a value and scans lend it: the value itself if it is `Copy`, `&[u8]`
/// for a `Vec<u8>`, `&str` for a `String`.
pub type Lent<'v, V> = <<V as BytesValue>::Form as Form<V>>::Lent<'v>;

/// An ordered map from keys of any length to `Copy` values of up to 64 bytes, or to byte strings, one value a
/// key, for many readers and many writers at once. See the [module's head](crate::bytes).
pub struct BytesIndex<K: BytesKey, V: BytesValue> {
    tree: ByteTree,
    of: PhantomData<fn() -> (K, V)>,
}

impl<K: BytesKey, V: BytesValue> BytesIndex<K, V> {
    /// An empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the system has none for a first node.
    ///
    /// ```
    /// let index = latchless::bytes::BytesIndex::<(u64, String), u32>::new()?;
    /// assert!(index.is_empty());
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with [`Options`] of the caller's choice; `group` makes no difference here.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`], or memory for a first node is refused.
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { tree: ByteTree::new(options.of_tree(), stored::kind::<V>())?, of: PhantomData })
    }

    /// How many keys there are. O(1). Exact when no thread is changing that.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether there is no key; as exact as [`BytesIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Bytes that the index holds: of every node that was ever in use, those with long strings included,
    /// and of the tables for lookups. O(1). It is never more than
    /// [`Options::limit_bytes`](crate::index::Options::limit_bytes). The same things as in
    /// [`Index::memory_bytes`](crate::Index::memory_bytes) aren't counted, and eight bytes per node with
    /// long strings.
    pub fn memory_bytes(&self) -> usize {
        self.tree.held_bytes()
    }

    /// Bytes of the nodes in the tree, of long strings, and of the tables for lookups that are in use. O(1).
    pub fn live_bytes(&self) -> usize {
        self.tree.live_bytes()
    }

    /// Levels, nodes, fill, splits and restarts. O(nodes); about right while others change the index.
    pub fn stats(&self) -> Stats {
        self.tree.stats()
    }

    /// Checks the invariants of every node. O(n). For an index that no thread is changing.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.tree.check_invariants()
    }

    /// Removes all keys and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.tree.clear();
    }
}

impl<K: BytesKey, V: BytesValue> fmt::Debug for BytesIndex<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesIndex").field("len", &self.tree.len()).finish_non_exhaustive()
    }
}

/// Serves a range of which these are the bytes of the ends. Ends that come after each other are
/// [`Error::InvertedRange`]. Nothing is allocated, unless a key allocates to show its bytes.
fn with_bounds<K: BytesKey, Q: BytesKey<K> + ?Sized, R>(
    range: &impl RangeBounds<Q>,
    serve: impl FnOnce(Result<Bounds<'_>>) -> R,
) -> R {
    with_ends(range, |bounds| serve(upright(bounds)))
}

/// Calls `serve` with the bytes of a range's ends.
fn with_ends<K: BytesKey, Q: BytesKey<K> + ?Sized, R>(
    range: &impl RangeBounds<Q>,
    serve: impl FnOnce(Bounds<'_>) -> R,
) -> R {
    let (mut serve, mut outcome) = (Some(serve), None);
    with_end(range.start_bound(), &mut |low| {
        with_end(range.end_bound(), &mut |high| {
            outcome = serve.take().map(|serve| serve(Bounds { low, high }));
        });
    });
    outcome.expect("a key shows its bytes")
}

fn with_end<K: BytesKey, Q: BytesKey<K> + ?Sized>(end: Bound<&Q>, see: &mut dyn FnMut(Bound<&[u8]>)) {
    match end {
        Bound::Included(key) => key.with_bytes(|key| see(Bound::Included(key))),
        Bound::Excluded(key) => key.with_bytes(|key| see(Bound::Excluded(key))),
        Bound::Unbounded => see(Bound::Unbounded),
    }
}

/// The same bounds.
///
/// # Errors
/// [`Error::InvertedRange`].
fn upright(bounds: Bounds<'_>) -> Result<Bounds<'_>> {
    match (bounds.low, bounds.high) {
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high))
            if low > high =>
        {
            Err(Error::InvertedRange)
        }
        _ => Ok(bounds),
    }
}

/// Bounds with no key between them: those of an inverted range.
const NOTHING: Bounds<'static> = Bounds { low: Bound::Unbounded, high: Bound::Excluded(&[]) };

/// The bytes of a range's ends, in owned form.
#[derive(Debug, Clone)]
struct OwnedBounds {
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
}

impl OwnedBounds {
    /// Those of a range that is only read: of an inverted one, ends with no key between them.
    fn of<K: BytesKey, Q: BytesKey<K> + ?Sized>(range: &impl RangeBounds<Q>) -> Self {
        with_bounds(range, |bounds| Self::copy(bounds.unwrap_or(NOTHING)))
    }

    /// # Errors
    /// [`Error::InvertedRange`].
    fn try_of<K: BytesKey, Q: BytesKey<K> + ?Sized>(range: &impl RangeBounds<Q>) -> Result<Self> {
        with_bounds(range, |bounds| bounds.map(Self::copy))
    }

    fn copy(bounds: Bounds<'_>) -> Self {
        Self { low: bounds.low.map(<[u8]>::to_vec), high: bounds.high.map(<[u8]>::to_vec) }
    }

    /// All keys that begin with these bytes.
    fn of_prefix(prefix: &[u8]) -> Self {
        let mut end = prefix.to_vec();
        while end.pop_if(|last| *last == u8::MAX).is_some() {}
        let high = match end.last_mut() {
            Some(last) => {
                *last += 1;
                Bound::Excluded(end)
            }
            None => Bound::Unbounded,
        };
        Self { low: Bound::Included(prefix.to_vec()), high }
    }

    const ALL: Self = Self { low: Bound::Unbounded, high: Bound::Unbounded };

    fn borrowed(&self) -> Bounds<'_> {
        Bounds { low: self.low.as_ref().map(Vec::as_slice), high: self.high.as_ref().map(Vec::as_slice) }
    }
}
