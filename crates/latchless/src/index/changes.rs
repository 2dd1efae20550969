//! What every engine does to an entry that depends on the present one. `conditional.rs` declares the
//! operations.

use super::refused::TryInsertError;
use crate::tree::Edited;
use latchless_core::base::error::Result;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

/// The change of an entry.
pub enum Action<V> {
    Keep,
    Set(V),
    Remove,
}

/// A value that [`compare_exchange`](crate::Index::compare_exchange) compares: one whose lent form
/// ([`IndexValue::Lent`]) is `PartialEq`.
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` can't be compared",
    label = "not `PartialEq`",
    note = "`compute` and `remove_if` compare by a closure: `Arc`s, for example, by `Arc::ptr_eq`"
)]
pub trait Comparable: IndexValue {
    /// Returns whether this is the expected value.
    #[doc(hidden)]
    fn is(&self, expected: Self::Lent<'_>) -> bool;
}

#[diagnostic::do_not_recommend]
impl<V: IndexValue> Comparable for V
where
    for<'a, 'b> V::Lent<'a>: PartialEq<V::Lent<'b>>,
{
    fn is(&self, expected: Self::Lent<'_>) -> bool {
        self.lend() == expected
    }
}

/// See the module documentation.
pub trait Changes<K: IndexKey, V: IndexValue>: Sized {
    fn try_insert(&self, key: K::Probe<'_>, value: V) -> Result<(), TryInsertError<V>>;
    /// Replaces the value of a present key and returns the old one.
    ///
    /// # Errors
    /// Memory was refused.
    fn replace(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>>;
    /// Replaces the value `expected` by `value`, or removes the key if that is `None`. The inner result is
    /// the old value, or as an error the present one, which is another. `is` compares values that are outside
    /// of the nodes.
    ///
    /// # Errors
    /// Memory was refused.
    fn exchange<'v>(
        &self,
        key: K::Probe<'_>,
        expected: V::Lent<'v>,
        value: Option<V::Given<'v>>,
        is: fn(&V, V::Lent<'_>) -> bool,
    ) -> Result<Result<V, Option<V>>>;
    /// Calls `change` until its result applies to the present entry. Returns the value before.
    ///
    /// # Errors
    /// Memory was refused, or `change` itself changes the entry in each call.
    fn change(
        &self,
        key: K::Probe<'_>,
        change: impl FnMut(Option<V::Lent<'_>>) -> Action<V>,
    ) -> Result<Option<V>>;
    /// Returns the value of a key; if there is none, inserts that of the closure.
    ///
    /// # Errors
    /// Memory was refused.
    fn get_or_insert_with(&self, key: K::Probe<'_>, value: impl FnOnce() -> V) -> Result<V>;
    /// Removes the entries for which `keep` returns `false`. Returns their number.
    fn retain(&self, keep: impl FnMut(K, V::Lent<'_>) -> bool) -> usize;
}

/// Returns the value that was stored as expected, or else the stored one as an error.
pub(crate) fn exchanged<V>(edited: Edited<V>) -> Result<V, Option<V>> {
    match edited {
        Edited { before: Some(before), applied: true } => Ok(before),
        Edited { before, .. } => Err(before),
    }
}
