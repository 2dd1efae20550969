//! An index's errors as Python's exceptions.

use crate::batch::Part;
use crate::engine::{NoKey, Undone};
use crate::lane::Lane;
use crate::updates::{Changed, Sequence};
use latchless::Error;
use numpy::PyArray1;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::io;
use std::path::Path;

/// The system's error number for a lock that is taken: Python maps it to `BlockingIOError`.
const WOULD_BLOCK: i32 = 11;
/// The system's error number for a folder in place of a file: Python maps it to `IsADirectoryError`.
const IS_A_FOLDER: i32 = 21;
/// The system's error number for a write to a file system that is mounted read-only.
const READ_ONLY: i32 = 30;
/// As the system numbers an argument that it can't serve.
const INVALID: i32 = 22;

/// The exception for an error of the index.
pub fn exception(error: &Error) -> PyErr {
    match error {
        Error::OutOfMemory { .. } | Error::MemoryLimit { .. } | Error::ReferencesExhausted { .. } => {
            PyMemoryError::new_err(error.to_string())
        }
        Error::Unsorted { position } => PyValueError::new_err(format!(
            "with assume_sorted=True keys must ascend, but the key at position {position} is smaller than the one \
             before it"
        )),
        Error::DuplicateKey { position } => PyValueError::new_err(format!(
            "with assume_sorted=True keys must differ, but the key at position {position} equals the one before it"
        )),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for work that wasn't done. Of words that are no keys the caller says which they are.
pub fn undone(undone: Undone) -> PyErr {
    match undone {
        Undone::NoKey(NoKey(at)) => unreachable!("every string is a key, also the one at position {at}"),
        Undone::Refused(error) => exception(&error),
        Undone::NotLogged(error) => refused(&error),
        Undone::ReadOnly(folder) => read_only(&folder),
        Undone::Stopped(raised) => raised,
    }
}

/// The exception for an error of the system: Python makes the subclass that belongs to its number.
pub fn of_the_system(cause: &io::Error, doing: &str, path: &Path) -> PyErr {
    match cause.raw_os_error() {
        Some(number) => {
            PyOSError::new_err((number, format!("can't {doing}: {cause}"), path.as_os_str().to_owned()))
        }
        None => io::Error::new(cause.kind(), format!("can't {doing} {}: {cause}", path.display())).into(),
    }
}

/// The exception for a path that isn't a file that a save could replace: `IsADirectoryError`, or another
/// `OSError`.
pub fn not_a_file(path: &Path, kind: &str) -> PyErr {
    let number = if kind == "a folder" { IS_A_FOLDER } else { INVALID };
    PyOSError::new_err((number, format!("can't replace {kind} by a file"), path.as_os_str().to_owned()))
}

/// The exception for an error of a redo log, or of the index that it belongs to.
#[cold]
pub fn refused(error: &latchless_log::Error) -> PyErr {
    use latchless_log::Error;
    match error {
        Error::Index { cause, .. } => exception(cause),
        Error::Io { doing, path, cause } => of_the_system(cause, doing, path),
        Error::Snapshot { cause, .. } => crate::snapshot::exception(cause),
        Error::Locked { folder } => {
            let told = "another process, or another index of this one, has it open";
            PyOSError::new_err((WOULD_BLOCK, told, folder.as_os_str().to_owned()))
        }
        Error::Closed { .. } => PyOSError::new_err(error.to_string()),
        Error::NotShortened { cause } => {
            let told = PyOSError::new_err(error.to_string());
            Python::attach(|py| told.set_cause(py, Some(refused(cause))));
            told
        }
        Error::Ended { .. } => closed(),
        Error::Forked { .. } | Error::Fenced { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for a change of an index that was opened read-only: the one that a read-only file raises.
#[cold]
pub fn read_only(folder: &Path) -> PyErr {
    Python::attach(|py| {
        let raised = py.import("io").and_then(|io| io.getattr("UnsupportedOperation"));
        let told = "the index was opened to be read alone";
        match raised.and_then(|raised| raised.call1((READ_ONLY, told, folder.as_os_str()))) {
            Ok(raised) => PyErr::from_value(raised),
            Err(error) => error,
        }
    })
}

/// The exception for an index that was closed.
#[cold]
pub fn closed() -> PyErr {
    PyValueError::new_err("the index is closed")
}

/// The exception for a panic: a bug, or an index that a fork has left in the middle of a change.
pub fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    PyRuntimeError::new_err(format!("the index can't be used any more: {text}"))
}

/// The exception for an index that isn't used any more.
#[cold]
pub fn broken() -> PyErr {
    PyRuntimeError::new_err("the index can't be used any more, because an operation on it has failed before")
}

/// How many keys a batch of updates has changed; or the exception that ended it, or that some updates were
/// refused with. Its attribute `refused` has the positions of those that weren't done.
pub fn changed<B: Lane>(
    py: Python<'_>,
    parts: Vec<Part<Changed>>,
    failed: Option<PyErr>,
    sequence: &Sequence<B>,
) -> PyResult<usize> {
    let (mut keys, mut refused, mut why) = (0, Vec::new(), failed);
    for part in parts {
        keys += part.state.keys;
        refused.extend(part.state.refused);
        refused.extend(part.rest.map(|at| sequence.position(at)));
        if let Some(error) = part.state.error {
            why.get_or_insert_with(|| exception(&error));
        }
    }
    let Some(why) = why else { return Ok(keys) };
    refused.sort_unstable();
    let refused: Vec<i64> = refused.into_iter().map(|at| at as i64).collect();
    why.value(py).setattr("refused", PyArray1::from_vec(py, refused))?;
    Err(why)
}
