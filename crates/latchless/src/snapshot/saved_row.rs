//! The form in which a file has the rows of a table.

use super::data_type::DataType;
use super::saved_value::SavedValue;
use crate::bytes::{Form, Lent};
use std::borrow::Cow;

/// A row of a [`Table`](crate::table::Table) that can be saved: it is a string of bytes in a log and in a
/// snapshot. Every [`SavedValue`] is one. A type of your own implements it by its bytes, which may be those
/// of any serialization format:
///
/// ```
/// use latchless::BytesKey;
/// use latchless::snapshot::SavedRow;
/// use std::borrow::Cow;
///
/// #[derive(Debug, PartialEq)]
/// struct Account {
///     id: u64,
///     email: String,
///     cents: i64,
/// }
/// type Parts = (u64, String, i64);
/// impl SavedRow for Account {
///     fn type_name() -> Cow<'static, str> {
///         "account".into()
///     }
///     fn with_cell<A>(&self, see: impl FnOnce(&[u8]) -> A) -> A {
///         // The bytes of a key of these parts.
///         BytesKey::<Parts>::with_bytes(&(self.id, &*self.email, self.cents), see)
///     }
///     fn of_cell(cell: &[u8]) -> Option<Self> {
///         let (id, email, cents) = Parts::is_key(cell).then(|| Parts::from_bytes(cell))?;
///         Some(Self { id, email, cents })
///     }
/// }
/// let ada = Account { id: 1, email: "ada@example.org".into(), cents: -7 };
/// assert_eq!(ada.with_cell(Account::of_cell), Some(ada));
/// assert_eq!(Account::of_cell(b"else"), None);
/// ```
///
/// # Contract
/// `row.with_cell(R::of_cell)` is the row again. Rows of earlier versions of a program are read if `of_cell`
/// knows their bytes, too, and the name stays.
pub trait SavedRow: Sized {
    /// The type of the column that has the rows in a snapshot. The default is a string of bytes.
    const COLUMN: DataType = DataType::Binary;

    /// The type's name in a file, so that its rows aren't taken for those of another type.
    fn type_name() -> Cow<'static, str>;

    /// Shows `see` the row's bytes: as many as [`SavedRow::COLUMN`] is wide, or those of a string.
    fn with_cell<A>(&self, see: impl FnOnce(&[u8]) -> A) -> A;

    /// The row that has these bytes, or nothing if none has: a file may have been made on purpose.
    fn of_cell(cell: &[u8]) -> Option<Self>;
}

impl<V: SavedValue> SavedRow for V {
    const COLUMN: DataType = <V as SavedValue>::COLUMN;

    fn type_name() -> Cow<'static, str> {
        <V as SavedValue>::type_name()
    }

    #[inline]
    fn with_cell<A>(&self, see: impl FnOnce(&[u8]) -> A) -> A {
        let lent: Lent<'_, V> = <V::Form as Form<V>>::lend(self);
        <V as SavedValue>::with_cell(lent, see)
    }

    #[inline]
    fn of_cell(cell: &[u8]) -> Option<V> {
        <V as SavedValue>::of_cell(cell)
    }
}
