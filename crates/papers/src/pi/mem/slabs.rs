//! Short arrays with room to grow, cut side by side out of large pages.
//!
//! An array of two kilobytes in the allocator's memory stands on a small page or two, and who reads one such
//! array here and one there has to have an address translated each time. So arrays that are laid out
//! together are cut out of *quarries* of many megabytes. An array that outgrows its strip moves to the
//! allocator's memory. What it leaves empty goes when the quarry does, with its last strip; whoever lays out
//! anew asks a [`Census`] which strips had better not stay where they are.
//!
//! # Invariants
//! 1. A strip's first `len` values are written; nobody else's reference leads to any of its `capacity` places.
//! 2. A strip without a quarry stands where a vector of its capacity stood, one with a quarry lies inside
//!    that, and keeps it.

use super::paged_array::Paper;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::mapping::{HUGE_PAGE_BYTES, Mapping};
use latchless_core::sync::Tally;
use std::collections::HashMap;
use std::sync::Arc;

/// What is less than this stands in the allocator's memory.
const QUARRY_FROM_BYTES: usize = if cfg!(miri) { 16 << 10 } else { HUGE_PAGE_BYTES };
/// Bytes of a quarry, unless one strip takes more.
const QUARRY_BYTES_MAX: usize = 32 << 20;

#[cfg(test)]
std::thread_local! {
    /// Whether this thread is refused memory for strips.
    pub static REFUSED: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// Memory that strips are cut out of.
struct Quarry {
    mapping: Mapping,
    /// Bytes of all strips, those that have gone among them.
    cut_bytes: Tally,
}

/// An array of plain values with room for more.
pub struct Strip<T> {
    start: NonNull<T>,
    len: u32,
    capacity: u32,
    quarry: Option<Arc<Quarry>>,
}

// SAFETY: a strip owns its values as a vector does; a quarry is memory and a count.
unsafe impl<T: Send> Send for Strip<T> {}
// SAFETY: as above: a shared strip gives out shared references alone.
unsafe impl<T: Sync> Sync for Strip<T> {}

impl<T: Copy> Strip<T> {
    /// These values, with room for so many more, in the allocator's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_room(values: &[T], room: usize) -> Result<Self> {
        let capacity = values.len().saturating_add(room);
        let refused = Error::OutOfMemory { requested_bytes: capacity.saturating_mul(size_of::<T>()) };
        // A strip's length has four bytes.
        if u32::try_from(capacity).is_err() {
            return Err(refused);
        }
        #[cfg(test)]
        if REFUSED.get() {
            return Err(refused);
        }
        let mut own = Vec::new();
        own.try_reserve_exact(capacity).map_err(|_| refused)?;
        own.extend_from_slice(values);
        Ok(own.into())
    }

    /// How many values fit without moving.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Bytes that the strip takes, room counted.
    pub fn own_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }

    /// Bytes that there are because of it: its share of its quarry, with what others have left there.
    pub fn held_bytes(&self) -> usize {
        match &self.quarry {
            Some(quarry) => quarry.cut_bytes.get() / Arc::strong_count(quarry),
            None => self.own_bytes(),
        }
    }

    /// Appends a value.
    ///
    /// # Panics
    /// When there is no room: that is to be asked for.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        assert!(self.len < self.capacity, "room is asked for first");
        // SAFETY: the place lies within the capacity, and is nobody else's (invariant 1).
        unsafe { self.start.add(self.len as usize).write(value) };
        self.len += 1;
    }

    /// Makes room for so many values more, elsewhere.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; the strip is then as before.
    pub fn try_reserve_exact(&mut self, more: usize) -> Result<()> {
        *self = Self::with_room(self, more)?;
        Ok(())
    }
}

impl<T: Copy> Default for Strip<T> {
    /// An empty one, without room.
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: Copy> From<Vec<T>> for Strip<T> {
    /// # Panics
    /// When it has room for 2^32 values or more.
    fn from(values: Vec<T>) -> Self {
        const { assert!(size_of::<T>() > 0) };
        let mut values = ManuallyDrop::new(values);
        let length = |length: usize| u32::try_from(length).expect("strips are short");
        let (len, capacity) = (length(values.len()), length(values.capacity()));
        // A vector's pointer is never null.
        let start = NonNull::new(values.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { start, len, capacity, quarry: None }
    }
}

impl<T> Drop for Strip<T> {
    fn drop(&mut self) {
        if self.quarry.is_none() {
            // SAFETY: it stands where a vector stood, which was forgotten (invariant 2).
            drop(unsafe {
                Vec::from_raw_parts(self.start.as_ptr(), self.len as usize, self.capacity as usize)
            });
        }
    }
}

impl<T> Deref for Strip<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: invariant 1.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len as usize) }
    }
}

impl<T> DerefMut for Strip<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: invariant 1; the strip is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len as usize) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Strip<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

/// Of strips that could stay where they are, those whose quarry is worth keeping.
#[derive(Debug, Default)]
pub struct Census {
    /// Bytes of the strips that could stay, by the quarry's address.
    staying: HashMap<usize, usize>,
}

impl Census {
    /// Counts a strip that could stay.
    pub fn count<T: Copy>(&mut self, strip: &Strip<T>) {
        if let Some(quarry) = &strip.quarry {
            *self.staying.entry(Arc::as_ptr(quarry).addr()).or_default() += strip.own_bytes();
        }
    }

    /// Whether a strip should stay: at least half of its quarry does.
    pub fn stays<T: Copy>(&self, strip: &Strip<T>) -> bool {
        strip.quarry.as_ref().is_none_or(|quarry| {
            let staying = self.staying.get(&Arc::as_ptr(quarry).addr()).copied().unwrap_or(0);
            2 * staying >= quarry.cut_bytes.get()
        })
    }
}

/// Cuts strips, one beside the other.
pub struct Cutter {
    paper: Paper,
    /// Whether there are quarries at all.
    worth_it: bool,
    /// How many bytes will be cut yet, about.
    expected_bytes: usize,
    /// The quarry that may have place left.
    open: Option<Arc<Quarry>>,
}

impl Cutter {
    /// For about so many bytes in all. Where neither large pages nor a NUMA node are asked for, or it is
    /// little, strips stand in the allocator's memory.
    pub fn new(expected_bytes: usize, paper: Paper) -> Self {
        let worth_it = expected_bytes >= QUARRY_FROM_BYTES && (paper.huge_pages || paper.node.is_some());
        Self { paper, worth_it, expected_bytes, open: None }
    }

    /// A strip of these values with room for so many more, or some more still.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn cut<T: Copy>(&mut self, values: &[T], room: usize) -> Result<Strip<T>> {
        const { assert!(align_of::<T>() <= LINE_BYTES) };
        let capacity = values.len().saturating_add(room);
        let bytes = capacity.saturating_mul(size_of::<T>()).checked_next_multiple_of(LINE_BYTES);
        let place = bytes.and_then(|bytes| Some((bytes, self.place(bytes)?)));
        let Some((bytes, (start, quarry))) = place else { return Strip::with_room(values, room) };
        // Lines are filled: that is room as well.
        let capacity = (bytes / size_of::<T>()) as u32;
        let mut strip = Strip { start: start.cast(), len: 0, capacity, quarry: Some(quarry) };
        values.iter().for_each(|&value| strip.push(value));
        Ok(strip)
    }

    /// The next so many bytes, if there is a quarry to be had.
    fn place(&mut self, bytes: usize) -> Option<(NonNull<u8>, Arc<Quarry>)> {
        if !self.worth_it || u32::try_from(bytes).is_err() {
            return None;
        }
        let has_place = |open: &Arc<Quarry>| open.cut_bytes.get() + bytes <= open.mapping.bytes();
        let quarry = match self.open.take().filter(has_place) {
            Some(quarry) => quarry,
            None => self.opened(bytes)?,
        };
        // SAFETY: the bytes end within the mapping, as was just seen; only this cutter cuts there.
        let start = unsafe { quarry.mapping.start().add(quarry.cut_bytes.get()) };
        quarry.cut_bytes.add(bytes);
        self.expected_bytes = self.expected_bytes.saturating_sub(bytes);
        self.open = Some(quarry.clone());
        Some((start, quarry))
    }

    fn opened(&self, bytes: usize) -> Option<Arc<Quarry>> {
        let wanted = self.expected_bytes.min(QUARRY_BYTES_MAX).max(bytes).next_multiple_of(HUGE_PAGE_BYTES);
        #[cfg(test)]
        if REFUSED.get() {
            return None;
        }
        let mapping = self.paper.mapping(wanted).ok()?;
        Some(Arc::new(Quarry { mapping, cut_bytes: Tally::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE_PAGES: Paper = Paper { huge_pages: true, node: None };

    fn values(nth: usize) -> Vec<u32> {
        (0..100 + nth as u32 % 9).map(|value| value * 7 + nth as u32).collect()
    }

    /// So many strips of about 500 bytes.
    fn strips(count: usize, paper: Paper) -> Vec<Strip<u32>> {
        let mut cutter = Cutter::new(count * 500, paper);
        (0..count).map(|nth| cutter.cut(&values(nth), 25).unwrap()).collect()
    }

    fn count() -> usize {
        QUARRY_FROM_BYTES / 500 + 10
    }

    #[test]
    fn strips_hold_what_they_were_cut_with_and_what_is_added() {
        for paper in [LARGE_PAGES, Paper::default()] {
            let mut strips = strips(count(), paper);
            assert_eq!(strips[3].quarry.is_some(), paper.huge_pages);
            for (nth, strip) in strips.iter_mut().enumerate() {
                let mut expected = values(nth);
                while strip.len() < strip.capacity() {
                    strip.push(9);
                    expected.push(9);
                }
                assert_eq!(**strip, *expected);
            }
            // Full strips lie side by side and didn't write into each other.
            assert!(strips.iter().enumerate().all(|(nth, strip)| strip.starts_with(&values(nth))));
        }
    }

    #[test]
    fn a_strip_that_grows_moves_and_leaves_its_quarry() {
        let mut strips = strips(count(), LARGE_PAGES);
        let mut grown = strips.swap_remove(1);
        let before = grown.to_vec();
        grown.try_reserve_exact(1000).unwrap();
        assert!(grown.quarry.is_none() && grown.capacity() >= before.len() + 1000);
        grown.push(1);
        assert_eq!(grown[..before.len()], before);
        grown[0] = 5;
        drop(strips);
        assert_eq!((grown[0], grown[before.len()]), (5, 1));
    }

    #[test]
    fn a_quarry_of_which_half_stays_is_worth_keeping() {
        let mut strips = strips(count(), LARGE_PAGES);
        let staying = |strips: &[Strip<u32>]| {
            let mut census = Census::default();
            strips.iter().for_each(|strip| census.count(strip));
            strips.iter().filter(|strip| census.stays(strip)).count()
        };
        let held: usize = strips.iter().map(Strip::held_bytes).sum();
        let own: usize = strips.iter().map(Strip::own_bytes).sum();
        assert!(held.abs_diff(own) < own / 50, "{held} of {own}");
        assert_eq!(staying(&strips), strips.len());
        strips.truncate(strips.len() * 2 / 3);
        assert_eq!(staying(&strips), strips.len());
        strips.truncate(strips.len() / 2);
        assert_eq!(staying(&strips), 0);
        assert!(strips.iter().all(|strip| strip.held_bytes() > 2 * strip.own_bytes()));
        assert!(Census::default().stays(&Strip::from(vec![1u8; 10])));
    }

    #[test]
    fn little_stands_in_the_allocator_s_memory() {
        let mut cutter = Cutter::new(100, LARGE_PAGES);
        let strip = cutter.cut(&[1u64, 2], 0).unwrap();
        assert!(strip.quarry.is_none());
        assert_eq!((&*strip, strip.capacity(), strip.held_bytes()), (&[1u64, 2][..], 2, 16));
        let empty = Strip::<u64>::default();
        assert_eq!((empty.len(), format!("{strip:?}")), (0, "[1, 2]".to_string()));
    }

    #[test]
    fn absurd_room_is_refused() {
        for paper in [LARGE_PAGES, Paper::default()] {
            for room in [u32::MAX as usize, usize::MAX / 8, usize::MAX] {
                let cut = Cutter::new(usize::MAX, paper).cut(&[1u64, 2], room);
                assert!(matches!(cut, Err(Error::OutOfMemory { .. })), "{room}");
            }
        }
        let mut strip = Strip::from(vec![1u64]);
        assert!(matches!(strip.try_reserve_exact(usize::MAX), Err(Error::OutOfMemory { .. })));
        assert_eq!(*strip, [1]);
    }

    #[test]
    #[should_panic(expected = "room is asked for first")]
    fn a_full_strip_takes_nothing() {
        Strip::from(vec![1u64]).push(2);
    }
}
