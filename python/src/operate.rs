//! Shared by the methods of [`Core`]: objects to keys, panics to exceptions, changes that wait for the disk.

use crate::asked::{Asked, Ends, no_key_of_a_dict};
use crate::batch;
use crate::core::{Core, with};
use crate::engine::Undone;
use crate::gate::Pass;
use crate::lookups::Near;
use crate::map::{Entry, Map, Object, Told};
use crate::serve::guarded;
use crate::store::Reach;
use latchless::Direction;
use pyo3::prelude::*;

impl Core {
    /// Does something with the index. A panic becomes an exception, and the index isn't used any more.
    #[inline]
    pub fn guarded<T>(&self, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        guarded(&self.state, work)
    }

    /// Runs an operation on a single entry. See [`Core::guarded`].
    #[inline]
    pub fn one<T>(&self, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        self.guarded(|| {
            let _pass = Pass::for_one();
            work()
        })
    }

    /// Changes the index. A durable one may wait for the disk, without the interpreter's lock.
    pub fn change<M: Map, T: Send>(
        &self,
        py: Python<'_>,
        map: &M,
        change: impl FnOnce(&M) -> Result<T, Undone> + Send,
    ) -> PyResult<T> {
        if matches!(map.reach(), Reach::Log(_)) {
            return self.change_long(py, map, change);
        }
        self.one(|| change(map).map_err(|undone| map.exception(undone)))
    }

    /// Makes a change that takes long: always without the interpreter's lock. See [`Core::change`].
    pub fn change_long<M: Map, T: Send>(
        &self,
        py: Python<'_>,
        map: &M,
        change: impl FnOnce(&M) -> Result<T, Undone> + Send,
    ) -> PyResult<T> {
        self.guarded(|| batch::alone(py, || change(map)).map_err(|undone| map.exception(undone)))
    }

    /// The place of an object among the keys; the inner error if it has none. A closed index answers nothing.
    #[inline]
    pub fn place<'a, M: Map>(
        &self,
        map: &M,
        key: &'a Object<'_>,
    ) -> PyResult<Result<Asked<M::Probe<'a>>, PyErr>> {
        let asked = map.asked(key);
        if !matches!(asked, Ok(Ok(Asked::Key(_)))) {
            self.guarded(|| Ok(()))?;
        }
        asked
    }

    /// A question that has an order among keys. An error for any other.
    #[inline]
    pub fn asked<'a, M: Map>(&self, map: &M, key: &'a Object<'_>) -> PyResult<Asked<M::Probe<'a>>> {
        self.place(map, key)?
    }

    /// The key that a question is, if it can be one. Objects without an order among keys aren't there, as
    /// in a `dict`.
    #[inline]
    pub fn sought<'a, M: Map>(&self, map: &M, key: &'a Object<'_>) -> PyResult<Option<M::Probe<'a>>> {
        match self.place(map, key)? {
            Ok(Asked::Key(word)) => Ok(Some(word)),
            Ok(Asked::Between(..) | Asked::Before(_)) => Ok(None),
            Err(_) => no_key_of_a_dict(key).map(|()| None),
        }
    }

    /// Does something with a range; nothing if no key can be in it.
    pub fn within<M: Map, T>(
        &self,
        map: &M,
        (low, high, closed): Told<'_, '_>,
        work: impl FnOnce(Ends<M::Probe<'_>>) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        let Some(closed) = closed else { return map.with_prefix(low, work).map(Some) };
        let low = low.map(|low| self.asked(map, low)).transpose()?;
        let high = high.map(|high| self.asked(map, high)).transpose()?;
        Ends::between(low, high, closed).map(work).transpose()
    }

    /// The value under a key. The object is made after the pass is given back.
    #[inline]
    pub fn look<'py>(&self, key: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        with!(self, map => {
            let Some(word) = self.sought(map, key)? else { return Ok(None) };
            let found = self.one(|| Ok(map.get(word)))?;
            found.map(|value| map.value_object(key.py(), value)).transpose()
        })
    }

    /// The neighbour of a question.
    pub fn near<'py>(&self, near: Near, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        with!(self, map => {
            let Some((near, word)) = self.asked(map, key)?.near(near) else { return Ok(None) };
            let entry = self.one(|| Ok(map.near(near, word)))?;
            Self::entry(key.py(), map, entry)
        })
    }

    /// An entry as objects.
    pub fn entry<'py, M: Map>(
        py: Python<'py>,
        map: &M,
        entry: Option<(M::Key, M::Value)>,
    ) -> PyResult<Option<Entry<'py>>> {
        let Some((key, value)) = entry else { return Ok(None) };
        Ok(Some((map.key_object(py, key)?, map.value_object(py, value)?)))
    }

    /// Copies of the entries of a range.
    pub fn copied<M: Map>(
        &self,
        py: Python<'_>,
        map: &M,
        ends: Ends<M::Probe<'_>>,
        direction: Direction,
        limit: usize,
    ) -> PyResult<M::Columns> {
        self.guarded(|| {
            let copied = py.detach(move || map.collect(ends, direction, limit));
            copied.map_err(|undone| map.exception(undone))
        })
    }
}
