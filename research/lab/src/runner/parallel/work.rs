//! Executing a plan on an index, one request at a time. The same code runs on the model and natively.

use super::population::{Request, key_of};
use crate::error::{LabError, Result};
use crate::subject::{Index, Subject};
use latchless_core::base::index::ConcurrentIndex;

/// An index as one processor uses it.
pub trait Serve {
    /// See [`latchless_core::base::index::OrderedIndex::get`].
    fn search(&self, key: u32) -> Option<u32>;

    /// See [`latchless_core::base::index::OrderedIndex::insert`].
    ///
    /// # Errors
    /// When the index refuses.
    fn insert(&mut self, key: u32, value: u32) -> Result<Option<u32>>;

    /// See [`latchless_core::base::index::OrderedIndex::remove`].
    ///
    /// # Errors
    /// When the index refuses.
    fn remove(&mut self, key: u32) -> Result<Option<u32>>;
}

/// It is the only one that does.
impl Serve for &mut Index {
    fn search(&self, key: u32) -> Option<u32> {
        self.get(key)
    }

    fn insert(&mut self, key: u32, value: u32) -> Result<Option<u32>> {
        Ok((**self).insert(key, value)?)
    }

    fn remove(&mut self, key: u32) -> Result<Option<u32>> {
        Ok((**self).remove(key))
    }
}

/// Others use it as well.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    subject: Subject,
    index: &'a Index,
    updates: Option<&'a dyn ConcurrentIndex<u32, u32>>,
}

impl<'a> Shared<'a> {
    /// An index of this kind. One that isn't made for updates from several processors refuses them.
    pub fn new(subject: Subject, index: &'a Index) -> Self {
        Self { subject, index, updates: index.as_concurrent() }
    }

    /// Returns whether it accepts updates.
    pub fn takes_updates(&self) -> bool {
        self.updates.is_some()
    }

    fn updates(&self) -> Result<&'a dyn ConcurrentIndex<u32, u32>> {
        self.updates.ok_or(LabError::NotConcurrent { index: self.subject.name() })
    }
}

impl Serve for Shared<'_> {
    fn search(&self, key: u32) -> Option<u32> {
        self.index.get(key)
    }

    fn insert(&mut self, key: u32, value: u32) -> Result<Option<u32>> {
        Ok(self.updates()?.insert_shared(key, value)?)
    }

    fn remove(&mut self, key: u32) -> Result<Option<u32>> {
        Ok(self.updates()?.remove_shared(key))
    }
}

/// Does a plan. All answers are known; a wrong one ends the run: its time would mean nothing.
///
/// # Errors
/// When the index refuses, or [`LabError::Wrong`].
pub fn do_all(mut index: impl Serve, plan: &[Request], subject: Subject) -> Result<()> {
    let mut wrong = 0;
    for &request in plan {
        let right = match request {
            Request::Search(entry) => index.search(key_of(entry)) == Some(entry),
            Request::Insert(entry) => index.insert(key_of(entry), entry)?.is_none(),
            Request::Remove(entry) => index.remove(key_of(entry))? == Some(entry),
        };
        wrong += usize::from(!right);
    }
    if wrong == 0 {
        return Ok(());
    }
    Err(LabError::Wrong { index: subject.name(), what: format!("{wrong} of {} answers", plan.len()) })
}
