//! Which types are values of an `Index`, and how operations take and lend them.

use super::bytes_value::{BytesValue, Form, Raw};
use super::replacement::{Replacement, with_memory};
use std::sync::Arc;

/// A type of values of an `Index`: every [`Value`](super::value::Value) and [`BytesValue`], which are stored
/// next to their keys, and `Arc<T>` for a `T` of any type and size.
///
/// Operations return values by value: a word, a new `String`, a clone of the `Arc`. Those that lend a value
/// lend it as [`IndexValue::Lent`], so that nothing is copied or counted.
///
/// ```
/// # mod latchless { pub use latchless_core::base::index_value::IndexValue; }
/// use latchless::IndexValue;
/// use std::sync::Arc;
///
/// fn is_value<V: IndexValue>() {}
/// is_value::<u64>();
/// is_value::<(u64, f64)>();
/// is_value::<String>();
/// is_value::<Arc<std::fs::File>>();
/// ```
/// A type of your own can do without the `Arc`, if operations may return clones (any clonable type can in a
/// `latchless::index::Slot`):
///
/// ```
/// # mod latchless { pub use latchless_core::base::index_value::*; }
/// use latchless::{InBox, IndexValue};
///
/// #[derive(Debug, Clone)]
/// struct Order {
///     items: Vec<u64>,
/// }
/// impl IndexValue for Order {
///     type Form = InBox;
///     type Given<'v> = Self;
///     type Lent<'v> = &'v Self;
///     fn given(order: Self) -> Self {
///         order
///     }
///     fn lend(&self) -> &Self {
///         self
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a value of an `Index`",
    label = "not a value",
    note = "a value of any type and size goes into an `Arc`: `Index<K, Arc<{Self}>>`; a clonable one \
            also into a `latchless::index::Slot`",
    note = "values without an `Arc` are numbers, `bool`, `char`, IP addresses, `[u8; N]` of up to 64 bytes, pairs \
            and arrays of numbers, `String`, `Vec<u8>`, and `Box` of `str` and `[u8]`; a `Duration` is a value as `latchless::Nanos`",
    note = "a type of your own is a value once it implements `latchless::IndexValue`, and a `Copy` one also once it implements `latchless::Value`, or `latchless::WideValue` \
            and `latchless::BytesValue`"
)]
pub trait IndexValue: Clone + Send + Sync + 'static {
    /// How values are stored: a form of [`BytesValue`], or [`InBox`].
    type Form: Replacement;
    /// How operations take a value: by value, but `&str` for a `String` and `&[u8]` for a `Vec<u8>`.
    type Given<'v>;
    /// How operations lend a value: by value if it is `Copy`, otherwise by reference, `&str` for a `String`.
    type Lent<'v>: Copy;
    /// Returns the value that was given.
    fn given(value: Self::Given<'_>) -> Self;
    /// Lends a value.
    fn lend(&self) -> Self::Lent<'_>;
    /// Returns the bytes of a value and of what it owns, as far as that is known. By default the size of the
    /// type: a type of your own adds the room of its vectors and strings.
    fn bytes_of(_value: Self::Lent<'_>) -> usize {
        size_of::<Self>()
    }
}

/// The form of a value that is stored outside of the tree, by a handle.
#[derive(Debug, Clone, Copy)]
pub struct InBox;
with_memory!(InBox);

#[diagnostic::do_not_recommend]
impl<V: BytesValue> IndexValue for V {
    type Form = V::Form;
    type Given<'v> = <V::Form as Form<V>>::Lent<'v>;
    type Lent<'v> = <V::Form as Form<V>>::Lent<'v>;

    #[inline(always)]
    fn given(value: Self::Given<'_>) -> Self {
        <V::Form as Form<V>>::own(value)
    }

    #[inline(always)]
    fn lend(&self) -> Self::Lent<'_> {
        <V::Form as Form<V>>::lend(self)
    }

    /// The length of a string; otherwise the size of the type.
    fn bytes_of(value: Self::Lent<'_>) -> usize {
        let held = <V::Form as Form<V>>::hold(value);
        match <V::Form as Form<V>>::raw(&held) {
            Raw::Bytes(string) => string.len(),
            Raw::Word(_) | Raw::Words(_) => size_of::<V>(),
        }
    }
}

impl<T: ?Sized + Send + Sync + 'static> IndexValue for Arc<T> {
    type Form = InBox;
    type Given<'v> = Self;
    type Lent<'v> = &'v Self;

    /// The `Arc`, its two counts, and what it points to.
    fn bytes_of(value: &Self) -> usize {
        size_of::<Self>() + 2 * size_of::<usize>() + size_of_val(&**value)
    }

    fn given(value: Self) -> Self {
        value
    }

    fn lend(&self) -> &Self {
        self
    }
}
