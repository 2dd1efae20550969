//! Values of keys that are byte strings: words or byte strings themselves. C passes and gets the bytes of
//! either, of a word its eight bytes in the order of the machine.

use crate::failure::Failure;
use crate::family::Stored;
use crate::files::is_value;
use crate::place::{Key, Passed, PassedPlace, Place, VALUE_MAX};
use crate::strings::Column;
use crate::whole::Strings;
use engine::bytes::{Form, Lent};
use engine::snapshot::strings::Snapshot;
use engine::snapshot::{DataType, SavedValue};

/// A value as C has it.
pub trait Value: SavedValue + Stored {
    /// The most bytes of a value.
    const BYTES_MAX: usize;

    /// A value of the caller's.
    ///
    /// # Safety
    /// As for [`Key::new`].
    unsafe fn read<'a>(argument: &'static str, passed: Passed) -> Result<Lent<'a, Self>, Failure>;
    /// The place under the name `argument`.
    ///
    /// # Safety
    /// As for [`Place::new`].
    unsafe fn place(argument: &'static str, passed: PassedPlace) -> Result<Place, Failure>;
    /// The place for a value that leaves the index, which must not be lost for lack of room: any value has
    /// to fit.
    ///
    /// # Safety
    /// The contract of [`Place::new`].
    unsafe fn place_for_any(argument: &'static str, passed: PassedPlace) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        let place = unsafe { Self::place(argument, passed)? };
        place.check_any(Self::BYTES_MAX).map(|()| place)
    }
    /// Shows the bytes of a value.
    fn with_bytes<T>(value: Lent<'_, Self>, see: impl FnOnce(&[u8]) -> T) -> T;
    /// The bytes of a cursor's value: its own, or those of its word.
    fn view<'a>(value: Lent<'a, Self>, word: &'a mut u64) -> &'a [u8];
    /// Refuses a column with other values.
    fn check_column(column: &Column, len: usize) -> Result<(), Failure>;
    /// A value of a batch.
    fn at<'a>(column: &Column, at: usize) -> Lent<'a, Self>;

    /// The bytes that a value has somewhere.
    fn bytes(value: Lent<'_, Self>) -> &[u8];

    /// Whether a file's values are such ones.
    fn is_in(file: &Snapshot) -> bool;
    /// The entries of such a file.
    fn rows(file: &Snapshot) -> impl Iterator<Item = (&[u8], Self)>;

    /// Writes a value; only how many bytes it has if the room is too small.
    fn put(place: Place, value: Lent<'_, Self>) -> Result<(), Failure> {
        Self::with_bytes(value, |bytes| place.put(bytes))
    }

    /// Writes the value under a key, and returns whether it is there. The key isn't read when the value is
    /// written.
    fn look_up(index: &Strings<Self>, key: Key, place: Place) -> Result<bool, Failure> {
        let found = index.get(key.bytes());
        found.map_or(Ok(false), |value| Self::put(place, lend(&value)).map(|()| true))
    }
}

/// Lends a value.
pub fn lend<V: Value>(value: &V) -> Lent<'_, V> {
    <V::Form as Form<V>>::lend(value)
}

/// An owned value.
pub fn own<V: Value>(lent: Lent<'_, V>) -> V {
    <V::Form as Form<V>>::own(lent)
}

impl Value for u64 {
    const BYTES_MAX: usize = size_of::<Self>();

    #[inline(always)]
    unsafe fn read<'a>(argument: &'static str, passed: Passed) -> Result<Lent<'a, Self>, Failure> {
        // SAFETY: as the caller promises.
        let bytes = unsafe { Key::new(argument, passed)? }.bytes();
        bytes.try_into().map(Self::from_ne_bytes).map_err(|_| Failure::NoWord { argument, len: bytes.len() })
    }

    #[inline(always)]
    unsafe fn place(argument: &'static str, passed: PassedPlace) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Place::of_word(argument, passed) }
    }

    #[inline(always)]
    fn with_bytes<T>(value: u64, see: impl FnOnce(&[u8]) -> T) -> T {
        see(&value.to_ne_bytes())
    }

    fn view<'a>(value: Lent<'a, Self>, word: &'a mut u64) -> &'a [u8] {
        *word = value;
        // SAFETY: a word has these bytes.
        unsafe { core::slice::from_raw_parts(core::ptr::from_mut(word).cast(), size_of::<Self>()) }
    }

    fn check_column(column: &Column, len: usize) -> Result<(), Failure> {
        let other = (0..len).map(|at| (at, column.get(at).len())).find(|entry| entry.1 != size_of::<Self>());
        let argument = column.argument();
        other.map_or(Ok(()), |(at, len)| Err(Failure::NoWordAt { argument, at, len }))
    }

    #[inline(always)]
    fn at<'a>(column: &Column, at: usize) -> Lent<'a, Self> {
        column.get(at).try_into().map_or(0, Self::from_ne_bytes)
    }

    fn bytes(_: Lent<'_, Self>) -> &[u8] {
        &[]
    }

    /// Numbers with a type name of their own in a file are of a user-defined type.
    fn is_in(file: &Snapshot) -> bool {
        is_value(file.value_type()) && file.value_name() == file.value_type().to_string()
    }

    fn rows(file: &Snapshot) -> impl Iterator<Item = (&[u8], u64)> {
        file.rows()
    }
}

impl Value for Vec<u8> {
    const BYTES_MAX: usize = VALUE_MAX;

    #[inline(always)]
    unsafe fn read<'a>(argument: &'static str, passed: Passed) -> Result<Lent<'a, Self>, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Key::new(argument, passed) }.map(Key::bytes)
    }

    unsafe fn place(argument: &'static str, passed: PassedPlace) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Place::new(argument, passed) }
    }

    fn with_bytes<T>(value: &[u8], see: impl FnOnce(&[u8]) -> T) -> T {
        see(value)
    }

    fn view<'a>(value: Lent<'a, Self>, _: &'a mut u64) -> &'a [u8] {
        value
    }

    fn check_column(_: &Column, _: usize) -> Result<(), Failure> {
        Ok(())
    }

    fn at<'a>(column: &Column, at: usize) -> Lent<'a, Self> {
        column.get(at)
    }

    fn bytes(value: Lent<'_, Self>) -> &[u8] {
        value
    }

    /// Texts are their bytes; other strings are of a user-defined type.
    fn is_in(file: &Snapshot) -> bool {
        let is_string = matches!(file.value_type(), DataType::Binary | DataType::Utf8);
        is_string && ["bytes", "text"].contains(&&*file.value_name())
    }

    fn rows(file: &Snapshot) -> impl Iterator<Item = (&[u8], Self)> {
        file.byte_rows().map(|(key, value)| (key, value.to_vec()))
    }

    /// Nothing is allocated, unless the value is to go where the key is.
    fn look_up(index: &Strings<Self>, key: Key, place: Place) -> Result<bool, Failure> {
        if place.is_apart_from(key) {
            let written = index.get_with(key.bytes(), |value| place.put(value));
            return written.transpose().map(|written| written.is_some());
        }
        let found = index.get(key.bytes());
        found.map_or(Ok(false), |value| place.put(&value).map(|()| true))
    }
}
