//! Filling an index before it is measured.

use super::Load;
use super::raced::Raced;
use super::word::Word;
use crate::races::catalogue;
use crate::races::progress::Progress;
use latchless::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_measure::counting;
use latchless_terminal::failure::Failure;
use latchless_workload::{Lane, value_of};

/// The maximum number of keys in a sample.
const SAMPLE_MAX: usize = 1 << 16;
/// Inserts between two updates of the progress bar.
const STRIDE: usize = 1 << 16;

/// The entries with which indexes are filled, and the order.
pub struct Filling<L> {
    /// The keys, in the order of arrival.
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
    /// Its size in bytes.
    pub bytes: usize,
}

impl<L: Word> Filling<L> {
    /// Creates a filling with `loaded`, distinct keys in the order of arrival.
    pub fn new(loaded: Vec<L>, load: Load) -> Self {
        let mut sorted: Vec<(L, L)> = loaded.iter().map(|&key| (key, value_of(key, 0))).collect();
        sorted.sort_unstable();
        let draw = |number: u64| loaded[(number.scatter() % loaded.len() as u64) as usize];
        let sample = (0..loaded.len().min(SAMPLE_MAX) as u64).map(draw).collect();
        Self { loaded, sample, sorted, load }
    }

    /// Returns every pair, ascending.
    pub fn sorted(&self) -> &[(L, L)] {
        &self.sorted
    }

    /// Returns keys that are present, at most `most` of them, drawn at random.
    pub fn sample(&self, most: usize) -> &[L] {
        &self.sample[..most.min(self.sample.len())]
    }

    /// Creates an index and fills it. Advances the progress by one step per key.
    ///
    /// # Errors
    /// An unknown index, and what the index refuses.
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
        // A sorted array has the same contents for every order; only the time for filling it differs, by a
        // factor of its length.
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

/// Returns a failure with the index's name and the reason of its refusal.
pub fn refused(name: &str, error: &latchless::Error) -> Failure {
    Failure::run(format!("{name}: {error}"))
}
