//! The compiled part of the Python package `latchless`. [`core`] is its only class; [`kind`] turns single
//! objects into words, [`column`] lends arrays, [`batch`] runs batches without the interpreter's lock, [`gate`]
//! keeps them apart from forks; [`engine`], [`lookups`], [`updates`] and [`ranges`] know nothing of Python.

mod batch;
mod column;
mod core;
mod engine;
mod failure;
mod gate;
mod kind;
mod lane;
mod lookups;
mod ranges;
mod serve;
mod snapshot;
mod sort;
mod updates;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _latchless {
    use super::gate;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::core::Core;
    #[pymodule_export]
    use super::snapshot::Snapshot;

    /// Forks wait for the chunks of batches that are running: see `gate`.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let options = pyo3::types::PyDict::new(module.py());
        options.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
        options.set_item("after_in_parent", wrap_pyfunction!(after_fork_in_parent, module)?)?;
        options.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
        let os = module.py().import("os")?;
        if os.hasattr("register_at_fork")? {
            os.call_method("register_at_fork", (), Some(&options))?;
        }
        Ok(())
    }

    #[pyfunction]
    fn before_fork() {
        gate::before_fork();
    }

    #[pyfunction]
    fn after_fork_in_parent() {
        gate::after_fork_in_parent();
    }

    #[pyfunction]
    fn after_fork_in_child() {
        gate::after_fork_in_child();
    }
}
