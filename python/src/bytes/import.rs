//! Imports Arrow's columns of strings. Their bytes are copied a batch at a time, without an object per key.

use super::keys::{StringColumn, StringType};
use super::strings::Strings;
use crate::arrow::{Array, Schema};
use crate::failure;
use crate::import::{Column, Source, child, name_of, place_of, text};
use crate::map::Object;
use core::ffi::c_void;
use core::slice;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The storage layout of a column of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Their bytes side by side, after 32-bit offsets.
    Offsets32,
    /// The same with 64-bit offsets.
    Offsets64,
    /// Views of 16 bytes: a length, and a short string or where a long one is.
    Views,
    /// Cells of this many bytes.
    Cells(usize),
}

/// The layout of this format's cells, if they are strings of this kind.
fn layout_of(format: &str, is_text: bool) -> Option<Layout> {
    match (format, is_text) {
        ("u", true) | ("z", false) => Some(Layout::Offsets32),
        ("U", true) | ("Z", false) => Some(Layout::Offsets64),
        ("vu", true) | ("vz", false) => Some(Layout::Views),
        (_, false) => format.strip_prefix("w:")?.parse().ok().map(Layout::Cells),
        _ => None,
    }
}

/// A column that is being read.
struct Reading {
    /// Its place among the columns of a struct; None: the array is the column.
    place: Option<usize>,
    layout: Layout,
    of: StringType,
    strings: Strings,
}

fn refused(error: latchless::Error) -> PyErr {
    failure::exception(&error)
}

fn broken() -> PyErr {
    PyValueError::new_err("the Arrow column is broken: a string doesn't lie in its buffers")
}

impl Reading {
    fn of(schema: &Schema, place: Option<usize>, of: StringType) -> PyResult<Self> {
        let own = place.map_or(schema, |place| child(schema, place));
        let format = text(own, own.format);
        let layout = layout_of(format, of.is_text).filter(|_| own.dictionary.is_null());
        let Some(layout) = layout else {
            let found = if own.dictionary.is_null() { name_of(format) } else { "dictionary" };
            let (what, name) = (of.what(), of.name());
            return Err(PyTypeError::new_err(format!(
                "{what}s are {name} and can't be made from a column of type {found}"
            )));
        };
        Ok(Self { place, layout, of, strings: Strings::with_room(0, 0).map_err(refused)? })
    }

    /// Appends the strings of a batch.
    ///
    /// # Safety
    /// The batch is one of the stream whose schema this column was made for.
    unsafe fn append(&mut self, batch: &Array) -> PyResult<()> {
        let count = usize::try_from(batch.length).unwrap_or(0);
        if count == 0 {
            return Ok(());
        }
        // SAFETY: the batch has such a child, as the caller promises. The cells of the batch's own rows
        // begin at both offsets together.
        let (own, first) = unsafe {
            match self.place {
                None => (batch, batch.offset),
                Some(place) => {
                    let child = &**batch.children.add(place);
                    (child, child.offset + batch.offset)
                }
            }
        };
        let (first, before) = (first as usize, self.strings.len());
        // SAFETY: the array has this many buffers.
        let buffers = unsafe { slice::from_raw_parts(own.buffers, own.buffer_count as usize) };
        let present = buffers[0].cast::<u8>();
        if !present.is_null() && own.null_count != 0 {
            // SAFETY: there is a bit for each cell.
            let is_there =
                |at: &usize| unsafe { *present.add((first + at) / 8) >> ((first + at) % 8) & 1 == 1 };
            if let Some(null) = (0..count).find(|at| !is_there(at)) {
                let (at, what) = (before + null, self.of.what());
                return Err(PyValueError::new_err(format!(
                    "{what}s must not be null, but the {what} at position {at} is"
                )));
            }
        }
        // SAFETY: the buffers are those of the column's layout, and have the cells from `first` on.
        unsafe {
            match self.layout {
                Layout::Offsets32 => self.append_between::<i32>(buffers, first, count)?,
                Layout::Offsets64 => self.append_between::<i64>(buffers, first, count)?,
                Layout::Views => self.append_viewed(buffers, first, count)?,
                Layout::Cells(width) => {
                    let cells = bytes_at(buffers[1], first * width, count * width);
                    let ends = (0..count).map(|at| ((at + 1) * width) as i64);
                    self.strings.append(cells, ends).map_err(refused)?;
                }
            }
        }
        match self.strings.first_without_text(before).filter(|_| self.of.is_text) {
            Some(at) => Err(self.of.no_text_at(at)),
            None => Ok(()),
        }
    }

    /// Appends adjacent strings.
    ///
    /// # Safety
    /// The buffers are those of such a column: the second one has `count + 1` offsets from `first` on, and
    /// the third has all bytes up to the last offset.
    unsafe fn append_between<T: Into<i64>>(
        &mut self,
        buffers: &[*const c_void],
        first: usize,
        count: usize,
    ) -> PyResult<()> {
        let offsets = buffers[1].cast::<T>();
        // SAFETY: this many offsets are there, as the caller promises; aligned or not.
        let offset = |at: usize| -> i64 { unsafe { offsets.add(first + at).read_unaligned() }.into() };
        let (low, high) = (offset(0), offset(count));
        if low < 0 || (0..count).any(|at| offset(at) > offset(at + 1)) {
            return Err(broken());
        }
        // SAFETY: the bytes between the first and the last offset are there, as the caller promises.
        let bytes = unsafe { bytes_at(buffers[2], low as usize, (high - low) as usize) };
        self.strings.append(bytes, (0..count).map(|at| offset(at + 1) - low)).map_err(refused)
    }

    /// Appends strings that views lead to.
    ///
    /// # Safety
    /// The buffers are those of such a column: the second one has `count` views from `first` on, the last
    /// one the lengths of those between.
    unsafe fn append_viewed(
        &mut self,
        buffers: &[*const c_void],
        first: usize,
        count: usize,
    ) -> PyResult<()> {
        let ([_, views, others @ ..], Some(lengths)) = (buffers, buffers.last()) else {
            return Err(broken());
        };
        for at in first..first + count {
            // SAFETY: the view is there, as the caller promises; aligned or not.
            let view = unsafe { views.cast::<[[u8; 4]; 4]>().add(at).read_unaligned() };
            let [length, _, buffer, offset] = view.map(i32::from_ne_bytes);
            let length = usize::try_from(length).map_err(|_| broken())?;
            if length <= 12 {
                self.strings.push(&view[1..].as_flattened()[..length]).map_err(refused)?;
                continue;
            }
            let (Ok(buffer), Ok(offset)) = (usize::try_from(buffer), usize::try_from(offset)) else {
                return Err(broken());
            };
            if buffer + 1 >= others.len() {
                return Err(broken());
            }
            // SAFETY: the last buffer has the length of each buffer between, as the caller promises.
            let room = unsafe { lengths.cast::<i64>().add(buffer).read_unaligned() };
            if (offset + length) as i64 > room {
                return Err(broken());
            }
            // SAFETY: the string is in that buffer, as was checked.
            self.strings.push(unsafe { bytes_at(others[buffer], offset, length) }).map_err(refused)?;
        }
        Ok(())
    }
}

/// Bytes of a buffer.
///
/// # Safety
/// This many bytes are there from that place on, and no thread writes them.
unsafe fn bytes_at<'a>(buffer: *const c_void, start: usize, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { slice::from_raw_parts(buffer.cast::<u8>().add(start), len) }
}

/// A column alone: of anything that gives an Arrow array or a stream of them.
pub fn read_column(data: &Object<'_>, of: StringType) -> PyResult<Strings> {
    let py = data.py();
    let (mut source, schema) = Source::of(data)?;
    let mut column = Reading::of(&schema, None, of)?;
    while let Some(batch) = source.next(py)? {
        // SAFETY: the batch comes from the stream with this schema.
        py.detach(|| unsafe { column.append(&{ batch }) })?;
    }
    Ok(column.strings)
}

/// A column among others: strings, or the elements of an array.
enum Any {
    Strings(Reading),
    Cells(Column),
}

impl Any {
    /// The column with this name or position; of strings of this type, if one is given.
    fn of(schema: &Schema, asked: &Object<'_>, wanted: Option<StringType>, is_value: bool) -> PyResult<Self> {
        let place = place_of(schema, asked)?;
        if let Some(of) = wanted {
            return Reading::of(schema, Some(place), of).map(Self::Strings);
        }
        let own = child(schema, place);
        let of = |is_text| StringType { is_text, is_value };
        let is = |is_text| layout_of(text(own, own.format), is_text).is_some() && own.dictionary.is_null();
        match [true, false].into_iter().find(|&is_text| is(is_text)) {
            Some(is_text) => Reading::of(schema, Some(place), of(is_text)).map(Self::Strings),
            None => Column::of(schema, asked, Self::name(is_value)).map(Self::Cells),
        }
    }

    /// The name of such columns in errors.
    fn name(is_value: bool) -> &'static str {
        if is_value { "values" } else { "keys" }
    }

    /// Appends a batch's cells.
    ///
    /// # Safety
    /// The batch is one of the stream whose schema this column was made for.
    unsafe fn append(&mut self, batch: &Array) -> PyResult<()> {
        match self {
            // SAFETY: as the caller promises.
            Self::Cells(cells) => unsafe { cells.append(batch) },
            // SAFETY: as the caller promises.
            Self::Strings(strings) => unsafe { strings.append(batch) },
        }
    }

    /// The column in Python: a column of strings, an array, or a pair of an array and the zone of its times.
    fn object<'py>(self, py: Python<'py>, asked: &Object<'py>, is_value: bool) -> PyResult<Object<'py>> {
        match self {
            Self::Cells(cells) => cells.array(py, asked, Self::name(is_value)),
            Self::Strings(Reading { strings, of, .. }) => {
                Ok(Bound::new(py, StringColumn { strings, of })?.into_any())
            }
        }
    }
}

/// Two columns of anything that gives an Arrow stream: each is a copy. `text`: whether keys must be texts or
/// bytes, if they must be either.
#[pyfunction]
#[pyo3(signature = (data, key, value, text=None))]
pub fn read_arrow<'py>(
    data: &Object<'py>,
    key: &Object<'py>,
    value: &Object<'py>,
    text: Option<bool>,
) -> PyResult<(Object<'py>, Object<'py>)> {
    let py = data.py();
    let (mut source, schema) = Source::with_columns(data)?;
    let wanted = text.map(|is_text| StringType { is_text, is_value: false });
    let (mut keys, mut values) =
        (Any::of(&schema, key, wanted, false)?, Any::of(&schema, value, None, true)?);
    while let Some(batch) = source.next_rows(py)? {
        for column in [&mut keys, &mut values] {
            // SAFETY: the batch comes from the stream with this schema.
            unsafe { column.append(&batch)? };
        }
    }
    Ok((keys.object(py, key, false)?, values.object(py, value, true)?))
}
