//! The kinds of index that can have a redo log.

use crate::commits::{Commits, Committed};
use crate::error::Result;
use crate::pairs::Pairs;
use crate::replay::Target;
use crate::rows;
use latchless::bytes::MultiIndex;
use latchless::index::Options;
use latchless::snapshot::{self, SavedRow, SavedValue, multi};
use latchless::table::{Table, TableKey};
use latchless::versions::{Retention, Version, VersionedIndex};
use latchless::{BytesKey, FillFactor, KeyFor};
use std::io::Write;

/// A kind of index that a [`Durable`](crate::Durable) keeps: an [`Index`](latchless::Index), which is
/// [`Stored`](crate::Stored), a [`MultiIndex`], a [`VersionedIndex`] or a [`Table`]. No other type can be one.
pub trait Kept<C>: Send + Sync + 'static {
    /// How many entries it has.
    #[doc(hidden)]
    fn entries(&self) -> usize;

    /// Writes a snapshot, and returns how many entries it has.
    #[doc(hidden)]
    fn write(&self, columns: &C, out: &mut dyn Write) -> snapshot::Result<u64>;

    /// The same index, for a recovery to fill; the error refuses the columns. `Target` has no name outside of
    /// this crate, so no other can implement the trait.
    #[doc(hidden)]
    fn target<'a>(&'a mut self, columns: &'a C) -> snapshot::Result<impl Target + 'a>;

    /// Moves its entries to new nodes, and returns the memory of the old ones to the system.
    #[doc(hidden)]
    fn shrink(&mut self, fill: FillFactor) -> Result<()>;
}

/// A kind of index with the columns that it has unless a program brings its own.
pub trait Usual: Kept<Self::Columns> + Sized {
    /// [`Plain`](crate::Plain) for numbers, none for all others.
    type Columns: Default + Send + Sync + 'static;

    /// An empty index.
    #[doc(hidden)]
    fn with_options(options: Options) -> latchless::Result<Self>;
}

impl<K: BytesKey + 'static> Kept<()> for MultiIndex<K> {
    fn entries(&self) -> usize {
        self.len()
    }

    fn write(&self, (): &(), out: &mut dyn Write) -> snapshot::Result<u64> {
        multi::write(self, out)
    }

    fn target<'a>(&'a mut self, (): &'a ()) -> snapshot::Result<impl Target + 'a> {
        Ok(Pairs::new(self))
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        Ok(self.shrink(fill)?)
    }
}

impl<K: BytesKey + 'static> Usual for MultiIndex<K> {
    type Columns = ();

    fn with_options(options: Options) -> latchless::Result<Self> {
        MultiIndex::with_options(options)
    }
}

impl<K: KeyFor<Version<V>> + BytesKey, V: SavedValue> Kept<()> for VersionedIndex<K, V> {
    fn entries(&self) -> usize {
        self.len()
    }

    fn write(&self, (): &(), out: &mut dyn Write) -> snapshot::Result<u64> {
        Committed::write(self, out)
    }

    fn target<'a>(&'a mut self, (): &'a ()) -> snapshot::Result<impl Target + 'a> {
        Ok(Commits::new(self))
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        Ok(self.shrink(fill)?)
    }
}

impl<K, R> Kept<()> for Table<K, R>
where
    K: TableKey<R> + BytesKey,
    R: SavedRow + Send + Sync + 'static,
{
    fn entries(&self) -> usize {
        self.len()
    }

    fn write(&self, (): &(), out: &mut dyn Write) -> snapshot::Result<u64> {
        Committed::write(self, out)
    }

    fn target<'a>(&'a mut self, (): &'a ()) -> snapshot::Result<impl Target + 'a> {
        Ok(Commits::new(self))
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.shrink(fill).map_err(|refused| rows::refused(self, refused))
    }
}

impl<K: KeyFor<Version<V>> + BytesKey, V: SavedValue> Usual for VersionedIndex<K, V> {
    type Columns = ();

    fn with_options(options: Options) -> latchless::Result<Self> {
        VersionedIndex::with_options(options, Retention::default())
    }
}
