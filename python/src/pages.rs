//! Iterators over an index, which read its entries a page at a time.
//!
//! They aren't Python generators, because on an interpreter without a global lock two threads that share a
//! generator can crash it.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::mem::replace;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An iterator over pages. Several threads may share one: each item goes to one of them.
#[pyclass(frozen, module = "latchless._latchless")]
pub struct Pages {
    /// Takes the last key of the previous page, or None, and returns a tuple of items and their last key:
    /// None for the last page.
    turn: Py<PyAny>,
    place: Mutex<Place>,
}

/// Where an iterator is.
struct Place {
    page: Option<Py<PyTuple>>,
    /// The next item of the page.
    at: usize,
    /// The last key of the page; None if it is the last page.
    end: Option<Py<PyAny>>,
    /// How often the page was turned.
    turns: u64,
}

#[pymethods]
impl Pages {
    #[new]
    fn new(turn: Py<PyAny>) -> Self {
        Self { turn, place: Mutex::new(Place { page: None, at: 0, end: None, turns: 0 }) }
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            let (turns, end) = {
                let mut place = self.place();
                if let Some(item) = place.next(py) {
                    return Ok(Some(item));
                }
                if place.turns > 0 && place.end.is_none() {
                    return Ok(None);
                }
                (place.turns, place.end.as_ref().map(|end| end.clone_ref(py)))
            };
            // Python runs here, so the place isn't locked: of the threads that read the same page, the
            // first turns it.
            let (page, end) =
                self.turn.bind(py).call1((end,))?.extract::<(Py<PyTuple>, Option<Py<PyAny>>)>()?;
            let mut place = self.place();
            if place.turns == turns {
                let before = replace(&mut *place, Place { page: Some(page), at: 0, end, turns: turns + 1 });
                drop(place);
                drop(before);
            }
        }
    }
}

impl Pages {
    /// The place. It is held only for moments, never while waiting.
    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn next<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let page = self.page.as_ref()?.bind(py);
        let item = if self.at < page.len() { page.get_item(self.at).ok() } else { None };
        self.at += 1;
        item
    }
}
