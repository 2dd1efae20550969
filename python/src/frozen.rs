//! Files that are read where they lie: the compiled part of `Frozen`.

use crate::cells::DTYPES;
use crate::column::{self, Fresh};
use crate::snapshot::{dtype_of, exception, zones_known};
use latchless::snapshot::{DataType, Rows, Sought};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use std::path::PathBuf;

/// Keys that are looked up between two looks at the caller's array.
const CHUNK: usize = 1024;

/// The sorted rows of a file.
#[pyclass(frozen, module = "latchless._latchless")]
pub struct MappedFile(Rows);

type Object<'py> = Bound<'py, PyAny>;

impl MappedFile {
    /// Calls `see` with the cells of a caller's keys, some at a time, and the position of the first.
    fn each_chunk(
        &self,
        py: Python<'_>,
        cells: &Object<'_>,
        see: impl FnMut(usize, &[u64]) + Send,
    ) -> PyResult<usize> {
        if self.0.key_name().is_some() {
            return Err(PyTypeError::new_err("the keys are no numbers"));
        }
        let column = column::input::<u64>(cells)?;
        let words = column.words();
        let (len, mut see) = (words.len(), see);
        py.detach(|| {
            let mut chunk = Vec::with_capacity(CHUNK);
            for start in (0..len).step_by(CHUNK) {
                chunk.clear();
                chunk.extend(words.stretch(start..len.min(start + CHUNK)));
                see(start, &chunk);
            }
        });
        Ok(len)
    }

    /// The bytes of a key that is a string.
    fn string<'k>(&self, key: &'k Object<'_>) -> PyResult<&'k [u8]> {
        match self.0.key_type() {
            DataType::Utf8 => Ok(key.cast::<PyString>()?.to_str()?.as_bytes()),
            DataType::Binary => Ok(key.cast::<PyBytes>()?.as_bytes()),
            _ => Err(PyTypeError::new_err("the keys are numbers")),
        }
    }

    fn bound(&self, sought: Sought<'_>, past: bool) -> usize {
        if past { self.0.upper_bound(sought) } else { self.0.lower_bound(sought) }
    }

    /// The cell of a row that there is.
    fn cell(&self, value: bool, row: usize) -> PyResult<&[u8]> {
        let cells = self.0.row(row).ok_or_else(|| match row < self.0.len() {
            true => PyValueError::new_err(format!("the file is damaged: row {row} has no bounds")),
            false => PyIndexError::new_err(format!("there is no row {row}")),
        })?;
        Ok(if value { cells.1 } else { cells.0 })
    }

    /// The bytes of numbers, or a list of strings.
    fn cells_of<'py>(
        &self,
        py: Python<'py>,
        rows: impl ExactSizeIterator<Item = usize>,
        value: bool,
    ) -> PyResult<Object<'py>> {
        let width = self.data_type(value).width_bytes();
        if width == 0 {
            let objects: Vec<Object<'py>> =
                rows.map(|row| self.object(py, value, row)).collect::<PyResult<_>>()?;
            return Ok(PyList::new(py, objects)?.into_any());
        }
        let mut bytes = Fresh::<u8>::new(py, rows.len() * width)?;
        for (row, places) in rows.zip(bytes.places().chunks_exact_mut(width)) {
            let cell = self.cell(value, row)?;
            places.iter_mut().zip(cell).for_each(|(place, &byte)| {
                place.write(byte);
            });
        }
        Ok(bytes.into_any())
    }

    fn data_type(&self, value: bool) -> DataType {
        if value { self.0.value_type() } else { self.0.key_type() }
    }

    /// The object of a string's cell.
    fn object<'py>(&self, py: Python<'py>, value: bool, row: usize) -> PyResult<Object<'py>> {
        let cell = self.cell(value, row)?;
        if self.data_type(value) != DataType::Utf8 {
            return Ok(PyBytes::new(py, cell).into_any());
        }
        let text = std::str::from_utf8(cell);
        let text =
            text.map_err(|_| PyValueError::new_err(format!("the file is damaged: row {row} is no text")))?;
        Ok(PyString::new(py, text).into_any())
    }
}

#[pymethods]
impl MappedFile {
    /// Maps a file, which nothing may change in place from then on.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        // SAFETY: `Frozen.open` demands of its callers that the file isn't changed in place.
        let rows = py.detach(|| unsafe { Rows::open(&path) }).map_err(|error| exception(&error))?;
        let is_known = rows.key_name().is_none_or(|name| matches!(name, "text" | "bytes"));
        let is_of_parts = |(name, dtype): &(String, String)| {
            DTYPES.contains(&name.as_str()) && dtype.starts_with(['(', '{'])
        };
        let is_fixed = matches!(rows.value_type(), DataType::FixedSizeBinary(_));
        if !is_known || is_fixed || rows.metadata().iter().any(is_of_parts) {
            return Err(PyValueError::new_err(
                "the file has keys that are tuples, values that are rows, or numbers beside strings: \
                 Index.open opens it",
            ));
        }
        Ok(Self(rows))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    #[getter]
    fn key_dtype(&self) -> String {
        dtype_of(self.0.metadata(), DTYPES[0], self.0.key_type())
    }

    #[getter]
    fn value_dtype(&self) -> String {
        dtype_of(self.0.metadata(), DTYPES[1], self.0.value_type())
    }

    #[getter]
    fn zones_known(&self) -> bool {
        zones_known(self.0.metadata())
    }

    /// Bytes of a cell of each column; 0 of strings.
    #[getter]
    fn widths(&self) -> (usize, usize) {
        (self.0.key_type().width_bytes(), self.0.value_type().width_bytes())
    }

    /// Bytes of the file.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.file_bytes()
    }

    /// ValueError if the file is damaged.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(|error| exception(&error))
    }

    /// How many rows are before the place of each number. `past`: also those with the number itself.
    fn places<'py>(&self, cells: &Object<'py>, past: bool) -> PyResult<Object<'py>> {
        let py = cells.py();
        let mut all = Vec::new();
        self.each_chunk(py, cells, |start, chunk| {
            all.resize(start + chunk.len(), 0);
            if past {
                self.0.upper_bounds(chunk, &mut all[start..]);
            } else {
                self.0.lower_bounds(chunk, &mut all[start..]);
            }
        })?;
        let mut places = Fresh::<i64>::new(py, all.len())?;
        places.places().iter_mut().zip(all).for_each(|(place, at)| {
            place.write(at as i64);
        });
        Ok(places.into_any())
    }

    /// The same of a string.
    fn place(&self, key: &Object<'_>, past: bool) -> PyResult<usize> {
        Ok(self.bound(Sought::Bytes(self.string(key)?), past))
    }

    /// The rows of numbers, −1 where there is none.
    fn find<'py>(&self, cells: &Object<'py>) -> PyResult<Object<'py>> {
        let (py, width) = (cells.py(), self.0.key_type().width_bytes());
        let (mut found, mut places) = (Vec::new(), [0; CHUNK]);
        self.each_chunk(py, cells, |_, chunk| {
            self.0.lower_bounds(chunk, &mut places[..chunk.len()]);
            found.extend(chunk.iter().zip(&places).map(|(cell, &at)| match self.0.row(at) {
                Some((key, _)) if *key == cell.to_le_bytes()[..width] => at as i64,
                _ => -1,
            }));
        })?;
        let mut rows = Fresh::<i64>::new(py, found.len())?;
        rows.places().iter_mut().zip(found).for_each(|(row, at)| {
            row.write(at);
        });
        Ok(rows.into_any())
    }

    /// The row of a string, if there is one.
    fn find_one(&self, key: &Object<'_>) -> PyResult<Option<usize>> {
        let key = self.string(key)?;
        let at = self.0.lower_bound(Sought::Bytes(key));
        Ok(self.0.row(at).is_some_and(|(there, _)| there == key).then_some(at))
    }

    /// The cells of some rows' keys or values: the bytes of numbers, or a list of strings. IndexError for a
    /// row that isn't there.
    fn take<'py>(&self, rows: &Object<'py>, value: bool) -> PyResult<Object<'py>> {
        let py = rows.py();
        let column = column::input::<u64>(rows)?;
        let words = column.words();
        let rows = (0..words.len()).map(|at| words.load(at) as usize);
        self.cells_of(py, rows, value)
    }

    /// The cells of the rows of a range, as `take` gives them.
    fn slice<'py>(&self, py: Python<'py>, start: usize, end: usize, value: bool) -> PyResult<Object<'py>> {
        self.cells_of(py, start..end.max(start), value)
    }
}
