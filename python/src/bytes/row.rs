//! Values that are byte strings: `str`, `bytes`, or rows of several columns, which all have one width.

use super::keys::StringType;
use crate::column::Fresh;
use crate::core::DtypeOf;
use crate::map::Object;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The type of values that are byte strings.
pub struct StringValues {
    /// `str` or `bytes`.
    pub of: StringType,
    /// Of `bytes`: the rows that these are.
    pub row: Option<Row>,
}

/// Rows of several columns, as NumPy's arrays of a structured dtype have them.
pub struct Row {
    /// The bytes of each.
    pub width: usize,
    /// The name of their type.
    pub name: String,
    dtype: Py<PyAny>,
    /// Functions from an object to `bytes`, and back.
    hooks: (Py<PyAny>, Py<PyAny>),
}

impl StringValues {
    /// The type that Python's side describes; None: values are words.
    pub fn new(py: Python<'_>, (code, name, hooks, dtype): &DtypeOf) -> Option<Self> {
        if let Some(of) = StringType::of_code(code, true) {
            return Some(Self { of, row: None });
        }
        let width = code.strip_prefix('V')?.parse().ok()?;
        let (encode, decode) = hooks.as_ref()?;
        let hooks = (encode.clone_ref(py), decode.clone_ref(py));
        let row = Row { width, name: name.clone(), dtype: dtype.as_ref()?.clone_ref(py), hooks };
        Some(Self { of: StringType { is_text: false, is_value: true }, row: Some(row) })
    }
}

impl Row {
    /// The bytes of a row of Python's.
    pub fn encoded<'py>(&self, object: &Object<'py>) -> PyResult<Object<'py>> {
        self.hooks.0.bind(object.py()).call1((object,))
    }

    /// An array of these bytes as one of rows.
    pub fn array<'py>(&self, bytes: &Object<'py>) -> PyResult<Object<'py>> {
        bytes.call_method1("view", (self.dtype.bind(bytes.py()),))
    }

    /// The row of these bytes.
    pub fn decoded<'py>(&self, bytes: &Object<'py>) -> PyResult<Object<'py>> {
        self.hooks.1.bind(bytes.py()).call1((bytes,))
    }

    /// The answers of a batch of this many as an array of rows, with another one where there is none.
    pub fn answers<'py, 'a>(
        &self,
        count: usize,
        rows: impl Iterator<Item = Option<&'a [u8]>>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        let (py, missing) = (missing.py(), self.encoded(missing)?);
        let missing = missing.cast::<PyBytes>()?.as_bytes();
        let mut array = Fresh::<u8>::new(py, self.width * count)?;
        for (places, row) in array.places().chunks_exact_mut(self.width).zip(rows) {
            let row = row.unwrap_or(missing);
            places.iter_mut().zip(row).for_each(|(place, &byte)| _ = place.write(byte));
        }
        self.array(&array.into_any())
    }
}
