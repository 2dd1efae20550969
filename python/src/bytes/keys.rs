//! Columns of keys, and of values that are strings, made from Python's data: lists of objects, arrays of
//! fixed-width cells, columns of Arrow's.
//!
//! A column is a copy, so no thread can change the input of a batch while the interpreter's lock is
//! released.

use super::engine::{STRING_MAX, after_prefix};
use super::import::read_column;
use super::strings::Strings;
use crate::asked::{Closed, Ends};
use crate::batch::Pulse;
use crate::column::Fresh;
use crate::core::DtypeOf;
use crate::failure;
use crate::kind::Kind;
use crate::lane::Lane;
use crate::map::Object;
use numpy::Element;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

/// The type of keys or values: `str` or `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringType {
    /// Whether they are `str`.
    pub is_text: bool,
    /// Whether they are values.
    pub is_value: bool,
}

impl StringType {
    /// Its name in Python.
    pub fn name(self) -> &'static str {
        if self.is_text { "str" } else { "bytes" }
    }

    /// The name of one of them in errors.
    pub fn what(self) -> &'static str {
        if self.is_value { "value" } else { "key" }
    }

    /// The string type of keys or values, if Python's side gives `str` or `bytes` in place of NumPy's code.
    pub fn of_code(code: &str, is_value: bool) -> Option<Self> {
        let is_text = code == "str";
        (is_text || code == "bytes").then_some(Self { is_text, is_value })
    }

    /// The bytes of a key. The error is the description of an invalid key for messages.
    #[inline]
    fn bytes_of<'a>(self, key: &'a Object<'_>) -> Result<&'a [u8], NoKey> {
        if !self.is_text {
            return key.cast::<PyBytes>().map(|bytes| bytes.as_bytes()).map_err(|_| NoKey::OtherType);
        }
        let text = key.cast::<PyString>().map_err(|_| NoKey::OtherType)?;
        text.to_str().map(str::as_bytes).map_err(NoKey::NoText)
    }

    /// The bytes of a key alone.
    #[inline]
    pub fn bytes<'a>(self, key: &'a Object<'_>) -> PyResult<&'a [u8]> {
        self.bytes_of(key).map_err(|no_key| self.exception(no_key, key, None))
    }

    /// The bytes of a key that is looked up; the inner error if the object can't be one.
    #[inline]
    pub fn asked<'a>(self, key: &'a Object<'_>) -> PyResult<Result<&'a [u8], PyErr>> {
        match self.bytes_of(key) {
            Ok(bytes) => Ok(Ok(bytes)),
            Err(NoKey::NoText(error)) if !error.is_instance_of::<PyUnicodeEncodeError>(key.py()) => {
                Err(error)
            }
            Err(no_key) => Ok(Err(self.exception(no_key, key, None))),
        }
    }

    /// Does something with the range of the keys that begin with a prefix.
    pub fn with_prefix<T>(
        self,
        prefix: Option<&Object<'_>>,
        work: impl FnOnce(Ends<&[u8]>) -> PyResult<T>,
    ) -> PyResult<T> {
        let name = self.name();
        let none = || PyTypeError::new_err(format!("a prefix is {name}, not of type NoneType"));
        let low = self.bytes(prefix.ok_or_else(none)?)?;
        let after = after_prefix(low);
        work(Ends { low: Some(low), high: after.as_deref(), closed: Closed { low: true, high: false } })
    }

    /// The object of a key's bytes.
    pub fn object<'py>(self, py: Python<'py>, bytes: &[u8]) -> PyResult<Object<'py>> {
        let (start, len) = (bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
        // SAFETY: both functions copy this many bytes, which are there. They give a new object, or null and
        // an exception: for refused memory, or bytes that aren't UTF-8, which no key of an index of texts
        // has.
        unsafe {
            let object = if self.is_text {
                ffi::PyUnicode_FromStringAndSize(start, len)
            } else {
                ffi::PyBytes_FromStringAndSize(start, len)
            };
            Bound::from_owned_ptr_or_err(py, object)
        }
    }

    /// The exception for an invalid key, at this position of a batch or alone.
    #[cold]
    fn exception(self, no_key: NoKey, key: &Object<'_>, position: Option<usize>) -> PyErr {
        let (name, what) = (self.name(), self.what());
        let its = key.get_type().name().map_or_else(|_| "another type".to_owned(), |its| its.to_string());
        match (no_key, position) {
            (NoKey::OtherType, Some(at)) => PyTypeError::new_err(format!(
                "{what}s are {name}, but the {what} at position {at} is of type {its}"
            )),
            (NoKey::OtherType, None) => {
                PyTypeError::new_err(format!("a {what} is {name}, not of type {its}"))
            }
            (NoKey::NoText(error), _) if !error.is_instance_of::<PyUnicodeEncodeError>(key.py()) => error,
            (NoKey::NoText(_), Some(at)) => self.surrogate_at(at),
            (NoKey::NoText(_), None) => {
                PyValueError::new_err(format!("the {what} has a lone surrogate, which UTF-8 can't have"))
            }
        }
    }

    fn surrogate_at(self, at: usize) -> PyErr {
        let what = self.what();
        PyValueError::new_err(format!(
            "the {what} at position {at} has a lone surrogate, which UTF-8 can't have"
        ))
    }

    /// The error for bytes that aren't UTF-8.
    pub fn no_text_at(self, at: usize) -> PyErr {
        PyValueError::new_err(format!("the {} at position {at} isn't UTF-8", self.what()))
    }
}

/// Why an object is no key.
enum NoKey {
    OtherType,
    /// It has no UTF-8, or memory for that was refused.
    NoText(PyErr),
}

/// The kind of keys of a dtype, as words of 64 bits.
fn kind_of(py: Python<'_>, (code, name, hooks, _): DtypeOf) -> PyResult<Kind> {
    Kind::new(py, true, (&code, name, hooks), true)
}

fn refused(error: latchless::Error) -> PyErr {
    failure::exception(&error)
}

/// Keys or values in one buffer, as batches use them. Not for users: methods make it from any array-like.
#[pyclass(frozen, module = "latchless._latchless")]
pub struct StringColumn {
    /// Their bytes.
    pub strings: Strings,
    /// Their type.
    pub of: StringType,
}

#[pymethods]
impl StringColumn {
    /// Of a list or a tuple.
    #[new]
    #[pyo3(signature = (text, keys, value=false))]
    fn new(text: bool, keys: &Object<'_>, value: bool) -> PyResult<Self> {
        let of = StringType { is_text: text, is_value: value };
        let strings = match keys.cast::<PyList>() {
            Ok(list) => collect(of, list.len(), list.iter())?,
            Err(_) => {
                let tuple = keys.cast::<PyTuple>()?;
                collect(of, tuple.len(), tuple.iter())?
            }
        };
        Ok(Self { strings, of })
    }

    /// Of `count` cells of one width, as NumPy's arrays have them: a cell ends before the zeros at its end.
    /// The cells of texts are of four bytes a character.
    #[staticmethod]
    #[pyo3(signature = (text, cells, width, count, value=false))]
    fn of_cells(
        py: Python<'_>,
        text: bool,
        cells: &[u8],
        width: usize,
        count: usize,
        value: bool,
    ) -> PyResult<Self> {
        let of = StringType { is_text: text, is_value: value };
        if width.checked_mul(count) != Some(cells.len()) {
            let len = cells.len();
            return Err(PyValueError::new_err(format!("{len} bytes aren't {count} cells of {width}")));
        }
        let cell = move |at: usize| &cells[at * width..(at + 1) * width];
        let strings =
            py.detach(|| if text { of_characters(of, count, cell) } else { of_bytes(count, cell) })?;
        Ok(Self { strings, of })
    }

    /// Of rows of one width, one after the other.
    #[staticmethod]
    fn of_rows(rows: &[u8], width: usize) -> PyResult<Self> {
        let count = rows.len().checked_div(width).unwrap_or(0);
        let offsets = (0..count + 1).map(|at| (at * width) as i64);
        let strings = Strings::copied(rows, offsets).map_err(refused)?;
        let wrong = || PyValueError::new_err(format!("{} bytes aren't rows of {width}", rows.len()));
        Ok(Self { strings: strings.ok_or_else(wrong)?, of: StringType { is_text: false, is_value: true } })
    }

    /// Of an array or a stream of arrays of Arrow's.
    #[staticmethod]
    #[pyo3(signature = (text, data, value=false))]
    fn of_arrow(text: bool, data: &Object<'_>, value: bool) -> PyResult<Self> {
        let of = StringType { is_text: text, is_value: value };
        Ok(Self { strings: read_column(data, of)?, of })
    }

    /// From the bytes that `buffers` gives: they are immutable.
    #[staticmethod]
    #[pyo3(signature = (text, offsets, bytes, value=false))]
    fn of_buffers(text: bool, offsets: &[u8], bytes: &[u8], value: bool) -> PyResult<Self> {
        let of = StringType { is_text: text, is_value: value };
        let wrong =
            || PyValueError::new_err(format!("the offsets of the {}s don't fit their bytes", of.what()));
        let (offsets, rest) = offsets.as_chunks();
        let offsets = offsets.iter().map(|&offset| i64::from_ne_bytes(offset));
        let strings = Strings::copied(bytes, offsets).map_err(refused)?;
        let strings = strings.filter(|_| rest.is_empty()).ok_or_else(wrong)?;
        match strings.first_without_text(0).filter(|_| text) {
            Some(at) => Err(of.no_text_at(at)),
            None => Ok(Self { strings, of }),
        }
    }

    /// The words of keys of a dtype, which are strings of eight bytes in pickles of earlier versions.
    fn words<'py>(&self, py: Python<'py>, dtype: DtypeOf) -> PyResult<Object<'py>> {
        let (kind, (words, _)) = (kind_of(py, dtype)?, self.strings.bytes().as_chunks());
        let mut array = Fresh::new(py, words.len())?;
        for (place, &word) in array.places().iter_mut().zip(words) {
            place.write(u64::from_be_bytes(word).restored(kind.order()));
        }
        Ok(array.into_any())
    }

    fn __len__(&self) -> usize {
        self.strings.len()
    }

    /// Whether they are `str`.
    #[getter]
    fn text(&self) -> bool {
        self.of.is_text
    }

    /// They as Python's objects.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for at in 0..self.strings.len() {
            list.append(self.of.object(py, self.strings.get(at))?)?;
        }
        Ok(list)
    }

    /// Those at some positions.
    fn take(&self, positions: Vec<usize>) -> PyResult<Self> {
        let mut strings = Strings::with_room(positions.len(), 0).map_err(refused)?;
        for at in positions {
            if at >= self.strings.len() {
                let len = self.strings.len();
                return Err(PyIndexError::new_err(format!(
                    "there are {len} strings, but none at position {at}"
                )));
            }
            strings.push(self.strings.get(at)).map_err(refused)?;
        }
        Ok(Self { strings, of: self.of })
    }

    /// Of equal strings the position of the first one, ascending; and the first position of a string that
    /// was there before.
    fn distinct<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, Option<usize>)> {
        let sorted = py.detach(|| self.strings.sorted(&mut Pulse::new()));
        let order = sorted.map_err(failure::undone)?;
        let (mut kept, mut again) = (Vec::new(), None);
        for run in order.chunk_by(|&one, &next| self.strings.get(one) == self.strings.get(next)) {
            kept.push(run[0] as i64);
            again = again.into_iter().chain(run.get(1).copied()).min();
        }
        kept.sort_unstable();
        Ok((copied(py, &kept)?, again))
    }

    /// Copies of where each of them begins and where the last one ends, and of their bytes: Arrow's layout
    /// of large strings.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, Object<'py>)> {
        Ok((copied(py, self.strings.offsets())?, copied(py, self.strings.bytes())?))
    }
}

impl StringColumn {
    /// An error if one of them is too long to be stored.
    pub fn check_lengths(&self) -> PyResult<()> {
        let Some(at) = self.strings.first_longer(STRING_MAX) else { return Ok(()) };
        let (len, what) = (self.strings.get(at).len(), self.of.what());
        Err(PyValueError::new_err(format!(
            "the {what} at position {at} has {len} bytes, more than the {STRING_MAX} that a {what} may have"
        )))
    }

    /// An error if one of them is no row of this width.
    pub fn check_width(&self, width: usize) -> PyResult<()> {
        if self.strings.offsets().windows(2).all(|ends| (ends[1] - ends[0]) as usize == width) {
            return Ok(());
        }
        Err(PyTypeError::new_err(format!("values are rows of {width} bytes")))
    }

    /// The strings, if they are keys of this type.
    pub fn keys_of(&self, own: StringType) -> PyResult<&Strings> {
        self.check(own).map(|()| &self.strings)
    }

    /// An error if they are of another type.
    pub fn check(&self, own: StringType) -> PyResult<()> {
        if self.of == own {
            return Ok(());
        }
        let (what, own, its) = (own.what(), own.name(), self.of.name());
        Err(PyTypeError::new_err(format!("{what}s are {own}, not {its}")))
    }
}

/// A new array of these elements.
fn copied<'py, T: Element + Copy>(py: Python<'py>, elements: &[T]) -> PyResult<Object<'py>> {
    let mut array = Fresh::new(py, elements.len())?;
    for (place, &element) in array.places().iter_mut().zip(elements) {
        place.write(element);
    }
    Ok(array.into_any())
}

/// The bytes of objects.
fn collect<'py>(of: StringType, count: usize, keys: impl Iterator<Item = Object<'py>>) -> PyResult<Strings> {
    let mut strings = Strings::with_room(count, 0).map_err(refused)?;
    for (at, key) in keys.enumerate() {
        let bytes = of.bytes_of(&key).map_err(|no_key| of.exception(no_key, &key, Some(at)))?;
        strings.push(bytes).map_err(refused)?;
    }
    Ok(strings)
}

/// Byte strings of cells.
fn of_bytes<'a>(count: usize, cell: impl Fn(usize) -> &'a [u8]) -> PyResult<Strings> {
    let mut strings = Strings::with_room(count, 0).map_err(refused)?;
    for at in 0..count {
        let cell = cell(at);
        let len = cell.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        strings.push(&cell[..len]).map_err(refused)?;
    }
    Ok(strings)
}

/// Texts of cells of four bytes a character.
fn of_characters<'a>(of: StringType, count: usize, cell: impl Fn(usize) -> &'a [u8]) -> PyResult<Strings> {
    let mut strings = Strings::with_room(count, 0).map_err(refused)?;
    for at in 0..count {
        let codes = cell(at).as_chunks::<4>().0;
        let len = codes.iter().rposition(|&code| code != [0; 4]).map_or(0, |last| last + 1);
        let mut is_text = true;
        let write = |bytes: &mut Vec<u8>| {
            for &code in &codes[..len] {
                match u32::from_ne_bytes(code) {
                    ascii @ 0..0x80 => bytes.push(ascii as u8),
                    code => match char::from_u32(code) {
                        Some(character) => {
                            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        None => is_text = false,
                    },
                }
            }
        };
        strings.push_with(4 * len, write).map_err(refused)?;
        if !is_text {
            return Err(of.surrogate_at(at));
        }
    }
    Ok(strings)
}
