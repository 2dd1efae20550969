//! Filling an index before it is measured.

use super::Load;
use super::raced::Raced;
use super::word::Word;
use crate::catalogue;
use crate::counting;
use crate::progress::Progress;
use latchless::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_terminal::failure::Failure;
use latchless_workload::{Lane, value_of};

/// The most keys of a sample.
const SAMPLE_MAX: usize = 1 << 16;
/// Inserts between two looks at the progress bar.
const STRIDE: usize = 1 << 16;

/// What indexes are filled with, and how.
pub struct Filling<L> {
    /// The keys, in the order in which they arrive.
    loaded: Vec<L>,
    /// Some of them, drawn at random.
    sample: Vec<L>,
    /// Every pair, ascending.
    sorted: Vec<(L, L)>,
    load: Load,
}

/// An index that is ready to be measured.
pub struct Filled<L: Word> {
    /// The index.
    pub index: Raced<L>,
    /// What it holds, in bytes.
    pub bytes: usize,
}

impl<L: Word> Filling<L> {
    /// Fills with `loaded`, distinct keys in the order in which they arrive.
    pub fn new(loaded: Vec<L>, load: Load) -> Self {
        let mut sorted: Vec<(L, L)> = loaded.iter().map(|&key| (key, value_of(key, 0))).collect();
        sorted.sort_unstable();
        let draw = |number: u64| loaded[(number.scatter() % loaded.len() as u64) as usize];
        let sample = (0..loaded.len().min(SAMPLE_MAX) as u64).map(draw).collect();
        Self { loaded, sample, sorted, load }
    }

    /// Every pair, ascending.
    pub fn sorted(&self) -> &[(L, L)] {
        &self.sorted
    }

    /// Keys that are there, at most `most` of them, drawn at random.
    pub fn sample(&self, most: usize) -> &[L] {
        &self.sample[..most.min(self.sample.len())]
    }

    /// Makes an index and fills it. Takes as many progress steps as there are keys.
    ///
    /// # Errors
    /// A name that nobody bears, and what the index refuses.
    pub fn fill(
        &self,
        name: &str,
        options: &catalogue::Options,
        progress: &mut Progress,
    ) -> Result<Filled<L>, Failure> {
        progress.say(format!("filling {name}"));
        let (index, heap_bytes) = counting::held_by(|| {
            let mut index = Raced::build(name, options)?;
            self.put_in(name, &mut *index, progress).map_err(|error| refused(name, &error))?;
            Ok::<_, Failure>(index)
        });
        let index = index?;
        let bytes = index.memory_bytes().unwrap_or(heap_bytes);
        Ok(Filled { index, bytes })
    }

    fn put_in(
        &self,
        name: &str,
        index: &mut dyn OrderedIndex<L, L>,
        progress: &mut Progress,
    ) -> latchless::Result<()> {
        // A sorted array ends up the same whatever the order; only the time for it differs, and
        // that by a factor of its length.
        if self.load == Load::Bulk || name == "sorted-array" {
            index.bulk_load(&self.sorted, FillFactor::FULL)?;
            progress.advance(self.sorted.len() as u64);
            return Ok(());
        }
        for at in (0..self.sorted.len()).step_by(STRIDE) {
            let end = self.sorted.len().min(at + STRIDE);
            if self.load == Load::Sorted {
                for &(key, value) in &self.sorted[at..end] {
                    index.insert(key, value)?;
                }
            } else {
                for &key in &self.loaded[at..end] {
                    index.insert(key, value_of(key, 0))?;
                }
            }
            progress.advance((end - at) as u64);
        }
        Ok(())
    }
}

/// What an index refused, with its name.
pub fn refused(name: &str, error: &latchless::Error) -> Failure {
    Failure::run(format!("{name}: {error}"))
}
