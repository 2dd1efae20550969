//! [`Slot`]: values of any type, without an `Arc`. And references to values under a [pin](Pinned).

use super::engine::KeyFor;
use super::{Index, Pinned, Storage};
use core::fmt;
use core::ops::{Deref, DerefMut};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::{InBox, IndexValue};

/// A value of any type `T` of an [`Index`], stored outside of the tree. Operations take a `T`, lend a `&T`,
/// and return a clone in a `Slot`, which derefs to the `T`.
///
/// An [`Arc<T>`](std::sync::Arc) as the value is one more allocation and one more cache miss per read, but
/// its clones cost nothing, and `T` needn't be `Clone`. So a `Slot` is for values that are read in place:
/// [`get_with`](Index::get_with), [`get_each`](Index::get_each), [`scan_lent`](Index::scan_lent),
/// [`get_ref`](Index::get_ref).
///
/// ```
/// use latchless::{Index, index::Slot};
///
/// #[derive(Debug, Clone, PartialEq)]
/// struct Order {
///     items: Vec<u64>,
/// }
/// let orders = Index::<u64, Slot<Order>>::new()?;
/// orders.insert(7, Order { items: vec![1, 2, 3] })?;
/// assert_eq!(orders.get_with(7, |order| order.items.len()), Some(3), "nothing is cloned");
/// let order = orders.remove(7).unwrap();
/// assert_eq!(order.items, [1, 2, 3]);
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot<T>(pub T);

impl<T> Slot<T> {
    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> From<T> for Slot<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Slot<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Slot<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Clone + Send + Sync + 'static> IndexValue for Slot<T> {
    type Form = InBox;
    type Given<'v> = T;
    type Lent<'v> = &'v T;

    fn given(value: T) -> Self {
        Self(value)
    }

    fn lend(&self) -> &T {
        &self.0
    }
}

/// An engine that lends values under a pin: of values in an [`Arc`](std::sync::Arc), in a [`Slot`], or of an
/// own type whose form is [`InBox`](crate::InBox). Sealed.
#[diagnostic::on_unimplemented(
    message = "an `Index` with values of type `{V}` has no references to them",
    label = "these values are stored in the tree, where they move",
    note = "`get_with` lends such a value; values in an `Arc` or in a `latchless::index::Slot` have references"
)]
pub trait ByReference<K: IndexKey, V: IndexValue>: Storage {
    #[doc(hidden)]
    fn get_ref<'p>(&'p self, key: K::Probe<'_>, pin: &'p Pinned) -> Option<V::Lent<'p>>;
}

/// References to values that are stored outside of the tree: in an [`Arc`](std::sync::Arc), in a [`Slot`], or
/// of an own type whose form is [`InBox`](crate::InBox).
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Pins the calling thread. Every operation on such values pins it for itself; under a pin that is held,
    /// that costs a few instructions. See [`Pinned`].
    pub fn pin(&self) -> Pinned
    where
        K::Engine: ByReference<K, V>,
    {
        Pinned::new()
    }

    /// Returns a reference to the value of a key, valid as long as the pin, whatever becomes of the key.
    /// O(log n).
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let names: latchless::Index<u64, Arc<str>> = [(7, "seven".into()), (9, "nine".into())].into();
    /// let pin = names.pin();
    /// let (seven, nine) = (names.get_ref(7, &pin), names.get_ref(9, &pin));
    /// names.remove(7);
    /// assert_eq!((seven.map(|name| &**name), nine.map(|name| &**name)), (Some("seven"), Some("nine")));
    /// assert_eq!(names.get_ref(7, &pin), None);
    /// ```
    #[inline]
    pub fn get_ref<'p>(&'p self, key: K::Probe<'_>, pin: &'p Pinned) -> Option<V::Lent<'p>>
    where
        K::Engine: ByReference<K, V>,
    {
        self.engine.get_ref(key, pin)
    }
}
