//! Questions: the arguments of lookups, which needn't be keys that the index can have. Single objects that
//! can be keys become words here; for all others the package's Python code finds the keys around them.

use crate::core::{Core, Object};
use crate::engine::Engine;
use crate::lane::Lane;
use crate::lookups::Near;
use crate::ranges::Closed;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A question among the words that keys can be stored under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked<B> {
    /// It can be a key.
    Key(B),
    /// The greatest key before it and the least one after it, if there are any. NaN has neither.
    Between(Option<B>, Option<B>),
}

/// A range whose ends can be keys.
#[derive(Debug, Clone, Copy)]
pub struct Ends<B> {
    /// The low end.
    pub low: Option<B>,
    /// The high end.
    pub high: Option<B>,
    /// The ends that belong to it.
    pub closed: Closed,
}

impl<B: Lane> Asked<B> {
    /// The neighbour that answers the question, as a neighbour of a key.
    #[inline]
    pub fn near(self, near: Near) -> Option<(Near, B)> {
        match (self, near) {
            (Self::Key(word), near) => Some((near, word)),
            (Self::Between(down, _), Near::Floor | Near::Lower) => Some((Near::Floor, down?)),
            (Self::Between(_, up), Near::Ceiling | Near::Higher) => Some((Near::Ceiling, up?)),
        }
    }
}

impl Core {
    /// A question that has an order among keys. An error for any other.
    #[inline]
    pub fn asked<B: Lane>(&self, engine: &Engine<B>, key: &Object<'_>) -> PyResult<Asked<B>> {
        match self.keys.word(key) {
            Ok(word) => Ok(self.key_or_nothing(engine, word)),
            Err(error) => self.asked_otherwise(engine, key, &error)?.ok_or(error),
        }
    }

    /// The key that a question is, if it can be one. Objects without an order among keys aren't there, as
    /// in a `dict`.
    #[inline]
    pub fn sought<B: Lane>(&self, engine: &Engine<B>, key: &Object<'_>) -> PyResult<Option<B>> {
        let asked = match self.keys.word(key) {
            Ok(word) => Some(self.key_or_nothing(engine, word)),
            Err(error) => self.asked_otherwise(engine, key, &error)?,
        };
        match asked {
            Some(Asked::Key(word)) => Ok(Some(word)),
            Some(Asked::Between(..)) => Ok(None),
            None => no_key_of_a_dict(key).map(|()| None),
        }
    }

    /// The ends of a range; nothing if no key can be in it.
    pub fn ends<B: Lane>(
        &self,
        engine: &Engine<B>,
        (low, high): (Option<&Object<'_>>, Option<&Object<'_>>),
        (low_belongs, high_belongs): (bool, bool),
    ) -> PyResult<Option<Ends<B>>> {
        let low = low.map(|low| self.asked(engine, low)).transpose()?;
        let high = high.map(|high| self.asked(engine, high)).transpose()?;
        let (low, low_belongs) = match low {
            None => (None, low_belongs),
            Some(Asked::Key(word)) => (Some(word), low_belongs),
            Some(Asked::Between(_, Some(up))) => (Some(up), true),
            Some(Asked::Between(_, None)) => return Ok(None),
        };
        let (high, high_belongs) = match high {
            None => (None, high_belongs),
            Some(Asked::Key(word)) => (Some(word), high_belongs),
            Some(Asked::Between(Some(down), _)) => (Some(down), true),
            Some(Asked::Between(None, _)) => return Ok(None),
        };
        Ok(Some(Ends { low, high, closed: Closed { low: low_belongs, high: high_belongs } }))
    }

    #[inline]
    fn key_or_nothing<B: Lane>(&self, engine: &Engine<B>, word: u64) -> Asked<B> {
        engine.encode(B::truncate(word)).map_or(Asked::Between(None, None), Asked::Key)
    }

    /// A question that can't be a key, for this reason. Nothing if it has no order among keys.
    #[cold]
    fn asked_otherwise<B: Lane>(
        &self,
        engine: &Engine<B>,
        key: &Object<'_>,
        error: &PyErr,
    ) -> PyResult<Option<Asked<B>>> {
        let py = key.py();
        let is_of_the_key = error.is_instance_of::<PyOverflowError>(py)
            || error.is_instance_of::<PyTypeError>(py)
            || error.is_instance_of::<PyValueError>(py);
        // A closed index answers nothing.
        self.guarded(|| Ok(()))?;
        let word = |side: Option<u64>| side.and_then(|word| engine.encode(B::truncate(word)));
        if let Some((down, up)) = self.keys.words_beside(key) {
            return Ok(Some(Asked::Between(word(Some(down)), word(Some(up)))));
        }
        let Some(ask) = self.ask.as_ref().filter(|_| is_of_the_key) else { return Err(error.clone_ref(py)) };
        let sides: Option<(Option<u64>, Option<u64>)> = ask.bind(py).call1((key,))?.extract()?;
        Ok(sides.map(|(down, up)| match (word(down), word(up)) {
            (Some(down), Some(up)) if down == up => Asked::Key(down),
            (down, up) => Asked::Between(down, up),
        }))
    }
}

/// The error for an object that can't be a key of a `dict` either: a list or an array, say, which is meant
/// as a batch.
#[cold]
pub fn no_key_of_a_dict(key: &Object<'_>) -> PyResult<()> {
    key.hash().map(drop)
}
