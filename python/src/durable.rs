//! Durable indexes: a folder before it is opened, and the durable operations of an open one.

use crate::cells::{Cells, DTYPES};
use crate::core::{Core, Tree};
use crate::engine::Engine;
use crate::failure::{self, refused};
use crate::kind::Kind;
use crate::lane::Lane;
use crate::numbers::Numbers;
use crate::serve::CLOSED;
use crate::snapshot::{dtype_of, zones_known};
use crate::store::{ReadOnly, Store};
use latchless::snapshot::DataType;
use latchless_log::{DamagedTail, DurableIndex, Found, Opening, Recovery, SnapshotPolicy, SyncMode};
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
    pub fn recover<B: Lane>(
        &self,
        py: Python<'_>,
        engine: Engine<B>,
        (keys, values): (&Kind, &Kind),
    ) -> PyResult<Engine<B>> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Engine { store, order } = engine;
        let (Some(found), Store::Memory(index)) = (found, store) else {
            return Err(PyRuntimeError::new_err("the folder has been opened or closed before"));
        };
        let (cells, opening) = (Cells::new(keys, values), self.opening);
        let recovered = py.detach(|| -> latchless_log::Result<_> {
            match found {
                Contents::Locked(found) => {
                    let (durable, recovery) = found.recover(index, cells, opening)?;
                    Ok((Store::Durable(Box::new(durable)), recovery))
                }
                Contents::ReadOnly(found) => {
                    let (index, recovery) = found.load(index, &cells, opening.damaged_tail)?;
                    Ok((Store::ReadOnly(Box::new(ReadOnly { index, folder: self.path.clone() })), recovery))
                }
            }
        });
        let (store, recovery) = recovered.map_err(|error| refused(&error))?;
        let _ = self.recovery.set(recovery);
        Ok(Engine { store, order })
    }
}

/// The folder of an index that is only read.
fn read_only(core: &Core) -> Option<&Path> {
    match &*core.tree {
        Tree::Narrow(numbers) => numbers.engine.store.folder_read(),
        Tree::Wide(numbers) => numbers.engine.store.folder_read(),
        _ => None,
    }
}

/// Does something with the durable index under a core.
fn with_log<T: Send>(
    core: &Bound<'_, Core>,
    narrow: impl FnOnce(&DurableIndex<u32, u32, Cells>) -> latchless_log::Result<T> + Send,
    wide: impl FnOnce(&DurableIndex<u64, u64, Cells>) -> latchless_log::Result<T> + Send,
) -> PyResult<T> {
    let py = core.py();
    let done = match &*core.get().tree {
        Tree::Narrow(Numbers { engine: Engine { store: Store::Durable(durable), .. }, .. }) => {
            py.detach(|| narrow(durable))
        }
        Tree::Wide(Numbers { engine: Engine { store: Store::Durable(durable), .. }, .. }) => {
            py.detach(|| wide(durable))
        }
        _ => {
            let no_log = || PyValueError::new_err("the index has no log");
            return Err(read_only(core.get()).map_or_else(no_log, failure::read_only));
        }
    };
    done.map_err(|error| refused(&error))
}

/// Return when all changes so far are on the disk. An index that is only read has none.
#[pyfunction]
pub fn sync_log(core: &Bound<'_, Core>) -> PyResult<()> {
    core.get().guarded(|| match read_only(core.get()) {
        Some(_) => Ok(()),
        None => with_log(core, DurableIndex::sync, DurableIndex::sync),
    })
}

/// Save a snapshot, and return how many entries it has.
#[pyfunction]
pub fn snapshot_log(core: &Bound<'_, Core>) -> PyResult<u64> {
    core.get().guarded(|| with_log(core, DurableIndex::snapshot, DurableIndex::snapshot))
}

/// Sync and unlock the folder; no operation works after that.
#[pyfunction]
pub fn close_log(core: &Bound<'_, Core>) -> PyResult<()> {
    core.get().state.store(CLOSED, Relaxed);
    if read_only(core.get()).is_some() {
        return Ok(());
    }
    with_log(core, DurableIndex::close, DurableIndex::close)
}

/// Why the last snapshot failed that was due, as an exception, unless one was saved since.
#[pyfunction]
pub fn snapshot_failure(core: &Bound<'_, Core>) -> PyResult<Option<PyErr>> {
    core.get().guarded(|| {
        if read_only(core.get()).is_some() {
            return Ok(None);
        }
        let failure = with_log(core, |log| Ok(log.snapshot_failure()), |log| Ok(log.snapshot_failure()))?;
        Ok(failure.map(|error| refused(&error)))
    })
}

/// In a forked child: leave the folder to the parent.
#[pyfunction]
pub fn forsake_log(core: &Bound<'_, Core>) {
    match &*core.get().tree {
        Tree::Narrow(numbers) => numbers.engine.store.forsake(),
        Tree::Wide(numbers) => numbers.engine.store.forsake(),
        _ => {}
    }
}

/// Bytes of the log since the last snapshot.
#[pyfunction]
pub fn log_bytes(core: &Bound<'_, Core>) -> PyResult<u64> {
    core.get().guarded(|| with_log(core, |log| Ok(log.log_bytes()), |log| Ok(log.log_bytes())))
}
