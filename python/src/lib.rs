//! The compiled part of the Python package `latchless`. [`core`] is the class of all indexes with one value
//! under a key, [`operate`] has what its methods share, and [`map`] what it needs of each kind of index:
//! [`numbers`] has those of words, [`bytes`] those of byte strings. [`kind`] and [`dtype`] turn single
//! objects into words, [`clock`] times, [`asked`] has questions, [`column`] lends arrays, [`batch`] runs batches without the interpreter's lock,
//! [`gate`] separates them from forks, [`pages`] has the iterators; [`export`] and [`import`] exchange columns
//! through [`arrow`]; [`durable`] opens folders with redo logs; [`engine`], [`store`], [`cells`], [`lookups`],
//! [`updates`] and [`ranges`] don't depend on Python. [`merge`] joins frames without an index; [`mod@intervals`]
//! has the class of intervals.

mod arrow;
mod asked;
mod batch;
mod bytes;
mod cells;
mod clock;
mod column;
mod core;
mod dtype;
mod durable;
mod engine;
mod export;
mod failure;
mod frozen;
mod gate;
mod import;
mod intervals;
mod kind;
mod lane;
mod lookups;
mod map;
mod merge;
mod numbers;
mod operate;
mod pages;
mod ranges;
mod serve;
mod snapshot;
mod sort;
mod store;
mod updates;

use pyo3::prelude::*;

/// Python allocates objects at multiples of 16 bytes: a class with a larger alignment would be misaligned.
const _: () = {
    const OBJECTS: usize = 16;
    assert!(align_of::<core::Core>() <= OBJECTS && align_of::<bytes::rows::RowsCore>() <= OBJECTS);
    assert!(align_of::<bytes::keys::StringColumn>() <= OBJECTS && align_of::<pages::Pages>() <= OBJECTS);
    assert!(align_of::<snapshot::Snapshot>() <= OBJECTS && align_of::<durable::Folder>() <= OBJECTS);
    assert!(align_of::<intervals::IntervalCore>() <= OBJECTS);
};

/// Python's hooks around a fork.
mod forks {
    use crate::gate;
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    #[pyfunction]
    fn before(py: Python<'_>) {
        gate::before_fork(py);
    }

    #[pyfunction]
    fn after_in_parent() {
        gate::after_fork_in_parent();
    }

    #[pyfunction]
    fn after_in_child() {
        gate::after_fork_in_child();
    }

    /// From now on forks wait for the chunks of batches that are running, where the system has forks.
    pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let os = module.py().import("os")?;
        if !os.hasattr("register_at_fork")? {
            return Ok(());
        }
        let hooks = PyDict::new(module.py());
        hooks.set_item("before", wrap_pyfunction!(before, module)?)?;
        hooks.set_item("after_in_parent", wrap_pyfunction!(after_in_parent, module)?)?;
        hooks.set_item("after_in_child", wrap_pyfunction!(after_in_child, module)?)?;
        os.call_method("register_at_fork", (), Some(&hooks)).map(drop)
    }
}

#[pymodule(gil_used = false)]
mod _latchless {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::bytes::composite::TupleType;
    #[pymodule_export]
    use super::bytes::import::read_arrow;
    #[pymodule_export]
    use super::bytes::keys::StringColumn;
    #[pymodule_export]
    use super::bytes::rows::RowsCore;
    #[pymodule_export]
    use super::core::Core;
    #[pymodule_export]
    use super::durable::{
        Folder, close_log, forsake_log, log_bytes, snapshot_failure, snapshot_log, sync_log,
    };
    #[pymodule_export]
    use super::frozen::MappedFile;
    #[pymodule_export]
    use super::intervals::IntervalCore;
    #[pymodule_export]
    use super::merge::nearest_rows;
    #[pymodule_export]
    use super::pages::Pages;
    #[pymodule_export]
    use super::snapshot::Snapshot;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("NoKey", module.py().get_type::<super::kind::NoKey>())?;
        super::forks::register(module)
    }
}
