//! Snapshots: `Index.save` and `Index.open`.

use crate::cells::{Cells, DTYPES, has_zones};
use crate::engine::{Engine, NoKey};
use crate::failure;
use crate::kind::Kind;
use crate::lane::Lane;
use latchless::FillFactor;
use latchless::snapshot::{self, DataType, multi, strings};
use latchless_log::Columns;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A file that `save` has written, of which all is known to be right but the order of its rows.
#[pyclass(frozen, module = "latchless._latchless")]
pub struct Snapshot(File);

/// Which keys it has.
enum File {
    Numbers(snapshot::Snapshot),
    Strings(strings::Snapshot),
    Rows(multi::Snapshot),
}

impl File {
    fn open(path: &Path, rows: bool) -> snapshot::Result<Self> {
        if rows {
            return multi::Snapshot::open(path).map(Self::Rows);
        }
        match snapshot::Snapshot::open(path) {
            Err(snapshot::Error::OtherKeys { .. }) => strings::Snapshot::open(path).map(Self::Strings),
            opened => opened.map(Self::Numbers),
        }
    }
}

impl File {
    /// If its keys are strings, the name of their type, and the metadata.
    fn strings(&self) -> Option<(&str, &[(String, String)])> {
        match self {
            Self::Numbers(_) => None,
            Self::Strings(strings) => Some((strings.key_name(), strings.metadata())),
            Self::Rows(rows) => Some((rows.key_name(), rows.metadata())),
        }
    }

    fn metadata(&self) -> &[(String, String)] {
        match self {
            Self::Numbers(numbers) => numbers.metadata(),
            Self::Strings(strings) => strings.metadata(),
            Self::Rows(rows) => rows.metadata(),
        }
    }
}

#[pymethods]
impl Snapshot {
    /// `rows`: its keys are in any number of rows.
    #[new]
    #[pyo3(signature = (path, rows=false))]
    fn new(py: Python<'_>, path: PathBuf, rows: bool) -> PyResult<Self> {
        let file = py.detach(|| File::open(&path, rows)).map_err(|error| exception(&error))?;
        if let Some((found, _)) = file.strings()
            && !matches!(found, "text" | "bytes" | "u64" | "i64" | "f64")
        {
            return Err(PyValueError::new_err(format!(
                "the file has keys of type {found}: they are no keys of an index in Python"
            )));
        }
        Ok(Self(file))
    }

    fn __len__(&self) -> usize {
        match &self.0 {
            File::Numbers(numbers) => numbers.len(),
            File::Strings(strings) => strings.len(),
            File::Rows(rows) => rows.len(),
        }
    }

    /// The dtype of the keys; or `str` or `bytes`, if they are strings.
    #[getter]
    fn key_dtype(&self) -> String {
        match (&self.0, self.0.strings()) {
            (File::Numbers(numbers), _) => dtype_of(self.0.metadata(), DTYPES[0], numbers.key_type()),
            (_, Some(("text", _))) => "str".into(),
            (_, Some(("u64", metadata))) => dtype_of(metadata, DTYPES[0], DataType::UInt64),
            (_, Some(("i64", metadata))) => dtype_of(metadata, DTYPES[0], DataType::Int64),
            (_, Some(("f64", metadata))) => dtype_of(metadata, DTYPES[0], DataType::Float64),
            // Tuples name the types of their parts.
            _ => told(self.0.metadata(), DTYPES[0]).unwrap_or_else(|| "bytes".into()),
        }
    }

    /// The dtype of the values; or `str` or `bytes`, if they are strings.
    #[getter]
    fn value_dtype(&self) -> String {
        match &self.0 {
            File::Numbers(numbers) => dtype_of(numbers.metadata(), DTYPES[1], numbers.value_type()),
            File::Strings(strings) => dtype_of(strings.metadata(), DTYPES[1], strings.value_type()),
            File::Rows(_) => "int64".into(),
        }
    }

    /// Whether it is known that times have no zone where the dtypes have none.
    #[getter]
    fn zones_known(&self) -> bool {
        zones_known(self.0.metadata())
    }
}

/// Whether it is known that times have no zone where the dtypes of this metadata have none. A file without
/// dtypes wasn't written here: its Arrow types say it.
pub fn zones_known(metadata: &[(String, String)]) -> bool {
    has_zones(metadata) || !metadata.iter().any(|(name, _)| name == DTYPES[0])
}

/// The dtype that metadata names, or that NumPy has for the column's type.
pub fn dtype_of(metadata: &[(String, String)], name: &str, data_type: DataType) -> String {
    told(metadata, name).unwrap_or_else(|| match data_type {
        DataType::Utf8 => "str".into(),
        DataType::Binary => "bytes".into(),
        data_type => {
            data_type.to_string().replace("timestamp", "datetime64").replace("duration", "timedelta64")
        }
    })
}

/// The dtype that metadata names.
fn told(metadata: &[(String, String)], name: &str) -> Option<String> {
    metadata.iter().find(|(known, _)| known == name).map(|(_, dtype)| dtype.clone())
}

impl Snapshot {
    /// The file, if its keys are strings.
    pub fn strings(&self) -> PyResult<&strings::Snapshot> {
        match &self.0 {
            File::Strings(strings) => Ok(strings),
            _ => Err(PyTypeError::new_err("the file has keys that are no strings")),
        }
    }

    /// The file, if its keys are in any number of rows.
    pub fn rows(&self) -> PyResult<&multi::Snapshot> {
        match &self.0 {
            File::Rows(rows) => Ok(rows),
            _ => Err(PyTypeError::new_err("the file has one value under a key")),
        }
    }

    /// Fills an empty index that no other thread has yet.
    pub fn load<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &mut Engine<B>,
        (keys, values): (&Kind, &Kind),
        fill: f64,
    ) -> PyResult<()> {
        let File::Numbers(file) = &self.0 else {
            return Err(PyTypeError::new_err("the file has keys that are strings"));
        };
        for (kind, found) in [(keys, file.key_type()), (values, file.value_type())] {
            if kind.data_type() != found {
                let name = kind.name();
                return Err(PyValueError::new_err(format!("the file has {found} where it says {name}")));
            }
        }
        let fill = FillFactor::new(fill).map_err(|error| failure::exception(&error))?;
        let (order, cells) = (keys.order(), Cells::new(keys, values));
        let key = |cell| -> Option<B> { cells.key_of_cell(cell) };
        let loaded = py.detach(|| {
            if order.is_partial() {
                // A maliciously made file may have keys that no index has.
                for at in 0..file.len() {
                    key(file.row(at).0).ok_or(NoKey(at)).map_err(Ok)?;
                }
            }
            latchless_log::load(file, engine.store.in_memory(), &cells, fill, NonZeroUsize::MIN).map_err(Err)
        });
        loaded.map_err(|error| match error {
            Ok(NoKey(at)) => keys.no_key_at(at),
            Err(error) => exception(&error),
        })
    }
}

/// Writes an index to a file, which is replaced in one step, and returns how many entries it has.
pub fn save<B: Lane>(
    py: Python<'_>,
    engine: &Engine<B>,
    (keys, values): (&Kind, &Kind),
    path: &Path,
) -> PyResult<u64> {
    let cells = Cells::new(keys, values);
    py.detach(|| latchless_log::save(engine.index(), path, &cells)).map_err(|error| exception(&error))
}

/// The exception for a file that can't be read or written.
pub fn exception(error: &snapshot::Error) -> PyErr {
    match error {
        // Of the errors of the system Python makes the subclass that belongs to the number.
        snapshot::Error::Io { cause, doing, path } => match path {
            Some(path) => failure::of_the_system(cause, doing, path),
            None => io::Error::new(cause.kind(), error.to_string()).into(),
        },
        snapshot::Error::OtherRows { opener } => {
            let class = if opener.contains("multi") { "MultiIndex" } else { "Index" };
            PyValueError::new_err(format!("the file is one of another kind of index: {class}.open opens it"))
        }
        snapshot::Error::NotAFile { path, kind } => failure::not_a_file(path, kind),
        snapshot::Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        snapshot::Error::Index(error) => failure::exception(error),
        _ => PyValueError::new_err(error.to_string()),
    }
}
