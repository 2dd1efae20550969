//! An index as an Arrow stream: one batch of two columns. The columns are copies, and belong to the stream,
//! so releasing it needs no interpreter.

use crate::arrow::{Array, NULLABLE, Owning, STRUCT, Schema, Stream};
use crate::bytes::strings::Strings;
use crate::failure;
use crate::kind::{ArrowType, Format, Kind};
use crate::lane::Lane;
use crate::sort::room;
use core::any::Any;
use core::ffi::{CStr, c_char, c_int, c_void};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::borrow::Cow;

/// Memory that an array points to.
struct Buffer {
    start: *const c_void,
    _holds: Box<dyn Any + Send>,
}

impl Buffer {
    fn of<T: Send + 'static>(cells: Vec<T>) -> Self {
        Self { start: cells.as_ptr().cast(), _holds: Box::new(cells) }
    }

    /// None: all cells are there.
    fn none() -> Self {
        Self { start: core::ptr::null(), _holds: Box::new(()) }
    }
}

// SAFETY: the pointer is into the box's content, which may be sent and isn't written.
unsafe impl Send for Buffer {}

/// A column of the batch.
pub struct Exported {
    name: &'static CStr,
    format: Format,
    buffers: Vec<Buffer>,
    null_count: i64,
}

/// Bits, the first one the lowest of the first byte.
fn bits(count: usize, is_set: impl Fn(usize) -> bool) -> latchless::Result<Vec<u8>> {
    let mut bytes = room(count.div_ceil(8))?;
    for byte in 0..count.div_ceil(8) {
        let bit = |bit: usize| u8::from(8 * byte + bit < count && is_set(8 * byte + bit)) << bit;
        bytes.push((0..8).map(bit).fold(0, |byte, bit| byte | bit));
    }
    Ok(bytes)
}

fn narrowed<B: Lane, T: Send + 'static>(words: &[B], cell: impl Fn(u64) -> T) -> latchless::Result<Buffer> {
    let mut cells = room(words.len())?;
    cells.extend(words.iter().map(|word| cell(word.to_u64())));
    Ok(Buffer::of(cells))
}

fn arrow_type(kind: &Kind) -> PyResult<ArrowType> {
    let none = || PyTypeError::new_err(format!("Arrow has no type for {}", kind.name()));
    kind.arrow_type().ok_or_else(none)
}

/// A column of words of this kind.
pub fn column<B: Lane>(name: &'static CStr, kind: &Kind, words: Vec<B>) -> PyResult<Exported> {
    let refused = |error| failure::exception(&error);
    let ArrowType { format, width } = arrow_type(kind)?;
    let is_null = |at: usize| kind.is_missing(words[at].to_u64());
    let null_count = (0..words.len()).filter(|&at| is_null(at)).count();
    let present = match null_count {
        0 => Buffer::none(),
        _ => Buffer::of(bits(words.len(), |at| !is_null(at)).map_err(refused)?),
    };
    let cells = if kind.is_bool() {
        Buffer::of(bits(words.len(), |at| words[at].to_u64() != 0).map_err(refused)?)
    } else if kind.is_time() && width == 4 {
        let day = |word: &B| i32::try_from(word.to_u64() as i64);
        if let Some(at) = (0..words.len()).find(|&at| !is_null(at) && day(&words[at]).is_err()) {
            let days = words[at].to_u64() as i64;
            return Err(PyOverflowError::new_err(format!("day {days} is outside of Arrow's dates")));
        }
        narrowed(&words, |word| word as i32).map_err(refused)?
    } else if width == size_of::<B>() {
        Buffer::of(words)
    } else {
        let form = kind.cell_form();
        match width {
            1 => narrowed(&words, |word| form.cell(word) as u8),
            2 => narrowed(&words, |word| form.cell(word) as u16),
            _ => narrowed(&words, |word| form.cell(word) as u32),
        }
        .map_err(refused)?
    };
    Ok(Exported { name, format, buffers: vec![present, cells], null_count: null_count as i64 })
}

/// The targets of a schema's pointers.
struct SchemaParts {
    format: Format,
    children: Vec<*mut Schema>,
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the interface calls this once, for a struct that `schema` made; its parts are a box's, and
    // the children are boxes' that are freed only here.
    unsafe {
        let parts = Box::from_raw((*schema).private.cast::<SchemaParts>());
        parts.children.into_iter().for_each(|child| drop(Box::from_raw(child)));
        (*schema).clear();
    }
}

fn schema(format: Format, name: &'static CStr, children: Vec<Schema>) -> Schema {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut parts = Box::new(SchemaParts { format, children });
    let mut made = Schema::released();
    made.format = parts.format.as_ptr();
    made.name = name.as_ptr();
    made.flags = NULLABLE;
    made.child_count = parts.children.len() as i64;
    made.children = parts.children.as_mut_ptr();
    made.private = Box::into_raw(parts).cast();
    made.release = Some(release_schema);
    made
}

/// The targets of an array's pointers.
struct ArrayParts {
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
    _holds: Vec<Buffer>,
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the interface calls this once, for a struct that `array` made; its parts are a box's, and the
    // children are boxes' that are freed only here.
    unsafe {
        let parts = Box::from_raw((*array).private.cast::<ArrayParts>());
        parts.children.into_iter().for_each(|child| drop(Box::from_raw(child)));
        (*array).clear();
    }
}

fn array(length: usize, null_count: i64, buffers: Vec<Buffer>, children: Vec<Array>) -> Array {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let starts = buffers.iter().map(|buffer| buffer.start).collect();
    let mut parts = Box::new(ArrayParts { buffers: starts, children, _holds: buffers });
    let mut made = Array::released();
    made.length = length as i64;
    made.null_count = null_count;
    made.buffer_count = parts.buffers.len() as i64;
    made.buffers = parts.buffers.as_mut_ptr();
    made.child_count = parts.children.len() as i64;
    made.children = parts.children.as_mut_ptr();
    made.private = Box::into_raw(parts).cast();
    made.release = Some(release_array);
    made
}

/// A stream of one batch.
struct Streaming {
    fields: [(Format, &'static CStr); 2],
    batch: Option<Array>,
}

impl Streaming {
    fn schema(&self) -> Schema {
        let fields = self.fields.iter().map(|(format, name)| schema(format.clone(), name, Vec::new()));
        schema(Cow::Borrowed(STRUCT), c"", fields.collect())
    }
}

/// The contents of the stream.
///
/// # Safety
/// The stream is one that `stream` made, isn't released, and isn't used elsewhere meanwhile.
unsafe fn parts<'a>(stream: *mut Stream) -> &'a mut Streaming {
    // SAFETY: its private part is a box of this type, as the caller promises.
    unsafe { &mut *(*stream).private.cast::<Streaming>() }
}

unsafe extern "C" fn tell_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the interface hands over a stream of ours, and a place for a schema that has none yet.
    unsafe { out.write(parts(stream).schema()) };
    0
}

unsafe extern "C" fn next_batch(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: the interface hands over a stream of ours, and a place for an array that has none yet.
    unsafe { out.write(parts(stream).batch.take().unwrap_or_else(Array::released)) };
    0
}

unsafe extern "C" fn no_error(_: *mut Stream) -> *const c_char {
    core::ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the interface has this called once, for a stream of ours, whose private part is a box.
    unsafe {
        drop(Box::from_raw((*stream).private.cast::<Streaming>()));
        (*stream).clear();
    }
}

/// The format of a column of words of this kind.
pub fn format(kind: &Kind) -> PyResult<Format> {
    arrow_type(kind).map(|found| found.format)
}

/// A column of strings.
pub fn string_column(name: &'static CStr, is_text: bool, strings: Strings) -> Exported {
    let (bytes, offsets) = strings.into_parts();
    let buffers = vec![Buffer::none(), Buffer::of(offsets), Buffer::of(bytes)];
    Exported { name, format: string_format(is_text), buffers, null_count: 0 }
}

/// The format of a column of strings: texts or bytes, with offsets of 64 bits.
pub fn string_format(is_text: bool) -> Format {
    Cow::Borrowed(if is_text { c"U" } else { c"Z" })
}

/// A capsule with a stream of two columns of this length.
pub fn stream(py: Python<'_>, (length, columns): (usize, [Exported; 2])) -> PyResult<Bound<'_, PyCapsule>> {
    let fields = columns.each_ref().map(|column| (column.format.clone(), column.name));
    let children =
        columns.map(|Exported { buffers, null_count, .. }| array(length, null_count, buffers, Vec::new()));
    let batch = Some(array(length, 0, vec![Buffer::none()], children.into()));
    let streaming = Box::new(Streaming { fields, batch });
    let stream = Stream {
        schema: Some(tell_schema),
        next: Some(next_batch),
        last_error: Some(no_error),
        release: Some(release_stream),
        private: Box::into_raw(streaming).cast(),
    };
    PyCapsule::new_with_value(py, stream, Stream::CAPSULE)
}

/// A capsule with the type of a stream of two columns with these formats.
pub fn schema_of(py: Python<'_>, [keys, values]: [Format; 2]) -> PyResult<Bound<'_, PyCapsule>> {
    let fields = [(keys, c"key"), (values, c"value")];
    PyCapsule::new_with_value(py, Streaming { fields, batch: None }.schema(), Schema::CAPSULE)
}
