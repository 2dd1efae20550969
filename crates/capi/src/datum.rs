//! Keys and values: words and byte strings. C passes a word as it is where all keys are words, otherwise the
//! bytes of either: of a word its eight bytes in the order of the machine.

use crate::column::{Keys, Scratch, Source};
use crate::failure::Failure;
use crate::key::ValueKind;
use crate::place::{KEY_MAX, Key, Passed, PassedPlace, Place, VALUE_MAX};
use crate::strings::Column;
use core::ops::Range;
use core::ptr;
use engine::bytes::Form;
use engine::index::Comparable;
use engine::snapshot::strings::Snapshot;
use engine::snapshot::{DataType, SavedValue};
use engine::{BytesValue, Error, IndexKey, IndexValue};

/// A key or a value.
pub trait Datum:
    SavedValue
    + Comparable
    + for<'a> IndexKey<Probe<'a> = <Self as Datum>::View<'a>>
    + for<'a> IndexValue<Given<'a> = <Self as Datum>::View<'a>, Lent<'a> = <Self as Datum>::View<'a>>
    + BytesValue<Form: for<'a> Form<Self, Lent<'a> = <Self as Datum>::View<'a>>>
{
    /// How the index takes and lends it.
    type View<'a>: Copy + Default;
    /// The kind of such values.
    const KIND: ValueKind;
    /// The most bytes that it has.
    const BYTES_MAX: usize;

    /// The bytes that the caller passes as `argument`.
    fn read<'a>(argument: &'static str, bytes: &'a [u8]) -> Result<Self::View<'a>, Failure>;
    /// Shows the bytes.
    fn with_bytes<T>(view: Self::View<'_>, see: impl FnOnce(&[u8]) -> T) -> T;
    /// The bytes of a cursor's value: its own, or those of its word.
    fn bytes<'a>(view: Self::View<'a>, word: &'a mut u64) -> &'a [u8];
    /// Whether a file's values are such ones.
    fn is_in(file: &Snapshot) -> bool;
    /// How many bytes it has.
    fn len(view: Self::View<'_>) -> usize;
    /// The value of such a file's cell: a number has at most eight bytes, the lowest first.
    fn of_file(cell: &[u8]) -> Self::View<'_>;

    /// Writes it; only how many bytes it has if the room is too small.
    #[inline(always)]
    fn put(place: Place, view: Self::View<'_>) -> Result<(), Failure> {
        Self::with_bytes(view, |bytes| place.put(bytes))
    }
}

impl Datum for u64 {
    type View<'a> = Self;
    const KIND: ValueKind = ValueKind::LATCHLESS_VALUE_WORD;
    const BYTES_MAX: usize = size_of::<Self>();

    #[inline(always)]
    fn read(argument: &'static str, bytes: &[u8]) -> Result<Self, Failure> {
        bytes.try_into().map(Self::from_ne_bytes).map_err(|_| Failure::NoWord { argument, len: bytes.len() })
    }

    #[inline(always)]
    fn with_bytes<T>(word: Self, see: impl FnOnce(&[u8]) -> T) -> T {
        see(&word.to_ne_bytes())
    }

    fn bytes(view: Self, word: &mut u64) -> &[u8] {
        *word = view;
        // SAFETY: a word has these bytes.
        unsafe { core::slice::from_raw_parts(ptr::from_mut(word).cast(), size_of::<Self>()) }
    }

    /// Numbers with a type name of their own in a file are of a user-defined type.
    fn is_in(file: &Snapshot) -> bool {
        is_value(file.value_type()) && file.value_name() == file.value_type().to_string()
    }

    #[inline(always)]
    fn len(_: Self) -> usize {
        size_of::<Self>()
    }

    fn of_file(cell: &[u8]) -> Self {
        cell.try_into().map_or(0, Self::from_le_bytes)
    }
}

impl Datum for Vec<u8> {
    type View<'a> = &'a [u8];
    const KIND: ValueKind = ValueKind::LATCHLESS_VALUE_BYTES;
    const BYTES_MAX: usize = VALUE_MAX;

    #[inline(always)]
    fn read<'a>(_: &'static str, bytes: &'a [u8]) -> Result<&'a [u8], Failure> {
        Ok(bytes)
    }

    #[inline(always)]
    fn with_bytes<T>(bytes: &[u8], see: impl FnOnce(&[u8]) -> T) -> T {
        see(bytes)
    }

    fn bytes<'a>(view: &'a [u8], _: &'a mut u64) -> &'a [u8] {
        view
    }

    /// Texts are their bytes; other strings are of a user-defined type.
    fn is_in(file: &Snapshot) -> bool {
        let is_string = matches!(file.value_type(), DataType::Binary | DataType::Utf8);
        is_string && ["bytes", "text"].contains(&&*file.value_name())
    }

    #[inline(always)]
    fn len(view: &[u8]) -> usize {
        view.len()
    }

    fn of_file(cell: &[u8]) -> &[u8] {
        cell
    }
}

/// Refuses a key that is too long to be stored: there are places for any of the others.
#[inline(always)]
pub fn check_key<K: Datum>(key: K::View<'_>) -> Result<(), Error> {
    let len = K::len(key);
    if len <= KEY_MAX { Ok(()) } else { Err(Error::KeyTooLong { len, limit: KEY_MAX }) }
}

/// The same of a value.
#[inline(always)]
pub fn check_value<V: Datum>(value: V::View<'_>) -> Result<(), Error> {
    let len = V::len(value);
    if len <= VALUE_MAX { Ok(()) } else { Err(Error::ValueTooLong { len, limit: VALUE_MAX }) }
}

/// Whether a column holds plain values: numbers of 64 bits. Other values of eight bytes, which have parts,
/// aren't taken for one number.
pub fn is_value(column: DataType) -> bool {
    use DataType::{Duration, Float64, Int64, Timestamp, UInt64};
    matches!(column, UInt64 | Int64 | Float64 | Timestamp(_) | Duration(_))
}

/// How C passes a key or a value.
pub trait Argument<T: Datum>: Copy {
    /// The one under the name `argument`.
    ///
    /// # Safety
    /// As for [`Key::new`].
    unsafe fn read<'a>(self, argument: &'static str) -> Result<T::View<'a>, Failure>;
    /// Whether none of its bytes is in a place.
    fn is_apart_from(self, place: Place) -> bool;
}

impl Argument<u64> for u64 {
    #[inline(always)]
    unsafe fn read<'a>(self, _: &'static str) -> Result<<u64 as Datum>::View<'a>, Failure> {
        Ok(self)
    }

    #[inline(always)]
    fn is_apart_from(self, _: Place) -> bool {
        true
    }
}

impl<T: Datum> Argument<T> for Passed {
    #[inline(always)]
    unsafe fn read<'a>(self, argument: &'static str) -> Result<T::View<'a>, Failure> {
        // SAFETY: as the caller promises.
        T::read(argument, unsafe { Key::new(argument, self)? }.bytes())
    }

    fn is_apart_from(self, place: Place) -> bool {
        place.is_apart_from(self)
    }
}

/// How C passes a place for a key or a value.
pub trait Target: Copy {
    /// The place under the name `argument`.
    ///
    /// # Safety
    /// As for [`Place::new`].
    unsafe fn place<T: Datum>(self, argument: &'static str) -> Result<Place, Failure>;

    /// The place for what leaves the index, which must not be lost for lack of room: any has to fit.
    ///
    /// # Safety
    /// As for [`Place::new`].
    #[inline(always)]
    unsafe fn place_for_any<T: Datum>(self, argument: &'static str) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        let place = unsafe { self.place::<T>(argument)? };
        place.check_any(T::BYTES_MAX).map(|()| place)
    }
}

impl Target for *mut u64 {
    #[inline(always)]
    unsafe fn place<T: Datum>(self, argument: &'static str) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Place::of_word(argument, (self.cast(), size_of::<u64>(), ptr::null_mut())) }
    }
}

impl Target for PassedPlace {
    #[inline(always)]
    unsafe fn place<T: Datum>(self, argument: &'static str) -> Result<Place, Failure> {
        // SAFETY: as the caller promises.
        unsafe {
            match T::KIND {
                ValueKind::LATCHLESS_VALUE_WORD => Place::of_word(argument, self),
                ValueKind::LATCHLESS_VALUE_BYTES => Place::new(argument, self),
            }
        }
    }
}

/// The keys or the values of a batch.
pub trait Batch<T: Datum>: Copy + Sync {
    /// One of them.
    fn get<'a>(&self, at: usize) -> T::View<'a>;

    /// Some of them.
    fn read<'k, 's>(&self, chunk: &Range<usize>, room: &'s mut Scratch<T::View<'k>>) -> &'s [T::View<'k>] {
        let some = room.zeros(chunk.len());
        some.iter_mut().zip(chunk.clone()).for_each(|(one, at)| *one = self.get(at));
        some
    }
}

impl Batch<u64> for Source<u64> {
    #[inline(always)]
    fn get<'a>(&self, at: usize) -> <u64 as Datum>::View<'a> {
        Source::get(*self, at)
    }

    #[inline]
    fn read<'k, 's>(
        &self,
        chunk: &Range<usize>,
        room: &'s mut Scratch<<u64 as Datum>::View<'k>>,
    ) -> &'s [<u64 as Datum>::View<'k>] {
        let words = room.zeros(chunk.len());
        self.copy_to(chunk.clone(), words);
        words
    }
}

impl Batch<u64> for Keys {
    /// A key that has become NaN since it was checked is the caller's doing.
    #[inline(always)]
    fn get<'a>(&self, at: usize) -> <u64 as Datum>::View<'a> {
        Keys::get(*self, at).unwrap_or(0)
    }

    #[inline]
    fn read<'k, 's>(
        &self,
        chunk: &Range<usize>,
        room: &'s mut Scratch<<u64 as Datum>::View<'k>>,
    ) -> &'s [<u64 as Datum>::View<'k>] {
        Keys::read(*self, chunk, room)
    }
}

impl<T: Datum> Batch<T> for Column {
    #[inline(always)]
    fn get<'a>(&self, at: usize) -> T::View<'a> {
        T::read("", Column::get(self, at)).unwrap_or_default()
    }
}
