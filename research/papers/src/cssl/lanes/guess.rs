//! A prediction of a key's position in lane 1, beyond the paper: the interval from the first to the last
//! key is divided into stretches of equal width, and a table has the position in lane 1 at which each
//! begins. If keys are evenly distributed, a stretch has a cache line of lane 1's keys, so that a search
//! waits for the table and for that line instead of for one line of each lower lane.
//!
//! # Invariants
//! 1. The table is exact for the keys with which lane 1 was built. Since these only grow, a key that isn't
//!    in its stretch or right before it has been passed over, and the lanes themselves are searched.

use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::touch::Trace;
use latchless_core::mem::words::Words;
use latchless_core::sync::{BitsWord, Word32};

/// Keys of lane 1 to a stretch.
const STRETCH_KEYS: usize = 10;

/// See the file's head.
#[derive(Debug)]
pub(super) struct Guess<B> {
    first: u64,
    /// The distance from the first key to the last.
    width: u64,
    /// Stretches a key, times 2^64.
    scale: u64,
    /// The starts of stretches, and the end of the last one.
    begins: Words<Word32>,
    keys: PhantomData<B>,
}

/// Returns the number of stretches over a lane 1 of that many keys; 0 if it has no prediction.
const fn stretches(lane_keys: usize) -> usize {
    lane_keys / STRETCH_KEYS
}

impl<B: Bits> Guess<B> {
    /// Returns the size in bytes of the table over a lane 1 of that many keys.
    pub(super) fn bytes_for(lane_keys: usize) -> usize {
        match stretches(lane_keys) {
            0 => 0,
            stretches => ((stretches + 1) * size_of::<Word32>()).next_multiple_of(LINE_BYTES),
        }
    }

    /// Builds the table over a lane 1 that isn't changed yet; `None` if it isn't worthwhile.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](latchless_core::base::error::Error::OutOfMemory).
    pub(super) fn build(lane: &[B::Word], huge_pages: bool) -> Result<Option<Self>> {
        let stretches = stretches(lane.len());
        let (Some(first), Some(last)) = (lane.first(), lane.last()) else { return Ok(None) };
        let (first, last) = (first.load_relaxed().to_u64(), last.load_relaxed().to_u64());
        let width = last.wrapping_sub(first);
        // Keys differ, so there are more of them than stretches.
        if stretches == 0 || last < first || width < stretches as u64 {
            return Ok(None);
        }
        let scale = (((stretches as u128) << 64) / (u128::from(width) + 1)) as u64;
        let begins = Words::new(stretches + 1, huge_pages)?;
        let guess = Self { first, width, scale, begins, keys: PhantomData };
        let mut begun = 0;
        for (at, word) in lane.iter().enumerate() {
            let stretch = guess.stretch(word.load_relaxed());
            while begun <= stretch {
                guess.begins[begun].store_relaxed(at as u32);
                begun += 1;
            }
        }
        guess.begins[begun..].iter().for_each(|begin| begin.store_relaxed(lane.len() as u32));
        Ok(Some(guess))
    }

    /// Bytes of the table.
    pub(super) fn bytes(&self) -> usize {
        self.begins.bytes()
    }

    /// The stretch of a key; the first or the last one for keys that belong to none.
    #[inline(always)]
    pub(super) fn stretch(&self, key: B) -> usize {
        let place = key.to_u64().saturating_sub(self.first).min(self.width);
        ((u128::from(place) * u128::from(self.scale)) >> 64) as usize
    }

    /// Prefetches the table's entry for a stretch.
    #[inline(always)]
    pub(super) fn ask<T: Trace>(&self, stretch: usize) {
        let entry = self.begins.as_ptr().wrapping_add(stretch).cast();
        T::prefetch(entry, 1);
        prefetch_read(entry);
    }

    /// Between which places of lane 1 the last key up to one of a stretch was when the lane was built: from
    /// the last one before the stretch, if there is one, to the end of the stretch.
    #[inline(always)]
    pub(super) fn between<T: Trace>(&self, stretch: usize) -> core::ops::Range<usize> {
        let entry = self.begins.as_ptr().wrapping_add(stretch).cast();
        T::read(entry, 2 * size_of::<Word32>());
        let begin = self.begins[stretch].load_relaxed() as usize;
        begin.saturating_sub(1)..self.begins[stretch + 1].load_relaxed() as usize
    }
}
