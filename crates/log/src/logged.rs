//! How the changes of a kind of index are records. The changes themselves are in `changes.rs`, once for all
//! kinds; here nothing is locked, written or waited for.

use crate::error::Result;
use crate::journal::Journal;
use crate::kept::Kept;
use crate::record::Draft;
use crate::stripes::Set;

/// The record of the first entries of a batch, as many as one may have.
pub struct Part {
    pub draft: Draft,
    /// The stripes of their keys.
    pub set: Set,
    pub entries: usize,
}

/// The form in which changes of an index take values.
pub type LentOf<'v, I, C> = <I as Logged<C>>::Lent<'v>;

/// An index whose changes can be logged: each that is [`Kept`].
pub trait Logged<C>: Kept<C> + Sized {
    /// A key's value; `()` for an index of rows.
    type Value: Clone;

    /// The form in which changes take a value: the value itself, or a slice of a byte string.
    type Lent<'v>: Copy;

    /// A key and its value, or a key and a row.
    type Entry;

    #[doc(hidden)]
    fn lend(value: &Self::Value) -> Self::Lent<'_>;

    #[doc(hidden)]
    fn own(value: Self::Lent<'_>) -> Self::Value;

    /// Whether values have the same bytes in a record.
    #[doc(hidden)]
    fn is_alike(columns: &C, one: Self::Lent<'_>, other: Self::Lent<'_>) -> bool;

    /// Refuses a value that a record has no room for.
    #[doc(hidden)]
    fn check_value(_value: Self::Lent<'_>, _journal: &Journal) -> Result<()> {
        Ok(())
    }

    #[doc(hidden)]
    fn first(&self) -> Option<Self::Entry>;

    #[doc(hidden)]
    fn last(&self) -> Option<Self::Entry>;

    #[doc(hidden)]
    fn key(entry: &Self::Entry) -> impl KeyOf<Self, C>;
}

/// A key as a record has it: one of an [`Index`](latchless::Index), or one and a row.
pub trait KeyOf<I: Logged<C>, C = ()>: Copy {
    /// Refuses a key that is too long for a record.
    #[doc(hidden)]
    fn check(self) -> latchless::Result<()> {
        Ok(())
    }

    #[doc(hidden)]
    fn stripe(self, columns: &C) -> Set;

    /// The record that sets the first of these keys to their values.
    #[doc(hidden)]
    fn puts<'v>(
        columns: &C,
        entries: impl ExactSizeIterator<Item = (Self, LentOf<'v, I, C>)> + Clone,
    ) -> Part;

    /// The record that removes the first of these keys.
    #[doc(hidden)]
    fn removals(columns: &C, keys: impl ExactSizeIterator<Item = Self> + Clone) -> Part;

    #[doc(hidden)]
    fn get(self, index: &I) -> Option<I::Value>;

    /// Sets the key in the index.
    #[doc(hidden)]
    fn put(self, index: &I, value: I::Lent<'_>) -> latchless::Result<Option<I::Value>>;

    /// Removes the key from the index.
    #[doc(hidden)]
    fn remove(self, index: &I) -> Option<I::Value>;

    /// Removes keys from the index, and returns how many were there.
    #[doc(hidden)]
    fn remove_many(index: &I, keys: &[Self]) -> latchless::Result<usize> {
        Ok(keys.iter().filter(|key| key.remove(index).is_some()).count())
    }
}
