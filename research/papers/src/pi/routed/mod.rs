//! PI's index layer (§3.1, §4.1): the upper levels of a skip list, each an array of *entries*. An entry is
//! M keys, compared with a query's key by one vector instruction, and a routing table that has, for each
//! outcome, the next place.
//!
//! All levels are in one array, the topmost first, so that the top levels, which every query reads, are
//! adjacent in a few lines.
//!
//! # Invariants
//! 1. Keys ascend along a level. An entry that isn't full is padded with the next entry's first key; the
//!    last entry of a level has no key, only [`Bits::MAX`] in their stead.
//! 2. Route c of an entry leads to the place below of the largest key of the level that is among its first
//!    c keys or is before it: in the next lower level the entry that contains that key, in the lowest
//!    level the key's data node. If there is no such key, it leads to the beginning of the level below.
//! 3. If all M keys of an entry are small enough, the search continues in the next entry of the level,
//!    which is why a table has M routes and not M + 1. This never happens in the last entry of a level: a
//!    search counts keys below one that is at most [`Bits::MAX`].
//!
//! A node whose key is [`Bits::MAX`] therefore never appears here; the caller gives it height 1.

mod build;
mod descend;
mod source;
mod walk;

pub use build::{Heights, RoutedOptions};
pub(super) use descend::{Entries, Groups, descend_in_groups};
pub use source::Source;
pub use walk::{Place, RoutedWalk};

use crate::pi::mem::paged_array::PagedArray;
use crate::pi::mem::slabs::{ChunkUsage, Slab};
use core::fmt;
use core::ops::Range;
use latchless_core::base::error::Broken;
use latchless_core::base::key::Bits;

/// The most levels of an index layer, and one less than the greatest height of a data node. With a share
/// of 1/4 of the keys going up a level this is enough for 4^15 of them.
pub const LEVELS_MAX: usize = 15;

/// M keys, and for each number of them that are small enough the place at which the search continues.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Entry<B, const M: usize> {
    keys: [B; M],
    routes: [u32; M],
}

/// An index layer with entries of M keys: 4, 8 or 16.
///
/// ```
/// use latchless_papers::pi::routed::{Heights, Routed, RoutedOptions, Source};
/// use latchless_core::mem::touch::NoTrace;
/// use latchless_core::search::Dispatch;
///
/// /// Every tenth number; its data node is its place.
/// struct Tens;
/// impl Source<u32> for Tens {
///     fn parts(&self) -> usize {
///         1
///     }
///     fn each(&self, _: usize, mut visit: impl FnMut(u32, usize, u32)) {
///         let heights = Heights::new(7);
///         (1..1000).for_each(|nth| visit(10 * nth, heights.of(10 * nth).max(2), nth));
///     }
/// }
/// let layer = Routed::<u32, 8>::build(&Tens, RoutedOptions::default(), &|jobs| jobs.into_iter().for_each(|job| job()))?;
/// let mut anchors = [0; 3];
/// layer.anchors::<NoTrace>(Dispatch::best(), &[9, 10, 4567], &mut anchors, 2, true);
/// assert_eq!(anchors, [0, 1, 456]);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct Routed<B: Bits, const M: usize> {
    entries: PagedArray<Entry<B, M>>,
    /// The range of each level, the topmost first.
    levels: Vec<Range<u32>>,
    /// The data node of keys that are smaller than all.
    head: u32,
    /// The number of keys of the lowest level.
    keys: usize,
}

impl<B: Bits, const M: usize> Routed<B, M> {
    /// Returns the number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns the number of entries in all levels.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of keys of the lowest level: the data nodes in the index layer.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Returns the bytes that the entries and their routing tables occupy.
    pub fn memory_bytes(&self) -> usize {
        self.entries.slab().map_or_else(|| self.entry_bytes(), Slab::held_bytes)
    }

    /// Bytes of the entries and their routing tables.
    pub fn entry_bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Counts the layer among the slabs that could stay, if it was cut from a shared chunk.
    pub fn count_in(&self, usage: &mut ChunkUsage) {
        self.entries.slab().into_iter().for_each(|slab| usage.count(slab));
    }

    /// Returns whether it should stay in its memory.
    pub fn stays(&self, usage: &ChunkUsage) -> bool {
        self.entries.slab().is_none_or(|slab| usage.stays(slab))
    }

    /// Returns the addresses of the entries, for a memory model to place.
    pub fn addresses(&self) -> Range<usize> {
        let range = self.entries.as_ptr_range();
        range.start.addr()..range.end.addr()
    }

    /// Holds the layer against the keys that it was built from.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self, source: &impl Source<B>) -> Result<(), Broken> {
        let mut expected: Vec<Vec<(B, u32)>> = vec![Vec::new(); LEVELS_MAX + 1];
        for part in 0..source.parts() {
            source.each(part, |key, height, anchor| {
                expected[1..height.min(LEVELS_MAX + 1)]
                    .iter_mut()
                    .for_each(|level| level.push((key, anchor)));
            });
        }
        let lowest_first = self.levels.iter().rev().enumerate();
        for (above, level) in lowest_first {
            let keys = &expected[above + 1];
            let mut found = Vec::with_capacity(keys.len());
            let entries = &self.entries[level.start as usize..level.end as usize];
            for pair in entries.windows(2) {
                let fill = pair[1].keys[0];
                let real =
                    pair[0].keys.iter().take_while(|&&key| key < fill || fill == B::MAX && key != fill);
                found.extend(real.copied());
            }
            if entries.last().is_none_or(|last| last.keys.iter().any(|&key| key != B::MAX)) {
                return Err(Broken::new(format!("level {} ends without its sentinel", above + 1)));
            }
            if !found.iter().eq(keys.iter().map(|(key, _)| key)) {
                return Err(Broken::new(format!(
                    "level {} holds {} keys, and not the {} of its nodes",
                    above + 1,
                    found.len(),
                    keys.len()
                )));
            }
        }
        for (nth, &(key, anchor)) in expected[1].iter().enumerate() {
            let before = nth.checked_sub(1).map_or(self.head, |before| expected[1][before].1);
            for (probe, leads_to) in [(key, before), (latchless_core::base::span::behind(key), anchor)] {
                if self.anchor_below(probe) != leads_to {
                    return Err(Broken::new(format!("the way to keys below {probe:?} leads elsewhere")));
                }
            }
        }
        Ok(())
    }
}

impl<B: Bits, const M: usize> fmt::Debug for Routed<B, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routed").field("keys", &self.keys).field("levels", &self.levels).finish()
    }
}

#[cfg(test)]
mod tests;
