//! Indexes for reading: [`Reader`] lends one that others may change, and [`Frozen`] owns one that isn't
//! changed any more. `reads.rs` has their operations, once for both.

use core::fmt;
use core::ops::Deref;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use std::sync::Arc;

/// An index, for reading: every operation of an [`Index`](crate::Index), an [`IndexSet`](crate::IndexSet), a
/// [`MultiIndex`](crate::bytes::MultiIndex), a [`VersionedIndex`](crate::versions::VersionedIndex) or a
/// [`Table`](crate::table::Table) that leaves it as it is, with the same answers, costs and errors, from any
/// number of threads. It is always behind a reference: [`Reader::of`] converts one to the index, and a
/// [`Frozen`] derefs to a reader.
///
/// ```
/// use latchless::{Index, Reader};
///
/// let prices: Index<u64, u32> = [(99, 5), (101, 7), (105, 3)].into_iter().collect();
/// let reader = Reader::of(&prices);
/// prices.insert(103, 9)?;
/// assert_eq!((reader.get(99), reader.floor(104), reader.rank(105)), (Some(5), Some((103, 9)), 3));
/// assert_eq!(reader.iter().rev().next(), Some((105, 3)));
/// # Ok::<(), latchless::Error>(())
/// ```
///
/// It has no operation that changes the index:
///
/// ```compile_fail,E0599
/// # let prices: latchless::Index<u64, u32> = [(99, 5)].into_iter().collect();
/// latchless::Reader::of(&prices).insert(99, 6);
/// ```
#[derive(PartialEq, Eq)]
#[repr(transparent)]
pub struct Reader<I>(pub(crate) I);

impl<I> Reader<I> {
    /// Lends an index for reading. O(1).
    #[inline(always)]
    pub fn of(index: &I) -> &Self {
        // SAFETY: `Reader` is transparent, so it has the layout of its only field, and both references are
        // shared ones of the same lifetime.
        unsafe { &*core::ptr::from_ref(index).cast::<Self>() }
    }
}

impl<I: fmt::Debug> fmt::Debug for Reader<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An index that isn't changed any more, packed as closely as its nodes allow: a memtable that is being
/// written to a file, a table that was loaded once. Made by [`Index::freeze`](crate::Index::freeze) and its
/// kin. It has all operations of a [`Reader`], to which it derefs.
///
/// Clones share the index, so a clone costs the count of a reference; the last one drops it. As no thread
/// changes it, weakly consistent reads such as ranges and counts see exactly its entries, and two reads the
/// same ones.
///
/// ```
/// use latchless::Index;
/// use latchless::index::Cursor;
///
/// let table = Index::<String, u64>::new()?;
/// table.insert("plum", 7)?;
/// table.insert("fig", 9)?;
/// let table = table.freeze()?;
///
/// let mut cursor = Cursor::of(table.clone()); // Owns the table together with others, and is `Send`.
/// let flushed = std::thread::spawn(move || cursor.next().map(|(key, value)| (key.to_owned(), value)));
/// assert_eq!((table.get("plum"), table.range("g"..).count()), (Some(7), 1));
/// assert_eq!(flushed.join().unwrap(), Some(("fig".to_owned(), 9)));
///
/// let table = table.thaw().expect("the only clone");
/// table.insert("pear", 11)?;
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(PartialEq, Eq)]
pub struct Frozen<I>(Arc<Reader<I>>);

impl<I> Frozen<I> {
    /// Freezes an index after it was packed by `shrink`.
    pub(crate) fn packed(
        mut index: I,
        shrink: impl FnOnce(&mut I, FillFactor) -> Result<()>,
    ) -> Result<Self, NotFrozen<I>> {
        match shrink(&mut index, FillFactor::FULL) {
            Ok(()) => Ok(Self::from(index)),
            Err(error) => Err(NotFrozen { error, index }),
        }
    }

    /// Returns the index, to be changed again. O(1): its nodes stay full, so the first insert into each
    /// splits it, until [`Index::shrink`](crate::Index::shrink) leaves room.
    ///
    /// # Errors
    /// There is another clone, or an owned cursor or iterator. The frozen index is given back.
    pub fn thaw(self) -> Result<I, Self> {
        Arc::try_unwrap(self.0).map(|reader| reader.0).map_err(Self)
    }

    /// Returns the index, which must not be changed.
    pub(crate) fn held(&self) -> &I {
        &self.0.0
    }
}

/// Freezes an index as it is: it is neither packed nor moved, so that no memory is needed beside that of the
/// reference count.
impl<I> From<I> for Frozen<I> {
    fn from(index: I) -> Self {
        Self(Arc::new(Reader(index)))
    }
}

impl<I> Deref for Frozen<I> {
    type Target = Reader<I>;

    fn deref(&self) -> &Reader<I> {
        &self.0
    }
}

impl<I> Clone for Frozen<I> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<I: fmt::Debug> fmt::Debug for Frozen<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.held().fmt(f)
    }
}

/// Memory to pack an index was refused, so it wasn't frozen. `?` converts this to an [`Error`]. The index is
/// as before; [`Frozen::from`] freezes it without packing, for which no memory is needed.
///
/// ```
/// use latchless::index::Options;
/// use latchless::{Error, Frozen, Index};
///
/// let options = Options { limit_bytes: Some(1 << 20), ..Options::default() };
/// let index = Index::<u64, u64>::with_options(options)?;
/// while index.insert(index.len() as u64, 7).is_ok() {}
/// let refused = index.freeze().unwrap_err(); // The new nodes and the old ones are held for a moment.
/// assert!(matches!(refused.error, Error::MemoryLimit { .. }));
/// let frozen = Frozen::from(refused.index);
/// assert_eq!(frozen.get(70), Some(7));
/// # Ok::<(), Error>(())
/// ```
#[derive(thiserror::Error)]
#[error("an index wasn't frozen: {error}")]
pub struct NotFrozen<I> {
    /// The reason.
    #[source]
    pub error: Error,
    /// The index.
    pub index: I,
}

impl<I> fmt::Debug for NotFrozen<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotFrozen").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<I> From<NotFrozen<I>> for Error {
    fn from(refused: NotFrozen<I>) -> Self {
        refused.error
    }
}
