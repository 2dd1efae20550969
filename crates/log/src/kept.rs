//! The kinds of index that can have a redo log.

use crate::columns::{self, Columns, Plain};
use crate::commits::{self, Commits};
use crate::numbers::Numbers;
use crate::pairs::Pairs;
use crate::replay::Target;
use crate::strings::Strings;
use latchless::bytes::{BytesIndex, MultiIndex};
use latchless::index::Options;
use latchless::snapshot::{self, Native, SavedValue, multi, strings};
use latchless::versions::{Retention, Version, VersionedIndex};
use latchless::{BytesKey, Index, Key, KeyFor, Value};
use std::io::Write;

/// A kind of index that a [`Durable`](crate::Durable) keeps: an [`Index`] with its [`Columns`], a
/// [`BytesIndex`], a [`MultiIndex`] or a [`VersionedIndex`] with none. No other type can be one.
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
}

/// A kind of index with the columns that it has unless a program brings its own.
pub trait Usual: Kept<Self::Columns> + Sized {
    /// [`Plain`] for numbers.
    type Columns: Default + Send + Sync + 'static;

    /// An empty index.
    #[doc(hidden)]
    fn with_options(options: Options) -> latchless::Result<Self>;
}

impl<K: Key, V: Value, C: Columns<K, V> + 'static> Kept<C> for Index<K, V> {
    fn entries(&self) -> usize {
        self.len()
    }

    fn write(&self, columns: &C, out: &mut dyn Write) -> snapshot::Result<u64> {
        columns::write(self, out, columns)
    }

    fn target<'a>(&'a mut self, columns: &'a C) -> snapshot::Result<impl Target + 'a> {
        columns::check(columns)?;
        Ok(Numbers::new(self, columns))
    }
}

impl<K: Native, V: Native> Usual for Index<K, V> {
    type Columns = Plain;

    fn with_options(options: Options) -> latchless::Result<Self> {
        Index::with_options(options)
    }
}

impl<K: BytesKey + 'static, V: SavedValue> Kept<()> for BytesIndex<K, V> {
    fn entries(&self) -> usize {
        self.len()
    }

    fn write(&self, (): &(), out: &mut dyn Write) -> snapshot::Result<u64> {
        strings::write(self, out)
    }

    fn target<'a>(&'a mut self, (): &'a ()) -> snapshot::Result<impl Target + 'a> {
        Ok(Strings::new(self))
    }
}

impl<K: BytesKey + 'static, V: SavedValue> Usual for BytesIndex<K, V> {
    type Columns = ();

    fn with_options(options: Options) -> latchless::Result<Self> {
        BytesIndex::with_options(options)
    }
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
        commits::write(self, out)
    }

    fn target<'a>(&'a mut self, (): &'a ()) -> snapshot::Result<impl Target + 'a> {
        Ok(Commits::new(self))
    }
}

impl<K: KeyFor<Version<V>> + BytesKey, V: SavedValue> Usual for VersionedIndex<K, V> {
    type Columns = ();

    fn with_options(options: Options) -> latchless::Result<Self> {
        VersionedIndex::with_options(options, Retention::default())
    }
}
