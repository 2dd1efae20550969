//! Durable indexes: a folder before it is opened, and the durable operations of an open one.

use crate::cells::DTYPES;
use crate::core::{Core, with};
use crate::failure::{self, refused};
use crate::map::Map;
use crate::serve::CLOSED;
use crate::snapshot::{dtype_of, zones_known};
use crate::store::{Log, Reach, ReadOnly, Store};
use latchless::snapshot::DataType;
use latchless::{BytesValue, KeyFor};
use latchless_log::{DamagedTail, Found, Opening, Recovery, SnapshotPolicy, Stored, SyncMode};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Where a log ended early: its path, the byte, how many bytes were cut off, why, where they are kept, and how
/// many whole records are among them.
type Stopped = (PathBuf, u64, u64, &'static str, PathBuf, u64);

/// When snapshots are due: `SnapshotPolicy`, with the age in seconds.
type Policy = (Option<u64>, f64, Option<f64>);

/// A folder before its entries are in an index.
enum Contents {
    /// It is locked, and its index will change it.
    Locked(Found),
    /// It is left as it is.
    ReadOnly(latchless_log::ReadOnly),
}

impl Contents {
    fn types(&self) -> Option<[DataType; 2]> {
        match self {
            Self::Locked(found) => found.types(),
            Self::ReadOnly(found) => found.types(),
        }
    }

    fn metadata(&self) -> &[(String, String)] {
        match self {
            Self::Locked(found) => found.metadata(),
            Self::ReadOnly(found) => found.metadata(),
        }
    }
}

/// A folder that is locked until an index is made of it, or it is closed; one that is read is never locked.
#[pyclass(frozen, module = "latchless._latchless")]
pub struct Folder {
    path: PathBuf,
    found: Mutex<Option<Contents>>,
    opening: Opening,
    recovery: OnceLock<Recovery>,
}

#[pymethods]
impl Folder {
    /// `sync`: None never waits for the disk, 0 waits at each change, more is a number of seconds. `snapshots`:
    /// None takes none.
    #[new]
    #[pyo3(signature = (path, sync, fenced, set_aside, snapshots, read_only))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        sync: Option<f64>,
        fenced: bool,
        set_aside: bool,
        snapshots: Option<Policy>,
        read_only: bool,
    ) -> PyResult<Self> {
        let duration = |what, seconds| {
            let duration = Duration::try_from_secs_f64(seconds);
            duration.map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
        };
        let sync = match sync {
            None => SyncMode::Never,
            Some(0.0) => SyncMode::Each,
            Some(seconds) => SyncMode::Every(duration("sync", seconds)?),
        };
        let snapshots = match snapshots {
            None => SnapshotPolicy::MANUAL,
            Some((log_bytes, growth, age)) => {
                let age = age.map(|seconds| duration("age", seconds)).transpose()?;
                SnapshotPolicy { log_bytes, growth, age }
            }
        };
        let found = py.detach(|| {
            if read_only {
                latchless_log::ReadOnly::open(&path).map(Contents::ReadOnly)
            } else {
                Found::open(&path).map(Contents::Locked)
            }
        });
        let found = Mutex::new(Some(found.map_err(|error| refused(&error))?));
        let damaged_tail = if set_aside { DamagedTail::SetAside } else { DamagedTail::Refuse };
        let opening = Opening { sync, fenced, damaged_tail, snapshots };
        Ok(Self { path, found, opening, recovery: OnceLock::new() })
    }

    /// The dtypes of keys and values; None if the folder is new.
    #[getter]
    fn dtypes(&self) -> Option<(String, String)> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = found.as_ref()?;
        let [key, value] = found.types()?;
        let dtype = |name, data_type| dtype_of(found.metadata(), name, data_type);
        Some((dtype(DTYPES[0], key), dtype(DTYPES[1], value)))
    }

    /// Whether it is known that times have no zone where the dtypes have none.
    #[getter]
    fn zones_known(&self) -> bool {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.as_ref().is_none_or(|found| zones_known(found.metadata()))
    }

    /// The findings of opening it: entries of the snapshot, records, their entries, and where the log ended
    /// early.
    #[getter]
    fn recovery(&self) -> Option<(u64, u64, u64, Option<Stopped>)> {
        let Recovery { snapshot_entries, records, entries, stopped, .. } = self.recovery.get()?.clone();
        let stopped = stopped.map(|it| (it.path, it.at, it.bytes, it.what, it.rejected, it.whole));
        Some((snapshot_entries, records, entries, stopped))
    }

    /// Unlock the folder, unless an index was made of it.
    fn close(&self) {
        drop(self.found.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Folder {
    /// The index of the folder; in a new folder with the entries that it has already.
    pub fn recover<K, V, C>(
        &self,
        py: Python<'_>,
        store: Store<K, V, C>,
        columns: C,
    ) -> PyResult<Store<K, V, C>>
    where
        K: KeyFor<V, Engine: Stored<K, V, C>>,
        V: BytesValue,
        C: Send + Sync + 'static,
    {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(found), Store::Memory(index)) = (found, store) else {
            return Err(PyRuntimeError::new_err("the folder has been opened or closed before"));
        };
        let opening = self.opening;
        let recovered = py.detach(|| -> latchless_log::Result<_> {
            match found {
                Contents::Locked(found) => {
                    let (durable, recovery) = found.recover(index, columns, opening)?;
                    Ok((Store::Durable(Box::new(durable)), recovery))
                }
                Contents::ReadOnly(found) => {
                    let (index, recovery) = found.load(index, &columns, opening.damaged_tail)?;
                    Ok((Store::ReadOnly(Box::new(ReadOnly { index, folder: self.path.clone() })), recovery))
                }
            }
        });
        let (store, recovery) = recovered.map_err(|error| refused(&error))?;
        let _ = self.recovery.set(recovery);
        Ok(store)
    }
}

/// Does something with the log of an index that isn't only read; `read_only` is what is done with others.
fn with_log<T: Send>(
    core: &Core,
    py: Python<'_>,
    read_only: impl FnOnce(&Path) -> PyResult<T>,
    work: impl FnOnce(&dyn Log) -> latchless_log::Result<T> + Send,
) -> PyResult<T> {
    with!(core, map => match map.reach() {
        Reach::Log(log) => py.detach(|| work(log)).map_err(|error| refused(&error)),
        Reach::Nothing(folder) => read_only(folder),
        Reach::Memory => Err(PyValueError::new_err("the index has no log")),
    })
}

/// Return when all changes so far are on the disk. An index that is only read has none.
#[pyfunction]
pub fn sync_log(py: Python<'_>, core: &Bound<'_, Core>) -> PyResult<()> {
    let core = core.get();
    core.guarded(|| with_log(core, py, |_| Ok(()), |log| log.sync()))
}

/// Save a snapshot, and return how many entries it has.
#[pyfunction]
pub fn snapshot_log(py: Python<'_>, core: &Bound<'_, Core>) -> PyResult<u64> {
    let core = core.get();
    core.guarded(|| with_log(core, py, |folder| Err(failure::read_only(folder)), |log| log.snapshot()))
}

/// Sync and unlock the folder; no operation works after that.
#[pyfunction]
pub fn close_log(py: Python<'_>, core: &Bound<'_, Core>) -> PyResult<()> {
    let core = core.get();
    core.state.store(CLOSED, Relaxed);
    with_log(core, py, |_| Ok(()), |log| log.close())
}

/// Why the last snapshot failed that was due, as an exception, unless one was saved since.
#[pyfunction]
pub fn snapshot_failure(py: Python<'_>, core: &Bound<'_, Core>) -> PyResult<Option<PyErr>> {
    let core = core.get();
    core.guarded(|| {
        let failure = with_log(core, py, |_| Ok(None), |log| Ok(log.snapshot_failure()))?;
        Ok(failure.map(|error| refused(&error)))
    })
}

/// In a forked child: leave the folder to the parent.
#[pyfunction]
pub fn forsake_log(core: &Bound<'_, Core>) {
    with!(core.get(), map => if let Reach::Log(log) = map.reach() {
        log.forsake();
    });
}

/// Bytes of the log since the last snapshot.
#[pyfunction]
pub fn log_bytes(py: Python<'_>, core: &Bound<'_, Core>) -> PyResult<u64> {
    let core = core.get();
    core.guarded(|| with_log(core, py, |folder| Err(failure::read_only(folder)), |log| Ok(log.log_bytes())))
}
