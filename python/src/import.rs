//! Two columns of an Arrow stream as arrays.

use crate::arrow::{Array, STRUCT, Schema, Stream, take};
use core::ffi::{CStr, c_int, c_void};
use core::slice;
use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// `ENOMEM`, which the interface's functions may return.
const NO_MEMORY: c_int = 12;

/// How cells become elements of an array.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// They are the same, this many bytes each.
    Bytes(usize),
    /// A bit each.
    Bits,
    /// Days of 32 bits, which NumPy has in 64.
    Days,
}

/// The form of this format's cells, and NumPy's name for it.
fn form_of(format: &str) -> Option<(Form, &'static str)> {
    Some(match format {
        "b" => (Form::Bits, "bool"),
        "c" => (Form::Bytes(1), "i1"),
        "C" => (Form::Bytes(1), "u1"),
        "s" => (Form::Bytes(2), "i2"),
        "S" => (Form::Bytes(2), "u2"),
        "i" => (Form::Bytes(4), "i4"),
        "I" => (Form::Bytes(4), "u4"),
        "l" => (Form::Bytes(8), "i8"),
        "L" => (Form::Bytes(8), "u8"),
        "f" => (Form::Bytes(4), "f4"),
        "g" => (Form::Bytes(8), "f8"),
        "tdD" => (Form::Days, "M8[D]"),
        "tdm" => (Form::Bytes(8), "M8[ms]"),
        "tDs" => (Form::Bytes(8), "m8[s]"),
        "tDm" => (Form::Bytes(8), "m8[ms]"),
        "tDu" => (Form::Bytes(8), "m8[us]"),
        "tDn" => (Form::Bytes(8), "m8[ns]"),
        // After the colon there is the time zone.
        _ => match format.split_once(':')?.0 {
            "tss" => (Form::Bytes(8), "M8[s]"),
            "tsm" => (Form::Bytes(8), "M8[ms]"),
            "tsu" => (Form::Bytes(8), "M8[us]"),
            "tsn" => (Form::Bytes(8), "M8[ns]"),
            _ => return None,
        },
    })
}

/// The name, in errors, of a type that no index has.
pub fn name_of(format: &str) -> &str {
    match format {
        "u" | "U" | "vu" => "string",
        "z" | "Z" | "vz" => "binary",
        "e" => "float16",
        "n" => "null",
        "tts" | "ttm" | "ttu" | "ttn" => "time of day",
        _ if format.starts_with("d:") => "decimal",
        _ if format.starts_with('+') => "nested",
        _ => format,
    }
}

/// A column that is being read.
pub struct Column {
    /// Its place among the columns.
    place: usize,
    form: Form,
    dtype: &'static str,
    /// The zone of times that have one.
    zone: Option<String>,
    bytes: Vec<u8>,
    nulls: usize,
}

/// The text at a pointer of the interface's.
pub fn text(schema: &Schema, pointer: *const core::ffi::c_char) -> &str {
    let _lent = schema;
    if pointer.is_null() {
        return "";
    }
    // SAFETY: the interface's texts end with a zero, and live as long as the schema, which is lent.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("?")
}

fn children(schema: &Schema) -> impl Iterator<Item = &Schema> {
    let count = usize::try_from(schema.child_count).unwrap_or(0);
    // SAFETY: the schema has this many children, which live as long as it does.
    (0..count).map(|at| unsafe { &**schema.children.add(at) })
}

/// The place of the column with this name or position.
pub fn place_of(schema: &Schema, asked: &Bound<'_, PyAny>) -> PyResult<usize> {
    let names: Vec<&str> = children(schema).map(|child| text(child, child.name)).collect();
    if let Ok(name) = asked.extract::<String>() {
        let mut there = (0..names.len()).filter(|&at| names[at] == name);
        return match (there.next(), there.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => {
                Err(PyKeyError::new_err(format!("more than one column is called {name:?}")))
            }
            _ => {
                let names = names.join(", ");
                Err(PyKeyError::new_err(format!("there is no column {name:?}; the columns are {names}")))
            }
        };
    }
    let position = asked.extract::<isize>()?;
    let from_start =
        if position < 0 { names.len().checked_add_signed(position) } else { Some(position as usize) };
    from_start.filter(|&place| place < names.len()).ok_or_else(|| {
        PyIndexError::new_err(format!("there are {} columns, but none at {position}", names.len()))
    })
}

/// The column at a place that [`place_of`] has found.
pub fn child(schema: &Schema, place: usize) -> &Schema {
    children(schema).nth(place).expect("it is among the names")
}

impl Column {
    /// The column with this name or position. `what`: its name in errors.
    pub fn of(schema: &Schema, asked: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let place = place_of(schema, asked)?;
        let child = child(schema, place);
        let format = text(child, child.format);
        let known = form_of(format).filter(|_| child.dictionary.is_null());
        let Some((form, dtype)) = known else {
            let found = if child.dictionary.is_null() { name_of(format) } else { "dictionary" };
            return Err(PyTypeError::new_err(format!("{what} can't be made from a column of type {found}")));
        };
        // The cells of times are UTC, whatever their zone is.
        let zone =
            format.strip_prefix("ts").and_then(|rest| rest.split_once(':')).map(|(_, zone)| zone.to_owned());
        let zone = zone.filter(|zone| !zone.is_empty());
        Ok(Self { place, form, dtype, zone, bytes: Vec::new(), nulls: 0 })
    }

    /// Appends the cells of a batch.
    ///
    /// # Safety
    /// The batch is one of the stream whose schema this column was made for.
    pub unsafe fn append(&mut self, batch: &Array) -> PyResult<()> {
        // SAFETY: the batch has such a child, as the caller promises, with two buffers. The cells of the
        // batch's own rows begin at both offsets together.
        let (child, buffers) = unsafe {
            let child = &**batch.children.add(self.place);
            (child, slice::from_raw_parts(child.buffers, 2))
        };
        let count = usize::try_from(batch.length).unwrap_or(0);
        let first = (child.offset + batch.offset) as usize;
        if count == 0 {
            return Ok(());
        }
        let (present, cells) = (buffers[0].cast::<u8>(), buffers[1]);
        if !present.is_null() && child.null_count != 0 {
            // SAFETY: there is a bit for each cell.
            let bit = |at: usize| unsafe { *present.add((first + at) / 8) >> ((first + at) % 8) & 1 };
            self.nulls += (0..count).filter(|&at| bit(at) == 0).count();
        }
        // SAFETY: there are this many cells from there on, of the format's width.
        unsafe { self.copy(cells, first, count) }
    }

    /// Copies cells.
    ///
    /// # Safety
    /// From the place `first` on there are `count` cells of this column's form.
    unsafe fn copy(&mut self, cells: *const c_void, first: usize, count: usize) -> PyResult<()> {
        let width = match self.form {
            Form::Bytes(width) => width,
            Form::Bits => 1,
            Form::Days => 8,
        };
        let refused = || PyMemoryError::new_err(format!("the system refused memory for {count} cells"));
        let more = count.checked_mul(width).ok_or_else(refused)?;
        self.bytes.try_reserve(more).map_err(|_| refused())?;
        match self.form {
            Form::Bytes(width) => {
                // SAFETY: this many bytes are there, as the caller promises.
                let cells = unsafe { slice::from_raw_parts(cells.cast::<u8>().add(first * width), more) };
                self.bytes.extend_from_slice(cells);
            }
            Form::Bits => {
                // SAFETY: the bit of each cell is there, as the caller promises.
                let bit = |at: usize| unsafe { *cells.cast::<u8>().add(at / 8) >> (at % 8) & 1 };
                self.bytes.extend((first..first + count).map(bit));
            }
            Form::Days => {
                // SAFETY: this many cells of 32 bits are there, as the caller promises; aligned or not.
                let day = |at: usize| unsafe { cells.cast::<i32>().add(at).read_unaligned() };
                self.bytes.extend((first..first + count).flat_map(|at| i64::from(day(at)).to_ne_bytes()));
            }
        }
        Ok(())
    }

    /// The column as an array, or as a pair of an array and the zone of its times. `what`: its name in
    /// errors.
    pub fn array<'py>(
        self,
        py: Python<'py>,
        asked: &Bound<'py, PyAny>,
        what: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.nulls > 0 {
            let (nulls, asked) = (self.nulls, asked.repr()?);
            return Err(PyValueError::new_err(format!(
                "{what} must not be null, but {nulls} are in column {asked}"
            )));
        }
        let array = PyArray1::from_vec(py, self.bytes).call_method1("view", (self.dtype,))?;
        match self.zone {
            Some(zone) => Ok((array, zone).into_pyobject(py)?.into_any()),
            None => Ok(array),
        }
    }
}

/// Batches of columns: a stream, or a single one.
pub enum Source {
    /// A stream of batches.
    Stream(Stream),
    /// A batch, until it was read.
    One(Option<Array>),
}

/// The error that a stream's function has returned.
fn failed(stream: &mut Stream, code: c_int) -> PyErr {
    let text = stream.last_error.map_or(core::ptr::null(), |last_error| {
        // SAFETY: the stream isn't released, and has just returned an error.
        unsafe { last_error(stream) }
    });
    let said = if text.is_null() {
        format!("error {code}")
    } else {
        // SAFETY: the text ends with a zero, and lives until the next call.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    match code {
        NO_MEMORY => PyMemoryError::new_err(said),
        _ => PyValueError::new_err(format!("the Arrow stream can't be read: {said}")),
    }
}

impl Source {
    /// The stream of an object.
    pub fn of(data: &Bound<'_, PyAny>) -> PyResult<(Self, Schema)> {
        if data.hasattr("__arrow_c_stream__")? {
            let mut stream: Stream = take(&data.call_method0("__arrow_c_stream__")?)?;
            let Some(tell) = stream.schema.filter(|_| stream.release.is_some()) else {
                return Err(PyValueError::new_err("the Arrow stream is used up"));
            };
            let mut schema = Schema::released();
            // SAFETY: the stream isn't released, and the place for its schema has none.
            match data.py().detach(|| unsafe { tell(&mut stream, &mut schema) }) {
                0 => Ok((Self::Stream(stream), schema)),
                code => Err(failed(&mut stream, code)),
            }
        } else if data.hasattr("__arrow_c_array__")? {
            let pair = data.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            let (schema, array) = (take(&pair.get_item(0)?)?, take(&pair.get_item(1)?)?);
            Ok((Self::One(Some(array)), schema))
        } else {
            let its = data.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "{its} gives no Arrow stream: frames and tables of polars, pandas, pyarrow and duckdb do"
            )))
        }
    }

    /// The stream of an object with columns.
    pub fn with_columns(data: &Bound<'_, PyAny>) -> PyResult<(Self, Schema)> {
        let (source, schema) = Self::of(data)?;
        let format = text(&schema, schema.format);
        if format.as_bytes() == STRUCT.to_bytes() {
            return Ok((source, schema));
        }
        let format = name_of(format);
        Err(PyTypeError::new_err(format!("the Arrow stream has no columns, but is of type {format}")))
    }

    /// The next batch of columns.
    pub fn next_rows(&mut self, py: Python<'_>) -> PyResult<Option<Array>> {
        match self.next(py)? {
            Some(batch) if batch.null_count > 0 => Err(PyValueError::new_err("rows must not be null")),
            batch => Ok(batch),
        }
    }

    /// The next batch.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Option<Array>> {
        let stream = match self {
            Self::One(batch) => return Ok(batch.take()),
            Self::Stream(stream) => stream,
        };
        let Some(next) = stream.next else { return Ok(None) };
        let mut batch = Array::released();
        // The producer may need the interpreter on a thread of its own.
        // SAFETY: the stream isn't released, and the place for its batch has none.
        match py.detach(|| unsafe { next(stream, &mut batch) }) {
            0 => Ok(Some(batch).filter(|batch| batch.release.is_some())),
            code => Err(failed(stream, code)),
        }
    }
}
