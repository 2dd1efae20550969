//! An index for parallel cases, and its contents.

use super::population::{Population, key_of};
use crate::error::Result;
use crate::experiment::ParallelCase;
use crate::on::On;
use crate::subject::{Index, Subject};

/// The properties that determine how an index is built: bytes per node, keys, whether it has duplicates.
type Form = (usize, usize, bool);

/// An index built by random inserts, so that its nodes are about 70 % full.
pub struct Loaded {
    /// The kind of index.
    pub subject: Subject,
    /// It.
    pub index: Index,
    /// Its contents.
    pub population: Population,
    form: Form,
}

impl Loaded {
    /// Builds the index that `case` starts from.
    ///
    /// # Errors
    /// When the index refuses.
    pub fn new(subject: Subject, case: &ParallelCase, on: On) -> Result<Self> {
        let form = Self::form(case);
        let mut index = subject.make_parallel(on, form.0, form.2)?;
        let population = Population::new(case.keys);
        for &entry in population.present() {
            index.insert(key_of(entry), entry)?;
        }
        Ok(Self { subject, index, population, form })
    }

    /// Returns the form of a case's index.
    pub fn form(case: &ParallelCase) -> Form {
        (case.node_bytes, case.keys, case.setting.duplicates)
    }

    /// Returns whether `case` can start from it: the cases before have left it at nearly the same size.
    pub fn is_for(&self, case: &ParallelCase) -> bool {
        self.form == Self::form(case)
    }
}
