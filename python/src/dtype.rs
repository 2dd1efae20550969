//! Keys that are numbers or times: single objects as words of their order, questions among them included.

use crate::asked::Asked;
use crate::core::DtypeOf;
use crate::engine::NoKey;
use crate::kind::Kind;
use crate::lane::Lane;
use crate::map::Object;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The dtype of keys.
pub struct KeyDtype {
    /// The conversion of single objects.
    pub kind: Kind,
    /// Finds the keys around an object that can't be a key.
    ask: Option<Py<PyAny>>,
}

impl KeyDtype {
    /// The dtype that Python's side describes, in words of 64 bits or of 32.
    pub fn new(py: Python<'_>, wide: bool, (code, name, hooks, ask): DtypeOf) -> PyResult<Self> {
        Ok(Self { kind: Kind::new(py, wide, (&code, name, hooks), true)?, ask })
    }

    /// The word under which a key is stored.
    #[inline]
    pub fn key<B: Lane>(&self, key: &Object<'_>) -> PyResult<B> {
        let word = B::truncate(self.kind.word(key)?);
        word.ordered(self.kind.order()).ok_or_else(|| self.kind.no_key())
    }

    /// The place of an object among the keys; the inner error if it has none.
    #[inline]
    pub fn asked<B: Lane>(&self, key: &Object<'_>) -> PyResult<Result<Asked<B>, PyErr>> {
        match self.kind.word(key) {
            Ok(word) => {
                let stored = B::truncate(word).ordered(self.kind.order());
                Ok(Ok(stored.map_or(Asked::Between(None, None), Asked::Key)))
            }
            Err(error) => self.asked_otherwise(key, error),
        }
    }

    /// A question that can't be a key, for this reason, which is returned if it has no order among keys.
    #[cold]
    fn asked_otherwise<B: Lane>(&self, key: &Object<'_>, error: PyErr) -> PyResult<Result<Asked<B>, PyErr>> {
        let py = key.py();
        let is_of_the_key = error.is_instance_of::<PyOverflowError>(py)
            || error.is_instance_of::<PyTypeError>(py)
            || error.is_instance_of::<PyValueError>(py);
        let word = |side: Option<u64>| side.and_then(|word| B::truncate(word).ordered(self.kind.order()));
        if let Some((down, up)) = self.kind.words_beside(key) {
            return Ok(Ok(Asked::Between(word(Some(down)), word(Some(up)))));
        }
        let Some(ask) = self.ask.as_ref().filter(|_| is_of_the_key) else { return Err(error) };
        let sides: Option<(Option<u64>, Option<u64>)> = ask.bind(py).call1((key,))?.extract()?;
        Ok(sides.ok_or(error).map(|(down, up)| match (word(down), word(up)) {
            (Some(down), Some(up)) if down == up => Asked::Key(down),
            (down, up) => Asked::Between(down, up),
        }))
    }

    /// The exception for a word of a batch that is no key.
    pub fn no_key(&self, NoKey(at): NoKey) -> PyErr {
        self.kind.no_key_at(at)
    }

    /// The exception for keys without prefixes.
    pub fn no_prefix(&self) -> PyErr {
        let name = self.kind.name();
        PyTypeError::new_err(format!("keys of dtype {name} have no prefixes: str and bytes have"))
    }
}
