//! Values of keys that are byte strings, as C passes and gets them: 64 bits, or byte strings themselves.

use super::column::{Column, Names, PassedColumn};
use super::key::{Key, Passed, PassedPlace, Place};
use crate::column::{Source, put};
use crate::failure::Failure;
use crate::files::is_value;
use crate::whole::Strings;
use core::ffi::{c_int, c_void};
use engine::bytes::{Form, Lent};
use engine::snapshot::strings::Snapshot;
use engine::snapshot::{DataType, SavedValue};

/// A value as C has it.
pub trait Value: SavedValue {
    /// One that the caller passes.
    type Passed: Copy;
    /// The place for a returned one.
    type PassedPlace: Copy;
    /// That place, which can be written.
    type Place: Copy;
    /// Where a cursor shows its entry.
    type PassedView: Copy;
    /// Those of a batch.
    type PassedColumn: Copy;
    /// Those of a batch, which can be read.
    type Column;
    /// A function of the caller's that is shown a key and its value. Exceptions: see
    /// [`crate::ranges::Visitor`].
    type Visitor: Copy;

    /// A value of the caller's.
    ///
    /// # Safety
    /// As for [`Key::new`].
    unsafe fn read<'a>(passed: Self::Passed) -> Result<Lent<'a, Self>, Failure>;
    /// The place under the name `argument`.
    ///
    /// # Safety
    /// As for [`Place::new`].
    unsafe fn place(argument: &'static str, passed: Self::PassedPlace) -> Result<Self::Place, Failure>;
    /// The place for a value that leaves the index, which must not be lost for lack of room: any value has
    /// to fit.
    ///
    /// # Safety
    /// The contract of [`Place::new`].
    unsafe fn place_for_any(
        argument: &'static str,
        passed: Self::PassedPlace,
    ) -> Result<Self::Place, Failure> {
        // SAFETY: as the caller promises.
        let place = unsafe { Self::place(argument, passed)? };
        Self::check_any(place).map(|()| place)
    }
    /// Refuses if a value doesn't fit; the error has its length.
    fn check(place: Self::Place, value: Lent<'_, Self>) -> Result<(), Failure>;
    /// Refuses unless any value fits.
    fn check_any(place: Self::Place) -> Result<(), Failure>;
    /// Writes a value, as `check` lets it.
    fn put(place: Self::Place, value: Lent<'_, Self>) -> Result<(), Failure>;
    /// Shows a cursor's entry.
    ///
    /// # Safety
    /// The contract at the head of the crate.
    unsafe fn put_view(to: Self::PassedView, value: Lent<'_, Self>);
    /// This many values of a batch.
    ///
    /// # Safety
    /// As for [`Column::new`].
    unsafe fn column(passed: Self::PassedColumn, count: usize) -> Result<Self::Column, Failure>;
    /// A value of a batch.
    fn at<'a>(column: &Self::Column, at: usize) -> Lent<'a, Self>;
    /// Shows an entry; not zero: no more.
    ///
    /// # Safety
    /// It is a function of the caller's.
    unsafe fn show(visitor: Self::Visitor, key: &[u8], value: Lent<'_, Self>, context: *mut c_void) -> c_int;

    /// The bytes that a value has somewhere.
    fn bytes(value: Lent<'_, Self>) -> &[u8];

    /// Whether a file's values are such ones.
    fn is_in(file: &Snapshot) -> bool;
    /// The entries of such a file.
    fn rows(file: &Snapshot) -> impl Iterator<Item = (&[u8], Self)>;

    /// Writes the value under a key, and returns whether it is there. The key isn't read when the value is
    /// written.
    fn look_up(index: &Strings<Self>, key: Key, place: Self::Place) -> Result<bool, Failure> {
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
    type Passed = u64;
    type PassedPlace = *mut u64;
    type Place = *mut u64;
    type PassedView = *mut u64;
    type PassedColumn = *const u64;
    type Column = Source<u64>;
    type Visitor = unsafe extern "C-unwind" fn(*const c_void, usize, u64, *mut c_void) -> c_int;

    #[inline(always)]
    unsafe fn read<'a>(passed: u64) -> Result<Lent<'a, Self>, Failure> {
        Ok(passed)
    }

    #[inline(always)]
    unsafe fn place(_: &'static str, passed: *mut u64) -> Result<*mut u64, Failure> {
        Ok(passed)
    }

    #[inline(always)]
    fn check(_: *mut u64, _: u64) -> Result<(), Failure> {
        Ok(())
    }

    #[inline(always)]
    fn check_any(_: *mut u64) -> Result<(), Failure> {
        Ok(())
    }

    #[inline(always)]
    fn put(place: *mut u64, value: u64) -> Result<(), Failure> {
        // SAFETY: as `place` was promised.
        unsafe { put(place, value) }
        Ok(())
    }

    #[inline(always)]
    unsafe fn put_view(to: *mut u64, value: u64) {
        // SAFETY: as the caller promises.
        unsafe { put(to, value) }
    }

    unsafe fn column(passed: *const u64, count: usize) -> Result<Source<u64>, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Source::new("values", passed, count) }
    }

    #[inline(always)]
    fn at<'a>(column: &Source<u64>, at: usize) -> Lent<'a, Self> {
        column.get(at)
    }

    unsafe fn show(visitor: Self::Visitor, key: &[u8], value: u64, context: *mut c_void) -> c_int {
        // SAFETY: the caller's own function, with a key that is there until it returns.
        unsafe { visitor(key.as_ptr().cast(), key.len(), value, context) }
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
    type Passed = Passed;
    type PassedPlace = PassedPlace;
    type Place = Place;
    type PassedView = (*mut *const c_void, *mut usize);
    type PassedColumn = PassedColumn;
    type Column = Column;
    type Visitor =
        unsafe extern "C-unwind" fn(*const c_void, usize, *const c_void, usize, *mut c_void) -> c_int;

    #[inline(always)]
    unsafe fn read<'a>(passed: Passed) -> Result<Lent<'a, Self>, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Key::new("value", passed) }.map(Key::bytes)
    }

    unsafe fn place(argument: &'static str, passed: PassedPlace) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Place::new(argument, passed) }
    }

    fn check(place: Place, value: &[u8]) -> Result<(), Failure> {
        place.check(value.len())
    }

    fn check_any(place: Place) -> Result<(), Failure> {
        place.check_any()
    }

    fn put(place: Place, value: &[u8]) -> Result<(), Failure> {
        place.put(value)
    }

    unsafe fn put_view((at, len): Self::PassedView, value: &[u8]) {
        // SAFETY: as the caller promises.
        unsafe {
            put(at, value.as_ptr().cast());
            put(len, value.len());
        }
    }

    unsafe fn column(passed: PassedColumn, count: usize) -> Result<Column, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Column::new(&Names::VALUES, passed, count) }
    }

    fn at<'a>(column: &Column, at: usize) -> Lent<'a, Self> {
        column.get(at)
    }

    unsafe fn show(visitor: Self::Visitor, key: &[u8], value: &[u8], context: *mut c_void) -> c_int {
        let (value, value_len) = (value.as_ptr().cast(), value.len());
        // SAFETY: the caller's own function, with a key and a value that are there until it returns.
        unsafe { visitor(key.as_ptr().cast(), key.len(), value, value_len, context) }
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
