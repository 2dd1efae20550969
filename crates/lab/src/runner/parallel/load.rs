//! An index that was built for parallel cases, and what it holds.

use super::population::{Population, key_of};
use crate::error::Result;
use crate::experiment::ParallelCase;
use crate::row::On;
use crate::subject::{Index, Subject};

/// An index built by random inserts, so that its nodes are about 70 % full.
pub struct Loaded {
    /// What kind of index it is.
    pub subject: Subject,
    /// It.
    pub index: Index,
    /// What it holds.
    pub population: Population,
    node_bytes: usize,
    keys: usize,
}

impl Loaded {
    /// Builds the index that `case` starts from.
    ///
    /// # Errors
    /// When the index refuses.
    pub fn new(subject: Subject, case: &ParallelCase, on: On) -> Result<Self> {
        let mut index = subject.make_parallel(on, case.node_bytes)?;
        let population = Population::new(case.keys);
        for &entry in population.present() {
            index.insert(key_of(entry), entry)?;
        }
        Ok(Self { subject, index, population, node_bytes: case.node_bytes, keys: case.keys })
    }

    /// Whether `case` can start from it: what cases before have done to it leaves it of the same size.
    pub fn is_for(&self, case: &ParallelCase) -> bool {
        (self.node_bytes, self.keys) == (case.node_bytes, case.keys)
    }
}
